"""What an agent elsewhere may do in somebody's name: look, propose, and hear what became of it.

It decides nothing: its calls go through the same inbox, loop and gate as a message of that person, and
none of them approves, denies, edits, grants or stops anything.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from approvals import entitlement
from approvals.delegation import may_use
from approvals.models import Request, Run, RunState
from bot import contract
from bot.ask import Answered, Asking
from bot.authority import CONSOLE_PLACE
from bot.inbox import Inbox
from bot.plan_status import DECLARED, PlanStatus
from core.canonical import JsonObject
from core.cards import Card
from core.conversations import Received
from core.declarations import Declaration, declared
from core.errors import Incorrect
from core.events import Ask
from core.outcomes import Reason
from core.tools import RESERVED, Effect, Toolbox

_HOW = (
    "Nothing was done yet: people decide about it. Whoever may approve it does so in chat or with: "
    "sayso approve {id}. Nothing that you answer approves it. Call plan_status to hear what becomes "
    "of it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What came of a call: a text for the agent, and the same for its program."""

    text: str
    values: dict[str, Any]
    failed: bool = False


@dataclass(slots=True, kw_only=True)
class Relaying:
    """Serves one agent in the name of one person, in a conversation of its own."""

    status: PlanStatus
    inbox: Inbox
    asking: Asking
    known: Callable[[], Toolbox]
    """Reads afresh all that there is for models."""
    draw: Callable[[Card], str]
    _conversation: str | None = None
    _receiving: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def declared(self) -> tuple[Declaration, ...]:
        """Return what may be called now."""
        return (*declared(await self._offered()), DECLARED)

    async def call(self, tool: str, arguments: JsonObject, stop: asyncio.Event) -> Came:
        """Make one call; once `stop` is set, what it does is cut. Raises why nothing was begun."""
        if tool == DECLARED.name:
            text, values = await self.status.told(arguments)
            return Came(text=text, values=values)
        _must_explain(await self._offered(), tool, arguments)
        received = await self._received(tool, arguments)
        return self._came(await self.asking.answer(received, stop))

    async def _offered(self) -> Toolbox:
        """Return what this person may use here."""
        authority, principal = await self.inbox.gate.acting.who(self.status.identity)
        if not entitlement.may_chat(authority, principal, CONSOLE_PLACE):
            return Toolbox(())
        profile = authority.profiles.of(principal.tenant, CONSOLE_PLACE).name
        return self.known().offered(
            lambda tool: may_use(authority, principal, tool, profile, CONSOLE_PLACE)
        )

    async def _received(self, tool: str, arguments: JsonObject) -> Received:
        async with self._receiving:  # two at once would open two conversations
            ask = Ask(
                identity=self.status.identity,
                place=CONSOLE_PLACE,
                text="",
                conversation=self._conversation,
            )
            received = await self.inbox.relay(ask, tool, arguments)
            self._conversation = received.turn.conversation
            return received

    def _came(self, answered: Answered) -> Came:
        values = {"conversation": answered.conversation, "turn": answered.turn}
        if answered.request:
            return self._waits(answered.request, answered.text, values)
        if answered.run:
            return _ran(answered.run, answered.text, values)
        failed = answered.reason is not Reason.ANSWERED
        status = {"status": answered.reason.value, "text": answered.text}
        return Came(text=answered.text, values={**values, **status}, failed=failed)

    def _waits(self, request: Request, text: str, values: dict[str, Any]) -> Came:
        how = _HOW.format(id=request.id)
        shown = contract.request(request, self.draw)
        found = {name: shown[name] for name in ("plan", "plan_sha256", "expires_at", "card")}
        waits = {"status": "pending_approval", "request": request.id, **found, "approve": how}
        return Came(
            text="\n".join(filter(None, (text, how, found["card"]))), values={**values, **waits}
        )


def _ran(run: Run, text: str, values: dict[str, Any]) -> Came:
    """Tell what ran at once, under a standing grant."""
    failed = run.state is not RunState.SUCCEEDED
    ran = {"status": run.state.value, "run": contract.run(run)}
    return Came(text=text, values={**values, **ran}, failed=failed)


def _must_explain(offered: Toolbox, tool: str, arguments: JsonObject) -> None:
    """Raise `Incorrect` for a gated call that does not say why it is made: people read that first."""
    gated = {one.name for one in offered if one.effect is Effect.WRITE}
    if tool in gated and not str(arguments.get(RESERVED[0], "")).strip():
        raise Incorrect(
            f"{tool}: `{RESERVED[0]}`: a text is expected that says so in words. Call it again with "
            "that corrected."
        )
