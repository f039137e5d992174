"""Sayso's Slack adapter on Sayso's own Slack, with a desk of the test's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.slack.intake import Patience
from adapters.slack.platform import SlackPlatform
from adapters.slack.setup import SlackSetup
from adapters.slack.sockets import Pace
from core.cards import Button, Card
from core.deliveries import Asking
from core.events import Place
from tests.fakes.desk import FakeDesk
from tests.standins.slack import FakeSlack

ALICE, BOB, OPS = "U0ALICE", "U0BOB", "C0OPS"
QUICK = Pace(ping=0.1, opens=2.0, look=0.05, retire=0.2, close=0.5)
PLACE = Place(platform="slack", workspace="T0TEAM", channel=OPS)


@dataclass(kw_only=True)
class Scene:
    """Everything that there is, put together as the wiring does it."""

    slack: FakeSlack
    platform: SlackPlatform
    desk: FakeDesk = field(default_factory=FakeDesk)

    async def root(self) -> Place:
        """Have Alice say something in the channel, and return the thread below it."""
        said = self.slack.work.add(OPS, {"user": ALICE, "text": "Hello"})
        return Place(platform="slack", workspace="T0TEAM", channel=OPS, thread=str(said["ts"]))


@asynccontextmanager
async def slack_of_two() -> AsyncGenerator[FakeSlack]:
    """Let there be Alice and Bob in a channel with Sayso."""
    async with FakeSlack() as slack:
        for user in (ALICE, BOB):
            slack.work.person(user)
        slack.work.channel(OPS, ALICE, BOB)
        yield slack


def setup_of(slack: FakeSlack, **other: object) -> SlackSetup:
    """Return what it takes to be there."""
    given = {
        "bot_token": slack.bot_token,
        "app_token": slack.app_token,
        "base_url": slack.base_url,
        "teams": frozenset({slack.work.team}),
        **other,
    }
    return SlackSetup(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@asynccontextmanager
async def connected(
    slack: FakeSlack,
    *,
    patience: Patience | None = None,
    pace: Pace = QUICK,
    drains_within: float = 5.0,
    **other: object,
) -> AsyncGenerator[Scene]:
    """Let Sayso be there, connected as it is set up."""
    platform = SlackPlatform(
        setup=setup_of(slack, **other),
        patience=patience or Patience(),
        pace=pace,
        drains_within=drains_within,
    )
    scene = Scene(slack=slack, platform=platform)
    async with platform.connected(scene.desk):
        yield scene


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
        buttons=buttons or tuple(BUTTONS),
    )


BUTTONS = (
    Button(label="Approve", verb="approve", request="r-1"),
    Button(label="Deny", verb="deny", request="r-1"),
    Button(label="Review full plan", verb="review", request="r-1"),
)


def asking(status: str = "Waits for a vote.", **more: tuple[str, ...]) -> Asking:
    """Return a card that waits."""
    return Asking(card=card(**more), status=status)
