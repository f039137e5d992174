"""What a model knows of a conversation, as rows that are only ever added to."""

from collections.abc import Sequence

from adapters.storage.transactions import Transaction, rows, sql
from core.conversations import History, Mark, Turn
from core.stored_entries import body_of, entry_of, kind_of
from core.transcript import Entry, Noted


def extend(conversation: str, entries: Sequence[Entry]) -> Transaction[None]:
    """Append what a turn added; only the end of a turn calls this."""
    found = yield from rows(
        "SELECT coalesce(max(seq), 0) AS last FROM transcript WHERE conversation = :conversation",
        conversation=conversation,
    )
    for seq, entry in enumerate(entries, found[0]["last"] + 1):
        yield sql(
            "INSERT INTO transcript (conversation, seq, kind, body, entry)"
            " VALUES (:conversation, :seq, :kind, :body, :entry)",
            conversation=conversation, seq=seq, kind=kind_of(entry),
            body=body_of(entry),
            entry=entry.entry if isinstance(entry, Noted) else None,
        )  # fmt: skip


def history(turn: Turn, after: Mark) -> Transaction[History]:
    """Return what the model was sent in earlier turns, and what software has to tell since."""
    here = yield from rows(
        "SELECT epoch, (SELECT coalesce(max(seq), 1) - 1 FROM transcript"
        " WHERE conversation = :id AND kind = 'compacted') AS start"
        " FROM conversation WHERE id = :id AND tenant = :tenant",
        id=turn.conversation, tenant=turn.tenant,
    )  # fmt: skip
    if not here:
        return History(entries=(), news=())
    epoch: int = here[0]["epoch"]
    last: int = after.last if after.epoch == epoch else here[0]["start"]
    known = yield from rows(
        "SELECT seq, kind, body FROM transcript"
        " WHERE conversation = :conversation AND seq > :last ORDER BY seq",
        conversation=turn.conversation, last=last,
    )  # fmt: skip
    return History(
        entries=tuple(entry_of(row["kind"], row["body"]) for row in known),
        news=(yield from news(turn)),
        mark=Mark(epoch=epoch, last=known[-1]["seq"] if known else last),
    )


def news(turn: Turn) -> Transaction[tuple[Noted, ...]]:
    """Return what software has to tell since it last told anything; nothing of what was erased."""
    found = yield from rows(
        "SELECT seq, text FROM entry JOIN conversation ON conversation.id = entry.conversation"
        " WHERE conversation = :conversation AND tenant = :tenant AND kind IN ('report', 'note')"
        " AND text <> '' AND seq > (SELECT coalesce(max(entry), 0) FROM transcript"
        " WHERE conversation = :conversation AND entry IS NOT NULL) ORDER BY seq",
        conversation=turn.conversation, tenant=turn.tenant,
    )  # fmt: skip
    return tuple(Noted(text=row["text"], entry=row["seq"]) for row in found)
