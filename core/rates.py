"""How often somebody may do something, kept where every process sees it and after a restart too."""

from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Protocol

from core.durations import words

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

    def refusal(self, what: str, wait: timedelta) -> str:
        """Say what somebody did too often, and when they may do it again."""
        left = max(_SECOND, timedelta(seconds=-(-wait // _SECOND)))
        times = "once" if self.most == 1 else f"{self.most} times"
        return f"{what} {times} in {words(self.per)}. Try again in {words(left)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRules:
    """The rates that hold: one for what people send, and those of tools, the first that fits."""

    messages: Rate
    tools: tuple[Rate, ...] = ()

    def of(self, tool: str) -> Rate | None:
        """Return the rate of a tool, as what is counted of tools alone; None where there is none."""
        found = next((rate for rate in self.tools if rate.concerns(tool)), None)
        return found and replace(found, name=f"{_TOOLS}{found.name}")


UNHURRIED = RateRules(messages=Rate(name="messages", most=300, per=timedelta(minutes=1)))
"""What holds where nothing is configured."""


class Rates(Protocol):
    """Counts."""

    async def take(self, tenant: str, principal: str, rate: Rate) -> timedelta | None:
        """Count one more for somebody; or return how long until there is room, and count nothing.

        One statement decides, so two at once are two.
        """
        ...
