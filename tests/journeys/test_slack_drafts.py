"""P-16 in Slack: an answer is read while it is written, and its end always arrives, in the same message."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sayso import Running
from tests.speaking import SAYS, has_said, started
from tests.team import ALICE, OPS, Team, team

WRITING = "This is still being written."
SECRET = "xoxb-" + "1234567890-" * 2 + "abcDEF"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """A team whose Sayso has a model that says what a test has it say."""

    team: Team

    def says(self, *pieces: str | list[str] | None) -> None:
        """Have it say more; None is the end."""
        has_said(self.team.sayso, *pieces)

    async def serve(self) -> Running:
        """Start a server."""
        opened = self.team.slack.sockets.opened
        running = started(self.team.sayso, self.team.tokens)
        await asyncio.to_thread(running.ready)
        await self.team.slack.sockets.until_opened(opened + 2)
        return running

    def read(self, thread: str) -> list[str]:
        """Return what Sayso says in a thread."""
        return self.team.slack.thread(OPS, thread)[1:]

    async def until(self, thread: str, text: str) -> None:
        """Wait until a text is to be read in a thread."""
        await self.team.reads(thread, text)

    def ids(self, thread: str) -> list[str]:
        """Return the messages of a thread."""
        return [str(one["ts"]) for one in self.team.slack.messages(OPS, thread)][1:]


@pytest.fixture
async def speech(tmp_path: Path) -> AsyncGenerator[Speech]:
    async with team(tmp_path / "acme") as made:
        speech = Speech(team=made)
        (made.sayso.folder / SAYS).touch()
        yield speech


async def test_p16_an_answer_of_six_minutes_is_one_message_and_whole(speech: Speech) -> None:
    await speech.serve()
    thread = await speech.team.asks(ALICE, "where is it?")
    for number in range(4):
        speech.says(f"Part {number} is here. ")
        await speech.until(thread, f"Part {number} is here.")
        assert WRITING in speech.read(thread)[0]
        speech.team.slack.work.time.pass_by(120)
    [message] = speech.ids(thread)
    speech.says("That is all.", None)
    await speech.until(thread, "That is all.")
    [text] = speech.read(thread)
    assert [f"Part {number} is here." in text for number in range(4)] == [True] * 4
    assert WRITING not in text
    assert speech.ids(thread) == [message]


async def test_p16_15668_characters_arrive_complete(speech: Speech) -> None:
    await speech.serve()
    thread = await speech.team.asks(ALICE, "tell me all")
    words = [f"word{number:05d}" for number in range(1566)]
    text = " ".join(words)[:15_668]
    assert len(text) > 15_600
    for at in range(0, len(text), 97):
        speech.says(text[at : at + 97])
    await speech.until(thread, WRITING)
    [message] = speech.ids(thread)
    speech.says(None)
    await speech.until(thread, words[-2])
    await speech.team.slack.until(lambda: WRITING not in "".join(speech.read(thread)))
    assert speech.ids(thread)[0] == message
    found = "".join(speech.read(thread))
    assert [word for word in words if word not in found] == []


async def test_killed_in_the_middle_the_same_message_becomes_the_answer(speech: Speech) -> None:
    running = await speech.serve()
    thread = await speech.team.asks(ALICE, "where is it?")
    speech.says("It is ")
    await speech.until(thread, "It is")
    [message] = speech.ids(thread)
    await asyncio.to_thread(running.end)
    await speech.team.slack.sockets.until_open(0)
    await speech.serve()
    speech.says("over there.", None)
    await speech.until(thread, "It is over there.")
    assert speech.ids(thread) == [message]
    assert WRITING not in speech.read(thread)[0]


async def test_stopped_in_the_middle_it_says_so_in_its_place(speech: Speech) -> None:
    await speech.serve()
    thread = await speech.team.asks(ALICE, "where is it?")
    speech.says("It is ")
    await speech.until(thread, "It is")
    [message] = speech.ids(thread)
    await speech.team.slack.people.say(ALICE, OPS, "stop", thread=thread)
    await speech.until(thread, "Stopped")
    await speech.team.slack.until(lambda: WRITING not in "".join(speech.read(thread)))
    assert message in speech.ids(thread)
    [text] = [speech.team.slack.edits(OPS, one)[-1] for one in speech.ids(thread) if one == message]
    assert "Stopped" in text
    assert "It is" not in text


async def test_p03b_between_two_calls_of_tools_a_stop_ends_the_answer(speech: Speech) -> None:
    await speech.serve()
    thread = await speech.team.asks(ALICE, "where is it?")
    speech.says(["show-ledger"], "It looked, ")
    await speech.until(thread, "It looked")
    began = time.monotonic()
    await speech.team.slack.people.say(ALICE, OPS, "stop", thread=thread)
    await speech.team.told(ALICE, "1 answer stopped")
    assert time.monotonic() - began < 5
    speech.says(["show-ledger"], "twice.", None)
    await speech.team.slack.until(lambda: WRITING not in "".join(speech.read(thread)))
    assert "twice" not in "".join(speech.read(thread))
    [[reason]] = speech.team.sayso.sql("SELECT reason FROM turn")
    assert reason == "stopped"


async def test_a_secret_in_pieces_is_never_shown(speech: Speech) -> None:
    await speech.serve()
    thread = await speech.team.asks(ALICE, "which token?")
    speech.says("Here it is: ", SECRET[:9])
    await speech.until(thread, "Here it is:")
    speech.says(SECRET[9:], " and more ")
    await speech.until(thread, "and more")
    speech.says(None)
    await speech.team.slack.until(lambda: WRITING not in "".join(speech.read(thread)))
    bodies = [
        json.dumps(call.body)
        for method in ("chat.postMessage", "chat.update")
        for call in speech.team.slack.calls(method)
    ]
    assert len(bodies) >= 3
    assert [body for body in bodies if SECRET[:9] in body] == []
    assert "Here it is: [redacted] and more" in speech.read(thread)[0]


async def test_an_answer_that_a_guardrail_is_to_see_is_posted_whole(speech: Speech) -> None:
    config = speech.team.sayso.folder / "sayso.yml"
    guard = "guardrails: [{stage: output, pattern: 'evil', reason: 'this is not said here'}]\n"
    config.write_text(config.read_text("utf-8") + guard, "utf-8")
    await speech.serve()
    thread = await speech.team.asks(ALICE, "where is it?")
    speech.says("It is evil ")
    await asyncio.sleep(1.5)  # in which a draft would be shown
    assert speech.read(thread) == []
    speech.says("here.", None)
    await speech.until(thread, "this is not said here")
    assert "evil" not in json.dumps(
        [call.body for call in speech.team.slack.calls("chat.postMessage")]
    )


async def test_p16_where_slack_has_enough_of_edits_the_end_still_arrives(speech: Speech) -> None:
    slack = speech.team.slack
    await speech.serve()
    thread = await speech.team.asks(ALICE, "where is it?")
    speech.says("It is ")
    await speech.until(thread, "It is")
    [message] = speech.ids(thread)
    slack.faults.rate_limited("chat.update", after=2, times=2)
    speech.says("over ")
    await slack.until(lambda: slack.calls("chat.update"))
    speech.says("there.", None)
    await speech.until(thread, "It is over there.")
    assert speech.ids(thread) == [message]
    assert WRITING not in speech.read(thread)[0]
