"""The arguments of a tool of others as a model of ours: what its schema does not allow is refused."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model, model_validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from core.canonical import JsonObject
from core.errors import Refused
from core.tools import RESERVED

_KINDS: Mapping[object, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}


def model_of(schema: JsonObject, title: str) -> type[BaseModel]:
    """Return the model of arguments that fit a schema; raise `Refused` where there can be none."""
    properties = _properties(schema)
    required = cast("list[str]", schema.get("required", []))
    fields: dict[str, Any] = {
        f"a{number}": _field(name, one, required=name in required)
        for number, (name, one) in enumerate(properties.items())
    }
    config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        title=title,
        json_schema_extra=_shown(schema),
    )
    fits: dict[str, Any] = {"fits": model_validator(mode="wrap")(_fits(schema))}
    return create_model("Arguments", __config__=config, __validators__=fits, **fields)


def _properties(schema: JsonObject) -> Mapping[str, JsonValue]:
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        raise Refused("its schema is no JSON schema.") from error
    properties = cast("Mapping[str, JsonValue]", schema.get("properties", {}))
    taken = [name for name in RESERVED if name in properties]
    if taken:
        raise Refused(f"it has a parameter {taken[0]}, which is a name of Sayso's own.")
    if schema.get("type") != "object":
        raise Refused("its arguments are no object.")
    return properties


def _field(name: str, schema: JsonValue, *, required: bool) -> tuple[Any, Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    annotation = _KINDS.get(kind, JsonValue) if isinstance(kind, str) else JsonValue
    return annotation, Field(... if required else None, alias=name)


def _shown(schema: JsonObject) -> Any:  # noqa: ANN401 - pydantic's own
    def shown(made: dict[str, Any]) -> None:
        made.clear()
        made.update({**schema, "additionalProperties": False})

    return shown


def _fits(schema: JsonObject) -> Any:  # noqa: ANN401 - pydantic's own
    # With a registry of its own no reference is ever fetched from anywhere.
    validator = Draft202012Validator(dict(schema), registry=Registry())

    def fits(values: object, checked: Callable[[object], object]) -> object:
        made = checked(values)  # what is missing, too much or of another kind is told of its field
        try:
            wrong = next(validator.iter_errors(values), None)  # pyright: ignore[reportUnknownMemberType, reportArgumentType]
        except Unresolvable as error:
            raise ValueError("the schema of the server cannot be followed") from error
        if wrong:
            where = "/".join(map(str, wrong.absolute_path)) or "arguments"
            raise ValueError(f"`{where}` does not fit the schema of the server ({wrong.validator})")
        return made

    return fits
