"""What goes wrong at Discord's end, as a test wants it."""

import asyncio
from dataclasses import dataclass, field

from tests.standins.discord.wire import Json

VIA = {"Via": "1.1 google"}
"""What every answer of the API carries; one from the network in front of it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One call of a route that goes wrong."""

    status: int = 200
    body: Json = field(default_factory=dict[str, object])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cuts: bool = False
    """Whether the connection ends without an answer."""
    does: bool = False
    """Whether Discord has done what was asked all the same."""


@dataclass(kw_only=True)
class Faults:
    """Each route's next calls meet its faults, one each, in order.

    A route is written as in `routes.ROUTES`: `POST /channels/{channel}/messages`.
    """

    known: frozenset[str]
    waiting: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    held: dict[str, int] = field(default_factory=dict[str, int])
    """How many calls of each route have come to wait."""
    slow: dict[str, float] = field(default_factory=dict[str, float])
    """After how many seconds each route is answered."""
    down: bool = False
    """Whether every connection ends before Discord has done anything."""
    sick: bool = False
    """Whether every call is answered 503 before Discord has done anything."""

    def add(self, route: str, fault: Fault, times: int = 1) -> None:
        """Have the next calls of a route go wrong."""
        self.waiting.setdefault(self._known(route), []).extend([fault] * times)

    def rate_limited(self, route: str, *, after: float = 0.2, times: int = 1,
        everywhere: bool = False, via: bool = True) -> None:  # fmt: skip
        """Have Discord answer 429, to be tried again after so many seconds.

        `everywhere` says that it is the limit of all routes; without `via` it is the network in
        front of Discord that has had enough, and says so in a page.
        """
        headers = {"Retry-After": str(max(1, round(after)))}
        if not via:
            self.add(route, Fault(status=429, headers=headers), times)
            return
        body: Json = {
            "message": "You are being rate limited.", "retry_after": after, "global": everywhere
        }  # fmt: skip
        scope = "global" if everywhere else "user"
        headers |= {"X-RateLimit-Scope": scope, "X-RateLimit-Reset-After": str(after), **VIA}
        headers |= {"X-RateLimit-Global": "true"} if everywhere else {"X-RateLimit-Remaining": "0"}
        self.add(route, Fault(status=429, body=body, headers=headers), times)

    def fails(self, route: str, status: int = 502, *, times: int = 1, does: bool = False) -> None:
        """Have Discord answer a status in the five hundreds; `does`: after the effect."""
        self.add(route, Fault(status=status, does=does), times)

    def says(self, route: str, status: int, code: int, message: str, *, times: int = 1) -> None:
        """Have Discord refuse, as with 403, 50013 and `Missing Permissions`."""
        body: Json = {"code": code, "message": message}
        self.add(route, Fault(status=status, body=body, headers=dict(VIA)), times)

    def drops(self, route: str, *, times: int = 1) -> None:
        """Have the connection end before Discord has done anything."""
        self.add(route, Fault(cuts=True), times)

    def loses_reply(self, route: str, *, times: int = 1) -> None:
        """Have the connection end after Discord has done what was asked."""
        self.add(route, Fault(cuts=True, does=True), times)

    def delays(self, route: str, seconds: float) -> None:
        """Have every answer of a route come so much later; what was asked is done before."""
        self.slow[self._known(route)] = seconds

    def holds(self, route: str) -> asyncio.Event:
        """Have every call of a route wait until the event is set, before anything is done."""
        return self.gates.setdefault(self._known(route), asyncio.Event())

    def next(self, route: str) -> Fault | None:
        """Return what this call meets, if anything."""
        if self.down:
            return Fault(cuts=True)
        if self.sick:
            return Fault(status=503)
        waiting = self.waiting.get(route)
        return waiting.pop(0) if waiting else None

    def _known(self, route: str) -> str:
        assert route in self.known, f"{route!r} is none of {sorted(self.known)}"
        return route
