"""Discord's HTTP side: the token, then the route, then what a test wants to go wrong."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import BodyPartReader, web

from tests.standins.discord import callbacks, commands, directory, messages, threads
from tests.standins.discord.changes import Changes
from tests.standins.discord.faults import VIA, Fault, Faults
from tests.standins.discord.rates import Left, Rates
from tests.standins.discord.routes import ROUTES, Answer, Asked, Upload, find
from tests.standins.discord.state import State
from tests.standins.discord.wire import DiscordSays, Json, copied, objects, one

MODULES = (callbacks, commands, directory, messages, threads)
"""Each names its routes on being imported."""
BY_TOKEN_IN_PATH = ("/interactions/", "/webhooks/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a route, and what Discord answered."""

    route: str
    path: str
    body: Json
    query: dict[str, str]
    files: dict[str, bytes]
    status: int | None
    """None where the answer never came."""
    answer: Json | list[Json] | None
    authorized: bool
    """Whether the bot's token was there."""


@dataclass(kw_only=True)
class Web:
    """Answers `/api/v10/…`."""

    state: State
    token: str
    rates: Rates
    changes: Changes
    faults: Faults = field(default_factory=lambda: Faults(known=frozenset(ROUTES)))
    calls: list[Call] = field(default_factory=list[Call])

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a call as Discord would, or as a test wants it."""
        path = "/" + request.match_info["tail"]
        try:
            name, does, named = find(request.method, path)
        except DiscordSays as says:
            return _json(says.body(), says.status)
        asked = await _asked(request, named)
        await self._held(name)
        fault = self.faults.next(name)
        left = self.rates.take(name, str(next(iter(named.values()), "")))
        told: tuple[int, Answer] | None = None
        if not (fault and not fault.does):
            told = self._limited(left) or self._told(request, path, lambda: does(self.state, asked))
        self._keep(request, name, path, asked, None if fault else told, fault)
        self.changes.wake()
        await asyncio.sleep(self.faults.slow.get(name, 0))
        if fault:
            return _faulty(request, fault)
        assert told is not None
        return _json(told[1], told[0], _headers(left, name))

    def _told(
        self, request: web.Request, path: str, does: Callable[[], Answer]
    ) -> tuple[int, Answer]:
        if not path.startswith(BY_TOKEN_IN_PATH) and not self._authorized(request):
            return 401, {"message": "401: Unauthorized", "code": 0}
        try:
            answer = does()
        except DiscordSays as says:
            return says.status, says.body()
        return (204 if answer is None else 200), answer

    def _limited(self, left: Left) -> tuple[int, Answer] | None:
        if not left.is_over:
            return None
        return 429, {
            "message": "You are being rate limited.", "retry_after": left.reset_after,
            "global": False,
        }  # fmt: skip

    def _authorized(self, request: web.Request) -> bool:
        return request.headers.get("Authorization") == f"Bot {self.token}"

    async def _held(self, name: str) -> None:
        if gate := self.faults.gates.get(name):
            self.faults.held[name] = self.faults.held.get(name, 0) + 1
            self.changes.wake()
            await gate.wait()

    def _keep(self, request: web.Request, name: str, path: str, asked: Asked,
        told: tuple[int, Answer] | None, fault: Fault | None) -> None:  # fmt: skip
        status = told[0] if told else fault.status if fault and not fault.cuts else None
        self.calls.append(
            Call(
                route=name,
                path=path,
                body=copied(asked.body),
                query=dict(asked.query),
                files={each.name: each.data for each in asked.files.values()},
                status=status,
                answer=told[1] if told else None,
                authorized=self._authorized(request),
            )
        )


async def _asked(request: web.Request, named: dict[str, str]) -> Asked:
    body: object = {}
    files: dict[int, Upload] = {}
    if request.content_type.startswith("multipart/"):
        body, files = await _parts(request)
    elif request.can_read_body:
        body = json.loads(await request.read() or b"{}")
    return Asked(
        path=named, query=dict(request.query), files=files,
        body=one(body),
        items=objects(body),
    )  # fmt: skip


async def _parts(request: web.Request) -> tuple[object, dict[int, Upload]]:
    body: object = {}
    files: dict[int, Upload] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data, name = bytes(await part.read()), part.name or ""
        if name == "payload_json":
            body = json.loads(data)
        elif name.startswith("files["):
            number = int(name.removeprefix("files[").removesuffix("]"))
            files[number] = Upload(name=part.filename or "", data=data)
    return body, files


def _headers(left: Left, name: str) -> dict[str, str]:
    bucket = f"b{abs(hash(name)) % 10**8}"
    headers = {
        "X-RateLimit-Limit": str(left.limit), "X-RateLimit-Remaining": str(left.remaining),
        "X-RateLimit-Reset-After": f"{left.reset_after:.3f}", "X-RateLimit-Bucket": bucket, **VIA,
    }  # fmt: skip
    return headers | ({"Retry-After": str(max(1, round(left.reset_after)))} if left.is_over else {})


def _json(answer: Answer, status: int, headers: dict[str, str] | None = None) -> web.Response:
    """Return JSON whose type is exactly that: discord.py reads none that names a charset."""
    kind = {"Content-Type": "application/json"}
    body = None if status == 204 else json.dumps(answer).encode()
    sent = {**(headers or VIA), **(kind if body is not None else {})}
    return web.Response(body=body, status=status, headers=sent)


def _faulty(request: web.Request, fault: Fault) -> web.StreamResponse:
    if fault.cuts and request.transport:
        request.transport.abort()
    if fault.body:
        return _json(fault.body, fault.status, fault.headers)
    page = "<html>upstream error</html>"
    return web.Response(
        text=page, content_type="text/html", status=fault.status, headers=fault.headers
    )
