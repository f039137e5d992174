"""Slack's HTTP side: tokens, then the method, then what a test wants to go wrong."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import web

from tests.standins.slack import agents, chat, directory, files, methods, reading, views
from tests.standins.slack.faults import Fault, Faults
from tests.standins.slack.rates import Rates
from tests.standins.slack.wire import Json, SlackSays, copied
from tests.standins.slack.workspace import Workspace

MODULES = (agents, chat, directory, files, reading, views)
"""Each names its methods on being imported."""
NESTED = ("blocks", "attachments", "metadata", "view", "chunks", "prompts", "files")
"""What may come as JSON in text, as forms do it."""
OPENS = "apps.connections.open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a method, and what Slack answered; None where the answer never came."""

    method: str
    body: Json
    answer: Json | None


@dataclass(kw_only=True)
class Web:
    """Answers `/api/METHOD`."""

    work: Workspace
    bot_token: str
    app_token: str
    new_socket: Callable[[], str]
    """Returns the address of a fresh socket."""
    at: str = ""
    """The server's own address."""
    app_scopes: set[str] = field(default_factory=lambda: {"connections:write"})
    faults: Faults = field(default_factory=Faults)
    rates: Rates = field(default_factory=Rates)
    calls: list[Call] = field(default_factory=list[Call])
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a call as Slack would, or as a test wants it."""
        name, body = request.match_info["method"], await _body(request)
        await self._held(name)
        fault = self.faults.next(name)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        token = token or str(body.pop("token", ""))
        told = None if fault and not fault.does else self._told(name, body, token)
        self.calls.append(Call(method=name, body=copied(body), answer=None if fault else told))
        await self.tell()
        if fault:
            return _faulty(request, fault)
        assert told is not None
        limited = told.get("error") == "ratelimited"
        headers = {"X-OAuth-Scopes": ",".join(sorted(self.work.scopes))}
        headers |= {"Retry-After": "1"} if limited else {}
        return web.json_response(told, status=429 if limited else 200, headers=headers)

    async def _held(self, name: str) -> None:
        if gate := self.faults.gates.get(name):
            self.faults.held[name] = self.faults.held.get(name, 0) + 1
            await self.tell()
            await gate.wait()

    async def tell(self) -> None:
        """Wake everybody who waits for something to become true."""
        async with self.changed:
            self.changed.notify_all()

    def _told(self, name: str, body: Json, token: str) -> Json:
        try:
            if name == OPENS:
                return {"ok": True, "url": self._opened(token)}
            if token != self.bot_token:
                raise SlackSays("invalid_auth" if token else "not_authed")  # noqa: TRY301
            if self.faults.token:
                raise SlackSays(self.faults.token)  # noqa: TRY301
            if self.rates.wait(name, str(body.get("channel")), self.work.time.now()):
                raise SlackSays("ratelimited")  # noqa: TRY301
            told = methods.answer(self.work, name, body)
        except SlackSays as refusal:
            return refusal.answer()
        if "upload_url" in told:
            told["upload_url"] = self.at + told["upload_url"]
        return told

    def _opened(self, token: str) -> str:
        if token != self.app_token:
            raise SlackSays("invalid_auth" if token else "not_authed")
        if "connections:write" not in self.app_scopes:
            raise SlackSays("missing_scope", needed="connections:write", provided="")
        return self.new_socket()


async def _body(request: web.Request) -> Json:
    body: Json
    if request.content_type == "application/json":
        given: Json = await request.json()
        body = {key: value for key, value in given.items() if value is not None}
    else:
        body = {**request.query, **(await request.post())}
    for key in NESTED:
        if isinstance(body.get(key), str):
            with suppress(ValueError):
                body[key] = json.loads(body[key])
    return body


def _faulty(request: web.Request, fault: Fault) -> web.Response:
    if fault.cuts and request.transport:
        request.transport.abort()
    if fault.body:
        return web.json_response(fault.body, status=fault.status, headers=fault.headers)
    return web.Response(status=fault.status, text="upstream error", headers=fault.headers)
