"""Whether values fit a JSON schema of somebody else's, found out in bounded time whatever it says.

A schema can make a check of a few bytes take years: by a regular expression that goes back and forth,
or by parts that name one another twice each. Nothing else goes on meanwhile, not even a stop.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from pydantic_core import SchemaError as PatternError
from pydantic_core import SchemaValidator
from pydantic_core import core_schema as pydantic_schema
from referencing import Registry
from referencing.exceptions import Unresolvable

from core.canonical import Json, JsonObject
from core.errors import Refused

_MOST = 20_000
"""Keywords that are looked at for one value: many times what 16 KiB of a schema ask of one call."""
_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Schema:
    """One schema, of which no part is ever fetched from anywhere."""

    def __init__(self, schema: JsonObject) -> None:
        """Raise `Refused` where it is none, or none that can be checked in bounded time."""
        try:
            Draft202012Validator.check_schema(dict(schema))
        except (SchemaError, RecursionError) as error:
            raise Refused("its schema is no JSON schema.") from error
        # What names a dialect would be followed by a checker of the library's own, without our bounds.
        inner = {name: one for name, one in schema.items() if name != "$schema"}
        patterns = {text: _pattern(text) for text in _patterns(inner)}
        self._left = 0
        keywords = cast("Mapping[str, _Keyword]", Draft202012Validator.VALIDATORS)
        known = {**keywords, "pattern": _matches(patterns), "uniqueItems": _differ}
        counted = {name: self._counted(keyword) for name, keyword in known.items()}
        self._validator: Any = cast("Any", extend)(Draft202012Validator, counted)(
            inner, registry=Registry()
        )

    def fault(self, values: object) -> str | None:
        """Say what does not fit, never with a value; None where all does."""
        self._left = _MOST
        try:
            wrong = next(self._validator.iter_errors(values), None)
        except (Unresolvable, RecursionError, _LostError):
            return "the schema of the server cannot be followed"
        if wrong is None:
            return None
        where = "/".join(map(str, wrong.absolute_path)) or "arguments"
        return f"`{where}` does not fit the schema of the server ({wrong.validator})"

    def _counted(self, keyword: _Keyword) -> _Keyword:
        def counted(
            validator: object, value: object, instance: object, schema: object
        ) -> Iterator[ValidationError]:
            self._left -= 1
            if self._left < 0:
                raise _LostError
            yield from keyword(validator, value, instance, schema) or ()

        return counted


class _LostError(Exception):
    """A check has taken as much as it may, or was led to what nobody has looked at."""


def _patterns(schema: Json) -> Iterator[str]:
    """Yield every regular expression in it; raise `Refused` for those of names."""
    match schema:
        case Mapping():
            if isinstance(text := schema.get("pattern"), str):
                yield text
            if isinstance(schema.get("patternProperties"), Mapping):
                raise Refused("its schema has patterns of names, which are not checked here.")
            if isinstance(schema.get("$schema"), str):
                raise Refused("a part of its schema is in a dialect of its own.")
            for one in schema.values():
                yield from _patterns(one)
        case list():
            for one in schema:
                yield from _patterns(one)
        case _:
            pass


def _pattern(text: str) -> SchemaValidator:
    """Return what looks for a pattern in time that grows with the text alone; raise `Refused`."""
    try:
        return SchemaValidator(pydantic_schema.str_schema(pattern=text, regex_engine="rust-regex"))
    except PatternError as error:
        raise Refused("its schema has a pattern that cannot be checked in bounded time.") from error


def _matches(patterns: Mapping[str, SchemaValidator]) -> _Keyword:
    def matches(
        validator: object, pattern: str, instance: object, schema: object
    ) -> Iterator[ValidationError]:
        del validator, schema
        if pattern not in patterns:
            raise _LostError
        if isinstance(instance, str) and not patterns[pattern].isinstance_python(instance):
            yield ValidationError("it does not match")

    return matches


def _differ(
    validator: object, wanted: object, instance: object, schema: object
) -> Iterator[ValidationError]:
    """Look at each item once, where the library compares each with every other."""
    del validator, schema
    if wanted is True and isinstance(instance, list):
        items = cast("list[Json]", instance)
        if len({json.dumps(one, sort_keys=True) for one in items}) < len(items):
            yield ValidationError("it holds something twice")
