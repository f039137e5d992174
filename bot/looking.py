"""What somebody may look at in chat: requests, runs, and what was said where they are."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from approvals import cards, entitlement
from approvals.gate import Gate
from approvals.models import Request, Run
from approvals.policy import Authority
from approvals.store import ApprovalStore, Newest, Records, RunStore
from bot.inbox import NOT_HERE
from core.conversations import Said
from core.deliveries import Asking
from core.principals import Identity, Principal
from core.terminal import Seat

S = TypeVar("S")
T = TypeVar("T")
MOST = 5
"""Runs that are shown at once, and things that a bare word could mean that are named."""
_PAGE = 20
"""Of which so many are looked at in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Shows people what they may know of: for anybody else, it is as if it were not there (I14)."""

    gate: Gate
    requests: ApprovalStore
    run_store: RunStore
    newest: Newest
    records: Records

    async def waiting(self, identity: Identity) -> list[Request]:
        """Return the requests that wait for people or for their run."""
        await self.gate.admit(identity, "looks")
        return await self.decidable(identity)

    async def decidable(self, identity: Identity) -> list[Request]:
        """Return the same for a decision that names none: no rate holds back a no."""
        authority, principal = await self.gate.who(identity)
        live = await self.requests.live(principal.tenant, None)
        return [one for one in live if entitlement.may_see(authority, principal, one)]

    async def ended(self, seat: Seat) -> list[Request]:
        """Return the requests of this conversation that somebody could ask for again."""
        authority, principal = await self.gate.admit(seat.identity, "looks")
        if seat.conversation is None:
            return []

        async def theirs(one: Request) -> Request | None:
            return one if entitlement.may_see(authority, principal, one) else None

        there = principal.tenant, seat.conversation
        return await _newest(partial(self.newest.ended, *there, most=_PAGE), theirs)

    async def card(self, identity: Identity, request: str) -> Asking:
        """Return the card of a request as it is now, with what may be done about it.

        There is one refusal for every request that is not theirs.
        """
        await self.gate.admit(identity, "looks")
        _, _, found = await self.gate.seen(identity, request)
        now, run = await self.latest(found)
        card, told = cards.drawn(now, run)
        buttons = cards.choices(run) if run else ()
        return Asking(card=replace(card, buttons=buttons or card.buttons), status=told)

    async def latest(self, request: Request) -> tuple[Request, Run | None]:
        """Return a request that somebody knows of as it is now, and its run."""
        now = await self.requests.get(request.tenant, request.id) or request
        return now, await self.run_store.run_of(now.tenant, now.id)

    async def ran(self, identity: Identity) -> list[tuple[Run, Request]]:
        """Return the newest runs, each with what it was to do."""
        authority, principal = await self.gate.admit(identity, "looks")
        newest = partial(self.newest.runs, principal.tenant, most=_PAGE)
        return await _newest(newest, partial(self._theirs, authority, principal))

    async def unknown(self, identity: Identity) -> list[tuple[Run, Request]]:
        """Return the same of runs with an unknown step."""
        authority, principal = await self.gate.admit(identity, "looks")
        newest = partial(self.newest.unknown, principal.tenant, most=_PAGE)
        return await _newest(newest, partial(self._theirs, authority, principal))

    async def said(self, seat: Seat) -> list[Said]:
        """Return what was said in a conversation, oldest first."""
        authority, principal = await self.gate.admit(seat.identity, "looks")
        if not entitlement.may_chat(authority, principal, seat.place):
            await self.gate.refuse(principal, seat.place.resource, NOT_HERE)
        return [*await self.records.said(seat.conversation)] if seat.conversation else []

    async def _theirs(
        self, authority: Authority, principal: Principal, run: Run
    ) -> tuple[Run, Request] | None:
        request = await self.requests.get(principal.tenant, run.request)
        known = request and entitlement.may_see(authority, principal, request)
        return (run, request) if request and known else None


async def _newest(
    page: Callable[..., Awaitable[Sequence[S]]], theirs: Callable[[S], Awaitable[T | None]]
) -> list[T]:
    """Return the newest of what is somebody's, a page at a time, until enough is found."""
    found, last = list[T](), None
    while len(found) < MOST:
        read = await page(before=last)
        for one in read:
            kept = await theirs(one)
            if kept is not None and len(found) < MOST:
                found.append(kept)
        if len(read) < _PAGE:
            break
        last = read[-1]
    return found
