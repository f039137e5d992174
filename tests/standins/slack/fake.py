"""A Slack of one workspace on 127.0.0.1, for one app: the whole of it."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.standins.slack import files, http, plain, reply_urls
from tests.standins.slack.delivery import Delivery
from tests.standins.slack.faults import Faults
from tests.standins.slack.hands import Hands
from tests.standins.slack.people import People
from tests.standins.slack.rates import Rates
from tests.standins.slack.sockets import Sockets
from tests.standins.slack.times import Time
from tests.standins.slack.web import Call, Web
from tests.standins.slack.wire import Json, copied
from tests.standins.slack.workspace import Workspace

MOST_BYTES = 8 * 2**20


class FakeSlack:
    """A server, and in its attributes who does what: `people`, `hands`, `sockets`, `faults`.

    It is there inside of `async with`. Whatever waits does so for a bounded time.
    """

    def __init__(self, *, time: Time | None = None, secret: str = "signing-secret") -> None:
        self.bot_token, self.app_token, self.secret = "xoxb-fake", "xapp-fake", secret
        self.work = Workspace(time=time or Time())
        self.url: str | None = None
        """Where the app takes deliveries by HTTP; over its sockets where this is None."""
        self.sockets = Sockets(app=self.work.app)
        self.web = Web(
            work=self.work, bot_token=self.bot_token, app_token=self.app_token,
            new_socket=self.sockets.address,
        )  # fmt: skip
        self.people = People(work=self.work, deliver=self.deliver)
        self.hands = Hands(work=self.work, deliver=self.deliver)
        self.delivered: list[Delivery] = []
        self._runner = web.AppRunner(self._routes(), shutdown_timeout=0.2)

    @property
    def base_url(self) -> str:
        """Return the `base_url` of a client."""
        return f"{self.web.at}/api/"

    @property
    def faults(self) -> Faults:
        """Return what goes wrong."""
        return self.web.faults

    @property
    def rates(self) -> Rates:
        """Return how often the app called."""
        return self.web.rates

    async def __aenter__(self) -> Self:
        """Start to listen, on a port that is free."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port = self._runner.addresses[0][1]
        self.web.at = f"http://127.0.0.1:{port}"
        self.sockets.at = f"ws://127.0.0.1:{port}"
        self.people.reply_at = self.hands.reply_at = f"{self.web.at}/response"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Close every socket and stop to listen."""
        for gate in self.faults.gates.values():
            gate.set()
        await self.sockets.close()
        await self._runner.cleanup()

    async def deliver(
        self, kind: str, payload: Json, *, socket: int | None = None,
        attempt: int = 0, reason: str = "",
    ) -> Delivery:  # fmt: skip
        """Deliver a payload to the app, and wait three seconds at most for its acknowledgement."""
        if self.url:
            made = await http.deliver(
                self.url, self.secret, kind, payload, attempt=attempt, reason=reason
            )
        else:
            again = {"retry_attempt": attempt, "retry_reason": reason} if attempt else {}
            made = await self.sockets.send(kind, payload, socket=socket, **again)
        self.delivered.append(made)
        await self.web.tell()
        return made

    async def redeliver(
        self, delivery: Delivery, *, attempt: int = 1, reason: str = "timeout",
        socket: int | None = None,
    ) -> Delivery:  # fmt: skip
        """Deliver an event again, as Slack does where it was not acknowledged: in a new envelope."""
        return await self.deliver(
            delivery.kind, copied(delivery.payload), attempt=attempt, reason=reason, socket=socket
        )

    async def until(self, holds: Callable[[], object], *, within: float = 20.0) -> None:
        """Return once something holds, looked at after every call and every delivery."""
        async with asyncio.timeout(within), self.web.changed:
            await self.web.changed.wait_for(holds)

    def thread(self, channel: str, ts: str) -> list[str]:
        """Return what is to be read in a thread, its root first; what is gone is not."""
        where = self.work.found(channel).id
        return [plain.text_of(each.now) for each in self.work.thread(where, ts)]

    def messages(self, channel: str, ts: str | None = None) -> list[Json]:
        """Return the messages of a thread, or all of a channel, as they are now."""
        where = self.work.found(channel).id
        return [
            each.now
            for (place, own), each in sorted(self.work.messages.items())
            if place == where and not each.gone and (ts is None or ts in (own, each.thread))
        ]

    def edits(self, channel: str, ts: str) -> list[str]:
        """Return what a message said before each edit, and what it says now."""
        message = self.work.messages[self.work.found(channel).id, ts]
        return [plain.text_of(each) for each in [*message.before, message.now]]

    def buttons(self, message: Json) -> list[str]:
        """Return what stands on the buttons of a message or a view."""
        return [plain.label(each) for each in plain.buttons_of(message)]

    def ephemerals(self, user: str) -> list[str]:
        """Return what one person alone was shown, in order."""
        return [plain.text_of(each) for each in self.work.ephemeral if each["user"] == user]

    def views(self, user: str) -> list[Json]:
        """Return the modals that somebody has open, the one on top last."""
        return [each for each in self.work.views.values() if each["shown_to"] == user]

    def calls(self, method: str) -> list[Call]:
        """Return every call of a method that came, in order."""
        return [each for each in self.web.calls if each.method == method]

    def _routes(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/api/{method}", self.web.answer)
        app.router.add_get("/link", self.sockets.serve)
        app.router.add_post("/response/{name}", self._reply)
        app.router.add_post("/upload/{file}", self._upload)
        return app

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        answered = reply_urls.answer(self.work, request.match_info["name"], await request.json())
        await self.web.tell()
        return answered

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        kept = files.receive(self.work, request.match_info["file"], await request.read())
        return web.Response(status=200 if kept else 400, text="OK" if kept else "bad upload")
