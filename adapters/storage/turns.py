"""Turns: received once and queued with what came in, ended once with what came of it."""

import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import TypeAdapter

from adapters.storage import frames, happenings, jobs, mailbox, transcripts
from adapters.storage.entries import append, place_of
from adapters.storage.transactions import SYSTEM, Row, Transaction, changed, log, rows, text_of
from core import reminders, turn_ends
from core.conversations import Closing, Turn, TurnEnd, Waiting, job_of
from core.errors import Refused
from core.jobs import Job, JobState, LeaseLost, Loss
from core.outcomes import Reason
from core.trail import Finished, Happening
from core.wishes import Wish

_COLUMNS = (
    "turn.*, conversation.platform, conversation.workspace, conversation.channel,"
    " conversation.thread, conversation.profile FROM turn JOIN conversation ON conversation.id = turn.conversation"
)
WISH: TypeAdapter[Wish] = TypeAdapter(Wish)


def end(now: datetime, closing: Closing) -> Transaction[bool]:
    """End a turn and its job under the claim that holds it; what was stopped ends as stopped.

    Return False, and write nothing, where it was cut though nobody stopped it.
    """
    turn = closing.turn
    if (yield from has_ended(turn)):
        return True
    is_stopped = yield from must_hold(now, turn, closing.job)
    if closing.end.reason is Reason.STOPPED and not is_stopped:
        return False
    given = turn_ends.stopped(closing.end) if is_stopped else closing.end
    yield from close(now, turn, given, claim=closing.job.fence)
    yield from jobs.finish(now, closing.job, JobState.CANCELLED if is_stopped else JobState.DONE)
    return True


def tell(now: datetime, turn: Turn, job: Job, happened: Sequence[Happening]) -> Transaction[None]:
    """Keep what happened in a turn, while this claim holds."""
    yield from must_hold(now, turn, job)
    yield from happenings.extend(now, turn, job.fence, happened)


def must_hold(now: datetime, turn: Turn, job: Job) -> Transaction[bool]:
    """Return whether somebody stopped the turn; raise `LeaseLost` where this claim is not its own."""
    if (job.tenant, job.id) != (turn.tenant, job_of(turn.id)):
        raise LeaseLost("That is the job of something else, so nothing is written for this turn.")
    return (yield from jobs.must_hold(now, job.claim))


def close(
    now: datetime, turn: Turn, given: TurnEnd, request: str | None = None, *, claim: int = 0
) -> Transaction[None]:
    """Write how a turn ended, what was asked in it and what was answered.

    `claim` is the one under which it was answered; 0 where nobody answered it.
    """
    ended = yield from changed(
        "UPDATE turn SET ended_at = :now, reason = :reason, text = :text,"
        " suggestions = :suggestions, request = :request, killed = :killed"
        " WHERE id = :id AND tenant = :tenant AND ended_at IS NULL RETURNING id",
        now=text_of(now), reason=given.reason, text=given.text, request=request,
        suggestions=json.dumps(given.suggestions), killed=given.killed, id=turn.id,
        tenant=turn.tenant,
    )  # fmt: skip
    if not ended:
        return
    here = turn.conversation
    yield from append(now, here, "asked", turn.principal, _asked(turn), about=turn.id)
    left = yield from mailbox.absorb(now, turn, given)
    yield from transcripts.extend(here, (*turn_ends.told(turn, given), *left))
    if given.frame:
        yield from frames.keep(turn.tenant, here, given.frame)
    if given.text:
        yield from append(now, here, "answered", SYSTEM, given.text, about=turn.id)
    yield from happenings.extend(now, turn, claim, [Finished(reason=given.reason)])
    yield from log(
        now, turn.tenant, "turn.ended", turn.principal, turn=turn.id, reason=given.reason
    )


def _asked(turn: Turn) -> str:
    """Return what people read was asked; a reminder says itself what it is."""
    if turn.schedule is None or reminders.is_of_one(turn.schedule):
        return turn.wish.shown
    return f"(schedule {turn.schedule}) {turn.wish.shown}"


def has_ended(turn: Turn) -> Transaction[bool]:
    """Whether a turn has ended."""
    found = yield from rows(
        "SELECT 1 FROM turn WHERE id = :id AND tenant = :tenant AND ended_at IS NOT NULL",
        id=turn.id, tenant=turn.tenant,
    )  # fmt: skip
    return bool(found)


def stop(now: datetime, turn: Turn, principal: str) -> Transaction[None]:
    """Tell a turn to end; one that nobody answers yet ends at once."""
    ours = yield from read(turn.tenant, turn.id)
    told = (yield from jobs.cancel(now, job_of(turn.id))) if ours else None
    if told is None:
        return
    yield from log(now, turn.tenant, "turn.stop_asked", principal, turn=turn.id)
    if told.was_queued:
        yield from close(now, turn, turn_ends.STOPPED)


def settle(now: datetime, job: Job, loss: Loss) -> Transaction[JobState]:
    """Have a turn that nobody holds answered again, or say that it will not be."""
    turn = yield from must_read(job.tenant, str(job.payload["turn"]))
    if turn.reason is not None:
        return JobState.DONE
    state = yield from jobs.settle_safe(now, job, loss)
    if state is not JobState.QUEUED:
        was_stopped = loss is Loss.STOPPED
        yield from close(now, turn, turn_ends.STOPPED if was_stopped else turn_ends.GIVEN_UP)
    return state


def waiting(tenant: str | None, conversation: str | None) -> Transaction[list[Waiting]]:
    """Return the turns that have not ended, in order of arrival; of every tenant for None."""
    found = yield from rows(
        f"SELECT job.state = 'running' OR job.attempt + job.tries > 0 AS runs, {_COLUMNS} JOIN job ON job.id = :kind || turn.id"
        " WHERE (:tenant IS NULL OR turn.tenant = :tenant) AND turn.ended_at IS NULL"
        " AND (:conversation IS NULL OR turn.conversation = :conversation) ORDER BY job.seq",
        tenant=tenant, conversation=conversation, kind=job_of(""),
    )  # fmt: skip
    return [Waiting(turn=_built(row), runs=bool(row["runs"])) for row in found]


def read(tenant: str, turn: str) -> Transaction[Turn | None]:
    """Return a turn as it is now."""
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE turn.id = :id AND turn.tenant = :tenant", id=turn, tenant=tenant
    )
    return _built(found[0]) if found else None


def must_read(tenant: str, turn: str) -> Transaction[Turn]:
    """Return a turn that has to be there."""
    found = yield from read(tenant, turn)
    if found is None:
        raise Refused("There is no such message.")
    return found


def _built(row: Row) -> Turn:
    return Turn(
        id=row["id"],
        tenant=row["tenant"],
        conversation=row["conversation"],
        principal=row["principal"],
        place=place_of(row),
        wish=WISH.validate_json(row["wish"]),
        profile=row["profile"],
        schedule=row["schedule"],
        reason=Reason(row["reason"]) if row["reason"] else None,
        text=row["text"],
        suggestions=tuple(json.loads(row["suggestions"])),
        request=row["request"],
        killed=row["killed"],
        absorbed_by=row["absorbed_by"],
    )
