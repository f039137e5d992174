"""The ports behind which requests and runs are kept. Every method is one transaction.

Whatever two people, two processes or two clicks may race for is decided by one conditional
statement; whoever comes second gets back what has become of the request. Each change and its audit
entry are one transaction (I11), each read carries the tenant (I14).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from approvals.brakes import Broken
from approvals.factors import RightCode
from approvals.models import Denial, Request, Run, Spent, StepEnd, Verification, Voted
from approvals.proposals import NewRequest
from approvals.receipts import Issued
from core.audit import Entry, Intact
from core.conversations import Said, Turn
from core.exports import Export
from core.jobs import Claim, Job
from core.signatures import Key

Ran: TypeAlias = tuple[Run, Request]
"""A run, and what it was to do."""


class ApprovalStore(Protocol):
    """Where requests live. A request past its time is expired before anything else is done to it."""

    async def open(self, new: NewRequest) -> Request | Denial:
        """Keep a new request, or return the open one that asks for the same, or the denial that forbids it.

        The same is: same conversation, requester and plan hash, still open or granted. It is then
        counted once more, and its agent text replaced as long as nobody voted. Opening what
        `supersedes` another ends that one and lifts the denials that it left. Where a turn proposes
        it, that turn and its job end in the same transaction, unless there is a denial.
        Raises `Refused` where the plan's short id already names another plan, and `LeaseLost` where
        the turn is no longer this claim's or was told to end.
        """
        ...

    async def get(self, tenant: str, request: str) -> Request | None:
        """Return a request as it is now, or None where this tenant has none of that id."""
        ...

    async def in_doubt(
        self, tenant: str, plan_sha256: str, *, again: str | None = None
    ) -> Sequence[str]:
        """Return the runs of this very plan, or of the request asked for `again`, with an unknown step."""
        ...

    async def took(self, tenant: str, does: str, *, most: int) -> Sequence[timedelta]:
        """Return how long the newest runs took of what `does` the same, and succeeded by themselves."""
        ...

    async def vote(
        self,
        tenant: str,
        request: str,
        *,
        principal: str,
        runner: str | None = None,
        held: RightCode | None = None,
    ) -> Voted:
        """Record one person's yes while the request is open, and say what became of it.

        Where its rule demands a second factor, the code that is `held` is used up with it; raises
        `CodeSpent` where that was used already, `Refused` where there is none.

        The one that completes the quorum grants the request and queues its run, in one transaction;
        reserved for the process named as `runner`, where it is about to run it by itself.
        """
        ...

    async def edit(self, new: NewRequest) -> Request | Denial:
        """Keep a request that somebody made of an open one, which ends with that: its votes are void.

        Returns the old one where it had ended or was granted before, and a denial of what either of
        them would do. Raises `Refused` where what it asks for waits already.
        """
        ...

    async def live(self, tenant: str, conversation: str | None) -> Sequence[Request]:
        """Return the open and granted requests of a conversation, or of all of them."""
        ...

    async def remind(self, tenant: str, request: str, text: str) -> None:
        """Say in its conversation that a request still waits, if it is still open."""
        ...

    async def escalate(self, tenant: str, request: str, *, text: str, calls: Sequence[str]) -> None:
        """Say once in its conversation, to these people, that a request still waits, if it is open."""
        ...

    async def hand_over(self, tenant: str, request: str, *, principal: str, to: str) -> bool:
        """Ask somebody in its conversation to decide an open request; False where they were asked before."""
        ...

    async def break_glass(
        self,
        tenant: str,
        request: str,
        broken: Broken,
        *,
        held: RightCode | None = None,
        runner: str | None = None,
    ) -> Voted:
        """Grant a live request by one person's word, mark it so, and tell it in its conversation.

        `held` is as in `vote`.

        That word is a yes too, where it was open. `LATE` where it has ended, or was broken before.
        """
        ...

    async def edited(self, tenant: str, request: str) -> None:
        """Keep that the message which asked for a live request was edited, and draw its card anew."""
        ...

    async def expire(self) -> None:
        """End every request that is past its time."""
        ...

    async def deny(self, tenant: str, request: str, *, principal: str, reason: str) -> Request:
        """End a live request and refuse its effects for its conversation (I13)."""
        ...

    async def revoke(self, tenant: str, request: str, *, principal: str, reason: str) -> Request:
        """End a live request because something about it is no longer as it was shown."""
        ...

    async def spend(
        self, request: Request, *, job: Job, run: str, before: datetime | None = None
    ) -> Spent | None:
        """Turn a granted request into a running run; None for whoever comes second (I2).

        A run that goes on for some seconds is shown in its thread.
        Holds only if the request is still granted, not expired, bound to this tenant, conversation
        and plan hash, its votes are exactly those whose authority the caller has just checked, and
        nobody told the job to end. Raises `LeaseLost` where this claim no longer holds it, and
        `Unavailable`, leaving it granted, while the tenant is paused or once it is not `before` that
        moment any more; `resume` does so too.
        """
        ...

    async def resume(self, request: Request, *, job: Job) -> Spent | None:
        """Take over a run none of whose steps has begun; None where there is none such.

        Raises `LeaseLost` where this claim no longer holds the job.
        """
        ...

    async def attempt_refused(
        self, tenant: str, *, principal: str, request: str, why: str, claim: Claim | None = None
    ) -> None:
        """Note in the audit log that somebody tried and was refused; `request` is what they gave.

        Of one person as much is noted as `core.rates.REFUSALS` has room for, and then, once in a
        while, that there was more. Nothing is held back by that. A `STRANGER` is a person by what they
        give.
        What is noted for a turn is noted under its claim: raises `LeaseLost` where that is not held.
        """
        ...


class RunStore(Protocol):
    """Where runs live."""

    async def begin_step(self, run: Run, index: int) -> bool:
        """Write the intent to run a step, before it runs.

        False where it must not run: not the next one, or told to stop. Raises `LeaseLost`, here and
        in `end_step` and `cancel`, where this claim lost the run.
        """
        ...

    async def end_step(self, run: Run, index: int, end: StepEnd) -> Run:
        """Write how a step ended; if it did not succeed, or was the last, the run ends with it.

        The end of a run stores its report in its conversation, in the same transaction, and has
        what shows it there be drawn anew.
        """
        ...

    async def cancel(self, run: Run, *, why: str) -> Run:
        """End a run between two steps: what has not begun is not run."""
        ...

    async def run(self, tenant: str, run: str) -> Run | None:
        """Return a run as it is now."""
        ...

    async def run_of(self, tenant: str, request: str) -> Run | None:
        """Return the run that a request was spent on."""
        ...

    async def live(self, tenant: str, conversation: str | None) -> Sequence[Run]:
        """Return the running runs of a conversation, or of all of them."""
        ...

    async def stop(self, run: Run, *, principal: str) -> None:
        """Tell a running run to end, whichever process it is in."""
        ...

    async def resolve(
        self, tenant: str, run: str, index: int, *, happened: bool, principal: str
    ) -> Run:
        """End an unknown step by what a person found out; raise `Refused` where it is not unknown."""
        ...

    async def show_output(self, run: Run, index: int, *, principal: str) -> None:
        """Have all that a step printed be posted in its conversation, since somebody asked for it."""
        ...

    async def verified(self, seen: Verification) -> None:
        """Note in its conversation what looking at a step printed; no state changes.

        Raises `Refused` where this tenant has no such run.
        """
        ...


class Newest(Protocol):
    """What people may look at, newest first and at most so many; with `before`, what comes behind that."""

    async def runs(self, tenant: str, *, most: int, before: Run | None = None) -> Sequence[Ran]:
        """Return runs, each with what it was to do."""
        ...

    async def unknown(self, tenant: str, *, most: int, before: Run | None = None) -> Sequence[Ran]:
        """Return runs with an unknown step."""
        ...

    async def ended(
        self, tenant: str, conversation: str, *, most: int, before: Request | None = None
    ) -> Sequence[Request]:
        """Return requests of a conversation that were denied or revoked, or have expired."""
        ...


class Records(Protocol):
    """What an operator may read: everything, of every tenant."""

    async def requests(self) -> Sequence[Request]:
        """Return all requests, newest first."""
        ...

    async def request(self, request: str) -> Request | None:
        """Return one request, whichever tenant it is of."""
        ...

    async def runs(self) -> Sequence[Run]:
        """Return all runs, newest first."""
        ...

    async def run(self, run: str) -> Run | None:
        """Return one run, whichever tenant it is of."""
        ...

    async def said(self, conversation: str) -> Sequence[Said]:
        """Return everything that was said, oldest first; nothing for an unknown conversation."""
        ...

    async def export(self, conversation: str) -> Export | None:
        """Return all of a conversation as it is at one moment; None for an unknown one."""
        ...

    async def waiting(self, conversation: str) -> Sequence[Turn]:
        """Return the messages of a conversation that are not answered yet, in order of arrival."""
        ...

    async def unfinished(self, conversation: str) -> frozenset[str]:
        """Return the kinds of jobs that are left in a conversation: turns, runs and deliveries."""
        ...

    async def plans(self, plan: str) -> Sequence[str]:
        """Return the canonical text of the plans of that name, one a tenant."""
        ...

    async def audit(self) -> Sequence[Entry]:
        """Return the audit log, oldest first."""
        ...

    async def head(self) -> Entry | None:
        """Return the newest entry of the audit log, None where there is none yet."""
        ...


class Receipts(Protocol):
    """What proves to others how a run came to be, and how it went."""

    async def issue(self, run: str, *, key: Key, account: str, since: Intact) -> Issued:
        """Make a receipt of a run that has ended, and note in the audit log that it was made.

        `since` is what of the log was found intact already; the rest is checked here. `account` is
        that of the operator. Raises `Refused` for an unknown run, one that still runs, one whose
        content was erased, and where what is stored would make no receipt that holds.
        """
        ...
