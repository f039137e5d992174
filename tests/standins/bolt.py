"""The real Slack SDK and the real Bolt, pointed at our own Slack, behind types of our own."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.standins.slack import FakeSlack, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client of the SDK: each call is a method of it by name."""

    sdk: Any

    async def __call__(self, method: str, **body: object) -> Json:
        """Return what Slack answered; raise the SDK's error where that is not `ok`."""
        answer = await getattr(self.sdk, method.replace(".", "_"))(**body)
        return cast("Json", answer.data)

    async def raw(self, method: str, **body: object) -> Json:
        """Call with JSON as it is, past what the SDK itself would check or complete."""
        return cast("Json", (await self.sdk.api_call(method, json=body)).data)

    async def refused(self, method: str, **body: object) -> str:
        """Return the error that Slack answers with."""
        with pytest.raises(SlackApiError) as raised:
            await self(method, **body)
        return str(answer_of(raised.value)["error"])


def answer_of(error: SlackApiError) -> Any:  # noqa: ANN401
    """Return what Slack answered, with its status and headers."""
    return error.response  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]


def client_of(slack: FakeSlack, *, token: str | None = None) -> Client:
    """Return a client with the bot's token, or with another."""
    return Client(sdk=AsyncWebClient(token=token or slack.bot_token, base_url=slack.base_url))


@dataclass
class Bot:
    """An app that keeps every body that came, and acknowledges unless told not to."""

    app: AsyncApp
    handlers: list[AsyncSocketModeHandler] = field(default_factory=list[AsyncSocketModeHandler])
    bodies: list[Json] = field(default_factory=list[Json])
    headers: list[Json] = field(default_factory=list[Json])
    acks: bool = True
    answer: Json = field(default_factory=dict[str, Any])
    """What the next submissions of views are answered with."""


def bot_of(slack: FakeSlack) -> Bot:
    """Return an app whose only code is one global middleware."""
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.base_url)
    bot = Bot(app=AsyncApp(client=client, signing_secret=slack.secret))

    async def take(body: Json, req: AsyncBoltRequest) -> BoltResponse:
        bot.bodies.append(body)
        bot.headers.append(dict(req.headers))
        if not bot.acks:
            return BoltResponse(status=500)
        return BoltResponse(status=200, body=bot.answer if "view" in body else "")

    app: Any = bot.app
    app.middleware(take)
    return bot


@asynccontextmanager
async def connected(slack: FakeSlack, sockets: int = 1) -> AsyncGenerator[Bot]:
    """Yield an app with so many sockets, each of a handler of its own."""
    bot = bot_of(slack)
    async with AsyncExitStack() as stack:
        for number in range(sockets):
            handler: Any = AsyncSocketModeHandler(bot.app, slack.app_token, ping_interval=1)
            stack.push_async_callback(handler.close_async)
            await handler.connect_async()
            bot.handlers.append(handler)
            await slack.sockets.until_open(number + 1)
        yield bot
