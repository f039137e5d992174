"""Conversations and their turns. Implements `core.conversations.Conversations`."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.storage import mailbox, receiving, transcripts, turns
from adapters.storage.opening import freeze
from adapters.storage.transactions import Database
from core.conversations import (
    START,
    Arrival,
    Closing,
    History,
    Mark,
    NewTurn,
    Received,
    Turn,
    Waiting,
)
from core.events import Place
from core.jobs import Job
from core.mailbox import Message
from core.plans import Plan
from core.rates import NoRoom
from core.trail import Happening
from core.transcript import Noted


@dataclass(frozen=True, slots=True)
class Conversations:
    """One database's conversations."""

    database: Database

    async def arrived_before(self, arrival: Arrival) -> Turn | NoRoom | None:
        """See the port."""
        return await self.database.transact(lambda now: receiving.before(now, arrival))

    async def receive(self, new: NewTurn) -> Received:
        """See the port."""
        return await self.database.transact(lambda now: receiving.receive(now, new))

    async def turn(self, tenant: str, turn: str) -> Turn | None:
        """See the port."""
        return await self.database.transact(lambda _: turns.read(tenant, turn))

    async def history(self, turn: Turn, after: Mark = START) -> History:
        """See the port."""
        return await self.database.transact(lambda _: transcripts.history(turn, after))

    async def news(self, turn: Turn) -> tuple[Noted, ...]:
        """See the port."""
        return await self.database.transact(lambda _: transcripts.news(turn))

    async def happened(self, turn: Turn, job: Job, happened: Sequence[Happening]) -> None:
        """See the port."""
        await self.database.transact(lambda now: turns.tell(now, turn, job, happened))

    async def end(self, closing: Closing) -> bool:
        """See the port."""
        return await self.database.transact(lambda now: turns.end(now, closing))

    async def at(self, tenant: str, place: Place) -> str | None:
        """See the port."""
        return await self.database.transact(lambda _: receiving.at(tenant, place))

    async def waiting(self, tenant: str, conversation: str | None) -> list[Waiting]:
        """See the port."""
        return await self.database.transact(lambda _: turns.waiting(tenant, conversation))

    async def arrived(self, turn: Turn) -> list[Message]:
        """See the port."""
        return await self.database.transact(lambda _: mailbox.arrived(turn))

    async def stop(self, turn: Turn, *, principal: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: turns.stop(now, turn, principal))

    async def keep_plan(self, turn: Turn, job: Job, plan: Plan) -> None:
        """See the port."""
        await self.database.transact(lambda now: freeze(now, turn, job, plan))
