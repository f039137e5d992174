"""Somebody who is told how a run goes on."""

from dataclasses import dataclass, field

from core.ports import Tail


@dataclass
class FakeWatch:
    """Implements `approvals.execution.Watch`."""

    told: list[str] = field(default_factory=list[str])
    """What it heard, in order."""

    def moved(self) -> None:
        """See the port."""
        self.told.append("moved")

    def tries(self, number: int, most: int) -> None:
        """See the port."""
        self.told.append(f"try {number} of {most}")

    def hear(self, tail: Tail) -> None:
        """See the port."""
        self.told += tail()

    def over(self) -> None:
        """See the port."""
        self.told.append("over")
