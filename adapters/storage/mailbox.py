"""What a turn took in while it ran ends with it, in the transaction of its end, or not at all."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.storage import happenings
from adapters.storage.entries import append
from adapters.storage.transactions import Row, Transaction, log, rows, sql, text_of
from core.conversations import Turn, TurnEnd, job_of, lane_of
from core.mailbox import LEFT, TOGETHER, Message
from core.outcomes import WHOLE, Reason
from core.trail import Finished
from core.transcript import Noted


def arrived(turn: Turn) -> Transaction[list[Message]]:
    """Return what people said that waits behind a turn, in order of arrival."""
    found = yield from rows(
        "SELECT turn.id, turn.principal, turn.wish FROM job JOIN turn ON turn.id = substr(job.id, :start)"
        " WHERE job.lane = :lane AND job.state = 'queued' AND turn.tenant = :tenant"
        " AND turn.schedule IS NULL ORDER BY job.seq",
        lane=lane_of(turn.conversation), tenant=turn.tenant, start=len(job_of("")) + 1,
    )  # fmt: skip
    words = ((row, _words(row)) for row in found)
    return [
        Message(id=row["id"], speaker=row["principal"], text=text)
        for row, text in words
        if text is not None
    ]


def absorb(now: datetime, turn: Turn, end: TurnEnd) -> Transaction[tuple[Noted, ...]]:
    """End what a turn took in, where it still waits; return what the model is to know of the others."""
    wanted = end.absorbed if end.reason in WHOLE else ()
    ended = yield from _ended(now, turn, wanted)
    for name, text in ended:
        yield from append(now, turn.conversation, "asked", turn.principal, text, about=name)
        yield from log(
            now, turn.tenant, "turn.ended", turn.principal, turn=name, reason=Reason.ANSWERED,
            absorbed_by=turn.id,
        )  # fmt: skip
        finished = Finished(reason=Reason.ANSWERED)
        yield from happenings.extend(now, replace(turn, id=name), 0, [finished])
    return (LEFT,) if len(ended) < len(end.absorbed) else ()


def _ended(now: datetime, turn: Turn, wanted: Sequence[str]) -> Transaction[list[tuple[str, str]]]:
    """End those that may be and still wait, which their jobs decide; return id and words of each."""
    may = (yield from _theirs(turn, wanted)) if wanted else {}
    taken = (yield from _taken(now, may)) if may else set()
    ended = [name for name in wanted if job_of(name) in taken]
    for name in ended:
        yield sql(
            "UPDATE turn SET ended_at = :now, reason = :reason, text = :text, absorbed_by = :by"
            " WHERE id = :id",
            now=text_of(now), reason=Reason.ANSWERED, text=TOGETHER, by=turn.id, id=name,
        )  # fmt: skip
    return [(name, may[name]) for name in ended]


def _theirs(turn: Turn, wanted: Sequence[str]) -> Transaction[dict[str, str]]:
    """Return the words of those that the same person said in the same conversation."""
    found = yield from rows(
        "SELECT id, wish FROM turn WHERE id IN (SELECT value FROM json_each(:wanted))"
        " AND tenant = :tenant AND conversation = :conversation AND principal = :principal"
        " AND schedule IS NULL",
        wanted=json.dumps(wanted), tenant=turn.tenant, conversation=turn.conversation,
        principal=turn.principal,
    )  # fmt: skip
    words = ((row["id"], _words(row)) for row in found)
    return {name: text for name, text in words if text is not None}


def _words(row: Row) -> str | None:
    """Return what somebody said to the agent; None for every other wish."""
    wish: Any = json.loads(row["wish"])
    return str(wish["text"]) if wish["kind"] == "words" else None


def _taken(now: datetime, names: Iterable[str]) -> Transaction[set[str]]:
    """End the jobs of these messages; return those that nobody held, stopped or ended before."""
    found = yield from rows(
        "UPDATE job SET state = 'done', ended_at = :now, owner = NULL, lease_until = NULL"
        " WHERE id IN (SELECT value FROM json_each(:ids)) AND state = 'queued' RETURNING id",
        now=text_of(now), ids=json.dumps([*map(job_of, names)]),
    )  # fmt: skip
    return {row["id"] for row in found}
