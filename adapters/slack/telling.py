"""Tells one person something in Slack, and nobody else."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.platforms.takes import Outcome
from adapters.platforms.tasks import failed as log_failure
from adapters.slack.findings import Route
from adapters.slack.messages import Drawn, failed, told
from adapters.slack.web import Web
from core.errors import SaysoError
from core.platforms import Told

_PLAIN = {"unfurl_links": False, "unfurl_media": False}


def drawn(outcome: Outcome) -> Drawn | None:
    """Return what somebody is told of an outcome; None where everybody sees it anyway."""
    if isinstance(outcome, SaysoError):
        return failed(outcome)
    says = outcome.text or outcome.buttons or outcome.card
    return told(outcome) if says else None


def private(message: Drawn) -> Mapping[str, object]:
    """Return a message for one person, as an answer to whatever they did."""
    return {
        **_PLAIN,
        "response_type": "ephemeral",
        "replace_original": False,
        "text": message.text,
        "blocks": list(message.blocks),
    }


@dataclass(slots=True, kw_only=True)
class Telling:
    """Tries both ways there are. What cannot be told is logged: nothing else depends on it."""

    web: Web

    async def beside(self, route: Route, message: Drawn) -> None:
        """Tell it where they did it, in the thread."""
        if not await self._posted(route, message):
            await self._answered(route, message)

    async def after(self, route: Route, message: Drawn) -> None:
        """Answer a command that was acknowledged before: that works where Sayso is no member."""
        if not await self._answered(route, message):
            await self._posted(route, message)

    async def _posted(self, route: Route, message: Drawn) -> bool:
        body = {
            **_PLAIN,
            "channel": route.channel or route.user,
            "text": message.text,
            "blocks": list(message.blocks),
        }
        try:
            if route.channel:
                body |= {"user": route.user, "thread_ts": route.thread}
                await self.web.write("chat.postEphemeral", body)
            else:
                await self.web.write("chat.postMessage", body)
        except SaysoError as error:
            log_failure(error)
            return False
        return True

    async def _answered(self, route: Route, message: Drawn) -> bool:
        url = route.response_url
        if url is None:
            return False
        body = {**private(message), **({"thread_ts": route.thread} if route.thread else {})}
        try:
            await self.web.send(url, json=body)
        except SaysoError as error:
            log_failure(error)
            return False
        return True


def to_everybody(outcome: Told, channel: str) -> Mapping[str, object]:
    """Return what is said in a channel into which somebody has brought Sayso."""
    message = told(outcome)
    return {
        **_PLAIN,
        "channel": channel,
        "text": message.text,
        "blocks": list(message.blocks),
    }
