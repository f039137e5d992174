"""Slack's Web API. Nothing of the SDK comes out of here: no exception, no response, no token."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.destinations import is_slacks
from adapters.slack.refusals import OPEN_SOCKET, failed, unanswered
from adapters.slack.setup import SlackSetup
from core.errors import Invalid, Refused, SaysoError

Answer: TypeAlias = Mapping[str, Any]  # what Slack answers is its own affair

DEADLINE = 10.0
"""Seconds after which a call has failed, unless the caller has less patience."""
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
"""A proxy would look for these on its own machine."""
_UNREADABLE = (AttributeError, TypeError, ValueError)
"""What the SDK raises where an answer is not what it expects."""


def silent() -> logging.Logger:
    """Return a logger for the SDK and Bolt that says nothing.

    Both print bodies, and addresses that are secrets. What goes wrong comes as an error anyway.
    """
    logger = logging.getLogger("sayso.slack.vendor")
    logger.setLevel(logging.CRITICAL + 1)
    return logger


@dataclass(slots=True, kw_only=True)
class Web:
    """Calls methods of the Web API, each within a deadline and none twice by itself.

    Raises `Unavailable` where trying again may help, with `after` exactly where Slack has done nothing
    and says how long to wait; `Refused` where it cannot, and `Invalid` where a token or a scope is wrong.
    """

    setup: SlackSetup
    deadline: float = DEADLINE
    client: AsyncWebClient = field(init=False, repr=False)
    """For Bolt, which wants one."""
    _scopes: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        """Make the client; no connection yet."""
        self.client = AsyncWebClient(
            token=self.setup.bot_token,
            base_url=self.setup.base_url or AsyncWebClient.BASE_URL,
            logger=silent(),
            retry_handlers=[],  # its own would post twice where only the answer was lost
        )
        host = urlsplit(self.client.base_url).hostname or ""
        if host in _HERE or proxy_bypass(host):
            self.client.proxy = None  # the SDK heeds the variables for a proxy, but not NO_PROXY

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Share connections between all calls inside the block."""
        if self.client.session is not None:
            yield
            return
        async with self._session() as session:
            self.client.session = session
            try:
                yield
            finally:
                self.client.session = None

    async def read(
        self, method: str, query: Mapping[str, object], *, within: float | None = None
    ) -> Answer:
        """Call a method that only reads."""
        params = {key: value for key, value in query.items() if value is not None}
        return await self._called(
            method, lambda: self.client.api_call(method, http_verb="GET", params=params), within
        )

    async def call(self, method: str, **query: object) -> Answer:
        """Call a method that only reads; of an error, `detail` holds Slack's word for it."""
        return await self.read(method, query)

    async def write(
        self, method: str, body: Mapping[str, object], *, within: float | None = None
    ) -> Answer:
        """Call a method that changes something."""
        present = {key: value for key, value in body.items() if value is not None}
        return await self._called(
            method, lambda: self.client.api_call(method, json=present), within
        )

    async def submit(self, method: str, form: Mapping[str, object]) -> Answer:
        """Call a method that takes its arguments as a form alone."""
        present = {key: value for key, value in form.items() if value is not None}
        return await self._called(
            method, lambda: self.client.api_call(method, params=present), None
        )

    async def scopes(self) -> frozenset[str]:
        """Return what the bot token may do; empty where Slack does not say."""
        await self.write("auth.test", {})
        return self._scopes

    async def socket_address(self) -> str:
        """Return where one socket can be opened, once, with the app token."""
        if not self.setup.app_token:
            raise Invalid("Socket Mode needs slack.app_token.")
        token = self.setup.app_token
        answer = await self._called(
            OPEN_SOCKET, lambda: self.client.apps_connections_open(app_token=token), None
        )
        url = answer.get("url")
        if not isinstance(url, str):
            raise unanswered(OPEN_SOCKET, why="no address")
        return url

    async def send(
        self,
        url: str,
        *,
        json: Mapping[str, object] | None = None,
        data: bytes | None = None,
        within: float | None = None,
    ) -> None:
        """Post to an address that Slack gave; refuse any other before anything is sent."""
        if not is_slacks(url, self.setup.base_url):
            raise Refused("That address is not Slack's, so nothing was sent there.")
        async with self._session() as session:
            status = await self._sent(session, url, json=json, data=data, within=within)
        if status >= 300:  # noqa: PLR2004 - HTTP's own number
            raise failed("response_url", status=status, body={"error": f"http_{status}"})

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        """Lend the shared connections, or some of one's own where none are shared."""
        if self.client.session is not None:
            yield self.client.session
            return
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            yield session

    async def _sent(
        self,
        session: aiohttp.ClientSession,
        url: str,
        *,
        json: Mapping[str, object] | None,
        data: bytes | None,
        within: float | None,
    ) -> int:
        try:
            async with (
                asyncio.timeout(within or self.deadline),
                session.post(
                    url, json=json, data=data, proxy=self.client.proxy, allow_redirects=False
                ) as response,
            ):
                return response.status
        except (aiohttp.ClientError, OSError, ValueError) as error:  # a timeout is an OSError
            failure = unanswered("response_url", why=type(error).__name__)
        raise failure

    async def _called(
        self,
        method: str,
        call: Callable[[], Awaitable[AsyncSlackResponse]],
        within: float | None,
    ) -> Answer:
        failure: SaysoError
        try:
            async with asyncio.timeout(within or self.deadline):
                answer = await call()
            if method == "auth.test":
                self._scopes = _scopes(answer)
            if isinstance(answer.data, dict):
                return answer.data
            failure = unanswered(method, why="no object")
        except SlackApiError as error:
            failure = _read(method, error)
        except (SlackClientError, aiohttp.ClientError, OSError, *_UNREADABLE) as error:
            failure = unanswered(method, why=type(error).__name__)
        raise failure  # outside of the handler: the SDK's errors carry requests, and those the token


def _read(method: str, error: SlackApiError) -> SaysoError:
    response: Any = error.response  # pyright: ignore[reportUnknownMemberType]
    status: int = getattr(response, "status_code", 0) or getattr(response, "status", 0)
    headers: Mapping[str, str] = getattr(response, "headers", {})
    return failed(
        method,
        status=status,
        body=getattr(response, "data", None),
        retry_after=headers.get("Retry-After"),
    )


def _scopes(answer: AsyncSlackResponse) -> frozenset[str]:
    headers: Mapping[str, str] = answer.headers
    listed = headers.get("x-oauth-scopes", "")
    return frozenset(scope.strip() for scope in listed.split(",") if scope.strip())
