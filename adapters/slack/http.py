"""HTTP mode: Slack posts to an address of ours. Every request is proved to be Slack's first."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from adapters.platforms.tasks import failed
from adapters.slack import payload
from adapters.slack.payload import Payload
from adapters.slack.setup import SlackSetup
from adapters.slack.signed import NotAccepted, Posted, read
from adapters.slack.web import silent
from core.errors import Invalid

PATH = "/slack/events"
MOST = 1024 * 1024
"""Bytes of a body."""
_BODY_WITHIN = 10.0
"""Seconds in which a body has to be here."""
_CLOSES_WITHIN = 2.0
_FELL_OVER = 500
"""Bolt's own status. What could not be stored is answered with another one."""


def no_secret(setup: SlackSetup) -> None:
    """Raise `Invalid` where nothing that comes in could be proved to be Slack's."""
    if not setup.signing_secret:
        raise Invalid("HTTP mode needs slack.signing_secret: it stands under “Basic Information”.")


@dataclass(slots=True, kw_only=True)
class Listener:
    """Listens where the setup says, and gives what is Slack's to the app."""

    setup: SlackSetup
    app: AsyncApp
    now: Callable[[], float] = time.time
    address: tuple[str, int] | None = None
    """Where it listens, as long as it does."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Listen inside the block; raises `Invalid` where the setup does not allow it."""
        no_secret(self.setup)
        server = web.Application(client_max_size=MOST)
        server.router.add_post(PATH, self._posted)
        runner = web.AppRunner(
            server,
            access_log=None,
            logger=silent(),  # aiohttp prints whatever it could not parse
            shutdown_timeout=_CLOSES_WITHIN,
        )
        await runner.setup()
        try:
            self.address = await self._bound(runner)
            yield
        finally:
            self.address = None
            await runner.cleanup()

    async def _bound(self, runner: web.AppRunner) -> tuple[str, int]:
        host, port = self.setup.listen or ("127.0.0.1", 0)
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise Invalid(
                f"Sayso cannot listen on {host}:{port}: {error.strerror}. Correct slack.listen."
            ) from None
        host, port = runner.addresses[0][:2]
        return str(host), int(port)

    async def _posted(self, request: web.Request) -> web.Response:
        try:
            body = read(await _raw(request), self.setup.signing_secret or "", self.now())
            return _greeting(body) or await self._dispatched(request, body)
        except NotAccepted as error:
            return web.Response(status=error.status)
        except Exception as error:  # noqa: BLE001 - nobody else would write it down
            failed(error)
            return web.Response(status=503)

    async def _dispatched(self, request: web.Request, body: Payload) -> web.Response:
        """Give Bolt what was verified, not what it would read out of the bytes once more.

        Bolt falls over shapes that Slack never sends, also before anything of ours is asked.
        """
        retry = request.headers.get("X-Slack-Retry-Num", "0")
        try:
            asked = AsyncBoltRequest(
                body=dict(body), mode="socket_mode", headers={"x-slack-retry-num": retry}
            )
            answer = await self.app.async_dispatch(asked)
        except Exception as error:
            raise NotAccepted(400) from error
        if answer.status == _FELL_OVER:
            raise NotAccepted(400)
        return web.Response(
            status=answer.status,
            text=answer.body,
            content_type=answer.first_headers()["content-type"].partition(";")[0],
        )


async def _raw(request: web.Request) -> Posted:
    try:
        async with asyncio.timeout(_BODY_WITHIN):
            body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise NotAccepted(413) from None
    except TimeoutError:
        raise NotAccepted(408) from None
    except (web.RequestPayloadError, ConnectionError):  # it does not unpack, or ends too soon
        raise NotAccepted(400) from None
    return Posted(
        body=body,
        signatures=request.headers.getall("X-Slack-Signature", ()),
        times=request.headers.getall("X-Slack-Request-Timestamp", ()),
        types=request.headers.getall("Content-Type", ()),
    )


def _greeting(body: Payload) -> web.Response | None:
    """Return the answer to what Slack asks of a new address, None for everything else."""
    if body.get("type") == "url_verification":
        return web.Response(text=payload.text(body, "challenge"))
    return web.Response() if body.get("ssl_check") == "1" else None
