"""Removes the content of a conversation. Implements `core.erasing.Erasing`.

What other rows refer to stays and says that it was erased. Ids, states, names of people and tools,
and digests stay too, so that the audit log can be followed to the end.
"""
# ruff: noqa: S608 - nothing but constants becomes SQL

from dataclasses import dataclass
from datetime import datetime

from adapters.storage import deciding, using
from adapters.storage.entries import redraw
from adapters.storage.request_rows import about_text
from adapters.storage.transactions import (
    SYSTEM,
    ErasingDatabase,
    Rows,
    Transaction,
    log,
    rows,
    text_of,
)
from core import canonical
from core.cards import encode
from core.erasing import CARD, ERASED, Erased
from core.errors import Refused
from core.transcript import AgentText

UNKNOWN = "There is no such conversation. `sayso ask --json` and `requests` name them."
LIVE = (
    "Something in this conversation has not ended: a message, a request, a run or an unknown step. "
    "Stop it with `sayso stop CONVERSATION`, end what is unknown with `sayso resolve`, then erase "
    "it again."
)
_WISH = canonical.encode({"kind": "words", "text": ""})
_CARD = encode(CARD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table that holds content: which rows of a conversation do, and how it is removed."""

    table: str
    columns: tuple[str, ...]
    """What identifies a row, and then its content."""
    where: str
    order: str
    change: str
    """`DELETE`, or the new values of an `UPDATE`."""

    @property
    def found(self) -> str:
        """Return the statement that reads what is to be removed."""
        columns = ", ".join(self.columns)
        return f"SELECT {columns} FROM {self.table} WHERE {self.where} ORDER BY {self.order}"

    @property
    def removal(self) -> str:
        """Return the statement that removes it."""
        if self.change == "DELETE":
            return f"DELETE FROM {self.table} WHERE {self.where}"
        return f"UPDATE {self.table} SET {self.change} WHERE {self.where}"


_HERE = "conversation = :conversation"
_UNUSED = (
    f"tenant = :tenant AND body <> '' AND (id IN (SELECT plan FROM request WHERE {_HERE})"
    f" OR id IN (SELECT plan FROM frozen WHERE {_HERE}))"
    " AND NOT EXISTS (SELECT 1 FROM request WHERE request.tenant = plan.tenant"
    " AND request.plan = plan.id AND conversation <> :conversation AND card_sha256 <> :card_sha256)"
    " AND NOT EXISTS (SELECT 1 FROM frozen WHERE frozen.tenant = plan.tenant"
    " AND frozen.plan = plan.id AND conversation <> :conversation)"
)
"""Plans of this conversation that no other one has too."""

PARTS = (
    Part(
        table="plan", columns=("id", "sha256", "body"), order="id", where=_UNUSED, change="body = ''",
    ),
    Part(
        table="frozen", columns=("plan",), order="plan", where=_HERE, change="DELETE",
    ),
    Part(
        table="entry", columns=("seq", "kind", "author", "text"), order="seq",
        where=f"{_HERE} AND text <> ''", change="text = ''",
    ),
    Part(
        table="transcript", columns=("seq", "kind", "body"), order="seq", where=_HERE, change="DELETE",
    ),
    Part(
        table="turn", columns=("id", "wish", "text", "suggestions"), order="received_at, id",
        where=f"{_HERE} AND (wish <> :wish OR text <> '' OR suggestions <> '[]')",
        change="wish = :wish, text = '', suggestions = '[]'",
    ),
    Part(
        table="request", columns=("id", "about", "card", "reason", "broken_why"), order="opened_at, id",
        where=f"{_HERE} AND card_sha256 <> :card_sha256",
        change="about = :about, card = :card, card_sha256 = :card_sha256,"
        " reason = CASE reason WHEN '' THEN '' ELSE :erased END,"
        " broken_why = CASE broken_why WHEN '' THEN '' ELSE :erased END",
    ),
    Part(
        table="step", columns=("run", "number", "output", "note"), order="run, number",
        where=f"run IN (SELECT id FROM run WHERE {_HERE}) AND (output <> '' OR note <> :erased)",
        change="output = '', note = :erased",
    ),
    Part(
        table="artifact", columns=("run", "number", "bytes", "sha256"), order="run, number",
        where=f"{_HERE} AND sha256 IS NOT NULL AND removed_at IS NULL", change="removed_at = :now",
    ),
    Part(
        table="denial", columns=("request", "effect", "reason"), order="request, effect",
        where=f"{_HERE} AND reason NOT IN ('', :erased)", change="reason = :erased",
    ),
    Part(
        table="memory", columns=("id", "kind", "trust", "source", "text"), order="seq", where=_HERE,
        change="DELETE",
    ),
    Part(
        table="reminder", columns=("id", "owner", "text"), order="id",
        where=f"{_HERE} AND (text <> '' OR state = 'pending')",
        change="text = '', state = CASE state WHEN 'pending' THEN 'dropped' ELSE state END",
    ),
    Part(
        table="frame", columns=("intent", "entities"), order="conversation", where=_HERE,
        change="DELETE",
    ),
    Part(
        table="draft", columns=("turn", "message"), order="turn", where=_HERE, change="DELETE",
    ),
    Part(
        table="happening", columns=("turn", "seq", "kind", "body"), order="turn, seq", where=_HERE,
        change="DELETE",
    ),
)  # fmt: skip
"""Every table that holds content. A new one that does belongs here."""


@dataclass(frozen=True, slots=True)
class Erasing:
    """One database's conversations, to be erased."""

    database: ErasingDatabase

    async def erase(self, conversation: str, *, account: str) -> Erased:
        """See the port."""
        return await self.database.erase(lambda now: _erase(now, conversation, account))


def _erase(now: datetime, conversation: str, account: str) -> Transaction[Erased]:
    yield from deciding.expire(now)
    tenant = yield from _must_be_over(now, conversation)
    yield from using.erased(now, tenant, conversation)
    removed, digests = dict[str, int](), dict[str, str]()
    for part in PARTS:
        found = yield from _remove(now, part, conversation, tenant)
        if found:
            removed[part.table] = len(found)
            digests[part.table] = canonical.digest(
                [[row[name] for name in part.columns] for row in found]
            )
        if part.table == "request":
            for row in found:
                yield from redraw(now, conversation, row["id"])
    sha256 = canonical.digest(digests)
    if removed:
        yield from log(
            now, tenant, "conversation.erased", SYSTEM, conversation=conversation,
            account=account, removed=removed, digests=digests, sha256=sha256,
        )  # fmt: skip
    return Erased(conversation=conversation, removed=removed, sha256=sha256)


def _must_be_over(now: datetime, conversation: str) -> Transaction[str]:
    """Mark it as erased and return its tenant; raise `Refused` where it may not be."""
    marked = yield from rows(
        f"UPDATE conversation SET erased_at = :now WHERE id = :conversation"
        f" AND NOT EXISTS (SELECT 1 FROM turn WHERE {_HERE} AND ended_at IS NULL)"
        f" AND NOT EXISTS (SELECT 1 FROM request WHERE {_HERE} AND state IN ('open', 'granted'))"
        f" AND NOT EXISTS (SELECT 1 FROM run WHERE {_HERE} AND state IN ('running', 'unknown'))"
        " RETURNING tenant",
        now=text_of(now), conversation=conversation,
    )  # fmt: skip
    if marked:
        tenant: str = marked[0]["tenant"]
        return tenant
    known = yield from rows("SELECT 1 FROM conversation WHERE id = :id", id=conversation)
    raise Refused(LIVE if known else UNKNOWN)


def _remove(now: datetime, part: Part, conversation: str, tenant: str) -> Transaction[Rows]:
    """Remove one table's part, and return what it was."""
    values = {
        "conversation": conversation, "tenant": tenant, "erased": ERASED, "now": text_of(now),
        "wish": _WISH, "about": about_text(AgentText()), "card": _CARD,
        "card_sha256": canonical.sha256(_CARD),
    }  # fmt: skip
    found = yield from rows(part.found, **values)
    yield from rows(part.removal, **values)
    return found
