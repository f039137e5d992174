"""JSON schemas of `sayso.yml` and of runbooks, for editors: made of the models that read the files.

They hold what can be said of one value. That a name is defined elsewhere, that a default fits its
parameter and the like only the loader tells: a file that fits may still be refused by `sayso check`.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from bot.settings import Settings
from core.durations import words
from core.runbooks import Runbook

DIALECT = "https://json-schema.org/draft/2020-12/schema"
What: TypeAlias = Literal["runbook", "settings"]
_OF: dict[What, tuple[type[BaseModel], str]] = {
    "runbook": (Runbook, "A runbook of Sayso"),
    "settings": (Settings, "sayso.yml"),
}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
"""What pydantic leaves in its own words where a validator of ours comes first."""
_BY_NAME = {"properties", "patternProperties", "$defs"}
"""What holds schemas by names of the file's, which may be called like words of a schema."""


def schema(what: What) -> dict[str, Any]:
    """Return the schema of one kind of file, the same bytes however often it is made."""
    model, title = _OF[what]
    made = model.model_json_schema(schema_generator=_Generator)
    return {"$schema": DIALECT, **_tidy(made), "title": title}


class _Generator(GenerateJsonSchema):
    """Describes each property by the docstring that stands below its field."""

    def model_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ANN401 - pydantic's own
        """Return the schema of one model."""
        made = super().model_schema(schema)
        model = cast("type[BaseModel]", schema["cls"])
        for name, text in _docstrings(model):
            field = model.model_fields.get(name)
            if field is not None:
                made["properties"][field.alias or name]["description"] = text
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - pydantic's own
        """Leave out titles that only repeat the name."""
        del schema
        return False

    def encode_default(self, dft: object) -> Any:  # noqa: ANN401 - JSON of any shape
        """Return a default the way a file spells it."""
        match dft:
            case timedelta():
                return words(dft)
            case Path():
                return str(dft)
            case _:
                return super().encode_default(dft)


def _docstrings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield fields with the text below each, those of parents first."""
    # Read here and not by pydantic's `use_attribute_docstrings`, which costs every start 150 ms.
    for kind in reversed(model.__mro__):
        if not issubclass(kind, BaseModel) or kind.__module__.partition(".")[0].startswith("pyd"):
            continue
        [node] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        for field, text in pairwise(cast("ast.ClassDef", node).body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match text:
                    case ast.Expr(value=ast.Constant(value=str(said))):
                        yield field.target.id, inspect.cleandoc(said)
                    case _:
                        pass


def _tidy(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return a schema with bounds in its own words, closed maps, and no defaults of whole sections."""
    match value:
        case list():
            return [*map(_tidy, cast("Iterable[Any]", value))]
        case dict():
            found = {
                _BOUNDS.get(name, name): _named(one) if name in _BY_NAME else _tidy(one)
                for name, one in cast("Mapping[str, Any]", value).items()
                if not (name == "default" and (one is None or isinstance(one, dict)))
            }
            if "patternProperties" in found:
                found["additionalProperties"] = False
            return found
        case _:
            return value


def _named(schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: _tidy(one) for name, one in schemas.items()}
