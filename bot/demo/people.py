"""What the demo's people do, through the same doors as everybody: ask, approve, deny."""

import asyncio
from dataclasses import dataclass
from functools import partial

from bot import authority, plain, wiring
from bot.ask import Answered
from bot.wiring import App
from core import audit
from core.errors import SaysoError
from core.events import Approve, Ask, Deny, Stop
from core.principals import Identity


@dataclass(frozen=True, slots=True)
class People:
    """Everybody in one terminal."""

    app: App

    async def ask(self, who: str, text: str, conversation: str | None = None) -> Answered:
        """Ask; raises what the inbox raises."""
        received = await self.app.inbox.ask(
            Ask(
                identity=_identity(who),
                place=authority.CONSOLE_PLACE,
                text=text,
                conversation=conversation,
            )
        )
        return await self.app.asking.answer(received, asyncio.Event())

    async def approve(self, who: str, request: str) -> str:
        """Approve, and return what people read about it, a refusal included."""
        try:
            click = Approve(identity=_identity(who), request=request)
            decided = await self.app.deciding.approve(click, asyncio.Event())
        except SaysoError as error:
            return error.shown
        return plain.decided(decided.request, decided.run)

    async def deny(self, who: str, request: str, reason: str) -> str:
        """Deny, and return what people read about it."""
        try:
            click = Deny(identity=_identity(who), request=request, reason=reason)
            return plain.decided(await self.app.deciding.deny(click), None)
        except SaysoError as error:
            return error.shown

    async def stop(self, who: str, conversation: str | None) -> str:
        """Stop, and return what people read about it."""
        try:
            event = Stop(identity=_identity(who), conversation=conversation)
            return plain.stopped(await self.app.stopping.stop(event))
        except SaysoError as error:
            return error.shown

    async def open_requests(self) -> list[str]:
        """Return the ids of what waits, newest first."""
        return [one.id for one in await self.app.records.requests() if one.state.value == "open"]

    async def proof(self) -> str:
        """Check the audit log and return the verdict."""
        return plain.audit(audit.verify(await self.app.records.audit()))


def shown(turn: Answered) -> str:
    """Return what people read about a turn, with what they can type here."""
    return plain.answered(turn, partial(wiring.draw, command="/"), asking="")


def _identity(who: str) -> Identity:
    platform, workspace = authority.CONSOLE
    return Identity(platform=platform, workspace=workspace, user=who)
