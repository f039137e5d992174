"""What happens when somebody proposes, looks at or revokes a standing grant."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from approvals import cards
from approvals.granting import Granting
from approvals.grants import Grant, GrantState, where
from approvals.models import State
from bot.decide import Deciding
from core.cards import Button
from core.display import json_text, one_line
from core.durations import words
from core.events import Approve, ProposeGrant, RevokeGrant
from core.plans import Plan
from core.platforms import Told
from core.principals import Identity

Known: TypeAlias = tuple[Grant, Plan | None]
"""A grant, and what it lets run; None where that was erased."""
MOST = 10
"""Grants that are shown in one answer of a chat, each with a button."""
_LONGEST = 160
_LIVE = frozenset({GrantState.PROPOSED, GrantState.ACTIVE})
_NONE = "There are no standing grants that you may know of."


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingGrants:
    """Sees to standing grants."""

    granting: Granting
    deciding: Deciding

    async def propose(self, event: ProposeGrant, stop: asyncio.Event | None) -> Grant:
        """Propose a grant, which counts as a yes where one of that person would; return it as it is now.

        With `stop`, what that yes completes is waited for here; else it is left to whoever serves.
        """
        made, may_vote = await self.granting.propose(event)
        yes = Approve(identity=event.identity, request=made.request)
        if may_vote and stop:
            await self.deciding.approve(yes, stop)
        elif may_vote:
            await self.deciding.vote(yes)
        return await self.granting.gate.grants.get(made.tenant, made.id) or made

    async def take(self, event: ProposeGrant | RevokeGrant) -> Told:
        """Do what somebody wants in a chat; its card, and what becomes of it, come as messages."""
        match event:
            case ProposeGrant():
                return Told(text=await self._proposed(await self.propose(event, None)))
            case RevokeGrant():
                revoked = await self.granting.revoke(event)
                return Told(
                    text=f"Standing grant {revoked.id} is revoked. It lets nothing run any more."
                )

    async def _proposed(self, made: Grant) -> str:
        request = await self.granting.gate.store.get(made.tenant, made.request)
        if request is None or request.state is State.OPEN:
            return f"Standing grant {made.id} is proposed; its card says who may approve it."
        return (
            f"Standing grant {made.id} is proposed, and your yes is enough. {cards.status(request)}"
        )

    async def listed(self, identity: Identity) -> Told:
        """Return the grants that somebody may know of, those that could still be used first."""
        found = await self.granting.known(identity)
        shown = sorted(found, key=lambda one: one[0].state not in _LIVE)[:MOST]
        buttons = tuple(
            Button(label=f"Revoke {_called(plan)}", verb="revoke", request=grant.id)
            for grant, plan in shown
            if grant.state in _LIVE
        )
        return Told(text=listed(shown), buttons=buttons)


def listed(found: Sequence[Known]) -> str:
    """Return grants, two lines each."""
    return "\n".join(_lines(grant, plan) for grant, plan in found) or _NONE


def _lines(grant: Grant, plan: Plan | None) -> str:
    until = f"until {cards.at(grant.until)}" if grant.until else f"for {words(grant.lasts)}"
    why = f" ({one_line(grant.reason)})" if grant.reason else ""
    return (
        f"{grant.id} {grant.state.value.replace('_', ' ')}{why}: {_called(plan)}\n"
        f"  used {grant.used} of {grant.most}, {until}, for {grant.requester} {where(grant.place)}, "
        f"proposed by {grant.proposer}"
    )


def _called(plan: Plan | None) -> str:
    if plan is None:
        return "what was erased"
    named = "; ".join(f"{call.tool} {json_text(call.arguments)}" for call in plan.calls)
    return one_line(named, _LONGEST)
