"""A Discord of one application on 127.0.0.1: the whole of it."""

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.standins.discord import commands, plain, posting
from tests.standins.discord.changes import Changes
from tests.standins.discord.faults import Faults
from tests.standins.discord.gateway import BAD_TOKEN, Gateway
from tests.standins.discord.interactions import FIRST_WITHIN, Interaction
from tests.standins.discord.limits import BY_SOMEBODY
from tests.standins.discord.people import People
from tests.standins.discord.pings import Pings, previews
from tests.standins.discord.rates import Rates
from tests.standins.discord.routes import ROUTES
from tests.standins.discord.state import State
from tests.standins.discord.times import Time
from tests.standins.discord.web import Call, Web
from tests.standins.discord.wire import Json, copied
from tests.standins.discord.world import Message, contract

MOST_BYTES = 64 * 2**20


class FakeDiscord:
    """A server, and in its attributes who does what: `people`, `gateway`, `faults`, `rates`.

    It is there inside of `async with`. Whatever waits does so for a bounded time.
    """

    def __init__(self, *, time: Time | None = None, token: str = "fake-discord-token") -> None:
        self.token = token
        self.world = contract(time or Time())
        self.state = State(world=self.world)
        self.changes = Changes()
        self.rates = Rates(time=self.world.time)
        self.web = Web(state=self.state, token=token, rates=self.rates, changes=self.changes)
        self.gateway = Gateway(world=self.world, token=token, changes=self.changes)
        self.people = People(state=self.state, send=self._send)
        self.acts: list[Interaction] = []
        self.world.tell = self._tell
        self._runner = web.AppRunner(self._routes(), shutdown_timeout=0.2)

    @property
    def api_url(self) -> str:
        """Return where the REST interface is, as `discord.http.Route.BASE` wants it."""
        return f"{self.world.at}/api/v10"

    @property
    def gateway_url(self) -> str:
        """Return where the gateway is."""
        return self.gateway.url

    @property
    def faults(self) -> Faults:
        """Return what goes wrong."""
        return self.web.faults

    async def __aenter__(self) -> Self:
        """Start to listen, on a port that is free."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port = self._runner.addresses[0][1]
        self.world.at = f"http://127.0.0.1:{port}"
        self.gateway.at = f"ws://127.0.0.1:{port}"
        self.state.gateway_url = self.gateway.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Close every socket and stop to listen."""
        for gate in self.faults.gates.values():
            gate.set()
        await self.gateway.close()
        await self._runner.cleanup()

    async def until(self, holds: Callable[[], object], *, within: float = 20.0) -> None:
        """Return once something holds, looked at after every call and everything that happens."""
        await self.changes.until(holds, within)

    async def over(self, act: Interaction, *, within: float = 20.0) -> Interaction:
        """Return an interaction once its person waits no longer: answered, or it failed."""
        await self.until(lambda: act.is_over, within=within)
        return act

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.world.time.pass_by(seconds)
        self.changes.wake()

    async def resets_token(self, token: str) -> None:
        """Have somebody give the bot another token: the one before is worth nothing any more."""
        self.token = self.web.token = self.gateway.token = token
        await self.gateway.kick(BAD_TOKEN)

    def tells_again(self, message: Json) -> None:
        """Tell of a new message once more, as a session hears it that takes up again."""
        kept = self.world.messages[str(message["id"])]
        self._tell("MESSAGE_CREATE", posting.delivered(self.world, kept))

    def sends_again(self, act: Interaction) -> None:
        """Send an interaction to the app once more, as it was."""
        act.sessions += self.gateway.interact(act.sent)
        self.changes.wake()

    def declares(self, declared: Iterable[Json], guild: str | None = None) -> None:
        """Let there be slash commands, as if the app had declared them."""
        commands.declare(self.world, [copied(each) for each in declared], guild)

    def seen_in(self, channel: str) -> list[str]:
        """Return what everybody reads in a channel or thread, the oldest first."""
        there = [each for each in self.world.history(channel) if each.now["type"] in BY_SOMEBODY]
        return [plain.text_of(each.now) for each in there]

    def messages(self, channel: str) -> list[Json]:
        """Return the messages of a channel or thread as they are now, notices of Discord aside."""
        there = [each for each in self.world.history(channel) if each.now["type"] in BY_SOMEBODY]
        return [copied(each.now) for each in there]

    def message(self, message: str) -> Json:
        """Return a message as it is now."""
        return copied(self.world.messages[message].now)

    def edits(self, message: str) -> list[str]:
        """Return what a message said before each edit, and what it says now."""
        kept = self.world.messages[message]
        return [plain.text_of(each) for each in [*kept.before, kept.now]]

    def threads(self, channel: str) -> list[str]:
        """Return the ids of the threads in a channel, the oldest first."""
        there = self.world.channels.values()
        return [str(each["id"]) for each in there if each.get("parent_id") == channel]

    def buttons(self, message: Json) -> list[str]:
        """Return what stands on the buttons of a message that can be pressed."""
        return plain.labels_of(message)

    def files(self, message: Json) -> dict[str, bytes]:
        """Return the files of a message, by their names."""
        return {each["filename"]: self.world.files[each["id"]] for each in message["attachments"]}

    def calls(self, route: str) -> list[Call]:
        """Return every call of a route that came, in order, written as in `routes.ROUTES`."""
        assert route in ROUTES, f"{route!r} is none of {sorted(ROUTES)}"
        return [each for each in self.web.calls if each.route == route]

    @property
    def pinged(self) -> list[Pings]:
        """Return whom the bot's own messages and edits reached, where they reached anybody."""
        return [each for message in self._own() for each in message.pings if each]

    @property
    def previews(self) -> list[str]:
        """Return the links in the bot's own messages that Discord draws a preview of."""
        return [link for each in self._own() for link in previews(each.now)]

    def _own(self) -> list[Message]:
        everything = self.world.messages.values()
        return [each for each in everything if each.now["author"]["id"] == self.world.bot]

    def _tell(self, name: str, data: Json) -> None:
        self.gateway.tell(name, data)
        self.changes.wake()

    def _send(self, act: Interaction) -> None:
        self.acts.append(act)
        act.sessions = self.gateway.interact(act.sent)
        loop = asyncio.get_running_loop()
        loop.call_later(FIRST_WITHIN + 0.01, self.changes.wake)  # by then it may have failed
        self.changes.wake()

    def _routes(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/api/v10/{tail:.*}", self.web.answer)
        app.router.add_get("/gw/", self.gateway.serve)
        app.router.add_get("/attachments/{channel}/{file}/{name}", self._file)
        return app

    async def _file(self, request: web.Request) -> web.StreamResponse:
        found = self.world.files.get(request.match_info["file"])
        return web.Response(status=404) if found is None else web.Response(body=found)
