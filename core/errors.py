"""Every error that Sayso raises on purpose: three branches by what a caller may do next."""

from datetime import timedelta
from typing import ClassVar


class SaysoError(Exception):
    """A failure with a sentence that is safe to show and details for the log alone.

    `str(error)` never reaches people; `shown` does, so it says what to do next and holds no values
    that somebody else typed. Where it does have to hold some, `logged` says the same without them:
    for the audit log, from which nothing is ever erased.
    """

    kind: ClassVar[str] = "unavailable"

    def __init__(self, shown: str, *, logged: str = "", **detail: object) -> None:
        super().__init__(shown)
        self.shown = shown
        self.logged = logged or shown
        self.detail = detail


class Refused(SaysoError):
    """The rules say no; trying the same again changes nothing."""

    kind: ClassVar[str] = "refused"


class Invalid(Refused):
    """Wrong usage or a wrong configuration; somebody has to correct a command or a file."""

    kind: ClassVar[str] = "invalid"


class Incorrect(Refused):
    """A tool call whose arguments can be corrected: the sentence names field, expectation, next step."""

    @property
    def argument(self) -> str | None:
        """Return the name of the argument that has to be corrected, where it is one."""
        found = self.detail.get("argument")
        return found if isinstance(found, str) else None


class Unavailable(SaysoError):
    """Something outside did not answer; the same call may work later: not sooner than `after`, if given."""

    def __init__(
        self, shown: str, *, after: timedelta | None = None, logged: str = "", **detail: object
    ) -> None:
        super().__init__(shown, logged=logged, **detail)
        self.after = after


class OutcomeUnknown(SaysoError):
    """Something may have happened; never try again, tell a person."""

    kind: ClassVar[str] = "unknown_outcome"
