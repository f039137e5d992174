"""What the tries of one step came to, told as one output. Pure."""

from dataclasses import dataclass, field

from core.plans import Step
from core.ports import Ended, ending_in_words

_LINES = 10
_CHARACTERS = 2000
"""What is kept of a try behind which there is another: its last lines, and at most so much of them."""


@dataclass(slots=True, kw_only=True)
class Tries:
    """The tries of one step so far."""

    most: int
    number: int = 1
    """Which one it is at."""
    _told: list[str] = field(default_factory=list[str])

    @property
    def are_over(self) -> bool:
        """Whether no further one may follow."""
        return self.number == self.most

    def again(self, ended: Ended) -> None:
        """Go on to the next one, now that one has failed."""
        lines = ended.output.splitlines()
        end = "\n".join(lines[-_LINES:])[-_CHARACTERS:]
        cut = "" if end == "\n".join(lines) else "; only the end of what it printed is kept"
        self._told += [f"[{self._which}: {ending_in_words(ended)}{cut}]", *filter(None, [end])]
        self.number += 1

    def output(self, last: str) -> str:
        """Return what all of them printed, what the last one did as it is."""
        return "\n".join([*self._told, f"[{self._which}]", last]) if self._told else last

    @property
    def note(self) -> str:
        """Say which one it is at; nothing where that is the first."""
        return self._which if self._told else ""

    @property
    def _which(self) -> str:
        return f"try {self.number} of {self.most}"


def of_step(step: Step) -> Tries:
    """Return the tries of a step that has not begun."""
    return Tries(most=step.retry.most if step.retry else 1)
