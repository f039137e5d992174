"""A place for heads that exists only here."""

from dataclasses import dataclass, field

from core.errors import Unavailable


@dataclass(kw_only=True)
class FakeHeads:
    """Implements `core.ports.Heads`."""

    lines: list[str] = field(default_factory=list[str])
    problem: str | None = None

    def fault(self) -> str | None:
        """See the port."""
        return self.problem

    def last(self) -> str:
        """See the port."""
        if self.problem:
            raise Unavailable(self.problem)
        return self.lines[-1] if self.lines else ""

    def append(self, line: str) -> None:
        """See the port."""
        self.lines.append(line)
