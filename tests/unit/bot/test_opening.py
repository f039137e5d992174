"""What was asked outside of any thread gets one; and what cannot be posted reaches whoever asked."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage import jobs
from core.conversations import NewTurn, TurnEnd
from core.deliveries import EDIT, OPEN, POST, Asking, Opening, Text
from core.errors import Refused, Unavailable
from core.events import OPENS, Place
from core.outcomes import Reason
from tests.bots import Bots
from tests.builders import TENANT, THREAD, a_new_turn, a_proposal
from tests.fakes.chat import FakeChat
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.gates import APPEND, BOB_ON_SLACK, World
from tests.jobs import soon
from tests.stores import LEASE, Stores, answering, heard, jobs_of

SLASH = replace(THREAD, thread=f"{OPENS}17.22.abc")
HERE = "c_slash"
ARCHIVED = Refused("The channel is archived.")
SAYS = TurnEnd(reason=Reason.ANSWERED, text="It is there.")


@pytest.fixture
def chat() -> FakeChat:
    return FakeChat()


@pytest.fixture
async def bots(stores: Stores, chat: FakeChat) -> AsyncGenerator[Bots]:
    """Have bob ask something with a slash command, which nobody answers yet."""
    await heard(stores, _asked())
    bots = Bots(World(stores), chats={"slack": chat})
    yield bots
    await bots.at_rest()


def _asked(place: Place = SLASH) -> NewTurn:
    return a_new_turn("t_slash", "restart web", opens=HERE, place=place, principal="bob")


async def _delivered(bots: Bots, clock: FrozenClock | None = None) -> None:
    async def is_over() -> bool:
        if clock:
            clock.pass_by(timedelta(seconds=1))
        left = await jobs_of(bots.world.stores, OPEN, POST, EDIT)
        return not {"queued", "running"} & {row["state"] for row in left}

    async with bots.serving():
        await soon(is_over)


async def _answer(bots: Bots, text: str = "It is there.", place: Place = SLASH) -> None:
    stores = bots.world.stores
    new = replace(_asked(place), id=f"t_{text}", conversation=HERE)
    end = replace(SAYS, text=text)
    await stores.conversations.end(await answering(stores, new, end))


async def _held(bots: Bots) -> FakeHold:
    """Claim the first delivery that waits, in a process that is going to die."""
    [job] = await bots.world.stores.database.transact(
        lambda now: jobs.claim(now, "dies", LEASE, [OPEN, POST, EDIT], most=1, only=None)
    )
    return FakeHold(job)


# Opened


async def test_what_was_asked_outside_of_a_thread_is_shown_at_once_and_answered_below(
    bots: Bots, chat: FakeChat
) -> None:
    await _delivered(bots)
    assert [*chat.shown.values()] == [
        (SLASH, Opening(author="bob", text="restart web", asker=BOB_ON_SLACK))
    ]
    await _answer(bots, place=replace(SLASH, thread="m1"))
    await _delivered(bots)
    place, answer = chat.shown["m2"]
    assert isinstance(answer, Text)
    assert (place.thread, answer.text) == ("m1", "It is there.")


async def test_a_reply_in_the_opened_thread_goes_on_in_the_same_conversation(bots: Bots) -> None:
    await _delivered(bots)
    there = replace(SLASH, thread="m1")
    received = await bots.world.stores.conversations.receive(
        replace(_asked(there), id="t_reply", opens="c_never")
    )
    assert received.turn.conversation == HERE
    assert await bots.world.stores.conversations.at(TENANT, there) == HERE


async def test_an_answer_that_is_ready_before_its_thread_waits_for_it(
    bots: Bots, chat: FakeChat, clock: FrozenClock
) -> None:
    chat.fail([Unavailable("Slack is out of reach.")] * 2)
    await _answer(bots)
    await _delivered(bots, clock)
    assert [type(message) for message in chat.messages] == [Opening, Text]
    assert chat.shown["m2"][0].thread == "m1"


async def test_a_thread_is_opened_once_though_its_process_died_before_it_was_told(
    bots: Bots, chat: FakeChat
) -> None:
    chat.forgets = 1
    hold = await _held(bots)
    dying = asyncio.create_task(bots.delivering.open(hold))

    async def is_posted() -> bool:
        return bool(chat.shown)

    await soon(is_posted)
    dying.cancel()
    await asyncio.wait({dying})
    bots.dead.add("dies")
    await _delivered(bots)
    assert [type(message) for message in chat.messages] == [Opening]
    assert await bots.world.stores.conversations.at(TENANT, replace(SLASH, thread="m1")) == HERE


async def test_a_thread_that_somebody_answered_in_before_it_was_known_stays_theirs(
    bots: Bots, chat: FakeChat
) -> None:
    await heard(
        bots.world.stores,
        replace(_asked(), id="t_early", opens="c_early", place=replace(SLASH, thread="m1")),
    )
    await _delivered(bots)
    conversations = bots.world.stores.conversations
    assert await conversations.at(TENANT, replace(SLASH, thread="m1")) == "c_early"
    assert await conversations.at(TENANT, replace(SLASH, thread="m2")) == HERE
    assert [*map(type, chat.messages)] == [Opening, Opening]
    # Below what was asked there can be one thread only: the next one has to begin by itself.
    assert [place.thread for place, _ in chat.shown.values()] == [SLASH.thread, OPENS]


async def test_i14_another_tenant_opens_and_knows_nothing(bots: Bots) -> None:
    deliveries = bots.world.stores.deliveries
    assert await deliveries.place("other", HERE) is None
    assert await deliveries.opening("other", HERE) is None
    assert await deliveries.opened("other", HERE, "m1") is False
    assert await bots.world.stores.conversations.at("other", SLASH) is None
    assert await deliveries.place(TENANT, HERE) == SLASH


async def test_a_thread_that_is_open_is_not_opened_anew(bots: Bots, chat: FakeChat) -> None:
    hold = await _held(bots)
    await bots.delivering.open(hold)
    await bots.delivering.open(hold)
    assert [*map(type, chat.messages)] == [Opening]
    deliveries = bots.world.stores.deliveries
    assert await deliveries.opened(TENANT, HERE, "m1") is True
    assert await deliveries.opened(TENANT, HERE, "m7") is False


# What cannot be posted


async def test_what_cannot_be_posted_where_it_was_asked_reaches_whoever_asked(
    bots: Bots, chat: FakeChat
) -> None:
    await _delivered(bots)
    chat.fail([ARCHIVED])
    await _answer(bots, place=replace(SLASH, thread="m1"))
    await _delivered(bots)
    place, told = chat.shown["m2"]
    assert place == Place(platform="slack", workspace="T1", channel="U2")
    assert isinstance(told, Text)
    assert told.text == (
        "This could not be posted where you asked. The channel is archived.\n\nIt is there."
    )


async def test_a_card_is_not_decided_where_only_one_person_reads(
    bots: Bots, chat: FakeChat
) -> None:
    await _delivered(bots)
    chat.fail([ARCHIVED])
    await bots.world.ask(
        a_proposal(APPEND.check({"word": "alpha"}, {}), conversation=HERE, turn="t_slash")
    )
    await _delivered(bots)
    _, told = chat.shown["m2"]
    assert isinstance(told, Text)
    assert told.is_note
    assert "Ask for it again elsewhere." in told.text
    assert not any(isinstance(message, Asking) for message in chat.messages)


async def test_who_is_not_known_there_is_not_told(bots: Bots, chat: FakeChat) -> None:
    await _delivered(bots)
    chat.fail([ARCHIVED])
    there = replace(SLASH, thread="m1")
    stores = bots.world.stores
    new = replace(_asked(there), id="t_alice", principal="alice", conversation=HERE)
    await stores.conversations.end(await answering(stores, new, SAYS))
    await _delivered(bots)
    assert len(chat.messages) == 1
