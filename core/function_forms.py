"""How a call of a Python function is written in a runbook. Pure."""

import keyword
import re
from collections.abc import Iterator

from pydantic import Field, JsonValue, field_validator

from core import placeholders
from core.canonical import JsonObject
from core.durations import milliseconds
from core.plans import PythonStep
from core.step_forms import Process, With

_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*")


class Function(Process):
    """One call of a function of an installed package, in a process of its own."""

    python: str = Field(max_length=200, json_schema_extra={"pattern": f"^{_FUNCTION.pattern}$"})
    """Where it is: `package.module:function`, installed beside Sayso and never in the working folder."""
    arguments: With = Field(default_factory=dict[str, JsonValue], alias="with")
    """What it is called with. A text that is `{name}` alone becomes that parameter's value."""

    @field_validator("python")
    @classmethod
    def _is_a_function(cls, function: str) -> str:
        if not _FUNCTION.fullmatch(function):
            raise ValueError("write where the function is, such as package.module:function")
        return function

    @field_validator("arguments")
    @classmethod
    def _can_be_passed(cls, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in arguments:
            if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
                raise ValueError(f"{name!a} cannot be the name of an argument of a function")
        return arguments

    def texts(self) -> Iterator[str]:
        """Yield every text in which a placeholder may stand."""
        yield from placeholders.texts_in(self.arguments)

    def fill(self, arguments: JsonObject) -> PythonStep:
        """Return the call with every placeholder replaced; its source is for whoever can look."""
        return PythonStep(
            function=self.python,
            source=None,
            arguments=placeholders.fill_object(self.arguments, arguments),
            timeout_ms=milliseconds(self.timeout),
            memory_bytes=int(self.memory),
            output_bytes=int(self.output),
            secrets=self.secrets,
            network=self.network,
            retry=self.retry.fill() if self.retry else None,
            on_failure=self.on_failure,
        )
