"""How a step is written in a runbook: what all kinds share, and the command. Pure."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

from pydantic import Field, field_validator

from core import placeholders
from core.canonical import JsonObject
from core.durations import Duration
from core.params import Part
from core.plans import RunStep
from core.sizes import ADDRESS_SPACE, LEAST, Memory

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")

Argv = Annotated[tuple[str, ...], Field(min_length=1, max_length=200, strict=False)]
Variable = Annotated[
    str, Field(json_schema_extra={"pattern": rf"^(?!LD_|SAYSO_){_VARIABLE.pattern}$"})
]


class Form(Part):
    """What every kind of step may say."""

    timeout: Duration = timedelta(seconds=60)
    """After this it is ended, with all that it started."""
    secrets: Annotated[tuple[Variable, ...], Field(strict=False)] = ()
    """Names under `secrets` in `sayso.yml`, which it may see."""

    @field_validator("secrets")
    @classmethod
    def _are_harmless_names(cls, secrets: tuple[str, ...]) -> tuple[str, ...]:
        for name in secrets:
            if not _VARIABLE.fullmatch(name) or name.startswith(("LD_", "SAYSO_")):
                raise ValueError(
                    f"{name!a} cannot be the name of a secret; write it like API_TOKEN"
                )
        return secrets

    @property
    def timeout_ms(self) -> int:
        """Return the timeout as a plan holds it."""
        return int(self.timeout / timedelta(milliseconds=1))


class Command(Form):
    """One command: a list of arguments, each with at most whole placeholders inside it."""

    run: Argv
    """The program and its arguments, never a shell. `{name}` stands for a parameter's value."""
    memory: Memory = Field(ADDRESS_SPACE, ge=LEAST)
    """How much of it each of its processes may take."""
    network: bool = False
    """Whether it needs the network; where that is off, it is not even asked about."""

    @field_validator("run")
    @classmethod
    def _names_a_program(cls, run: tuple[str, ...]) -> tuple[str, ...]:
        if not run[0] or placeholders.names(run[0]):
            raise ValueError("its first element names the program and takes no placeholder")
        if any("\0" in element for element in run):
            raise ValueError("it must not contain NUL")
        return run

    def texts(self) -> Iterator[str]:
        """Yield every text in which a placeholder may stand."""
        yield from self.run

    def fill(self, arguments: JsonObject) -> RunStep:
        """Return the command with every placeholder replaced inside its own element."""
        return RunStep(
            argv=tuple(placeholders.fill(element, arguments) for element in self.run),
            timeout_ms=self.timeout_ms,
            memory_bytes=int(self.memory),
            secrets=self.secrets,
            network=self.network,
        )
