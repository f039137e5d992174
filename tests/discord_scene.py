"""Sayso's Discord adapter on Sayso's own Discord, with a desk of the test's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.discord import declared
from adapters.discord.gateway import Tempo
from adapters.discord.hearing import PAUSES
from adapters.discord.intake import Patience
from adapters.discord.platform import DiscordPlatform
from adapters.discord.setup import DiscordSetup
from adapters.discord.shards import Terms
from core.cards import Button, Card
from core.deliveries import Asking
from core.events import Place
from core.leases import Leases
from tests.discord_outgoing import unsafe
from tests.fakes.desk import FakeDesk
from tests.fakes.leases import FakeLeases
from tests.standins.discord import ALICE, GUILD, OPS, FakeDiscord, Json

QUICK = Tempo(opens=5.0, closes=0.5, between=0.05, settles=0.1)
BRIEF = Terms(lasts=2.0, prolongs=0.1, spare=0.5, looks=0.1, again=0.05)
REQUEST = "0123456789abcdef0123456789abcdef"


@dataclass(kw_only=True)
class Scene:
    """Everything that there is, put together as the wiring does it."""

    discord: FakeDiscord
    platform: DiscordPlatform
    desk: FakeDesk = field(default_factory=FakeDesk)

    async def thread(self) -> Place:
        """Have Alice begin a thread, and return where that is."""
        thread = await self.discord.people.opens_thread(ALICE, OPS, "web")
        return Place(platform="discord", workspace=GUILD, channel=OPS, thread=thread)

    async def card(self) -> Json:
        """Post a card in a thread, and return the message."""
        place = await self.thread()
        assert place.thread is not None
        await self.platform.chat.post(place, asking(), key="post:c1:1")
        return self.discord.messages(place.thread)[-1]

    async def taken(self, count: int = 1) -> None:
        """Return once the desk has had so many events."""
        await self.discord.until(lambda: len(self.desk.events) >= count)

    async def settled(self) -> None:
        """Return once nothing goes on any more."""
        await self.discord.until(lambda: not self.platform.tasks.running)


@asynccontextmanager
async def discord_of_four() -> AsyncGenerator[FakeDiscord]:
    """Let there be Alice, Bob, Carol and Mallory in a server with Sayso, whose commands are known."""
    async with FakeDiscord() as discord:
        discord.declares([dict(one) for one in declared.payload()])
        yield discord
        assert unsafe(discord) == []


def setup_of(discord: FakeDiscord, **other: object) -> DiscordSetup:
    """Return what it takes to be there."""

    def listed(user: str) -> tuple[str, ...]:
        return (GUILD,) if user in discord.world.users else ()

    given: dict[str, object] = {
        "token": discord.token,
        "api_url": discord.api_url,
        "gateway_url": discord.gateway_url,
        "guilds": frozenset({GUILD}),
        "guilds_of": listed,
        **other,
    }
    return DiscordSetup(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def platform_of(
    discord: FakeDiscord,
    *,
    leases: Leases | None = None,
    owner: str = "1:1",
    patience: Patience | None = None,
    tempo: Tempo = QUICK,
    terms: Terms = BRIEF,
    drains_within: float = 5.0,
    pauses: tuple[float, ...] = PAUSES,
    **other: object,
) -> DiscordPlatform:
    """Return Sayso's Discord, not connected."""
    return DiscordPlatform(
        setup=setup_of(discord, **other),
        leases=leases or FakeLeases(),
        owner=owner,
        patience=patience or Patience(),
        tempo=tempo,
        terms=terms,
        drains_within=drains_within,
        pauses=pauses,
    )


@asynccontextmanager
async def connected(
    discord: FakeDiscord, *, desk: FakeDesk | None = None, **other: object
) -> AsyncGenerator[Scene]:
    """Let Sayso be there, connected as it is set up."""
    platform = platform_of(discord, **other)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    scene = Scene(discord=discord, platform=platform, desk=desk or FakeDesk())
    async with platform.connected(scene.desk):
        yield scene


BUTTONS = (
    Button(label="Approve", verb="approve", request=REQUEST),
    Button(label="Deny", verb="deny", request=REQUEST),
    Button(label="Review full plan", verb="review", request=REQUEST),
)


def card(*buttons: Button, plan: tuple[str, ...] = ("restart web",)) -> Card:
    """Return a card about a restart."""
    return Card(
        title="Restart web",
        plan=plan,
        facts=(),
        warnings=(),
        estimate="about 20 s",
        preview=(),
        unchecked=(),
        buttons=buttons or BUTTONS,
    )


def asking(status: str = "Waits for a vote.", plan: tuple[str, ...] = ("restart web",)) -> Asking:
    """Return a card that waits."""
    return Asking(card=card(plan=plan), status=status)
