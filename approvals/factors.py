"""The port behind which second factors are kept, and what whoever gives a code is told. Pure but for it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from approvals.cards import names
from approvals.models import Rule
from core import one_time_codes
from core.durations import words
from core.errors import Refused
from core.one_time_codes import Secret

MOST_WRONG = 5
"""So many wrong codes one after another lock."""
LOCK = timedelta(minutes=10)
ENROL = "sayso enrol"
WANTED = (
    "This needs a code of your second factor. Press Approve on its card, or in a terminal: "
    "sayso approve ID --code CODE"
)
WANTED_OF_A_BREAKER = (
    "To break the glass for this needs a code of your second factor, a newer one than that of any yes of "
    "yours. In a terminal: sayso break-glass ID --reason WHY --code CODE"
)
NOT_ENROLLED = (
    "This needs a second factor, and you have none yet. Enrol one in a terminal on Sayso's machine, "
    f"as yourself: {ENROL}"
)
USED = "That code was used already, and each counts once. Wait for the next one."
STALE = (
    "That code is older than the request, so it proves nothing about it. Wait for the next one, at "
    "most 30s."
)
UNREADABLE = (
    "Your second factor cannot be read with the key beside the database, so no code of it counts. "
    "An operator has to put the right sayso.key back; where it is lost: sayso enrol --reset NAME, "
    "and enrol again."
)
ALREADY = (
    "You have enrolled a second factor already. To replace it, give a code of the old one too; where "
    "that is lost, an operator can: sayso enrol --reset NAME"
)
NOT_OF_NEW = "That is not a code of what was just shown. Check the clock of your device, and enrol once more."
CHANGED = "Your second factor was changed meanwhile, so nothing was done. Try again."


class CodeSpent(Refused):
    """Somebody else used the code first, or it may not be used any more: nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightCode:
    """A code that was right when it was looked at. It counts once it is used up."""

    step: int
    sealed: str = field(repr=False)
    """The enrolment that it is of, as it is kept."""
    at: datetime
    """When its step of time began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why a code counts for nothing, in a sentence for whoever gave it."""

    why: str


class Factors(Protocol):
    """Where second factors are kept: encrypted, each bound to its tenant and its person."""

    async def check(
        self, tenant: str, principal: str, code: str, *, since: datetime | None
    ) -> RightCode | Failed:
        """Judge a code, and use up nothing; one that is wrong is counted, and may lock.

        Its step has to begin after `since`, where that is given.
        """
        ...

    async def enrol(
        self, tenant: str, principal: str, secret: Secret, *, code: str, old: str | None
    ) -> Failed | None:
        """Keep a secret of which somebody gave a code; None once it is kept.

        Where there is one already, it takes a code of the `old` one too, which is used up.
        """
        ...

    async def enrolled(self, tenant: str) -> Collection[str]:
        """Return the people of a tenant who have a second factor."""
        ...

    async def reset(self, principal: str, *, account: str) -> int:
        """Forget somebody's second factor in every tenant; return in how many they had one."""
        ...


def judged(step: int, last: int, *, since: datetime | None, now: datetime) -> str | None:
    """Return why a right code counts for nothing all the same; None where it counts.

    `step` is its own, `last` the newest of which a code was used.
    """
    if step <= last:
        return USED
    begun = one_time_codes.begin_of(step)
    if since is not None and not one_time_codes.is_fresh(begun, since=since, now=now):
        return STALE
    return None


def locked(wait: timedelta) -> str:
    """Tell how long codes count for nothing."""
    left = max(timedelta(seconds=1), timedelta(seconds=-(-wait // timedelta(seconds=1))))
    return (
        f"{MOST_WRONG} wrong codes locked your second factor, so no code counts now. Try again in "
        f"{words(left)}; if that was not you, tell an operator."
    )


def wrong(left: int) -> str:
    """Tell that a code is wrong, and how many more may be."""
    tries = "one more wrong one locks" if left == 1 else f"{left} more wrong ones lock"
    return (
        f"That code is wrong: {tries} your second factor for {words(LOCK)}. Look at the app again, "
        "and at the clock of your device."
    )


def lacking(rule: Rule, approvers: Sequence[str], enrolled: Collection[str]) -> str | None:
    """Return the warning that too few of those who may approve have a second factor; else None."""
    able = [name for name in approvers if name in enrolled]
    if len(able) >= rule.quorum:
        return None
    who = f"only {names(able)}" if able else "nobody"
    return (
        f"Approving takes a second factor, and {who} of those who may has enrolled one; "
        f"{rule.quorum} must. Those who have none write in a terminal: {ENROL}"
    )
