"""The section of `sayso.yml` that says where secrets come from."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

from bot.sections import Section
from core.durations import Duration

_REFERENCE = re.compile(r"(?:env|file):.+", re.DOTALL)
_WORD = re.compile(r"[^\x00]+")
_LONGEST = timedelta(minutes=1)
_WRITE = "write where the secret comes from: env:NAME, file:PATH, or a mapping with its command"


def _or_a_text(schema: JsonDict) -> None:
    """Describe both ways to write a source."""
    mapping = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string", "pattern": "^(env|file):."}, mapping]


class SecretSection(Section):
    """Where one secret comes from: `env:NAME` or `file:PATH`, or what a command prints."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"required": ["command"]}
    )

    reference: SkipJsonSchema[str | None] = None  # what was written as a text
    command: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] = ()
    """A program with its arguments, never a shell; one outside /usr/bin and /bin by its whole path."""
    timeout: Duration = timedelta(seconds=10)
    """How long the command may take, at most a minute."""
    environment: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Variables of Sayso's own environment that the command gets, besides PATH and LANG."""

    @model_validator(mode="before")
    @classmethod
    def _may_be_text(cls, given: object) -> object:
        if isinstance(given, str) and _REFERENCE.fullmatch(given):
            return {"reference": given}
        if not isinstance(given, dict) or "reference" in given or "command" not in given:
            raise ValueError(_WRITE)
        return given  # pyright: ignore[reportUnknownVariableType]  # names with values, checked next

    @model_validator(mode="after")
    def _can_be_run(self) -> "SecretSection":
        if not all(map(_WORD.fullmatch, self.command)):
            raise ValueError("each word of the command needs a character at least, and none is NUL")
        if self.timeout > _LONGEST:
            raise ValueError("the command may take a minute at most")
        return self


SecretSource = Annotated[SecretSection, Field(json_schema_extra=_or_a_text)]
