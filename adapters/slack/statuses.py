"""What Slack shows beside a thread: whether Sayso works, waits for somebody, or is done."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from adapters.platforms.tasks import Tasks
from adapters.slack.refusals import code_of
from adapters.slack.web import Web
from core.errors import Refused, SaysoError

METHOD = "agents.sessions.setStatus"
DEADLINE = 2.0
"""Seconds: nobody misses it."""

Status: TypeAlias = Literal["processing", "suspended", "active"]
"""While it is `processing`, Slack shows a Stop button; `suspended` waits for a person."""
_NEVER = frozenset({"missing_scope", "unknown_method", "not_allowed_token_type"})


@dataclass(slots=True, kw_only=True)
class Statuses:
    """Sets it as well as it can, in the background. Nothing else waits for it, or fails with it."""

    web: Web
    tasks: Tasks
    is_on: bool = True
    """Off for good once Slack says that this app can never do it."""
    _wanted: dict[tuple[str, str], Status] = field(default_factory=dict[tuple[str, str], Status])
    """Of each thread that is being told, what to tell it next."""
    _busy: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def show(self, channel: str, thread: str, status: Status) -> None:
        """Have a thread show something; what is asked for last is shown in the end."""
        at = (channel, thread)
        if not self.is_on:
            return
        self._wanted[at] = status
        if at not in self._busy:
            self._busy.add(at)
            self.tasks.start(self._tell(at))

    async def _tell(self, at: tuple[str, str]) -> None:
        try:
            while at in self._wanted:
                await self._set(at, self._wanted.pop(at))
        finally:
            self._busy.discard(at)
            self._wanted.pop(at, None)

    async def _set(self, at: tuple[str, str], status: Status) -> None:
        body = {"channel_id": at[0], "thread_ts": at[1], "status": status}
        try:
            await self.web.write(METHOD, body, within=DEADLINE)
        except Refused as error:
            self.is_on = self.is_on and code_of(error) not in _NEVER
        except SaysoError:
            return
