"""Discord's gateway goes wrong in every way it does: nothing is lost, nothing comes twice, nothing dies."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from adapters.discord.client import Client
from core.events import Approve, Ask
from core.platforms import Told
from tests.discord_scene import QUICK, Scene, connected, discord_of_four
from tests.fakes.desk import FakeDesk
from tests.standins.discord import ALICE, BOB, GUILD, OPS, FakeDiscord

ALIVE = replace(QUICK, heartbeat_timeout=0.4)


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with discord_of_four() as discord:
        yield discord


def texts(scene: Scene) -> list[str]:
    return [event.text for event in scene.desk.events if isinstance(event, Ask)]


async def asks(scene: Scene, *words: str) -> None:
    for text in words:
        await scene.discord.people.mentions(ALICE, OPS, text)


async def op_7(discord: FakeDiscord) -> None:
    await discord.gateway.reconnect()


async def op_9_resumable(discord: FakeDiscord) -> None:
    await discord.gateway.invalidate(resumable=True)


async def op_9(discord: FakeDiscord) -> None:
    await discord.gateway.invalidate()


async def a_cut(discord: FakeDiscord) -> None:
    await discord.gateway.drop()


async def a_clean_close(discord: FakeDiscord) -> None:
    await discord.gateway.kick(1000)


async def a_session_that_timed_out(discord: FakeDiscord) -> None:
    discord.gateway.forget()
    await discord.gateway.kick(4009)


@pytest.mark.parametrize("goes_wrong", [op_7, op_9_resumable, a_cut])
async def test_a_session_that_is_taken_up_again_loses_nothing_and_tells_nothing_twice(
    discord: FakeDiscord, goes_wrong: Callable[[FakeDiscord], Awaitable[None]]
) -> None:
    async with connected(discord) as scene:
        await asks(scene, "one", "two")
        await goes_wrong(discord)
        await asks(scene, "three", "four")
        await discord.gateway.until_resumed()
        await asks(scene, "five")
        await scene.taken(5)
        await scene.settled()

    assert texts(scene) == ["one", "two", "three", "four", "five"]
    assert len(discord.gateway.identified) == 1


@pytest.mark.parametrize("goes_wrong", [op_9, a_session_that_timed_out])
async def test_a_session_that_begins_anew_fetches_what_was_written_meanwhile(
    discord: FakeDiscord, goes_wrong: Callable[[FakeDiscord], Awaitable[None]]
) -> None:
    async with connected(discord) as scene:
        await asks(scene, "one", "two")
        await scene.taken(2)
        await goes_wrong(discord)
        await asks(scene, "three", "four")
        await discord.gateway.until_identified(2)
        await asks(scene, "five")
        await scene.taken(5)
        await scene.settled()

    assert texts(scene) == ["one", "two", "three", "four", "five"]


async def test_a_connection_that_is_closed_without_a_reason_comes_back(
    discord: FakeDiscord,
) -> None:
    async with connected(discord) as scene:
        await a_clean_close(discord)
        await asks(scene, "one")
        await discord.until(lambda: discord.gateway.connected)
        await scene.taken()

    assert texts(scene) == ["one"]


async def test_a_connection_over_which_no_heartbeat_is_answered_is_replaced(
    discord: FakeDiscord,
) -> None:
    discord.gateway.heartbeat, discord.gateway.acks = 0.1, False
    async with connected(discord, tempo=ALIVE) as scene:
        await asks(scene, "one")
        await scene.taken()
        await discord.gateway.until_resumed()
        await asks(scene, "two")
        await scene.taken(2)
        await scene.settled()

    assert texts(scene) == ["one", "two"]


async def test_while_heartbeats_are_answered_a_quiet_connection_stays(
    discord: FakeDiscord,
) -> None:
    discord.gateway.heartbeat = 0.1
    async with connected(discord, tempo=ALIVE):
        await discord.until(lambda: discord.gateway.heartbeats >= 8)

    assert discord.gateway.opened == 1


async def test_a_card_of_an_older_process_answers_after_any_restart(discord: FakeDiscord) -> None:
    async with connected(discord) as first:
        card = await first.card()
    async with connected(discord, desk=FakeDesk(says=[Told(text="One of two.")])) as second:
        pressed = await discord.people.presses(BOB, card, "Approve")
        await discord.over(pressed)

    assert pressed.alone == ["One of two."]
    assert isinstance(second.desk.events[0], Approve)


async def test_a_form_that_was_opened_before_a_restart_is_taken_after_it(
    discord: FakeDiscord,
) -> None:
    async with connected(discord) as first:
        pressed = await discord.people.presses(BOB, await first.card(), "Deny")
        await discord.until(lambda: pressed.modal)
    async with connected(discord) as second:
        sent = await discord.people.submits(BOB, pressed.modal, reason="not on a Friday")
        await discord.over(sent)

    assert sent.answer == {"type": 6}
    assert len(second.desk.events) == 1


async def test_a_client_whose_task_dies_is_noticed_and_begun_again(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(discord) as scene:
        _polling().cancel()
        await discord.gateway.until_identified(2)
        await asks(scene, "one")
        await scene.taken()

    assert texts(scene) == ["one"]
    assert "gateway could not be reached" in caplog.text


async def test_a_beginning_that_discord_py_cannot_read_is_begun_anew(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(discord) as scene:
        begun = {"session_id": "x", "resume_gateway_url": discord.gateway.url}
        discord.gateway.tell("READY", {**begun, "content": "my-s3cret", "guild_id": GUILD})
        await discord.gateway.until_identified(2)
        await asks(scene, "one")
        await scene.taken()

    assert texts(scene) == ["one"]
    assert "my-s3cret" not in caplog.text


async def test_what_fails_in_a_callback_is_written_down_without_what_it_was_about(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: Client, message: object) -> None:
        raise ValueError(message)

    monkeypatch.setattr(Client, "on_message", fails)
    async with connected(discord):
        await discord.people.mentions(ALICE, OPS, "my-s3cret")
        await discord.until(lambda: "unexpected ValueError" in caplog.text)

    assert "my-s3cret" not in caplog.text


async def test_a_connection_that_is_cut_again_and_again_is_begun_more_slowly(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(discord) as scene:
        for count in range(1, 11):
            await discord.gateway.until_connected()
            await discord.gateway.drop()
            await discord.until(lambda count=count: discord.gateway.opened > count)  # type: ignore[misc]
        await discord.gateway.until_identified(2)
        await asks(scene, "one")
        await scene.taken()

    assert "was cut 10 times in a row" in caplog.text
    assert texts(scene) == ["one"]


async def test_where_no_session_is_left_it_waits_and_says_so(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(discord) as scene:
        discord.state.sessions_left = 0
        await discord.gateway.invalidate()
        await discord.until(lambda: "no further session" in caplog.text)
        assert len(discord.gateway.identified) == 1
        assert scene.desk.events == []
    await discord.until(lambda: not _beating())


async def test_a_token_that_is_taken_back_later_is_said_and_the_process_lives(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(discord):
        await discord.gateway.kick(4004)
        await discord.until(lambda: "discord.token" in caplog.text)
        await discord.gateway.until_connected(0)


def _beating() -> list[threading.Thread]:
    """Return the threads in which discord.py keeps connections alive."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("keep-alive")]


def _polling() -> "asyncio.Task[object]":
    """Return what runs discord.py's client."""
    return next(task for task in asyncio.all_tasks() if "coro=<Gateway._run()" in repr(task))
