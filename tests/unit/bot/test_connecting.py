"""A server connects to every platform, tries again what is out of reach, and gives up what never can be."""

import asyncio
import logging
from datetime import timedelta

import pytest

from bot import connecting
from bot.connecting import connected
from core.errors import Invalid, Unavailable
from tests.fakes.desk import FakeDesk
from tests.fakes.platform import FakePlatform
from tests.jobs import soon

DOWN = Unavailable("Slack is out of reach.")


@pytest.fixture
def stop() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nobody wait long between two tries."""
    monkeypatch.setattr(connecting, "_FIRST", 0.001)


async def test_all_are_connected_inside_the_block_and_none_after_it(stop: asyncio.Event) -> None:
    platforms = {"slack": FakePlatform(), "discord": FakePlatform()}
    async with connected(platforms, FakeDesk(), stop) as is_so:
        assert is_so
        assert all(platform.is_connected for platform in platforms.values())
    assert not any(platform.is_connected for platform in platforms.values())


async def test_without_platforms_it_is_connected_to_all_of_them(stop: asyncio.Event) -> None:
    async with connected({}, FakeDesk(), stop) as is_so:
        assert is_so


async def test_what_is_out_of_reach_is_tried_again_and_told(
    stop: asyncio.Event, caplog: pytest.LogCaptureFixture
) -> None:
    platform = FakePlatform(fails=[DOWN, DOWN])
    with caplog.at_level(logging.WARNING):
        async with connected({"slack": platform}, FakeDesk(), stop) as is_so:
            assert is_so
    assert platform.tries == 3
    assert caplog.messages == ["slack: Slack is out of reach. It is tried again in 0 s."] * 2


async def test_what_says_for_how_long_it_wants_no_try_gets_none_before_and_a_stop_ends_the_wait(
    stop: asyncio.Event,
) -> None:
    platform = FakePlatform(fails=[Unavailable("Slow down.", after=timedelta(hours=1))])

    async def connects() -> bool:
        async with connected({"slack": platform}, FakeDesk(), stop) as is_so:
            return is_so

    connecting_ = asyncio.create_task(connects())

    async def tried() -> bool:
        return platform.tries == 1

    await soon(tried)
    stop.set()
    assert await connecting_ is False
    assert platform.tries == 1


async def test_what_never_can_be_ends_it_and_leaves_nothing_connected(stop: asyncio.Event) -> None:
    first, second = FakePlatform(), FakePlatform(fails=[Invalid("That token is no bot's.")])
    with pytest.raises(Invalid, match="no bot's"):
        async with connected({"a": first, "b": second}, FakeDesk(), stop):
            raise AssertionError
    assert not first.is_connected


async def test_who_is_on_one_platform_is_served_while_another_is_out_of_reach(
    stop: asyncio.Event,
) -> None:
    down = FakePlatform(fails=[Unavailable("Slow down.", after=timedelta(hours=1))])
    up = FakePlatform()

    async def connects() -> bool:
        async with connected({"slack": down, "discord": up}, FakeDesk(), stop) as is_so:
            return is_so

    connecting_ = asyncio.create_task(connects())

    async def is_up() -> bool:
        return up.is_connected

    await soon(is_up)
    assert not connecting_.done()
    stop.set()
    assert await connecting_ is False
    assert not up.is_connected


async def test_what_never_can_be_ends_it_though_another_is_out_of_reach(
    stop: asyncio.Event,
) -> None:
    down = FakePlatform(fails=[Unavailable("Slow down.", after=timedelta(hours=1))])
    never = FakePlatform(fails=[Invalid("That token is no bot's.")])
    with pytest.raises(Invalid, match="no bot's"):
        async with connected({"slack": down, "discord": never}, FakeDesk(), stop):
            raise AssertionError
    assert not stop.is_set()


async def test_what_fails_on_leaving_is_told_once_everything_was_left(stop: asyncio.Event) -> None:
    first, second = FakePlatform(leaving=[DOWN]), FakePlatform()
    with pytest.raises(Unavailable, match="out of reach"):
        async with connected({"a": first, "b": second}, FakeDesk(), stop):
            pass
    assert not second.is_connected


async def test_whoever_is_cancelled_meanwhile_leaves_everything(stop: asyncio.Event) -> None:
    down = FakePlatform(fails=[Unavailable("Slow down.", after=timedelta(hours=1))])
    up = FakePlatform()

    async def connects() -> None:
        async with connected({"slack": down, "discord": up}, FakeDesk(), stop):
            raise AssertionError

    connecting_ = asyncio.create_task(connects())

    async def is_up() -> bool:
        return up.is_connected

    await soon(is_up)
    connecting_.cancel()
    await asyncio.wait({connecting_})
    assert connecting_.cancelled()
    assert not up.is_connected
