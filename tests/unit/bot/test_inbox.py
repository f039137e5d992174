"""What comes in: who may, what is kept of it, and that the same message twice is one turn."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import replace

import pytest

from adapters.storage.conversations import Conversations
from bot.inbox import LONGEST
from core.conversations import MOST_WAITING, Arrival, Received, Turn, job_of, lane_of
from core.errors import Refused
from core.events import Ask, Place
from core.principals import Identity
from core.rates import NoRoom, Rate, RateRules
from core.wishes import Again, Exported, Masked, Words
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, TENANT, THREAD, a_proposal
from tests.gates import APPEND, BOB_ON_SLACK, EVE, HOUR, SECRET, World, allow, who
from tests.jobs import PATIENCE
from tests.stores import THEIR_CONVERSATION, Stores, everything, jobs_of, said_in

ONCE = Rate(name="messages", most=1, per=HOUR)
TWICE = replace(ONCE, most=2)
NOT_HERE = "There is no such conversation here. Leave it out to start a new one."


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.rules += (allow("chat:ask", "dev", "*"), allow("chat:ask", "ops", "*"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


def an_ask(
    text: str = "append alpha",
    *,
    person: str | Identity = "alice",
    place: Place = PLACE,
    conversation: str | None = None,
    deliveries: tuple[str, ...] = (),
) -> Ask:
    identity = who(person) if isinstance(person, str) else person
    return Ask(
        identity=identity,
        place=place,
        text=text,
        conversation=conversation,
        deliveries=deliveries,
    )


async def refused(asking: Awaitable[object]) -> str:
    with pytest.raises(Refused) as told:
        await asking
    return told.value.shown


async def kept(bots: Bots) -> dict[str, list[object]]:
    """Return what is stored beside the audit log."""
    return await bots.world.all_but_the_log()


# What is kept


async def test_i9_a_message_is_kept_with_the_job_that_answers_it(bots: Bots) -> None:
    received = await bots.inbox.ask(an_ask())
    turn = received.turn
    assert (turn.tenant, turn.principal, turn.place) == (TENANT, "alice", PLACE)
    assert (turn.wish, turn.reason, received.ahead) == (Words(text="append alpha"), None, 0)
    assert await bots.turn(received) == turn
    *_, job = await jobs_of(bots.world.stores, "turn")
    assert (job["id"], job["lane"]) == (job_of(turn.id), lane_of(turn.conversation))
    assert (job["state"], job["owner"], job["replay"]) == ("queued", None, "safe")
    assert await said_in(bots.world.stores, turn.conversation, "asked") == []  # not yet answered


async def test_each_message_without_a_thread_opens_a_conversation_unless_it_names_one(
    bots: Bots,
) -> None:
    first, second = await bots.receive("append one"), await bots.receive("append two")
    assert first.turn.conversation != second.turn.conversation
    third = await bots.receive("append three", first.turn.conversation)
    assert third.turn.conversation == first.turn.conversation
    assert (first.ahead, second.ahead, third.ahead) == (0, 0, 1)


async def test_a_thread_is_one_conversation(bots: Bots) -> None:
    first = await bots.receive("append one", person=BOB_ON_SLACK, place=THREAD)
    second = await bots.receive("append two", person=BOB_ON_SLACK, place=THREAD)
    other = replace(THREAD, thread="18.1")
    third = await bots.receive("append three", person=BOB_ON_SLACK, place=other)
    assert first.turn.conversation == second.turn.conversation != third.turn.conversation
    assert (first.turn.principal, second.ahead, third.ahead) == ("bob", 1, 0)


async def test_work_is_looked_for_once_the_message_is_there(bots: Bots) -> None:
    looks = list[int]()
    inbox = replace(bots.inbox, look=lambda: looks.append(1), runner="this process")
    await inbox.ask(an_ask(deliveries=("m1",)))
    assert looks == [1]
    *_, job = await jobs_of(bots.world.stores, "turn")
    assert job["owner"] == "this process"  # who is about to answer it by itself
    assert "nothing" in await refused(inbox.ask(an_ask(" ")))
    assert looks == [1]
    await inbox.ask(an_ask(deliveries=("m1",)))  # whoever looked may have died since
    assert looks == [1, 1]


async def test_i12_what_looks_like_a_secret_is_masked_before_it_is_kept(bots: Bots) -> None:
    received = await bots.inbox.ask(an_ask(f"append {SECRET}"))
    assert isinstance(received.turn.wish, Masked)
    assert SECRET not in str(await everything(bots.world.stores.database))


async def test_bytes_that_are_no_text_are_made_sound_before_they_are_kept(bots: Bots) -> None:
    received = await bots.inbox.ask(an_ask("append \udcff"))
    assert received.turn.wish.shown.encode("utf-8").startswith(b"append ")


async def test_an_exported_plan_is_kept_as_it_was_exported(bots: Bots) -> None:
    plan = (await bots.world.propose()).plan
    received = await bots.inbox.ask_plan(an_ask(""), plan)
    assert received.turn.wish == Exported(plan=plan.canonical, name=plan.id)
    assert received.turn.wish.shown == f"(an exported plan, {plan.id})"


async def test_asking_again_belongs_to_the_conversation_of_the_request(bots: Bots) -> None:
    request = await bots.world.propose()
    await bots.world.deny("bob", request)
    received = await bots.inbox.ask_again(an_ask("", person="bob"), request.id)
    assert received.turn.wish == Again(request=request.id)
    assert received.turn.conversation == CONVERSATION


# Once


@pytest.mark.parametrize("second", [("m1",), ("m1", "again"), ("again", "m1")])
async def test_i9_the_same_message_under_any_of_its_ids_is_one_turn(
    bots: Bots, second: tuple[str, ...]
) -> None:
    first = await bots.inbox.ask(an_ask(deliveries=("m1",)))
    again = await bots.inbox.ask(an_ask(deliveries=second))
    assert again.turn == first.turn
    assert len(await jobs_of(bots.world.stores, "turn")) == 3 + 1  # three of the fixture
    late = await bots.inbox.ask(an_ask(deliveries=(second[0],)))
    assert late.turn == first.turn  # it is known under each id that it came under


async def test_i9_two_deliveries_at_once_are_one_turn(bots: Bots) -> None:
    both = await asyncio.gather(*(bots.inbox.ask(an_ask(deliveries=("m1",))) for _ in range(2)))
    assert len({received.turn.id for received in both}) == 1
    assert len(await jobs_of(bots.world.stores, "turn")) == 3 + 1


async def test_two_messages_that_say_the_same_are_two_turns(bots: Bots) -> None:
    first = await bots.inbox.ask(an_ask(deliveries=("m1",)))
    second = await bots.inbox.ask(an_ask(deliveries=("m2",)))
    assert first.turn.id != second.turn.id


# Once, as for the rate too


@pytest.mark.parametrize("again", [("m1",), ("m1", "later"), ("later", "m1")])
async def test_i9_c67_a_message_that_comes_in_again_is_neither_counted_nor_too_fast(
    bots: Bots, again: tuple[str, ...]
) -> None:
    bots.world.rates = RateRules(messages=TWICE)
    first = await bots.inbox.ask(an_ask(deliveries=("m1",)))
    for _ in range(3):
        assert (await bots.inbox.ask(an_ask(deliveries=again))).turn == first.turn
    second = await bots.inbox.ask(an_ask(deliveries=("m2",)))
    assert second.turn.id != first.turn.id
    assert (await refused(bots.inbox.ask(an_ask(deliveries=("m3",))))).startswith("Too fast")
    for known in (again, ("m2",)):
        assert (await bots.inbox.ask(an_ask(deliveries=known))).turn in {first.turn, second.turn}
    late = await bots.inbox.ask(an_ask(deliveries=(again[-1],)))
    assert late.turn == first.turn  # it is known under each id that it came under
    assert len(await bots.world.attempts()) == 1


async def test_i9_c67_every_kind_of_message_comes_in_again_as_before(bots: Bots) -> None:
    bots.world.rates = RateRules(messages=ONCE)
    request = await bots.world.propose()
    await bots.inbox.ask_plan(an_ask(deliveries=("plan",)), request.plan)
    found = await bots.inbox.ask_plan(an_ask(deliveries=("plan",)), request.plan)
    assert isinstance(found.turn.wish, Exported)
    await bots.inbox.ask_again(an_ask(person="bob", deliveries=("again",)), request.id)
    bots.world.rules = tuple(r for r in bots.world.rules if r.action != "plan:approve")
    found = await bots.inbox.ask_again(an_ask(person="bob", deliveries=("again",)), request.id)
    assert isinstance(found.turn.wish, Again)


async def test_who_may_not_ask_any_more_hears_so_of_what_came_in_before_too(bots: Bots) -> None:
    bots.world.rates = RateRules(messages=TWICE)
    await bots.inbox.ask(an_ask(deliveries=("m1",)))
    rules, bots.world.rules = bots.world.rules, ()
    for _ in range(2):
        told = await refused(bots.inbox.ask(an_ask(deliveries=("m1",))))
        assert told == "You may not ask Sayso here (chat:ask)."
    bots.world.rules = rules
    await bots.inbox.ask(an_ask(deliveries=("m2",)))  # none of that was counted
    del bots.world.groups["alice"]
    assert "know" in await refused(bots.inbox.ask(an_ask(deliveries=("m1",))))


async def test_i9_c67_two_deliveries_at_once_are_counted_once_and_neither_is_too_fast(
    bots: Bots,
) -> None:
    bots.world.rates = RateRules(messages=TWICE)
    both = await _at_once(bots, an_ask(deliveries=("m1",)), an_ask(deliveries=("m1", "m2")))
    assert isinstance(both[0], Received)
    assert isinstance(both[1], Received)
    assert both[0].turn == both[1].turn
    await bots.inbox.ask(an_ask(deliveries=("m3",)))
    assert (await refused(bots.inbox.ask(an_ask()))).startswith("Too fast")


async def test_c67_of_two_messages_at_once_one_is_too_fast_and_on_record(bots: Bots) -> None:
    bots.world.rates = RateRules(messages=ONCE)
    one, other = await _at_once(bots, an_ask(deliveries=("m1",)), an_ask(deliveries=("m2",)))
    assert isinstance(one, Received)
    assert str(other) == "Too fast: you may do this once in 1h. Try again in 1h."
    assert [str(other) in entry.body for entry in await bots.world.attempts()] == [True]
    assert len(await jobs_of(bots.world.stores, "turn")) == 3 + 1


async def _at_once(bots: Bots, *asks: Ask) -> list[Received | Refused]:
    """Have messages come in none of which is kept before each of them was let in."""
    inside = asyncio.Barrier(len(asks))

    class Together(Conversations):
        async def arrived_before(self, arrival: Arrival) -> Turn | NoRoom | None:
            found = await super().arrived_before(arrival)
            await inside.wait()
            return found

    inbox = replace(bots.inbox, conversations=Together(bots.world.stores.database))

    async def come_in(ask: Ask) -> Received | Refused:
        try:
            return await inbox.ask(ask)
        except Refused as error:
            return error

    async with asyncio.timeout(PATIENCE):
        found = await asyncio.gather(*map(come_in, asks))
    return sorted(found, key=lambda one: isinstance(one, Refused))


@pytest.mark.parametrize(
    "wrong",
    [
        an_ask(" ", deliveries=("m1",)),
        replace(an_ask(deliveries=("m1",)), profile="none"),
        an_ask(conversation="c_none"),
        an_ask(place=replace(PLACE, channel="private")),
    ],
    ids=["words", "profile", "conversation", "place"],
)
async def test_c67_what_starts_nothing_is_counted_too(bots: Bots, wrong: Ask) -> None:
    bots.world.rules = (allow("chat:ask", "dev", PLACE.resource),)
    bots.world.rates = RateRules(messages=TWICE)
    for _ in range(2):
        assert not (await refused(bots.inbox.ask(wrong))).startswith("Too fast")
    assert (await refused(bots.inbox.ask(wrong))).startswith("Too fast")
    assert (await refused(bots.inbox.ask(an_ask()))).startswith("Too fast")


# What starts nothing


@pytest.mark.parametrize("person", ["dave", EVE, "nobody"])
async def test_who_may_not_chat_here_is_refused_and_on_record(
    bots: Bots, person: str | Identity
) -> None:
    bots.world.groups["eve"] = set()
    before = await kept(bots)
    for asking in (
        bots.inbox.ask(an_ask(person=person)),
        bots.inbox.ask_plan(an_ask(person=person), (await bots.world.propose()).plan),
        bots.inbox.ask_again(an_ask(person=person), "0" * 32),
    ):
        told = await refused(asking)
        assert ("know" if person == "nobody" else "chat:ask") in told
    after = await kept(bots)
    assert after["turn"] == before["turn"]
    assert after["received"] == before["received"]
    assert len(await bots.world.attempts()) == 3


async def test_who_may_chat_in_one_channel_may_not_in_another(bots: Bots) -> None:
    bots.world.rules = (allow("chat:ask", "ops", THREAD.resource),)
    await bots.inbox.ask(an_ask(person=BOB_ON_SLACK, place=THREAD))
    elsewhere = replace(THREAD, channel="private")
    told = await refused(bots.inbox.ask(an_ask(person=BOB_ON_SLACK, place=elsewhere)))
    assert told == "You may not ask Sayso here (chat:ask)."


async def test_i14_p17_somebody_of_another_tenant_asks_nothing_in_a_channel_of_ours(
    bots: Bots,
) -> None:
    before = await kept(bots)
    told = await refused(bots.inbox.ask(an_ask(person=EVE, place=PLACE)))
    assert told == "You may not ask Sayso here (chat:ask)."
    after = await kept(bots)
    assert (after["turn"], after["conversation"]) == (before["turn"], before["conversation"])


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "nothing"), (" \n\t", "nothing"), ("a" * (LONGEST + 1), "16,001 characters")],
)
async def test_a_message_of_no_or_of_endless_words_starts_nothing(
    bots: Bots, text: str, why: str
) -> None:
    before = await kept(bots)
    assert why in await refused(bots.inbox.ask(an_ask(text)))
    assert await kept(bots) == before
    await bots.inbox.ask(an_ask("a" * LONGEST))


async def test_i14_a_conversation_that_is_elsewhere_does_not_exist(bots: Bots) -> None:
    there = await bots.receive("append one", person=BOB_ON_SLACK, place=THREAD)
    before = await kept(bots)
    for conversation in (there.turn.conversation, THEIR_CONVERSATION, "c_none", "' OR 1 --"):
        told = await refused(bots.inbox.ask(an_ask(conversation=conversation)))
        assert told == NOT_HERE
    assert await kept(bots) == before


async def test_asking_again_for_what_one_may_not_see_is_asking_for_nothing(bots: Bots) -> None:
    bots.world.rules += (allow("chat:ask", "guests", "*"),)
    request = await bots.world.propose()
    await bots.world.deny("bob", request)
    before = await kept(bots)
    theirs = await refused(bots.inbox.ask_again(an_ask(person="dave"), request.id))
    none = await refused(bots.inbox.ask_again(an_ask(person="dave"), "0" * 32))
    assert theirs == none
    own = await refused(bots.inbox.ask_again(an_ask(person="alice"), "garbage"))
    assert own == none
    assert await kept(bots) == before


async def test_one_conversation_holds_only_so_many_that_wait(bots: Bots) -> None:
    waiting = [await bots.receive(f"append {n}", CONVERSATION) for n in range(MOST_WAITING)]
    assert [received.ahead for received in waiting] == list(range(MOST_WAITING))
    before = await kept(bots)
    assert "20 messages wait" in await refused(bots.receive("append more", CONVERSATION))
    assert await kept(bots) == before
    assert (await bots.receive("append elsewhere")).ahead == 0


async def test_what_cannot_be_kept_is_not_taken_for_received(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = list[int]()

    async def fails(*_: object) -> Received:
        raise Refused("The database is full.")

    monkeypatch.setattr(type(bots.world.stores.conversations), "receive", fails)
    inbox = replace(bots.inbox, look=lambda: looks.append(1))
    assert await refused(inbox.ask(an_ask())) == "The database is full."
    assert looks == []


async def test_the_request_that_is_asked_for_again_decides_where(bots: Bots) -> None:
    request = await bots.world.ask(a_proposal(APPEND.check({"word": "beta"}, {})))
    await bots.world.deny("bob", request)
    elsewhere = an_ask("", person="bob", conversation="c_2")
    received = await bots.inbox.ask_again(elsewhere, request.id)
    assert received.turn.conversation == request.conversation
