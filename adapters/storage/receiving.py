"""Messages as they come in: each received once, under whatever ids, and queued with its turn."""

import json
from datetime import datetime

from adapters.storage import jobs, rates, turns
from adapters.storage.transactions import Transaction, log, rows, sql, text_of
from core import canonical, deliveries
from core.conversations import (
    MOST_WAITING,
    TURN,
    Arrival,
    NewTurn,
    NotHere,
    Received,
    Turn,
    job_of,
    lane_of,
)
from core.deliveries import OPEN
from core.errors import Refused
from core.events import OPENS, Place
from core.jobs import NewJob, Replay
from core.rates import TOO_FAST, NoRoom, TooFast


def before(now: datetime, arrival: Arrival) -> Transaction[Turn | NoRoom | None]:
    """Return the turn of a message that came in before, else why its rate holds it back."""
    turn = yield from _received(arrival)
    if turn or arrival.rate is None:
        return turn
    lacking = yield from rates.lacking(now, arrival.tenant, arrival.principal, [arrival.rate])
    return lacking[0] if lacking else None


def receive(now: datetime, new: NewTurn) -> Transaction[Received]:
    """Keep a message and queue its turn, unless it came in before under any of its ids."""
    known = yield from _received(new)
    if known:
        return Received(turn=known, ahead=0)
    if new.rate:
        # Not before: two deliveries of one message at once are counted once.
        lacking = yield from rates.take(now, new.tenant, new.principal, [new.rate])
        if lacking:
            raise TooFast(lacking[0].refusal(TOO_FAST))
    if new.schedule:
        yield from _must_be_the_only_one(now, new)
    conversation = yield from _conversation(now, new)
    ahead = yield from _ahead(conversation)
    yield sql(
        "INSERT INTO turn (id, tenant, conversation, principal, wish, schedule, received_at)"
        " VALUES (:id, :tenant, :conversation, :principal, :wish, :schedule, :now)",
        id=new.id, tenant=new.tenant, conversation=conversation, principal=new.principal,
        schedule=new.schedule, wish=canonical.encode(turns.WISH.dump_python(new.wish, mode="json")), now=text_of(now),
    )  # fmt: skip
    yield from _remember(new, new.id)
    yield from jobs.submit(now, _job(new, conversation))
    yield from log(
        now, new.tenant, "turn.received", new.principal, turn=new.id, conversation=conversation,
        schedule=new.schedule,
    )  # fmt: skip
    turn = yield from turns.must_read(new.tenant, new.id)
    return Received(turn=turn, ahead=ahead)


def _must_be_the_only_one(now: datetime, new: NewTurn) -> Transaction[None]:
    waits = yield from rows(
        "SELECT 1 FROM (SELECT * FROM turn WHERE tenant = :tenant AND schedule = :schedule"
        " ORDER BY received_at DESC LIMIT 1) last LEFT JOIN request ON request.id = last.request"
        " WHERE last.ended_at IS NULL"
        " OR request.state IN ('open', 'granted') AND request.expires_at > :now",
        tenant=new.tenant, schedule=new.schedule, now=text_of(now),
    )  # fmt: skip
    if waits:
        raise Refused("Skipped, because what it asked for last still waits.")


def _job(new: NewTurn, conversation: str) -> NewJob:
    return NewJob(
        id=job_of(new.id),
        kind=TURN,
        tenant=new.tenant,
        payload={"turn": new.id},
        replay=Replay.SAFE,
        lane=lane_of(conversation),
        reserved_for=new.runner,
    )


def _received(new: Arrival) -> Transaction[Turn | None]:
    """Return the turn of a message that came in before under any of its ids, and keep the others."""
    found = yield from rows(
        "SELECT turn FROM received WHERE tenant = :tenant AND platform = :platform"
        " AND workspace = :workspace AND delivery IN (SELECT value FROM json_each(:deliveries))",
        tenant=new.tenant, platform=new.place.platform, workspace=new.place.workspace,
        deliveries=json.dumps(new.deliveries),
    )  # fmt: skip
    if not found:
        return None
    yield from _remember(new, found[0]["turn"])
    return (yield from turns.must_read(new.tenant, found[0]["turn"]))


def _remember(new: Arrival, turn: str) -> Transaction[None]:
    """Keep every id, also one that a message comes back under for the first time."""
    for delivery in new.deliveries:
        yield sql(
            "INSERT INTO received (tenant, platform, workspace, delivery, turn)"
            " VALUES (:tenant, :platform, :workspace, :delivery, :turn) ON CONFLICT DO NOTHING",
            tenant=new.tenant, platform=new.place.platform, workspace=new.place.workspace,
            delivery=delivery, turn=turn,
        )  # fmt: skip


def at(tenant: str, place: Place) -> Transaction[str | None]:
    """Return the conversation of a thread, if it is one's.

    One whose thread opens from a message is found under that message's id, which is the thread's on
    Discord: somebody may write in it before anybody knows that it is open.
    """
    found = yield from rows(
        "SELECT id FROM conversation WHERE tenant = :tenant AND platform = :platform"
        " AND workspace = :workspace AND channel = :channel"
        " AND thread IN (:thread, :opens || :thread)",
        tenant=tenant, platform=place.platform, workspace=place.workspace,
        channel=place.channel, thread=place.thread, opens=OPENS,
    )  # fmt: skip
    return found[0]["id"] if found else None


def _conversation(now: datetime, new: NewTurn) -> Transaction[str]:
    """Return the conversation that was named, or that of the thread, or a new one."""
    place = new.place
    found = yield from rows(
        "SELECT id, profile FROM conversation WHERE tenant = :tenant AND platform = :platform"
        " AND workspace = :workspace AND channel = :channel"
        " AND (id = :id AND (thread IS NULL OR thread = :thread)"
        " OR :id IS NULL AND thread IN (:thread, :opens || :thread))",
        opens=OPENS, id=new.conversation, tenant=new.tenant, platform=place.platform,
        workspace=place.workspace, channel=place.channel, thread=place.thread,
    )  # fmt: skip
    if found:
        name, profile = found[0]["id"], found[0]["profile"]
        if new.chosen and profile != new.profile:
            raise Refused(
                f"This conversation has the profile {profile}. Start a new one to use another."
            )
        return str(name)
    if new.conversation is not None:
        # Another tenant's or another place's: the same words as for one that does not exist.
        raise NotHere("There is no such conversation here. Leave it out to start a new one.")
    yield sql(
        "INSERT INTO conversation"
        " (id, tenant, platform, workspace, channel, thread, profile, opened_at)"
        " VALUES (:id, :tenant, :platform, :workspace, :channel, :thread, :profile, :now)",
        id=new.opens, tenant=new.tenant, platform=place.platform, workspace=place.workspace,
        channel=place.channel, thread=place.thread, profile=new.profile, now=text_of(now),
    )  # fmt: skip
    if not place.is_opened:
        yield from jobs.submit(now, _opening(new))
    return new.opens


def _opening(new: NewTurn) -> NewJob:
    """Return the job that opens the thread, before anything is posted there."""
    return NewJob(
        id=f"{OPEN}:{new.opens}",
        kind=OPEN,
        tenant=new.tenant,
        payload={"conversation": new.opens},
        replay=Replay.SAFE,
        lane=deliveries.lane_of(new.opens),
    )


def _ahead(conversation: str) -> Transaction[int]:
    found = yield from rows(
        "SELECT count(*) AS number FROM job WHERE lane = :lane AND state = 'queued'"
        " UNION ALL SELECT count(*) FROM job WHERE lane = :lane AND state = 'running'",
        lane=lane_of(conversation),
    )
    queued, running = (row["number"] for row in found)
    if queued >= MOST_WAITING:
        raise Refused(
            f"{MOST_WAITING} messages wait in this conversation already. Wait until some are "
            "answered, or stop this conversation twice: the second time takes what waits."
        )
    ahead: int = queued + running
    return ahead
