"""P-16 and C61 on Discord: an answer is read while it is written, and its end always arrives in its place."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.speaking import SAYS, has_said, started
from tests.standins.discord import ALICE, BOT
from tests.standins.discord.plain import text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
POST = "POST /channels/{channel}/messages"
PATCH = "PATCH /channels/{channel}/messages/{message}"
WRITING = "This is still being written."
SECRET = "xoxb-" + "1234567890-" * 2 + "abcDEF"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """A server whose Sayso has a model that says what a test has it say."""

    server: Server

    def says(self, *pieces: str | list[str] | None) -> None:
        """Have it say more; None is the end."""
        has_said(self.server.sayso, *pieces)

    def begins(self) -> None:
        """Have it said nothing yet."""
        (self.server.sayso.folder / SAYS).write_text("", "utf-8")

    async def serve(self, *more: str) -> None:
        """Start a server."""
        gateway = self.server.discord.gateway
        before = len(gateway.identified)
        running = started(self.server.sayso, self.server.tokens, *more)
        await asyncio.to_thread(running.ready)
        await gateway.until_identified(before + 1)

    def read(self, thread: str) -> list[str]:
        """Return what Sayso says in a thread, but for what it notes."""
        said = [text_of(self.server.discord.message(one)) for one in self.ids(thread)]
        return [one for one in said if not one.startswith("-# ")]

    def ids(self, thread: str) -> list[str]:
        """Return the messages of Sayso in a thread."""
        there = self.server.discord.messages(thread)
        return [str(one["id"]) for one in there if one["author"]["id"] == BOT]

    async def until(self, thread: str, text: str) -> None:
        """Wait until a text is to be read in a thread."""
        await self.server.reads(thread, text)

    async def ended(self, thread: str) -> None:
        """Wait until nothing in a thread is still being written."""
        await self.server.discord.until(lambda: WRITING not in "".join(self.read(thread)))


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[Speech]:
    """Give that server, which runs."""
    async with server(folder) as made:
        made.declared()
        speech = Speech(server=made)
        speech.begins()
        yield speech


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def serving(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Speech]:
    async with opened(tmp_path_factory.mktemp("drafts") / "acme") as speech:
        await speech.serve()
        yield speech


@pytest_asyncio.fixture(loop_scope="module")
async def speech(serving: Speech) -> Speech:
    serving.begins()
    return serving


async def test_p16_an_answer_of_six_minutes_is_one_message_and_whole(speech: Speech) -> None:
    thread = await speech.server.asks(ALICE, "where is it?")
    for number in range(4):
        speech.says(f"Part {number} is here. ")
        await speech.until(thread, f"Part {number} is here.")
        assert WRITING in speech.read(thread)[0]
        speech.server.discord.passes(120)
    [message] = speech.ids(thread)
    speech.says("That is all.", None)
    await speech.until(thread, "That is all.")
    [text] = speech.read(thread)
    assert [f"Part {number} is here." in text for number in range(4)] == [True] * 4
    assert WRITING not in text
    assert speech.ids(thread) == [message]


async def test_c61_however_fast_it_is_written_it_is_shown_once_a_second(speech: Speech) -> None:
    thread = await speech.server.asks(ALICE, "tell me all")
    speech.says("word000 ")
    await speech.until(thread, "word000")
    began, before = time.monotonic(), len(speech.server.discord.calls(PATCH))
    for number in range(1, 100):
        speech.says(f"word{number:03d} ")
        await asyncio.sleep(0.03)  # as fast as a model speaks
    edits, took = len(speech.server.discord.calls(PATCH)) - before, time.monotonic() - began
    assert 1 <= edits <= took + 1
    speech.says(None)
    await speech.until(thread, "word099")
    await speech.ended(thread)
    [text] = speech.read(thread)
    assert text.split() == [f"word{number:03d}" for number in range(100)]


async def test_p16_15668_characters_arrive_complete(speech: Speech) -> None:
    thread = await speech.server.asks(ALICE, "tell me all")
    words = [f"word{number:05d}" for number in range(1566)]
    text = " ".join(words)[:15_668]
    for at in range(0, len(text), 97):
        speech.says(text[at : at + 97])
    await speech.until(thread, WRITING)
    [message] = speech.ids(thread)
    speech.says(None)
    discord = speech.server.discord
    await discord.until(lambda: any(one["attachments"] for one in discord.messages(thread)))
    await speech.ended(thread)
    assert speech.ids(thread)[0] == message
    [file] = [file for one in discord.messages(thread) for file in discord.files(one).values()]
    assert file.decode() == text
    assert speech.read(thread)[0].startswith(" ".join(words[:100]))


@pytest.mark.parametrize("way", ["word", "command"])
async def test_p03a_stopped_in_the_middle_it_says_so_in_its_place(speech: Speech, way: str) -> None:
    acme = speech.server
    thread = await acme.asks(ALICE, "where is it?")
    speech.says("It is ")
    await speech.until(thread, "It is")
    [message] = speech.ids(thread)
    if way == "word":
        await acme.says(ALICE, thread, "stop")
    else:
        stopped = await acme.discord.people.slash(ALICE, thread, "stop")
        assert (await acme.discord.over(stopped)).alone == ["1 answer stopped"]
    await speech.until(thread, "Stopped")
    await speech.ended(thread)
    text = acme.discord.edits(message)[-1]
    assert "Stopped" in text
    assert "It is" not in text


async def test_p03b_between_two_calls_of_tools_a_stop_ends_the_answer(speech: Speech) -> None:
    thread = await speech.server.asks(ALICE, "where is it?")
    speech.says(["show-ledger"], "It looked, ")
    await speech.until(thread, "It looked")
    await speech.server.says(ALICE, thread, "stop")
    await speech.until(thread, "1 answer stopped")
    speech.says(["show-ledger"], "twice.", None)
    await speech.ended(thread)
    assert "twice" not in "".join(speech.read(thread))
    [(reason,)] = speech.server.sayso.sql(
        "SELECT reason FROM turn WHERE conversation = ?", speech.server.conversation(thread)
    )
    assert reason == "stopped"


async def test_a_secret_in_pieces_is_never_shown(speech: Speech) -> None:
    thread = await speech.server.asks(ALICE, "which token?")
    speech.says("Here it is: ", SECRET[:9])
    await speech.until(thread, "Here it is:")
    speech.says(SECRET[9:], " and more ")
    await speech.until(thread, "and more")
    speech.says(None)
    await speech.ended(thread)
    calls = [call for route in (POST, PATCH) for call in speech.server.discord.calls(route)]
    bodies = [json.dumps(call.body) for call in calls if thread in call.path]
    assert len(bodies) >= 3
    assert [body for body in bodies if SECRET[:9] in body] == []
    assert speech.read(thread) == ["Here it is: \\[redacted\\] and more"]


@pytest.mark.parametrize("seconds", [2, 60])
async def test_p16_where_discord_has_enough_of_edits_the_end_still_arrives(
    speech: Speech, seconds: int
) -> None:
    discord = speech.server.discord
    thread = await speech.server.asks(ALICE, "where is it?")
    speech.says("It is ")
    await speech.until(thread, "It is")
    [message] = speech.ids(thread)
    discord.faults.rate_limited(PATCH, after=seconds)
    speech.says("over ")
    await discord.until(lambda: not discord.faults.waiting[PATCH])
    speech.says("there.", None)
    await speech.until(thread, "It is over there.")
    await speech.ended(thread)
    # Soon, it takes the place of what was shown; else it is posted below, and that is removed.
    assert (speech.ids(thread) == [message]) == (seconds == 2)
    assert speech.read(thread) == ["It is over there."]


async def test_with_a_gateway_that_falls_silent_and_a_kill_the_same_message_becomes_the_answer(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path / "acme") as speech:
        acme, gateway = speech.server, speech.server.discord.gateway
        gateway.heartbeat = 0.5
        await speech.serve("3")
        thread = await acme.asks(ALICE, "where is it?")
        speech.says("It ")
        await speech.until(thread, "It")
        [message] = speech.ids(thread)
        sockets, gateway.acks = gateway.opened, False
        await acme.discord.until(lambda: gateway.opened > sockets, within=40)
        gateway.acks = True
        await gateway.until_resumed()
        speech.says("is ")
        await speech.until(thread, "It is")
        await acme.ends(acme.sayso.started[-1], signal.SIGKILL)
        gateway.heartbeat = 41.25
        await speech.serve()
        speech.says("over there.", None)
        await speech.until(thread, "It is over there.")
        await speech.ended(thread)
        assert speech.ids(thread) == [message]
        assert speech.read(thread) == ["It is over there."]
