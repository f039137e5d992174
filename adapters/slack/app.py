"""The Bolt app: one middleware, which takes everything, and no listener.

Bolt acknowledges an event before its listener runs. A middleware returns the answer itself.
"""

import time

from slack_bolt.adapter.socket_mode.async_internals import (
    run_async_bolt_app,
    send_async_response,
)
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.platforms.tasks import failed
from adapters.slack import acks
from adapters.slack.findings import Bot
from adapters.slack.intake import Intake
from adapters.slack.sockets import Handle
from adapters.slack.web import Web, silent

_NAME = "slack_bolt.app"
"""Bolt gives the logger of this name the level of its own, which is silence."""


def app_of(web: Web, bot: Bot, intake: Intake) -> AsyncApp:
    """Return an app that gives everything to an intake, for Socket Mode and for HTTP."""

    async def authorize() -> AuthorizeResult:
        """Say who we are without asking Slack each time. The token stays where it is."""
        return AuthorizeResult(
            enterprise_id=None, team_id=bot.team, bot_id=bot.bot_id, bot_user_id=bot.user
        )

    async def taken(request: AsyncBoltRequest) -> BoltResponse:
        try:
            return await intake.take(request.body, _retry(request))
        except Exception as error:  # noqa: BLE001 - Bolt would print it, with what it was about
            failed(error)
            return acks.not_taken()

    app = AsyncApp(
        name=_NAME,
        logger=silent(),
        client=web.client,
        authorize=authorize,
        request_verification_enabled=False,  # `adapters.slack.http` verifies before it parses
        ssl_check_enabled=False,
        url_verification_enabled=False,
        ignoring_self_events_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )
    app.middleware(taken)
    return app


def through(app: AsyncApp) -> Handle:
    """Return what gives an envelope of Socket Mode to an app and sends its answer back."""

    async def handle(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = time.time()
        answer = await run_async_bolt_app(app, request)
        await send_async_response(client, request, answer, began)

    return handle


def _retry(request: AsyncBoltRequest) -> int:
    said = [*request.headers.get("x-slack-retry-num", ()), ""][0]
    return int(said) if said.isascii() and said.isdigit() and len(said) < 3 else 0  # noqa: PLR2004
