"""One request and its answer: what was sent, what came back, and how far it came."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aiohttp import (
    ClientConnectionError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TraceConfig,
)
from yarl import URL

from adapters.http_steps import reaching
from adapters.sandbox.output import Output
from core.addresses import Address
from core.ports import Ending

CAP = 1024 * 1024
"""Bytes of an answer after which nobody listens any more."""
IDLE = 30.0
"""Seconds for which an answer that has begun may say nothing."""
_CONNECTING = 10.0
_LINE = 8190
_HEADERS = 100


class CutShortError(Exception):
    """An answer came, and did not come to its end."""

    def __init__(self, why: str, ending: Ending = Ending.BROKEN_OFF) -> None:
        super().__init__(why)
        self.why = why
        self.ending = ending


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request, which is sent at most once, and as much of its answer as was heard."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    tls: ssl.SSLContext | None
    """Whom to believe that they are who they say; None for whom this machine believes."""
    output: Output
    connected: bool = False
    """From then on some of it may have been sent: nobody can say any more that nothing happened."""
    status: int | None = None
    """That of the answer, once its headers have come."""
    is_readable: bool = True
    """Whether what came is what was meant: nothing is unpacked here."""
    content: bytearray = field(default_factory=bytearray)

    async def perform(self, addresses: Sequence[Address]) -> None:
        """Send it to one of these addresses and hear the answer.

        Raises `CutShortError` or what the library raises; being cancelled closes the connection.
        """
        async with (
            ClientSession(
                connector=reaching.connector(addresses),
                cookie_jar=DummyCookieJar(),
                timeout=ClientTimeout(total=None, sock_connect=_CONNECTING),
                auto_decompress=False,
                trust_env=False,
                max_line_size=_LINE,
                max_field_size=_LINE,
                max_headers=_HEADERS,
                trace_configs=[self._trace()],
            ) as session,
            session.request(
                self.method,
                URL(self.url, encoded=True),
                headers=self.headers,
                data=self.body,
                allow_redirects=False,
                ssl=self.tls or True,
                skip_auto_headers=("Content-Type", "User-Agent"),
            ) as response,
        ):
            try:
                await self._hear(response)
            finally:
                response.close()

    def _trace(self) -> TraceConfig:
        async def once(*_: object) -> None:
            # The library sends what it takes for harmless again where a connection ends.
            if self.connected:
                raise ClientConnectionError

        async def connected(*_: object) -> None:
            self.connected = True

        trace = TraceConfig()
        trace.on_connection_create_start.append(once)
        trace.on_connection_create_end.append(connected)
        return trace

    async def _hear(self, response: ClientResponse) -> None:
        self.status = response.status
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        self.is_readable = coding in {"", "identity"}
        while self.is_readable and (data := await _next(response)):
            self.content += data
            self.output.take(data)
            if len(self.content) > CAP:
                raise CutShortError(f"more than {CAP // 1024} KiB", Ending.TOO_MUCH_OUTPUT)


async def _next(response: ClientResponse) -> bytes:
    try:
        async with asyncio.timeout(IDLE):
            return await response.content.readany()
    except TimeoutError as error:
        raise CutShortError(f"nothing more for {IDLE:.0f} s") from error
    except (ClientError, OSError) as error:
        raise CutShortError("the end of the connection") from error
