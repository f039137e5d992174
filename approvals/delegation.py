"""What a turn may do in somebody's name: what they may do themselves, and only as far as the profile goes.

It is asked at each call, not once: authority that went meanwhile is gone (C66). It ends with the
turn's time; what then waits for people is checked again at the spend (C68).
"""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from approvals.gate import Gate
from approvals.policy import Action, Authority
from core.conversations import Turn
from core.errors import Invalid, Unavailable
from core.gateway import TooOften
from core.jobs import Claim
from core.principals import Principal
from core.rates import Rates
from core.tools import MISSING, OWN, Caller, Checked, Effect, Tool

_OVER = "Not run: the time in which this turn may act for you is over. Ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """The authority of one turn."""

    gate: Gate
    rates: Rates
    turn: Turn
    claim: Claim
    until: float
    """On the clock of the event loop."""

    @property
    def caller(self) -> Caller:
        """Return for whom tools of Sayso's own look."""
        turn = self.turn
        return Caller(
            tenant=turn.tenant,
            principal=turn.principal,
            conversation=turn.conversation,
            turn=turn.id,
            call="",
            claim=self.claim,
        )

    def may_use(self, authority: Authority, principal: Principal, tool: Tool) -> bool:
        """Whether a tool may be used at all: there, by whoever asked, and through the profile.

        What belongs to the turn itself needs no policy: it touches their own conversation only.
        """
        if tool.look and tool.name in OWN:
            return True
        if not tool.is_in(self.turn.place):
            return False
        action: Action = "tool:read" if tool.effect is Effect.READ else "run:propose"
        profile = authority.profiles.named(self.turn.profile)
        allowed = profile is not None and profile.allows(tool.name)
        return allowed and authority.policy.may(principal, action, [tool.resource])

    async def authorize(self, checked: Checked) -> object:
        """Return None where a call may be made now, else why not: the tool's own reason too."""
        if asyncio.get_running_loop().time() >= self.until:
            return _OVER
        with _for_now():
            authority, principal = await self.gate.acting.person(
                self.turn.tenant, self.turn.principal
            )
        if not self.may_use(authority, principal, checked.tool):
            return MISSING
        off = self.gate.switches.offline(authority, self.turn.profile, [checked])
        if off and checked.tool.effect is Effect.READ:  # the gate says so of all others
            return f"Not run: {off}"
        check = checked.tool.authorize
        return await check(checked.arguments, self.caller) if check else None

    async def count(self, calls: Sequence[Checked]) -> TooOften | None:
        """Count calls, all or none; return which of them came too often."""
        with _for_now():
            rules = self.gate.acting.authority().rates
        found = [(at, rules.of(checked.tool.name)) for at, checked in enumerate(calls)]
        rated = [(at, rate) for at, rate in found if rate]
        lacking = await self.rates.take(
            self.turn.tenant, self.turn.principal, [rate for _, rate in rated]
        )
        why = {rated[one.at][0]: one.refusal("Not run: you may do this") for one in lacking}
        return TooOften(why=why) if why else None


@contextmanager
def _for_now() -> Generator[None]:
    """Have a file that somebody is about to save, or will correct, say no for now and not for good."""
    try:
        yield
    except Invalid as error:
        raise Unavailable(error.shown) from error
