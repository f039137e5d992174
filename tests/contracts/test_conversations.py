"""`core.conversations.Conversations`: each sentence of the port, on every database."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from adapters.storage import jobs, turns
from core.conversations import (
    MOST_WAITING,
    TURN,
    Conversations,
    NewTurn,
    Received,
    Said,
    Turn,
    TurnEnd,
    Waiting,
    job_of,
    lane_of,
)
from core.errors import Refused
from core.jobs import Job, JobState, LeaseLost, Loss
from core.outcomes import Reason
from core.rates import NoRoom, Rate, TooFast
from core.wishes import Again, Exported, Masked, Relayed, Wish, Words
from tests.builders import (
    CONVERSATION,
    PLACE,
    TENANT,
    THREAD,
    a_new_request,
    a_new_turn,
    a_plan,
    a_turn,
)
from tests.fakes.clock import START
from tests.stores import (
    LOST,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    OVER,
    THEIR_CONVERSATION,
    Act,
    Connect,
    Prepare,
    Stores,
    answering,
    closing,
    everything,
    facts_of,
    heard,
    jobs_of,
    kept_plan,
    log_of,
    logged_by,
    lose,
    notice,
    opened,
    principal_of,
    whole_or_nothing,
)

NEW = a_new_turn("t_new", opens="c_new", principal="dave")
LATER = a_new_turn("t_later", "and beta", conversation=CONVERSATION, principal="dave")
ONCE = Rate(name="messages", most=1, per=timedelta(hours=1))
SAYS = TurnEnd(reason=Reason.ANSWERED, text="It is there.")


def _said(kind: str, author: str, text: str) -> Said:
    return Said(at=START, kind=kind, author=author, text=text)


async def _received(stores: Stores, new: NewTurn) -> Turn:
    return (await stores.conversations.receive(new)).turn


async def _now(stores: Stores, turn: str) -> Turn:
    """Return a turn as it is now."""
    found = await stores.conversations.turn(TENANT, turn)
    assert found is not None
    return found


async def _state(stores: Stores, turn: str) -> str:
    """Return the state of the job that answers a turn."""
    (state,) = [row["state"] for row in await jobs_of(stores, TURN) if row["id"] == job_of(turn)]
    return str(state)


async def _count(stores: Stores, table: str) -> int:
    return len((await everything(stores.database))[table])


def _numbered(count: int, start: int = 0) -> list[NewTurn]:
    """Return messages for one conversation, under ids that do not sort in their order."""
    return [
        a_new_turn(f"t_{1000 - number}", f"text {number}", conversation=CONVERSATION)
        for number in range(start, start + count)
    ]


# receive


async def test_a_message_opens_a_new_conversation(stores: Stores) -> None:
    received = await stores.conversations.receive(NEW)
    turn = a_turn("t_new", conversation="c_new", principal="dave")
    assert received == Received(turn=turn, ahead=0)
    assert await _now(stores, "t_new") == turn


async def test_a_message_goes_on_in_the_conversation_that_it_names(stores: Stores) -> None:
    before = await _count(stores, "conversation")
    turn = await _received(stores, LATER)
    assert (turn.conversation, turn.wish) == (CONVERSATION, Words(text="and beta"))
    assert await _count(stores, "conversation") == before


async def test_nothing_is_said_before_the_turn_ends(stores: Stores) -> None:
    before = await stores.records.said(CONVERSATION)
    await stores.conversations.receive(LATER)
    assert await stores.records.said(CONVERSATION) == before


async def test_a_message_goes_on_in_the_conversation_of_its_thread(stores: Stores) -> None:
    first = await _received(stores, replace(NEW, place=THREAD))
    again = await _received(stores, a_new_turn("t_again", opens="c_other", place=THREAD))
    assert (first.conversation, again.conversation) == ("c_new", "c_new")
    assert first.place == again.place == THREAD


async def test_a_thread_that_opens_from_a_message_has_its_conversation_before_that_is_known(
    stores: Stores,
) -> None:
    opens = replace(THREAD, thread=f"opens:{THREAD.thread}")
    await _received(stores, replace(NEW, place=opens))
    found = await stores.conversations.at(TENANT, THREAD)
    said = await _received(stores, a_new_turn("t_again", opens="c_other", place=THREAD))
    await _received(stores, a_new_turn("t_else", opens="c_else", place=replace(THREAD, thread="1")))
    assert (found, said.conversation) == ("c_new", "c_new")
    assert await stores.conversations.at(TENANT, replace(THREAD, thread="7.1")) is None


@pytest.mark.parametrize(
    "other",
    [
        a_new_turn("t_other", opens="c_other", place=replace(THREAD, platform="discord")),
        a_new_turn("t_other", opens="c_other", place=replace(THREAD, workspace="T2")),
        a_new_turn("t_other", opens="c_other", place=replace(THREAD, channel="general")),
        a_new_turn("t_other", opens="c_other", place=replace(THREAD, thread="17.2")),
        a_new_turn("t_other", opens="c_other", place=replace(THREAD, thread=None)),
        a_new_turn("t_other", opens="c_other", place=THREAD, tenant=OTHER_TENANT),
    ],
    ids=["platform", "workspace", "channel", "thread", "no-thread", "tenant"],
)
async def test_another_thread_is_another_conversation(stores: Stores, other: NewTurn) -> None:
    await stores.conversations.receive(replace(NEW, place=THREAD))
    assert (await _received(stores, other)).conversation == "c_other"


async def test_where_there_is_no_thread_every_message_that_names_none_opens_one(
    stores: Stores,
) -> None:
    for name in ("c_one", "c_two"):
        turn = await _received(stores, a_new_turn(f"t_{name}", opens=name))
        assert turn.conversation == name


async def test_first_messages_of_one_thread_at_once_open_one_conversation(
    stores: Stores, connect: Connect
) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    found = await asyncio.gather(
        *(
            _received(other, a_new_turn(f"t_{n}0", opens=f"c_{n}0", place=THREAD))
            for n, other in enumerate(others)
        )
    )
    assert len({turn.conversation for turn in found}) == 1
    assert len({turn.id for turn in found}) == 8
    assert await _count(stores, "conversation") == 4


@pytest.mark.parametrize("text", ["", "\0", "';DROP TABLE entry;--", "\u202e😀\n\t\r", "a" * 10**6])
async def test_any_text_is_kept_as_it_is(stores: Stores, text: str) -> None:
    end = replace(SAYS, text=text)
    await stores.conversations.end(
        await answering(stores, replace(LATER, wish=Words(text=text)), end)
    )
    ended = await _now(stores, "t_later")
    assert (ended.wish, ended.text) == (Words(text=text), text)
    said = (await stores.records.said(CONVERSATION))[1:]
    assert [one.text for one in said] == ([text, text] if text else [text])


@pytest.mark.parametrize(
    "wish",
    [
        Words(text="append alpha"),
        Masked(text="the key is [redacted]"),
        Exported(plan='{"calls":[]}', name="p_1"),
        Again(request="0" * 32),
        Relayed(tool="append", arguments='{"rationale":"why","word":"alpha"}'),
    ],
    ids=lambda wish: wish.kind,
)
async def test_every_kind_of_message_comes_back_as_it_was(stores: Stores, wish: Wish) -> None:
    await stores.conversations.end(await answering(stores, replace(LATER, wish=wish)))
    assert (await _now(stores, "t_later")).wish == wish
    assert (await stores.records.said(CONVERSATION))[-1] == _said("asked", "dave", wish.shown)


FOREIGN: Mapping[str, NewTurn] = {
    "no such conversation": replace(LATER, conversation="c_none"),
    "of another tenant": replace(LATER, conversation=THEIR_CONVERSATION),
    "asked by another tenant": replace(LATER, tenant=OTHER_TENANT),
    "another platform": replace(LATER, place=replace(PLACE, platform="slack")),
    "another workspace": replace(LATER, place=replace(PLACE, workspace="elsewhere")),
    "another channel": replace(LATER, place=replace(PLACE, channel="general")),
}


@pytest.mark.parametrize("case", FOREIGN)
async def test_i14_a_foreign_conversation_is_refused_in_the_words_for_an_unknown_one(
    stores: Stores, case: str
) -> None:
    before = await everything(stores.database)
    with pytest.raises(Refused) as caught:
        await stores.conversations.receive(FOREIGN[case])
    assert caught.value.shown == (
        "There is no such conversation here. Leave it out to start a new one."
    )
    assert await everything(stores.database) == before


@pytest.mark.parametrize("runner", [None, "this very process"])
async def test_exactly_one_job_is_queued_with_a_message(stores: Stores, runner: str | None) -> None:
    before = len(await jobs_of(stores, TURN))
    await stores.conversations.receive(replace(NEW, runner=runner))
    (job,) = (await jobs_of(stores, TURN))[before:]
    names = ("id", "kind", "tenant", "payload", "replay", "lane", "state", "owner")
    assert [job[name] for name in names] == [
        job_of("t_new"), TURN, TENANT, '{"turn":"t_new"}', "safe", lane_of("c_new"), "queued", runner
    ]  # fmt: skip


# I9: once, whatever id it is delivered under


def _delivered(turn: str, *deliveries: str, **changes: str) -> NewTurn:
    place = replace(THREAD, **changes)
    return a_new_turn(
        turn, f"text of {turn}", opens=f"c_{turn}", place=place, deliveries=deliveries
    )


async def test_i9_p02_c48_a_message_that_comes_in_again_is_the_one_that_came_in_before(
    stores: Stores,
) -> None:
    first = await stores.conversations.receive(_delivered("t_new", "a", "b"))
    before = await everything(stores.database)
    for again in (("a", "b"), ("b",), ("a",)):
        assert await stores.conversations.receive(_delivered("t_again", *again)) == first
    assert await everything(stores.database) == before


async def test_i9_a_message_that_was_answered_is_not_answered_again(stores: Stores) -> None:
    await stores.conversations.end(await answering(stores, _delivered("t_new", "a"), SAYS))
    before = await everything(stores.database)
    again = await _received(stores, _delivered("t_again", "a"))
    assert (again.id, again.reason, again.text) == ("t_new", Reason.ANSWERED, "It is there.")
    assert await everything(stores.database) == before


async def test_i9_p02_an_id_that_is_learned_later_stands_for_the_same_message(
    stores: Stores,
) -> None:
    for deliveries in (("a",), ("b", "a"), ("b", "c"), ("c",)):
        assert (await _received(stores, _delivered("t_new", *deliveries))).id == "t_new"
    assert [row["id"] for row in await jobs_of(stores, TURN)][3:] == [job_of("t_new")]
    assert await _count(stores, "received") == 3


@pytest.mark.parametrize(
    "other",
    [
        _delivered("t_other", "a", workspace="T2"),
        _delivered("t_other", "a", platform="discord"),
        replace(_delivered("t_other", "a"), tenant=OTHER_TENANT),
        _delivered("t_other", "A"),
        _delivered("t_other"),
    ],
    ids=["workspace", "platform", "tenant", "id", "none"],
)
async def test_i9_an_id_of_elsewhere_is_another_message(stores: Stores, other: NewTurn) -> None:
    await stores.conversations.receive(_delivered("t_new", "a"))
    assert (await _received(stores, other)).id == "t_other"


async def test_i9_a_message_from_another_channel_of_the_workspace_is_the_same(
    stores: Stores,
) -> None:
    await stores.conversations.receive(_delivered("t_new", "a"))
    assert (await _received(stores, _delivered("t_again", "a", channel="general"))).id == "t_new"


async def test_i9_messages_without_ids_are_as_many_as_come_in(stores: Stores) -> None:
    for name in ("t_one", "t_two"):
        assert (await _received(stores, _delivered(name))).id == name


async def test_i9_one_message_at_once_from_several_connections_is_one_turn(
    stores: Stores, connect: Connect
) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    found = await asyncio.gather(
        *(
            _received(other, _delivered(f"t_{n}0", "same", f"own {n}"))
            for n, other in enumerate(others)
        )
    )
    assert len({turn.id for turn in found}) == 1
    assert [row["id"] for row in await jobs_of(stores, TURN)][3:] == [job_of(found[0].id)]
    assert await _count(stores, "received") == 9


# Counted once


def _counted(turn: str, *deliveries: str) -> NewTurn:
    return replace(_delivered(turn, *deliveries), rate=ONCE)


async def test_i9_c67_a_message_is_counted_where_it_is_kept_and_not_again(stores: Stores) -> None:
    await stores.conversations.receive(_counted("t_new", "a"))
    assert (await _received(stores, _counted("t_again", "b", "a"))).id == "t_new"
    before = await everything(stores.database)
    with pytest.raises(TooFast) as caught:
        await stores.conversations.receive(_counted("t_other", "c"))
    assert caught.value.shown == "Too fast: you may do this once in 1h. Try again in 1h."
    assert await everything(stores.database) == before


async def test_i9_c67_what_came_in_before_is_told_before_how_much_room_there_is(
    stores: Stores,
) -> None:
    conversations, new = stores.conversations, _counted("t_new", "a")
    assert await conversations.arrived_before(new) is None
    assert await conversations.arrived_before(new) is None  # which counts nothing
    received = await conversations.receive(new)
    assert await conversations.arrived_before(_counted("t_again", "b", "a")) == received.turn
    assert await conversations.arrived_before(_counted("t_again", "b")) == received.turn
    assert await conversations.arrived_before(_counted("t_again", "c")) == NoRoom(
        at=0, rate=ONCE, uses=1, wait=ONCE.per
    )
    assert await conversations.arrived_before(_delivered("t_again", "c")) is None


async def test_i9_c67_one_message_at_once_from_several_connections_is_counted_once(
    stores: Stores, connect: Connect
) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    found = await asyncio.gather(
        *(_received(one, _counted(f"t_{n}0", "same")) for n, one in enumerate(others))
    )
    assert len({turn.id for turn in found}) == 1
    assert await _count(stores, "received") == 1


async def test_i11_a_message_that_is_counted_is_kept_whole_or_not_at_all(stores: Stores) -> None:
    await whole_or_nothing(stores, lambda on: on.conversations.receive(_counted("t_new", "a")))
    assert (await _received(stores, _counted("t_again", "a"))).id == "t_new"


# How many wait


async def test_so_many_messages_may_wait_in_one_conversation_and_no_more(stores: Stores) -> None:
    for new in _numbered(MOST_WAITING):
        await stores.conversations.receive(new)
    before = await everything(stores.database)
    with pytest.raises(Refused) as caught:
        await stores.conversations.receive(LATER)
    assert caught.value.shown == (
        "20 messages wait in this conversation already. Wait until some are answered, or stop this "
        "conversation twice: the second time takes what waits."
    )
    assert await everything(stores.database) == before
    elsewhere = replace(LATER, conversation=OTHER_CONVERSATION)
    assert (await stores.conversations.receive(elsewhere)).ahead == 0


async def test_what_is_answered_does_not_wait(stores: Stores) -> None:
    first, *others = _numbered(MOST_WAITING + 1)
    answers = await answering(stores, first)
    for new in others:
        await stores.conversations.receive(new)
    with pytest.raises(Refused):
        await stores.conversations.receive(LATER)
    await stores.conversations.end(answers)
    await closing(stores, await _now(stores, others[0].id))
    assert (await stores.conversations.receive(LATER)).ahead == MOST_WAITING


async def test_i9_what_came_in_before_is_not_refused_however_many_wait(stores: Stores) -> None:
    first, *others = _numbered(MOST_WAITING)
    await stores.conversations.receive(replace(first, deliveries=("a",)))
    for new in others:
        await stores.conversations.receive(new)
    assert (await _received(stores, replace(LATER, deliveries=("a",)))).id == first.id


async def test_whoever_asks_is_told_how_many_are_ahead(stores: Stores) -> None:
    first, second, third, fourth = _numbered(4)
    answers = await answering(stores, first)
    await stores.conversations.receive(a_new_turn("t_else", conversation=OTHER_CONVERSATION))
    assert [(await stores.conversations.receive(new)).ahead for new in (second, third)] == [1, 2]
    await stores.conversations.end(answers)
    assert (await stores.conversations.receive(fourth)).ahead == 2


# turn


@pytest.mark.parametrize("unknown", ["", "t_none", "' OR 1=1 --", "\0", "%"])
async def test_a_turn_that_is_not_there_is_none(conversations: Conversations, unknown: str) -> None:
    assert await conversations.turn(TENANT, unknown) is None


# end


async def test_the_end_of_a_turn_is_kept(stores: Stores) -> None:
    end = TurnEnd(
        reason=Reason.MAX_SECONDS, text="It is there.", suggestions=("help", "again"), killed=2
    )
    answers = await answering(stores, LATER, end)
    assert answers.turn.reason is None
    await stores.conversations.end(answers)
    assert await _now(stores, "t_later") == replace(
        answers.turn,
        reason=Reason.MAX_SECONDS,
        text="It is there.",
        suggestions=("help", "again"),
        killed=2,
    )
    assert await _state(stores, "t_later") == JobState.DONE


async def test_p15_what_was_cut_though_nobody_stopped_it_has_not_ended(stores: Stores) -> None:
    answers = await answering(stores, LATER, TurnEnd(reason=Reason.STOPPED, text=""))
    before = await everything(stores.database)
    assert not await stores.conversations.end(answers)
    assert await everything(stores.database) == before
    await stores.conversations.stop(answers.turn, principal="alice")
    assert await stores.conversations.end(answers)
    assert (await _now(stores, "t_later")).reason is Reason.STOPPED


async def test_p03_a_turn_that_was_cut_and_is_to_be_answered_again_counts_as_running(
    stores: Stores,
) -> None:
    answers = await answering(stores, LATER)
    again = partial(jobs.put_back, job=answers.job, pause=timedelta(seconds=8))
    assert await stores.database.transact(again)
    assert [one.runs for one in await stores.conversations.waiting(TENANT, None)] == [True]


async def test_what_was_asked_is_said_with_its_answer_whatever_came_in_meanwhile(
    stores: Stores,
) -> None:
    first, second = _numbered(2)
    answers = await answering(stores, first, replace(SAYS, text="one"))
    later = await _received(stores, second)
    await stores.conversations.end(answers)
    await stores.conversations.end(await closing(stores, later, replace(SAYS, text="two")))
    assert (await stores.records.said(CONVERSATION))[1:] == [
        _said("asked", "alice", "text 0"),
        _said("answered", "sayso", "one"),
        _said("asked", "alice", "text 1"),
        _said("answered", "sayso", "two"),
    ]


async def test_a_turn_that_answers_nothing_adds_only_what_was_asked(stores: Stores) -> None:
    await heard(stores, LATER)
    assert (await stores.records.said(CONVERSATION))[1:] == [_said("asked", "dave", "and beta")]
    assert len(await stores.records.said(OTHER_CONVERSATION)) == 1


async def test_the_end_of_a_turn_lets_the_next_one_of_its_conversation_begin(
    stores: Stores,
) -> None:
    first, second = _numbered(2)
    answers = await answering(stores, first)
    later = await _received(stores, second)
    with pytest.raises(ValueError, match="unpack"):  # it is not to be had
        await closing(stores, later)
    await stores.conversations.end(answers)
    assert (await closing(stores, later)).job.attempt == 1


async def test_a_turn_ends_once(stores: Stores) -> None:
    answers = await answering(stores, LATER, SAYS)
    await stores.conversations.end(answers)
    before = await everything(stores.database)
    other = TurnEnd(reason=Reason.ERROR, text="two")
    await stores.conversations.end(replace(answers, end=other))
    assert await everything(stores.database) == before


@pytest.mark.parametrize("how", LOST)
async def test_a_claim_that_was_lost_ends_no_turn(stores: Stores, how: str) -> None:
    answers = await answering(stores, LATER, SAYS)
    await lose(stores, answers.job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.conversations.end(answers)
    assert await everything(stores.database) == before


async def test_what_was_stopped_ends_as_stopped_and_its_answer_is_dropped(stores: Stores) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="It is there.", suggestions=("help",), killed=3)
    answers = await answering(stores, LATER, end)
    await stores.conversations.stop(answers.turn, principal="bob")
    await stores.conversations.end(answers)
    stopped = "Stopped. Nothing was changed."
    assert await _now(stores, "t_later") == replace(
        answers.turn, reason=Reason.STOPPED, text=stopped, killed=3
    )
    assert (await stores.records.said(CONVERSATION))[1:] == [
        _said("asked", "dave", "and beta"),
        _said("answered", "sayso", stopped),
    ]
    assert await _state(stores, "t_later") == JobState.CANCELLED


# waiting


async def test_what_has_not_ended_is_listed_in_order_of_arrival_with_what_runs(
    stores: Stores,
) -> None:
    news = _numbered(3)
    found = [await _received(stores, new) for new in news]
    elsewhere = await _received(
        stores, a_new_turn("t_else", conversation=OTHER_CONVERSATION, principal="dave")
    )
    theirs = replace(LATER, tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION)
    await stores.conversations.receive(theirs)
    answers = await closing(stores, found[0])
    waiting = stores.conversations.waiting
    here = [Waiting(turn=turn, runs=turn == found[0]) for turn in found]
    assert await waiting(TENANT, CONVERSATION) == here
    assert await waiting(TENANT, None) == [*here, Waiting(turn=elsewhere, runs=False)]
    assert [one.turn.id for one in await waiting(OTHER_TENANT, None)] == ["t_later"]
    assert await waiting(OTHER_TENANT, CONVERSATION) == []
    await stores.conversations.end(answers)
    assert await waiting(TENANT, CONVERSATION) == here[1:]


# stop


async def test_a_queued_message_that_is_stopped_ends_at_once(stores: Stores) -> None:
    first, second = _numbered(2)
    await answering(stores, first)
    queued = await _received(stores, second)
    await stores.conversations.stop(queued, principal="bob")
    stopped = "Stopped. Nothing was changed."
    assert await _now(stores, queued.id) == replace(queued, reason=Reason.STOPPED, text=stopped)
    assert (await stores.records.said(CONVERSATION))[1:] == [
        _said("asked", "alice", "text 1"),
        _said("answered", "sayso", stopped),
    ]
    assert await _state(stores, queued.id) == JobState.CANCELLED
    assert [one.turn.id for one in await stores.conversations.waiting(TENANT, None)] == [first.id]


async def test_what_is_answered_is_only_told_to_end(stores: Stores) -> None:
    answers = await answering(stores, LATER)
    await stores.conversations.stop(answers.turn, principal="bob")
    assert await _now(stores, "t_later") == answers.turn
    assert await _state(stores, "t_later") == JobState.RUNNING
    assert len(await stores.records.said(CONVERSATION)) == 1
    assert [one.runs for one in await stores.conversations.waiting(TENANT, None)] == [True]


@pytest.mark.parametrize("runs", [True, False], ids=["running", "queued"])
async def test_a_second_stop_does_nothing(
    stores: Stores,
    runs: bool,  # noqa: FBT001 - a column of the table
) -> None:
    turn = (await answering(stores, LATER)).turn if runs else await _received(stores, LATER)
    await stores.conversations.stop(turn, principal="bob")
    before = await everything(stores.database)
    await stores.conversations.stop(turn, principal="carol")
    assert await everything(stores.database) == before


async def test_what_has_ended_is_not_stopped(stores: Stores) -> None:
    await heard(stores, LATER)
    before = await everything(stores.database)
    await stores.conversations.stop(await _now(stores, "t_later"), principal="bob")
    assert await everything(stores.database) == before


# What becomes of a turn that nobody holds

GIVEN_UP = (
    "I could not answer this: something failed that nobody foresaw. Nothing was changed; an "
    "operator finds it in the log."
)


async def test_a_turn_whose_process_died_is_answered_again_and_at_last_given_up(
    stores: Stores,
) -> None:
    turn = await _received(stores, LATER)
    dies = replace(stores, owner="dies")
    for attempt in (1, 2, 3, 4):
        assert await _state(stores, "t_later") == JobState.QUEUED
        assert (await closing(dies, turn)).job.attempt == attempt
        assert await _now(stores, "t_later") == turn
        await notice(stores, "dies")
    assert await _now(stores, "t_later") == replace(turn, reason=Reason.ERROR, text=GIVEN_UP)
    assert await _state(stores, "t_later") == JobState.FAILED
    assert (await stores.records.said(CONVERSATION))[1:] == [
        _said("asked", "dave", "and beta"),
        _said("answered", "sayso", GIVEN_UP),
    ]


async def test_a_turn_that_was_stopped_before_its_process_died_is_not_answered_again(
    stores: Stores,
) -> None:
    turn = (await answering(replace(stores, owner="dies"), LATER)).turn
    await stores.conversations.stop(turn, principal="bob")
    await notice(stores, "dies")
    assert (await _now(stores, "t_later")).reason is Reason.STOPPED
    assert await _state(stores, "t_later") == JobState.CANCELLED


async def test_what_a_dead_process_has_yet_to_say_is_said_by_nobody(stores: Stores) -> None:
    slow = await answering(replace(stores, owner="slow"), LATER, SAYS)
    await notice(stores, "slow")
    again = await closing(stores, slow.turn, replace(SAYS, text="Here it is."))
    with pytest.raises(LeaseLost):
        await stores.conversations.end(slow)
    await stores.conversations.end(again)
    await stores.conversations.end(slow)
    assert (await _now(stores, "t_later")).text == "Here it is."


@pytest.mark.parametrize(
    ("loss", "state", "reason"),
    [
        (Loss.DIED, JobState.QUEUED, None),
        (Loss.FAILED, JobState.FAILED, Reason.ERROR),
        (Loss.STOPPED, JobState.CANCELLED, Reason.STOPPED),
    ],
)
async def test_why_nobody_holds_it_decides_what_becomes_of_a_turn(
    stores: Stores, loss: Loss, state: JobState, reason: Reason | None
) -> None:
    job = (await answering(stores, LATER)).job
    assert await _settled(stores, job, loss) is state
    assert (await _now(stores, "t_later")).reason is reason


@pytest.mark.parametrize("loss", Loss)
async def test_a_turn_that_has_ended_is_settled_as_it_is(stores: Stores, loss: Loss) -> None:
    answers = await answering(stores, LATER, SAYS)
    await stores.conversations.end(answers)
    before = await everything(stores.database)
    assert await _settled(stores, answers.job, loss) is JobState.DONE
    assert await everything(stores.database) == before


async def _settled(stores: Stores, job: Job, loss: Loss) -> JobState:
    return await stores.database.transact(lambda now: turns.settle(now, job, loss))


# keep_plan


async def test_a_plan_that_nobody_is_asked_about_is_kept_for_export(stores: Stores) -> None:
    plan = a_plan()
    asks = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    for _ in range(2):
        await stores.conversations.keep_plan(asks.turn, asks.job, plan)
    assert await stores.records.plans(plan.id) == [plan.canonical]
    assert await stores.records.requests() == []


async def test_a_plan_that_was_kept_can_be_asked_for(stores: Stores) -> None:
    new = a_new_request()
    asks = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    await stores.conversations.keep_plan(asks.turn, asks.job, new.plan)
    assert (await opened(stores, new)).plan == new.plan


async def test_c32_a_short_id_keeps_the_plan_that_it_names(stores: Stores) -> None:
    plan = a_plan()
    await kept_plan(stores, TENANT, plan.id, "0" * 64, "another plan")
    asks = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    before = await everything(stores.database)
    with pytest.raises(Refused, match="same short id"):
        await stores.conversations.keep_plan(asks.turn, asks.job, plan)
    assert await everything(stores.database) == before


@pytest.mark.parametrize("how", OVER)
async def test_i7_who_lost_the_turn_keeps_no_plan(stores: Stores, how: str) -> None:
    asks = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    await lose(stores, asks.job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.conversations.keep_plan(asks.turn, asks.job, a_plan())
    assert await everything(stores.database) == before


async def test_keeping_a_plan_is_whole_or_nothing(stores: Stores) -> None:
    plan = a_plan()
    asks = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    await whole_or_nothing(stores, lambda on: on.conversations.keep_plan(asks.turn, asks.job, plan))
    assert await stores.records.plans(plan.id) == [plan.canonical]


# I11: whole transactions


async def _opening(_: Stores) -> Act:
    return lambda on: on.conversations.receive(replace(NEW, deliveries=("a", "b")))


async def _going_on(_: Stores) -> Act:
    return lambda on: on.conversations.receive(LATER)


async def _ending(stores: Stores) -> Act:
    answers = await answering(stores, LATER, SAYS)
    return lambda on: on.conversations.end(answers)


async def _ending_stopped(stores: Stores) -> Act:
    answers = await answering(stores, LATER, SAYS)
    await stores.conversations.stop(answers.turn, principal="bob")
    return lambda on: on.conversations.end(answers)


async def _stopping_what_runs(stores: Stores) -> Act:
    turn = (await answering(stores, LATER)).turn
    return lambda on: on.conversations.stop(turn, principal="bob")


async def _stopping_what_waits(stores: Stores) -> Act:
    turn = await _received(stores, LATER)
    return lambda on: on.conversations.stop(turn, principal="bob")


async def _giving_up(stores: Stores) -> Act:
    job = (await answering(stores, LATER)).job
    return lambda on: _settled(on, job, Loss.FAILED)


Logged = tuple[str, str, Mapping[str, str | None]]
_ASKED: Logged = ("turn.stop_asked", "bob", {"turn": "t_later"})


def _ended(reason: Reason) -> Logged:
    return "turn.ended", "dave", {"turn": "t_later", "reason": reason.value}


CHANGES: Mapping[str, tuple[Prepare, Sequence[Logged]]] = {
    "open": (
        _opening, [("turn.received", "dave", {"turn": "t_new", "conversation": "c_new", "schedule": None})]
    ),
    "go on": (
        _going_on, [("turn.received", "dave", {
            "turn": "t_later", "conversation": CONVERSATION, "schedule": None,
        })]
    ),
    "end": (_ending, [_ended(Reason.ANSWERED)]),
    "end what was stopped": (_ending_stopped, [_ended(Reason.STOPPED)]),
    "stop what runs": (_stopping_what_runs, [_ASKED]),
    "stop what waits": (_stopping_what_waits, [_ASKED, _ended(Reason.STOPPED)]),
    "give up": (_giving_up, [_ended(Reason.ERROR)]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
async def test_i11_every_state_change_has_its_audit_entry_or_does_not_happen(
    stores: Stores, change: str
) -> None:
    prepare, expected = CHANGES[change]
    entries = await logged_by(stores, await prepare(stores))
    assert {entry.tenant for entry in entries} == {TENANT}
    assert [(entry.kind, principal_of(entry)) for entry in entries] == [
        (kind, principal) for kind, principal, _ in expected
    ]
    assert [facts_of(entry) for entry in entries] == [
        {"principal": principal, **facts} for _, principal, facts in expected
    ]


async def test_i9_i11_a_second_id_is_kept_whole_or_not_at_all(stores: Stores) -> None:
    await stores.conversations.receive(_delivered("t_new", "a"))
    cuts = await whole_or_nothing(
        stores, lambda on: on.conversations.receive(_delivered("t_again", "a", "b", "c"))
    )
    assert cuts >= len(("look", "a", "b", "c", "read", "commit"))
    assert await _count(stores, "received") == 3


async def test_i11_the_log_holds_no_words_of_the_conversation(stores: Stores) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="its words", suggestions=("words",))
    await stores.conversations.end(
        await answering(stores, replace(NEW, wish=Words(text="my words")), end)
    )
    assert "words" not in str(await log_of(stores))
