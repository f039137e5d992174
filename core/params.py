"""Parameters of runbooks: typed and bounded, so that whatever passes is harmless inside one argument."""

import math
import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from core.display import character_name, hidden

Scalar: TypeAlias = bool | int | float | str
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


class Part(BaseModel):
    """A part of a file that knows every name in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Param(Part):
    """One parameter: typed and bounded, so that whatever passes is harmless inside one argument."""

    type: Literal["string", "integer", "number", "boolean"]
    """What kind of value it takes."""
    description: str = ""
    """What it is, for a model."""
    enum: Annotated[tuple[Scalar, ...] | None, Field(strict=False, min_length=1)] = None
    """The only values that there are."""
    pattern: str | None = Field(default=None, json_schema_extra={"format": "regex"})
    """A regular expression that the whole of a text has to match."""
    min_length: int = Field(1, ge=0)
    """Of a text."""
    max_length: int = Field(200, ge=1, le=10_000)
    """Of a text."""
    minimum: float | None = Field(default=None, allow_inf_nan=False)
    """Where none is declared, a number must not be negative: it could be taken for a flag."""
    maximum: float | None = Field(default=None, allow_inf_nan=False)
    """Of a number."""
    may_start_with: Literal["", "-", "@", "-@"] = ""
    """Programs take these for flags and files, so no text begins with one unless it may."""
    default: Scalar | None = None
    """What it is where nobody gave it. Cards mark it."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except (re.error, OverflowError) as error:
            raise ValueError(f"this is not a regular expression: {error}") from error
        return pattern

    @model_validator(mode="after")
    def _has_fitting_choices(self) -> "Param":
        for value in self.enum or ():
            if type(value) not in _KINDS[self.type]:
                raise ValueError(f"the choice {value!a} is no {self.type}")
        low, high = self._bounds()
        if (high is not None and low > high) or self.min_length > self.max_length:
            raise ValueError("no value fits between its limits")
        return self

    def _kind(self, value: object) -> object:
        if type(value) not in _KINDS[self.type]:
            raise ValueError(f"it must be one of its choices, written as {self.type}")
        return value

    def _bounds(self) -> tuple[float, float | None]:
        low, high = self.minimum or 0, self.maximum
        if self.type != "integer":
            return low, high
        return math.ceil(low), None if high is None else math.floor(high)

    def annotation(self, name: str) -> tuple[Any, Any]:
        """Return type and field for pydantic; the alias keeps any name clear of pydantic's own."""
        field = Field(alias=name, description=self.description or None)
        if self.enum is not None:
            return Annotated[Literal[self.enum], BeforeValidator(self._kind)], field
        if self.type == "string":
            limits = Field(min_length=self.min_length, max_length=self.max_length)
            return Annotated[str, limits, AfterValidator(self._text)], field
        if self.type == "boolean":
            return bool, field
        kind = int if self.type == "integer" else float
        low, high = self._bounds()
        return Annotated[kind, Field(ge=low, le=high, allow_inf_nan=None)], field

    def _text(self, value: str) -> str:
        found = hidden(value)
        if found:
            raise ValueError(f"it must not contain {found}")
        if value[:1] in {"-", "@"} and value[0] not in self.may_start_with:
            raise ValueError(f"it must not start with {character_name(value[0])}")
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            raise ValueError(f"it must match {self.pattern}")
        return value
