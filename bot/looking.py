"""What somebody may look at in chat: requests, runs, and what was said where they are."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from approvals import cards, entitlement, outputs, reports
from approvals.gate import Gate
from approvals.models import Request, Run
from approvals.store import ApprovalStore, Newest, Ran, Records, RunStore
from approvals.undoing import Undoing
from bot.inbox import NOT_HERE
from core.conversations import Said
from core.deliveries import Asking
from core.errors import Refused
from core.events import WantOutput
from core.principals import Identity
from core.roster import Freshness
from core.terminal import Seat

T = TypeVar("T")
MOST = 5
"""Runs that are shown at once, and things that a bare word could mean that are named."""
_NO_STEP = "There is no such step that you may know of. Copy the run and the step from its report."
_ALL_SHOWN = "The report of that run shows all that is kept of what this step printed. Look there."
_PAGE = 20
"""Of which so many are looked at in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Shows people what they may know of: for anybody else, it is as if it were not there (I14)."""

    gate: Gate
    undoing: Undoing
    requests: ApprovalStore
    run_store: RunStore
    newest: Newest
    records: Records

    async def waiting(self, identity: Identity) -> list[Request]:
        """Return the requests that wait for people or for their run."""
        await self.gate.acting.admit(identity, "looks")
        return await self.decidable(identity)

    async def decidable(self, identity: Identity) -> list[Request]:
        """Return the same for a decision that names none: no rate holds back a no."""
        authority, principal = await self.gate.acting.who(identity, Freshness.HELD)
        live = await self.requests.live(principal.tenant, None)
        return [one for one in live if entitlement.may_see(authority, principal, one)]

    async def ended(self, seat: Seat) -> list[Request]:
        """Return the requests of this conversation that somebody could ask for again."""
        authority, principal = await self.gate.acting.admit(seat.identity, "looks")
        there = seat.conversation
        if there is None:
            return []

        async def page(last: Request | None) -> Sequence[Request]:
            return await self.newest.ended(principal.tenant, there, most=_PAGE, before=last)

        return await _newest(page, lambda one: entitlement.may_see(authority, principal, one))

    async def card(self, identity: Identity, request: str) -> Asking:
        """Return the card of a request as it is now, with what may be done about it.

        There is one refusal for every request that is not theirs.
        """
        await self.gate.acting.admit(identity, "looks")
        _, _, found = await self.gate.seen(identity, request)
        now, run = await self.latest(found)
        card, told = cards.drawn(now, run)
        undo = run is not None and self.undoing.offered(run)
        buttons = reports.choices(run, undo=undo) if run else ()
        return Asking(card=replace(card, buttons=buttons or card.buttons), status=told)

    async def latest(self, request: Request) -> tuple[Request, Run | None]:
        """Return a request that somebody knows of as it is now, and its run."""
        now = await self.requests.get(request.tenant, request.id) or request
        return now, await self.run_store.run_of(now.tenant, now.id)

    async def output(self, event: WantOutput) -> str:
        """Have all that a step printed be posted in the thread of its run, and say so.

        There is one refusal for every step that is not theirs.
        """
        authority, principal = await self.gate.acting.admit(event.identity, "looks")
        run = await self.run_store.run(principal.tenant, event.run)
        request = await self.requests.get(run.tenant, run.request) if run else None
        if run is None or request is None or not entitlement.may_see(authority, principal, request):
            await self.gate.acting.refuse(principal, event.run, _NO_STEP)
        if event.index >= len(run.steps):
            raise Refused(_NO_STEP)
        step = run.steps[event.index]
        why = outputs.obstacle(step)
        if why or step.whole is None:
            raise Refused(why or _ALL_SHOWN)
        await self.run_store.show_output(run, event.index, principal=principal.id)
        return (
            f"It comes where that run was asked for. In a shell: sayso output {run.id} {step.index}"
        )

    async def ran(self, identity: Identity) -> list[Ran]:
        """Return the newest runs, each with what it was to do."""
        return await self._ran(identity, self.newest.runs)

    async def unknown(self, identity: Identity) -> list[Ran]:
        """Return the same of runs with an unknown step."""
        return await self._ran(identity, self.newest.unknown)

    async def said(self, seat: Seat) -> list[Said]:
        """Return what was said in a conversation, oldest first."""
        authority, principal = await self.gate.acting.admit(seat.identity, "looks")
        if not entitlement.may_chat(authority, principal, seat.place):
            await self.gate.acting.refuse(principal, seat.place.resource, NOT_HERE)
        return [*await self.records.said(seat.conversation)] if seat.conversation else []

    async def _ran(
        self, identity: Identity, read: Callable[..., Awaitable[Sequence[Ran]]]
    ) -> list[Ran]:
        authority, principal = await self.gate.acting.admit(identity, "looks")

        async def page(last: Ran | None) -> Sequence[Ran]:
            return await read(principal.tenant, most=_PAGE, before=last and last[0])

        return await _newest(page, lambda one: entitlement.may_see(authority, principal, one[1]))


async def _newest(
    page: Callable[[T | None], Awaitable[Sequence[T]]], is_theirs: Callable[[T], bool]
) -> list[T]:
    """Return the newest of what is somebody's: behind one page comes another, until enough is found."""
    found, last = list[T](), None
    while len(found) < MOST:
        read = await page(last)
        found += filter(is_theirs, read)
        if len(read) < _PAGE:
            break
        last = read[-1]
    return found[:MOST]
