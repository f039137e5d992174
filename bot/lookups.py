"""What somebody on a platform may read, made for them alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from approvals import cards
from approvals.models import Request, Run, RunState
from bot import naming, spoken
from bot.looking import Looking
from bot.welcoming import Welcoming
from core.cards import Button
from core.deliveries import Asking
from core.events import Invited, Lookup, Review, WantOutput
from core.platforms import Home, Told
from core.principals import Identity

MOST = 10
"""Things with a button each in one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """Shows people what they ask to see."""

    looking: Looking
    welcoming: Welcoming

    async def look(self, event: Review | Lookup | Invited | WantOutput) -> Told:
        """Return what somebody asked to see; raise `Refused` where that is not for them."""
        match event:
            case Review():
                return Told(card=await self.looking.card(event.identity, event.request))
            case Lookup(at="help"):
                text = await self.welcoming.to_person(event.identity, event.place)
            case Lookup(at="requests"):
                found = await self.looking.waiting(event.identity)
                return Told(text=_waiting(found), buttons=_reviews(found))
            case Lookup():
                text = spoken.runs(await self.looking.ran(event.identity))
            case WantOutput():
                text = await self.looking.output(event)
            case Invited():
                text = await self.welcoming.to_channel(event.place)
            case _:
                assert_never(event)
        return Told(text=text)

    async def home(self, identity: Identity) -> Home:
        """Return what waits for somebody, and what runs; what ran last, where nothing does."""
        waits = await self.looking.waiting(identity)
        ran = await self.looking.ran(identity)
        running = [one for one in ran if one[0].state is RunState.RUNNING]
        return Home(
            greeting=await self.welcoming.to_person(identity),
            waits=tuple([await self._card(one) for one in waits[:MOST]]),
            runs=tuple(_line(run, request) for run, request in (running or ran)),
        )

    async def _card(self, request: Request) -> Asking:
        card, told = cards.drawn(*await self.looking.latest(request))
        return Asking(card=card, status=told)


def _waiting(found: Sequence[Request]) -> str:
    lines = [f"{naming.calls(one)}\n  {cards.status(one)}" for one in found]
    return "\n".join(lines) or "Nothing waits that you may know of."


def _reviews(found: Sequence[Request]) -> tuple[Button, ...]:
    return tuple(
        Button(label=f"Look at {naming.calls(one)}", verb="review", request=one.id)
        for one in found[:MOST]
    )


def _line(run: Run, request: Request) -> str:
    return (
        f"{naming.calls(request)}: {run.state.value} ({run.id}, began {cards.at(run.started_at)})"
    )
