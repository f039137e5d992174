"""How a step is written in a runbook: what all kinds share, and the command. Pure."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, field_validator

from core import placeholders
from core.canonical import JsonObject, encode
from core.durations import Duration, milliseconds, words
from core.errors import Refused
from core.params import Part
from core.plans import OnFailure, Retry, RunStep
from core.sizes import ADDRESS_SPACE, LEAST, OUTPUT, Memory, Printed

_LONGEST_WAIT = timedelta(minutes=10)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")

Argv = Annotated[tuple[str, ...], Field(min_length=1, max_length=200, strict=False)]
Variable = Annotated[
    str, Field(json_schema_extra={"pattern": rf"^(?!LD_|SAYSO_){_VARIABLE.pattern}$"})
]


def _encodable(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        encode(arguments)
    except Refused as error:
        raise ValueError(error.shown.rstrip(".")) from error
    return arguments


With = Annotated[dict[str, JsonValue], AfterValidator(_encodable)]
"""What something is called with, by name."""


class Again(Part):
    """Says that doing a step again is harmless."""

    times: int = Field(ge=1, le=5)
    """How often it is tried again where it has failed. What may have happened is never tried again."""
    wait: Duration = timedelta(seconds=1)
    """How long to wait before each further try, at most ten minutes."""

    @field_validator("wait")
    @classmethod
    def _is_no_long_wait(cls, wait: timedelta) -> timedelta:
        if wait > _LONGEST_WAIT:
            raise ValueError(f"between two tries lie at most {words(_LONGEST_WAIT)}")
        return wait

    def fill(self) -> Retry:
        """Return it as a plan holds it."""
        return Retry(times=self.times, wait_ms=milliseconds(self.wait))


class Form(Part):
    """What every kind of step may say."""

    timeout: Duration = timedelta(seconds=60)
    """After this it is ended, with all that it started."""
    secrets: Annotated[tuple[Variable, ...], Field(strict=False)] = ()
    """Names under `secrets` in `sayso.yml`, which it may see."""
    retry: Again | None = None
    """That it may be tried again where it has failed, because doing it twice is harmless."""
    on_failure: OnFailure = "stop"
    """With `continue`, the steps behind it run all the same where it has failed."""

    @field_validator("secrets")
    @classmethod
    def _are_harmless_names(cls, secrets: tuple[str, ...]) -> tuple[str, ...]:
        for name in secrets:
            if not _VARIABLE.fullmatch(name) or name.startswith(("LD_", "SAYSO_")):
                raise ValueError(
                    f"{name!a} cannot be the name of a secret; write it like API_TOKEN"
                )
        return secrets


class Process(Form):
    """What every kind of step may say that is a process of its own."""

    memory: Memory = Field(ADDRESS_SPACE, ge=LEAST)
    """How much of it each of its processes may take."""
    output: Printed = OUTPUT
    """How much it may print; with one byte more it is ended."""
    network: bool = False
    """Whether it needs the network; where that is off, it is not even asked about."""


class Command(Process):
    """One command: a list of arguments, each with at most whole placeholders inside it."""

    run: Argv
    """The program and its arguments, never a shell. `{name}` stands for a parameter's value."""

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
            timeout_ms=milliseconds(self.timeout),
            memory_bytes=int(self.memory),
            output_bytes=int(self.output),
            secrets=self.secrets,
            network=self.network,
            retry=self.retry.fill() if self.retry else None,
            on_failure=self.on_failure,
        )
