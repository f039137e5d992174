"""C15: what a turn took in ends in the transaction of its end, on every database, or is left alone."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from adapters.storage.transactions import rows
from core.conversations import Closing, NewTurn, Turn, TurnEnd, job_of
from core.errors import SaysoError
from core.jobs import LeaseLost
from core.mailbox import Message
from core.outcomes import Reason
from core.transcript import Heard, Noted, Spoke
from core.wishes import Again, Masked
from tests.builders import CONVERSATION, TENANT, a_new_request, a_new_turn
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    THEIR_CONVERSATION,
    Connect,
    Stores,
    answering,
    at_rest,
    everything,
    facts_of,
    logged_by,
    lose,
    said_in,
    whole_or_nothing,
)

FIRST = a_new_turn("t_first", "look at alpha", conversation=CONVERSATION)
LATER = a_new_turn("t_later", "wait", conversation=CONVERSATION, runner="a console")
LAST = a_new_turn("t_last", "and gamma", conversation=CONVERSATION)
ENTRIES = (
    Heard(speaker="alice", text="look at alpha"),
    Heard(speaker="alice", text="wait"),
    Spoke(text="Both done."),
)
BOTH = TurnEnd(
    reason=Reason.ANSWERED, text="Both done.", entries=ENTRIES, absorbed=("t_later", "t_last")
)
Arrange: TypeAlias = Callable[[Stores, Turn], Awaitable[object]]


async def a_turn_that_took_in(stores: Stores, *others: NewTurn, end: TurnEnd = BOTH) -> Closing:
    closing = await answering(stores, FIRST, end)
    for other in others:
        await stores.conversations.receive(other)
    return closing


async def now(stores: Stores, name: str, tenant: str = TENANT) -> Turn:
    found = await stores.conversations.turn(tenant, name)
    assert found is not None
    return found


async def state(stores: Stores, name: str) -> str:
    (row,) = await stores.database.transact(
        lambda _: rows("SELECT state FROM job WHERE id = :id", id=job_of(name))
    )
    return str(row["state"])


async def told(stores: Stores) -> list[str]:
    """Return the notes of the transcript since the first message."""
    probe = await stores.conversations.receive(a_new_turn("t_probe", conversation=CONVERSATION))
    known = (await stores.conversations.history(probe.turn)).entries
    return [entry.text for entry in known[2:] if isinstance(entry, Noted)]


async def test_i11_what_was_taken_in_ends_with_its_turn_or_nothing_does(stores: Stores) -> None:
    closing = await a_turn_that_took_in(stores, LATER, LAST)
    entries = await logged_by(stores, lambda cut: cut.conversations.end(closing))
    assert [entry.kind for entry in entries] == ["turn.ended"] * 3
    assert [facts_of(entry).get("absorbed_by") for entry in entries] == ["t_first", "t_first", None]
    for name in ("t_later", "t_last"):
        turn = await now(stores, name)
        assert (turn.reason, turn.absorbed_by) == (Reason.ANSWERED, "t_first")
        assert turn.text == "Answered together with the message before."
        assert await state(stores, name) == "done"
    assert (await said_in(stores, CONVERSATION, "asked"))[1:] == [
        "look at alpha",
        "wait",
        "and gamma",
    ]
    assert await said_in(stores, CONVERSATION, "answered") == ["Both done."]
    assert await told(stores) == []
    before = await everything(stores.database)
    await stores.conversations.end(closing)
    assert await everything(stores.database) == before
    await at_rest(stores)


async def test_c15_with_a_request_what_was_taken_in_ends_or_nothing_does(stores: Stores) -> None:
    end = replace(BOTH, reason=Reason.PROPOSED)
    closing = await a_turn_that_took_in(stores, LATER, LAST, end=end)
    new = a_new_request(turn="t_first", closing=closing)
    assert await whole_or_nothing(stores, lambda cut: cut.requests.open(new)) > 1
    assert (await now(stores, "t_later")).absorbed_by == "t_first"
    assert (await now(stores, "t_first")).request == new.id
    assert (await now(stores, "t_later")).request is None


async def test_c15_a_request_that_waits_already_ends_what_was_taken_in_too(stores: Stores) -> None:
    await stores.requests.open(a_new_request())
    closing = await a_turn_that_took_in(
        stores, LATER, LAST, end=replace(BOTH, reason=Reason.PROPOSED)
    )
    await stores.requests.open(a_new_request(turn="t_first", closing=closing))
    assert (await now(stores, "t_later")).absorbed_by == "t_first"


@pytest.mark.parametrize(
    "reason", sorted(set(Reason) - {Reason.ANSWERED, Reason.ASKED, Reason.PROPOSED})
)
async def test_c15_an_end_that_nobody_wanted_leaves_it_to_its_own_turn(
    stores: Stores, reason: Reason
) -> None:
    closing = await a_turn_that_took_in(stores, LATER, LAST, end=replace(BOTH, reason=reason))
    if reason is Reason.STOPPED:
        await stores.conversations.stop(closing.turn, principal="alice")
    assert await stores.conversations.end(closing)
    assert (await now(stores, "t_first")).reason is reason
    assert (await now(stores, "t_later")).reason is None
    assert await state(stores, "t_later") == "queued"
    note = (await told(stores))[-1]
    assert "not answered with this turn" in note


async def test_c15_a_turn_that_was_stopped_leaves_it_to_its_own_turn(stores: Stores) -> None:
    closing = await a_turn_that_took_in(stores, LATER, LAST)
    await stores.conversations.stop(closing.turn, principal="alice")
    await stores.conversations.end(closing)
    assert (await now(stores, "t_first")).reason is Reason.STOPPED
    assert (await now(stores, "t_later")).reason is None
    assert "not answered with this turn" in (await told(stores))[-1]


@pytest.mark.parametrize("how", ["queued again", "ended", "taken", "lease over"])
async def test_c15_a_claim_that_was_lost_ends_nothing(stores: Stores, how: str) -> None:
    closing = await a_turn_that_took_in(stores, LATER, LAST)
    await lose(stores, closing.job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.conversations.end(closing)
    assert await everything(stores.database) == before


NOT_THEIRS = {
    "another person's": replace(LATER, principal="bob"),
    "in another conversation": replace(LATER, conversation=OTHER_CONVERSATION),
    "another tenant's": replace(LATER, tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION),
    "a schedule's": replace(LATER, schedule="daily"),
    "masked": replace(LATER, wish=Masked(text="my password is ***")),
    "a wish": replace(LATER, wish=Again(request="f" * 32)),
}


async def test_t13_what_people_said_behind_a_turn_has_arrived_in_order(
    stores: Stores, connect: Connect
) -> None:
    bobs = a_new_turn("t_bobs", "me too", conversation=CONVERSATION, principal="bob")
    closing = await a_turn_that_took_in(stores, LATER, bobs, LAST)
    expected = [
        Message(id="t_later", speaker="alice", text="wait"),
        Message(id="t_bobs", speaker="bob", text="me too"),
        Message(id="t_last", speaker="alice", text="and gamma"),
    ]
    other = Stores(await connect())
    assert await other.conversations.arrived(closing.turn) == expected
    await stores.conversations.stop(await now(stores, "t_bobs"), principal="bob")
    assert [one.id for one in await stores.conversations.arrived(closing.turn)] == [
        "t_later",
        "t_last",
    ]
    theirs = replace(closing.turn, tenant=OTHER_TENANT)
    assert await stores.conversations.arrived(theirs) == []


@pytest.mark.parametrize("which", sorted(set(NOT_THEIRS) - {"another person's"}))
async def test_t13_nothing_else_has_arrived(stores: Stores, which: str) -> None:
    closing = await a_turn_that_took_in(stores, NOT_THEIRS[which])
    assert await stores.conversations.arrived(closing.turn) == []


@pytest.mark.parametrize("which", NOT_THEIRS)
async def test_t13_nothing_but_the_same_persons_words_here_can_end_with_a_turn(
    stores: Stores, which: str
) -> None:
    other = NOT_THEIRS[which]
    closing = await a_turn_that_took_in(stores, other, LAST)
    await stores.conversations.end(closing)
    assert (await now(stores, "t_later", other.tenant)).reason is None
    assert await state(stores, "t_later") == "queued"
    assert (await now(stores, "t_last")).absorbed_by == "t_first"
    assert len(await told(stores)) == 1


async def test_c15_what_was_stopped_meanwhile_stays_stopped(stores: Stores) -> None:
    closing = await a_turn_that_took_in(stores, LATER, LAST)
    await stores.conversations.stop(await now(stores, "t_later"), principal="alice")
    await stores.conversations.end(closing)
    later = await now(stores, "t_later")
    assert (later.reason, later.absorbed_by) == (Reason.STOPPED, None)
    assert await state(stores, "t_later") == "cancelled"
    assert (await now(stores, "t_last")).absorbed_by == "t_first"
    assert "or was stopped" in (await told(stores))[-1]


async def test_c15_what_nobody_knows_of_does_not_keep_a_turn_from_its_end(stores: Stores) -> None:
    closing = await a_turn_that_took_in(stores, end=replace(BOTH, absorbed=("t_never", "t_first")))
    await stores.conversations.end(closing)
    first = await now(stores, "t_first")
    assert (first.text, first.absorbed_by) == ("Both done.", None)


@pytest.mark.parametrize("delay", range(8))
async def test_p14_a_stop_and_an_end_at_once_from_two_processes_end_a_message_once(
    stores: Stores, connect: Connect, delay: int
) -> None:
    other = Stores(await connect())
    closing = await a_turn_that_took_in(stores, LATER, LAST)
    later = await now(stores, "t_later")

    async def stopped() -> None:
        for _ in range(delay):
            await asyncio.sleep(0)
        await other.conversations.stop(later, principal="alice")

    found = await asyncio.gather(
        stores.conversations.end(closing), stopped(), return_exceptions=True
    )
    assert not [one for one in found if isinstance(one, SaysoError)]
    later = await now(stores, "t_later")
    assert (later.reason is Reason.STOPPED) is (later.absorbed_by is None)
    assert await state(stores, "t_later") == ("done" if later.absorbed_by else "cancelled")
    assert (await said_in(stores, CONVERSATION, "asked")).count("wait") == 1
    await at_rest(stores)
