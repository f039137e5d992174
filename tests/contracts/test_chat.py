"""`core.deliveries.Chat`, on Slack and on Discord through their real clients: every message once."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from discord.http import Route

from core.deliveries import Asking, Chat, Drafted, Opening, Text
from core.errors import Unavailable
from core.events import OPENS, Place
from tests import discord_posts, slack
from tests.standins.discord import FakeDiscord

UNKNOWN = Drafted(key="draft:t_1", message=None)


@dataclass(frozen=True, kw_only=True)
class Side:
    """A platform: a thread on it, and what happens there."""

    chat: Chat
    place: Place
    asking: Asking
    read: Callable[[Place], list[str]]
    """What Sayso says in a thread."""
    loses_reply: Callable[[], None]
    """Has the next post arrive, and nobody told."""
    slows_down: Callable[[], None]
    """Has the next post refused for ten minutes."""
    removes: Callable[[str], Awaitable[None]]


@asynccontextmanager
async def on_slack() -> AsyncGenerator[Side]:
    async with slack.slack_of_two() as there, slack.connected(there) as scene:

        async def removes(message: str) -> None:
            there.work.message(slack.OPS, message).gone = True

        yield Side(
            chat=scene.platform.chat,
            place=await scene.root(),
            asking=slack.asking(),
            read=lambda place: there.thread(slack.OPS, str(place.thread))[1:],
            loses_reply=lambda: there.faults.loses_reply("chat.postMessage"),
            slows_down=lambda: there.faults.rate_limited("chat.postMessage", after=600),
            removes=removes,
        )


@asynccontextmanager
async def on_discord() -> AsyncGenerator[Side]:
    async with FakeDiscord() as there, discord_posts.posting(there) as scene:

        async def removes(message: str) -> None:
            await there.people.deletes(there.message(message))

        yield Side(
            chat=scene.chat,
            place=await discord_posts.thread_in(there),
            asking=discord_posts.asking(),
            read=lambda place: there.seen_in(str(place.thread)),
            loses_reply=lambda: there.faults.loses_reply(discord_posts.POST),
            slows_down=lambda: there.faults.rate_limited(discord_posts.POST, after=600),
            removes=removes,
        )


@pytest.fixture(params=[on_slack, on_discord], ids=["slack", "discord"])
async def side(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Side]:
    monkeypatch.setattr(Route, "BASE", Route.BASE)
    opens: Callable[[], AbstractAsyncContextManager[Side]] = request.param
    async with opens() as side:
        yield side


async def test_what_was_posted_under_a_key_is_there_once(side: Side) -> None:
    side.loses_reply()
    with pytest.raises(Unavailable):
        await side.chat.post(side.place, Text(text="Done."), key="post:c:1")
    first = await side.chat.post(side.place, Text(text="Done."), key="post:c:1", again=True)
    second = await side.chat.post(side.place, Text(text="Done."), key="post:c:1", again=True)

    assert first == second
    assert side.read(side.place) == ["Done."]


async def test_an_opening_is_the_thread_below_it(side: Side) -> None:
    place = replace(side.place, thread=f"{OPENS}i1")
    opening = Opening(author="Alice", text="restart web")
    thread = await side.chat.post(place, opening, key="open:c:0")
    again = await side.chat.post(place, opening, key="open:c:0", again=True)
    opened = replace(place, thread=thread)
    await side.chat.post(opened, Text(text="Yes."), key="post:c:1")

    assert side.read(opened) == ["Yes."]
    assert again == thread


async def test_an_answer_takes_the_place_of_its_draft_and_a_card_does_not(side: Side) -> None:
    message = await side.chat.draft(side.place, "It is", drafted=UNKNOWN)
    drafted = replace(UNKNOWN, message=message)
    assert await side.chat.draft(side.place, "It is over", drafted=drafted) == message
    answer = Text(text="It is over there.")
    assert await side.chat.post(side.place, answer, key="post:c:1", drafted=drafted) == message
    assert side.read(side.place) == ["It is over there."]

    other = Drafted(key="draft:t_2", message=None)
    message = await side.chat.draft(side.place, "Let me", drafted=other)
    drafted = replace(other, message=message)
    posted = await side.chat.post(side.place, side.asking, key="post:c:2", drafted=drafted)
    assert posted != message
    assert len(side.read(side.place)) == 2


async def test_where_nothing_was_done_it_is_said_when_to_come_again(side: Side) -> None:
    side.slows_down()
    with pytest.raises(Unavailable) as caught:
        await side.chat.post(side.place, Text(text="Done."), key="post:c:1")

    assert caught.value.after == timedelta(seconds=600)
    assert side.read(side.place) == []


async def test_a_message_that_is_gone_needs_no_edit(side: Side) -> None:
    posted = await side.chat.post(side.place, side.asking, key="post:c:1")
    await side.removes(posted)
    await side.chat.edit(side.place, posted, replace(side.asking, status="Denied."))

    assert side.read(side.place) == []


async def test_i14_nothing_is_posted_where_it_is_nobodys_here(side: Side) -> None:
    with pytest.raises(Unavailable, match="here"):
        await side.chat.post(
            replace(side.place, workspace="7"), Text(text="Theirs."), key="post:c:1"
        )

    assert side.read(side.place) == []
