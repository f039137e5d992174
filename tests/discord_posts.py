"""What Sayso posts on Sayso's own Discord, through the real client without a gateway."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from adapters.discord.chat import DiscordChat
from adapters.discord.rest import Rest
from adapters.discord.setup import DiscordSetup
from core.cards import Button, Card
from core.deliveries import Asking
from core.events import Place
from core.principals import Identity
from tests.standins.discord import ALICE, BOT, GUILD, OPS, FakeDiscord, Json

PLACE = Place(platform="discord", workspace=GUILD, channel=OPS)
POST = "POST /channels/{channel}/messages"
EDIT = "PATCH /channels/{channel}/messages/{message}"
DELETE = "DELETE /channels/{channel}/messages/{message}"
READ = "GET /channels/{channel}/messages"
OPEN = "POST /channels/{channel}/messages/{message}/threads"
LOGIN = "GET /users/@me"


def who(user: str) -> Identity:
    """Return somebody as Discord knows them."""
    return Identity(platform="discord", workspace=GUILD, user=user)


def setup_of(discord: FakeDiscord) -> DiscordSetup:
    """Return what it takes to be there."""
    return DiscordSetup(
        token=discord.token,
        api_url=discord.api_url,
        gateway_url=discord.gateway_url,
        guilds=frozenset({GUILD}),
    )


@dataclass(kw_only=True)
class Posting:
    """A process that posts."""

    discord: FakeDiscord
    rest: Rest
    chat: DiscordChat

    def ours(self, channel: str) -> list[str]:
        """Return the ids of everything that Sayso has posted in a channel and that is still there."""
        return [str(each["id"]) for each in self._ours(channel)]

    def said(self, channel: str) -> list[str]:
        """Return the words of everything that Sayso has posted there."""
        return [str(each["content"]) for each in self._ours(channel)]

    def _ours(self, channel: str) -> list[Json]:
        return [m for m in self.discord.messages(channel) if m["author"]["id"] == BOT]


@asynccontextmanager
async def posting(discord: FakeDiscord) -> AsyncGenerator[Posting]:
    """Let there be a process that posts, and nothing of it afterwards."""
    rest = Rest(setup=setup_of(discord))
    async with rest.opened():
        chat = DiscordChat(rest=rest)
        yield Posting(discord=discord, rest=rest, chat=chat)
        await chat.tasks.drain(10.0)


async def thread_in(discord: FakeDiscord) -> Place:
    """Have Alice open a thread in the channel, and return it."""
    said = await discord.people.writes(ALICE, OPS, "Hello")
    thread = await discord.people.opens_thread(ALICE, OPS, "Hello", said)
    return Place(platform="discord", workspace=GUILD, channel=OPS, thread=thread)


def card(*buttons: Button, plan: tuple[str, ...] = ("restart web",), request: str = "r-1") -> Card:
    """Return a card about a restart."""
    usual = (
        Button(label="Approve", verb="approve", request=request),
        Button(label="Deny", verb="deny", request=request),
        Button(label="Review full plan", verb="review", request=request),
    )
    return Card(
        title="Restart web",
        plan=plan,
        facts=(),
        warnings=(),
        estimate="about 20 s",
        preview=(),
        unchecked=(),
        buttons=buttons or usual,
    )


def asking(status: str = "Waits for a vote.", *wanted: str, request: str = "r-1") -> Asking:
    """Return a card that waits for the yes of some."""
    return Asking(
        card=card(request=request), status=status, wanted=tuple(who(user) for user in wanted)
    )
