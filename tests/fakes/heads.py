"""A place for heads that exists only here."""

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class FakeHeads:
    """Implements `core.ports.Heads`."""

    lines: list[str] = field(default_factory=list[str])

    def last(self) -> str:
        """See the port."""
        return self.lines[-1] if self.lines else ""

    def append(self, line: str) -> None:
        """See the port."""
        self.lines.append(line)
