"""Whether Sayso can post in a channel: a command may come from any, also where it is no member."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.platforms.tasks import Tasks
from adapters.slack import payload
from adapters.slack.refusals import code_of
from adapters.slack.web import Web
from core.errors import SaysoError

DEADLINE = 1.0
"""Seconds: the person who typed a command waits for it."""
FRESH = 300.0
"""For so many seconds a yes is believed; a no is asked again, since somebody may invite it."""
_REMEMBERED = 1000


@dataclass(slots=True, kw_only=True)
class Membership:
    """Asks Slack, once at a time for each channel."""

    web: Web
    tasks: Tasks
    now: Callable[[], float] = time.monotonic
    _yes: dict[str, float] = field(default_factory=dict[str, float])
    """When a channel was last known to have Sayso in it."""
    _asking: dict[str, "asyncio.Task[bool]"] = field(
        default_factory=dict[str, "asyncio.Task[bool]"]
    )

    async def may_post(self, channel: str) -> bool:
        """Whether Sayso is in a channel; where Slack does not say so in time, posting will tell."""
        if self.now() - self._yes.get(channel, -FRESH) < FRESH:
            return True
        if channel not in self._asking:
            self._asking[channel] = self.tasks.start(self._ask(channel))
        return await asyncio.shield(self._asking[channel])

    async def _ask(self, channel: str) -> bool:
        try:
            answer = await self.web.read(
                "conversations.info", {"channel": channel}, within=DEADLINE
            )
        except SaysoError as error:
            return code_of(error) != "channel_not_found"
        finally:
            del self._asking[channel]
        found = payload.of(answer.get("channel"))
        is_in = bool(found.get("is_member") or found.get("is_im"))
        if is_in:
            self._know(channel)
        return is_in or found.get("is_member") is None

    def _know(self, channel: str) -> None:
        self._yes[channel] = self.now()
        while len(self._yes) > _REMEMBERED:
            del self._yes[next(iter(self._yes))]
