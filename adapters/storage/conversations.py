"""Conversations, their turns and what was said in them. Implements `core.ports.Conversations`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage.opening import keep_plan
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Transaction,
    append,
    changed,
    log,
    rows,
    sql,
    text_of,
)
from core.conversations import Turn
from core.errors import Refused
from core.events import Place


@dataclass(frozen=True, slots=True)
class Conversations:
    """One database's conversations."""

    database: Database

    async def begin_turn(self, turn: Turn, place: Place, text: str, *, opens: bool) -> None:
        """See the port."""
        await self.database.transact(lambda now: _begin(now, turn, place, text, opens=opens))

    async def end_turn(self, turn: Turn, *, reason: str, text: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: _end(now, turn, reason, text))

    async def keep_plan(self, tenant: str, plan: str, sha256: str, body: str) -> None:
        """See the port."""
        await self.database.transact(lambda _: keep_plan(tenant, plan, sha256, body))


def _begin(now: datetime, turn: Turn, place: Place, text: str, *, opens: bool) -> Transaction[None]:
    if opens:
        yield from _open(now, turn, place)

    here = yield from rows(
        "SELECT 1 FROM conversation WHERE id = :id AND tenant = :tenant AND platform = :platform"
        " AND workspace = :workspace AND channel = :channel",
        id=turn.conversation, tenant=turn.tenant, platform=place.platform,
        workspace=place.workspace, channel=place.channel,
    )  # fmt: skip
    if not here:
        # Another tenant's or another place's: the same words as for one that does not exist.
        raise Refused("There is no such conversation here. Leave it out to start a new one.")
    yield sql(
        "INSERT INTO turn (id, tenant, conversation, principal, started_at)"
        " VALUES (:id, :tenant, :conversation, :principal, :now)",
        id=turn.id, tenant=turn.tenant, conversation=turn.conversation,
        principal=turn.principal, now=text_of(now),
    )  # fmt: skip
    yield from append(now, turn.conversation, "asked", turn.principal, text)
    yield from log(
        now, turn.tenant, "turn.begun", turn.principal, turn=turn.id, conversation=turn.conversation
    )


def _open(now: datetime, turn: Turn, place: Place) -> Transaction[None]:
    yield sql(
        "INSERT INTO conversation (id, tenant, platform, workspace, channel, opened_at)"
        " VALUES (:id, :tenant, :platform, :workspace, :channel, :now)",
        id=turn.conversation, tenant=turn.tenant, platform=place.platform,
        workspace=place.workspace, channel=place.channel, now=text_of(now),
    )  # fmt: skip


def _end(now: datetime, turn: Turn, reason: str, text: str) -> Transaction[None]:
    ended = yield from changed(
        "UPDATE turn SET ended_at = :now, reason = :reason WHERE id = :id AND tenant = :tenant"
        " AND conversation = :conversation AND ended_at IS NULL RETURNING id",
        now=text_of(now), reason=reason, id=turn.id, tenant=turn.tenant,
        conversation=turn.conversation,
    )  # fmt: skip
    if ended:
        if text:
            yield from append(now, turn.conversation, "answered", SYSTEM, text)
        yield from log(now, turn.tenant, "turn.ended", turn.principal, turn=turn.id, reason=reason)
