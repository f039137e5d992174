"""What people do on Discord, through the real discord.py: taken once, and answered in time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.discord.intake import Patience
from core.errors import Refused, Unavailable
from core.events import Approve, Ask, Deny, Edited, Lookup, Review, Stop, StopHere, TakeUp
from core.platforms import Told
from tests.discord_scene import REQUEST, Scene, asking, connected, discord_of_four
from tests.fakes.desk import FakeDesk
from tests.standins.discord import ALICE, BOB, GUILD, OPS, FakeDiscord

HURRIED = Patience(person=0.1)
DOWN = Unavailable("The database is away. Try again later.")


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with discord_of_four() as discord:
        yield discord


@pytest.fixture
async def scene(discord: FakeDiscord) -> AsyncIterator[Scene]:
    async with connected(discord) as scene:
        yield scene


async def test_a_mention_is_taken_and_answered_by_nothing(scene: Scene) -> None:
    said = await scene.discord.people.mentions(ALICE, OPS, "restart web")
    await scene.taken()
    await scene.settled()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert (event.text, event.identity.user) == ("restart web", ALICE)
    assert (event.place.channel, event.place.thread) == (OPS, f"opens:{said['id']}")
    assert event.deliveries == (f"msg:{said['id']}",)
    assert len(scene.discord.messages(OPS)) == 1


async def test_a_command_is_answered_alone_and_at_once(scene: Scene) -> None:
    scene.desk.says = [Told(text="Nothing runs here.")]

    stopped = await scene.discord.people.slash(ALICE, OPS, "stop")
    await scene.discord.over(stopped)

    assert isinstance(scene.desk.events[0], Stop)
    assert stopped.alone == ["Nothing runs here."]
    assert stopped.answered_after is not None
    assert stopped.answered_after < 1.0
