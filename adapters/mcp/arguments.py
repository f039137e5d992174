"""The arguments of a tool of others as a model of ours: what its schema does not allow is refused."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model, model_validator

from adapters.mcp.schemas import Schema
from core.canonical import JsonObject
from core.errors import Refused
from core.tools import RESERVED

_KINDS: Mapping[object, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}


def model_of(schema: JsonObject, title: str) -> type[BaseModel]:
    """Return the model of arguments that fit a schema; raise `Refused` where there can be none."""
    known = Schema(schema)
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
    fits: dict[str, Any] = {"fits": model_validator(mode="wrap")(_fits(known))}
    return create_model("Arguments", __config__=config, __validators__=fits, **fields)


def _properties(schema: JsonObject) -> Mapping[str, JsonValue]:
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


def _fits(schema: Schema) -> Any:  # noqa: ANN401 - pydantic's own
    def fits(values: object, checked: Callable[[object], object]) -> object:
        made = checked(values)  # what is missing, too much or of another kind is told of its field
        if fault := schema.fault(values):
            raise ValueError(fault)
        return made

    return fits
