"""What happened in turns, as rows that are only ever added to."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from adapters.storage.transactions import Transaction, rows, sql, text_of
from core import canonical
from core.conversations import Turn
from core.trail import Happening


def extend(
    now: datetime, turn: Turn, fence: int, happened: Sequence[Happening]
) -> Transaction[None]:
    """Append what happened in a turn; only who holds it, or ends it, does that."""
    found = yield from rows(
        "SELECT coalesce(max(seq), 0) AS last FROM happening WHERE turn = :turn", turn=turn.id
    )
    for seq, one in enumerate(happened, found[0]["last"] + 1):
        yield sql(
            "INSERT INTO happening (tenant, conversation, turn, claim, seq, at, kind, body)"
            " SELECT tenant, conversation, id, :claim, :seq, :at, :kind, :body FROM turn"
            " WHERE id = :turn AND tenant = :tenant",
            tenant=turn.tenant, turn=turn.id, claim=fence, seq=seq,
            at=text_of(now), kind=type(one).__name__.lower(), body=canonical.encode(asdict(one)),
        )  # fmt: skip
