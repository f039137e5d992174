"""Reminders. Implements `core.reminders.Reminders`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage import attempts, jobs, receiving
from adapters.storage.entries import append, place_of
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Row,
    Transaction,
    changed,
    log,
    rows,
    text_of,
    time_of,
)
from core.conversations import NewTurn
from core.errors import Refused
from core.jobs import Job, JobState, Loss, NewJob, Replay
from core.reminders import (
    DUE,
    NewReminder,
    Reminder,
    ReminderState,
    job_of,
    schedule_of,
)
from core.tools import Caller

_COLUMNS = (
    "reminder.*, conversation.platform, conversation.workspace, conversation.channel,"
    " conversation.thread FROM reminder JOIN conversation"
    " ON conversation.id = reminder.conversation AND conversation.tenant = reminder.tenant"
)
_DROPPED = ReminderState.DROPPED
_UNTOLD = (
    "A reminder of {owner}'s was due and could not be told: something failed that nobody foresaw. An "
    "operator finds it in the log; set it again if it still matters."
)
_FROM_ONE = (
    "A reminder started this turn, and such a turn sets no other one. Say what is to be looked at "
    "next, so that a person can set it."
)


@dataclass(frozen=True, slots=True)
class Reminders:
    """One database's reminders."""

    database: Database

    async def add(self, new: NewReminder, *, most: int) -> Reminder:
        """See the port."""
        return await self.database.transact(lambda now: _add(now, new, most))

    async def pending(self, tenant: str, owner: str, conversation: str) -> list[Reminder]:
        """See the port."""
        return await self.database.transact(lambda _: _pending(tenant, owner, conversation))

    async def cancel(self, caller: Caller, reminder: str) -> bool:
        """See the port."""
        return await self.database.transact(lambda now: _cancel(now, caller, reminder))

    async def get(self, tenant: str, reminder: str) -> Reminder | None:
        """See the port."""
        return await self.database.transact(lambda _: _get(tenant, reminder))

    async def tell(self, reminder: Reminder, note: str, turn: NewTurn | None = None) -> None:
        """See the port."""
        await self.database.transact(lambda now: _tell(now, reminder, note, turn))

    async def drop(self, reminder: Reminder) -> None:
        """See the port."""
        await self.database.transact(lambda now: _end(now, reminder, ReminderState.DROPPED))


def settle(now: datetime, job: Job, loss: Loss, *, most: int) -> Transaction[JobState]:
    """Have the job of a reminder run again; where that is of no use, end its reminder with a word."""
    state = yield from jobs.settle_safe(now, job, loss, most=most)
    found = yield from _get(job.tenant, str(job.payload["reminder"]))
    if found and state is not JobState.QUEUED and (yield from _end(now, found, _DROPPED)):
        text = _UNTOLD.format(owner=found.owner)
        yield from append(now, found.conversation, "note", SYSTEM, text, about=found.id)
    return state


def _add(now: datetime, new: NewReminder, most: int) -> Transaction[Reminder]:
    caller = new.caller
    yield from jobs.must_go_on(now, caller.claim)
    added = yield from changed(
        "INSERT INTO reminder (tenant, id, conversation, owner, text, set_at, due_at, state)"
        " SELECT :tenant, :id, conversation.id, :owner, :text, :now, :due, 'pending'"
        " FROM conversation WHERE conversation.id = :conversation AND tenant = :tenant"
        " AND (SELECT count(*) FROM reminder WHERE tenant = :tenant AND owner = :owner"
        " AND state = 'pending') < :most"
        " AND NOT EXISTS (SELECT 1 FROM turn WHERE id = :turn AND schedule LIKE :mark)"
        " ON CONFLICT DO NOTHING RETURNING id",
        tenant=caller.tenant, id=new.id, conversation=caller.conversation, owner=caller.principal,
        text=new.text, now=text_of(now), due=text_of(new.due), most=most, turn=caller.turn,
        mark=schedule_of("%"),
    )  # fmt: skip
    kept = yield from _get(caller.tenant, new.id)
    if kept is None:
        raise Refused((yield from _obstacle(caller)))
    if added:
        yield from jobs.submit(now, _job(now, new))
        yield from _log(now, kept, "set", caller.principal)
    return kept


def _obstacle(caller: Caller) -> Transaction[str]:
    """Say why a reminder was not kept."""
    found = yield from rows(
        "SELECT 1 FROM turn WHERE id = :turn AND schedule LIKE :mark",
        turn=caller.turn, mark=schedule_of("%"),
    )  # fmt: skip
    return _FROM_ONE if found else "You have too many reminders pending. Cancel one first."


def _job(now: datetime, new: NewReminder) -> NewJob:
    name = job_of(new.id)
    return NewJob(
        id=name,
        kind=DUE,
        tenant=new.caller.tenant,
        payload={"reminder": new.id},
        replay=Replay.SAFE,
        dedupe=name,
        delay=max(new.due - now, timedelta()),
    )


def _pending(tenant: str, owner: str, conversation: str) -> Transaction[list[Reminder]]:
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE reminder.tenant = :tenant AND owner = :owner"
        " AND reminder.conversation = :conversation AND state = 'pending' ORDER BY due_at, reminder.id",
        tenant=tenant, owner=owner, conversation=conversation,
    )  # fmt: skip
    return [_built(row) for row in found]


def _get(tenant: str, reminder: str) -> Transaction[Reminder | None]:
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE reminder.tenant = :tenant AND reminder.id = :id",
        tenant=tenant, id=reminder,
    )  # fmt: skip
    return _built(found[0]) if found else None


def _cancel(now: datetime, caller: Caller, reminder: str) -> Transaction[bool]:
    yield from jobs.must_go_on(now, caller.claim)
    found = yield from _get(caller.tenant, reminder)
    if found is None or found.owner != caller.principal:
        return False
    ended = yield from _end(now, found, ReminderState.CANCELLED, caller.principal)
    return ended or found.state is ReminderState.CANCELLED


def _tell(now: datetime, reminder: Reminder, note: str, turn: NewTurn | None) -> Transaction[None]:
    if not (yield from _end(now, reminder, ReminderState.TOLD)):
        return
    yield from append(now, reminder.conversation, "note", SYSTEM, note, about=reminder.id)
    if turn is None:
        return
    try:
        yield from receiving.receive(now, turn)
    except Refused as refusal:  # before it wrote anything; the note is there, so its owner knows
        tenant, owner = reminder.tenant, reminder.owner
        yield from attempts.refused(now, tenant, owner, given="", why=refusal.logged)


def _end(
    now: datetime, reminder: Reminder, state: ReminderState, principal: str = SYSTEM
) -> Transaction[bool]:
    """End a reminder that is pending, once; its job, where one waits, then has nothing left to do."""
    ended = yield from changed(
        "UPDATE reminder SET state = :state WHERE tenant = :tenant AND id = :id"
        " AND owner = :owner AND state = 'pending' RETURNING id",
        state=state, tenant=reminder.tenant, id=reminder.id, owner=reminder.owner,
    )  # fmt: skip
    if ended:
        if state is ReminderState.CANCELLED:
            yield from jobs.cancel(now, job_of(reminder.id))
        yield from _log(now, reminder, state.value, principal)
    return ended


def _log(now: datetime, reminder: Reminder, what: str, principal: str) -> Transaction[None]:
    yield from log(
        now, reminder.tenant, f"reminder.{what}", principal, reminder=reminder.id,
        conversation=reminder.conversation,
    )  # fmt: skip


def _built(row: Row) -> Reminder:
    return Reminder(
        id=row["id"],
        tenant=row["tenant"],
        owner=row["owner"],
        conversation=row["conversation"],
        place=place_of(row),
        text=row["text"],
        set_at=time_of(row["set_at"]),
        due=time_of(row["due_at"]),
        state=ReminderState(row["state"]),
    )
