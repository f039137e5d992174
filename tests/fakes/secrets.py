"""Secrets that a test made up, and that it may rotate or take away."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from core.errors import Unavailable
from core.exact_values import unfit
from core.redaction import Redactor


@dataclass(kw_only=True)
class FakeSecrets:
    """Implements `core.ports.Secrets`; what has no value is said to have none."""

    now: dict[str, str] = field(default_factory=dict[str, str])
    """The value that each has now."""
    late: set[str] = field(default_factory=set[str])
    """Those of which a look does not tell that they have no value."""
    redactor: Redactor | None = None
    """What learns of whatever is looked at; without one a test sees what a step was given."""

    def fault(self, name: str) -> str | None:
        """See the port."""
        return None if name in self.late else self._fault(name)

    async def values(self, names: Collection[str]) -> Mapping[str, str]:
        """See the port."""
        for name in names:
            if fault := self._fault(name):
                raise Unavailable(fault)
        return {name: self.now[name] for name in names}

    def _fault(self, name: str) -> str | None:
        value = self.now.get(name)
        if value is None or unfit(value):
            return f"The secret {name} has no value that can be passed on."
        if self.redactor:
            self.redactor.learn(name, value)
        return None
