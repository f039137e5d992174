"""What goes wrong at Slack's end, as a test wants it."""

import asyncio
from dataclasses import dataclass, field

from tests.standins.slack.wire import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One call of a method that goes wrong."""

    status: int = 200
    body: Json = field(default_factory=dict[str, object])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cuts: bool = False
    """Whether the connection ends without an answer."""
    does: bool = False
    """Whether Slack has done what was asked all the same."""


@dataclass(kw_only=True)
class Faults:
    """Each method's next calls meet its faults, one each, in order."""

    waiting: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    held: dict[str, int] = field(default_factory=dict[str, int])
    """How many calls of each method have come to wait."""
    down: bool = False
    """Whether every connection ends before Slack has done anything."""
    token: str | None = None
    """What Slack says to every call with the bot's token: `account_inactive`, `token_revoked`."""

    def add(self, method: str, fault: Fault, times: int = 1) -> None:
        """Have the next calls of a method go wrong."""
        self.waiting.setdefault(method, []).extend([fault] * times)

    def rate_limited(self, method: str, *, after: int = 1, times: int = 1) -> None:
        """Have Slack answer 429, to be tried again after so many seconds."""
        body: Json = {"ok": False, "error": "ratelimited"}
        self.add(method, Fault(status=429, body=body, headers={"Retry-After": str(after)}), times)

    def fails(self, method: str, status: int = 503, *, times: int = 1) -> None:
        """Have Slack answer a status in the five hundreds, with no JSON."""
        self.add(method, Fault(status=status), times)

    def says(self, method: str, error: str, *, times: int = 1) -> None:
        """Have Slack answer 200 with `ok: false`, as with `ratelimited`."""
        self.add(method, Fault(body={"ok": False, "error": error}), times)

    def drops(self, method: str, *, times: int = 1) -> None:
        """Have the connection end before Slack has done anything."""
        self.add(method, Fault(cuts=True), times)

    def loses_reply(self, method: str, *, times: int = 1) -> None:
        """Have the connection end after Slack has done what was asked."""
        self.add(method, Fault(cuts=True, does=True), times)

    def holds(self, method: str) -> asyncio.Event:
        """Have every call of a method wait until the event is set."""
        return self.gates.setdefault(method, asyncio.Event())

    def next(self, method: str) -> Fault | None:
        """Return what this call meets, if anything."""
        if self.down:
            return Fault(cuts=True)
        waiting = self.waiting.get(method)
        return waiting.pop(0) if waiting else None
