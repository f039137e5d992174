"""How often somebody may do something, kept where every process sees it and after a restart too."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Protocol

from core.durations import words
from core.errors import Refused

TOO_FAST = "Too fast: you may do this"
_SECOND = timedelta(seconds=1)
_TOOLS = "tool:"
"""Before the name of what is counted of tools: nothing else that people do is called like that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many at once, and as many again over each further span of that length."""

    name: str
    """What is counted together, for one person."""
    most: int
    per: timedelta

    def concerns(self, tool: str) -> bool:
        """Whether this is about a tool: its name may hold `*`."""
        return fnmatchcase(tool, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRoom:
    """A use for which there was no room among those that somebody asked for at once."""

    at: int
    """Its place among them."""
    rate: Rate
    uses: int
    """How many of this rate were asked for."""
    wait: timedelta
    """How long until there is room for all of these, if there ever is."""

    def refusal(self, what: str) -> str:
        """Say what somebody did too often, and when they may do it again."""
        may = f"{what} {_times(self.rate.most)} in {words(self.rate.per)}"
        if self.uses > self.rate.most:
            return f"{may}, and this is {_times(self.uses)} at once. Ask for less at once."
        left = max(_SECOND, timedelta(seconds=-(-self.wait // _SECOND)))
        return f"{may}. Try again in {words(left)}."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRules:
    """The rates that hold: one for what people send, and those of tools, the first that fits."""

    messages: Rate
    tools: tuple[Rate, ...] = ()

    def of(self, tool: str) -> Rate | None:
        """Return the rate of a tool, as what is counted of tools alone; None where there is none."""
        found = next((rate for rate in self.tools if rate.concerns(tool)), None)
        return found and replace(found, name=f"{_TOOLS}{found.name}")

    def of_people(self, doing: str) -> Rate:
        """Return the rate of what people do besides: as that of messages, and counted by itself."""
        return replace(self.messages, name=doing)


UNHURRIED = RateRules(messages=Rate(name="messages", most=300, per=timedelta(minutes=1)))
"""What holds where nothing is configured."""


REFUSALS = Rate(name="refusals", most=60, per=timedelta(hours=1))
"""How much of what one person is refused is noted. It holds nothing back that is not refused."""
UNNOTED = Rate(name="refusals unnoted", most=1, per=timedelta(hours=1))
"""How often it is noted that there was more of it."""


class TooFast(Refused):
    """Somebody said more than their rate has room for, so it was not kept."""


class Rates(Protocol):
    """Counts."""

    async def take(self, tenant: str, principal: str, rates: Sequence[Rate]) -> Sequence[NoRoom]:
        """Count one more use of each of these for somebody; or return those without room, and count none.

        A rate that is there twice is used twice; one name is one rate. One statement decides, so
        two at once are two. Nobody waits longer than the span of a rate, also where the clock went
        back or what is configured changed.
        """
        ...
