"""`ApprovalStore.edit`: an open request becomes another one, and of many who try exactly one is first."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

import pytest

from approvals import cards
from approvals.models import EXPIRE, Denial, Request, State, Voted
from approvals.proposals import NewRequest
from core.cards import encode
from core.errors import Refused
from core.tools import Checked
from core.transcript import AgentText
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_new_turn, a_rule
from tests.fakes.clock import FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    Connect,
    ForgetfulDatabase,
    Stores,
    answering,
    everything,
    facts_of,
    jobs_of,
    log_of,
    logged_by,
    now,
    opened,
    said_in,
)

HOUR = timedelta(hours=1)
TWO = a_rule(quorum=2)


def edited(
    old: Request, *calls: Checked, by: str = "dave", conversation: str = CONVERSATION
) -> NewRequest:
    """Return what somebody makes of a request."""
    return a_new_request(
        *(calls or (a_checked("beta"),)),
        supersedes=old.id,
        edited_by=by,
        rule=TWO,
        requester=old.requester,
        turn=old.turn,
        conversation=conversation,
    )


async def edit(stores: Stores, new: NewRequest) -> Request:
    """Edit, and return the request that this came to."""
    became = await stores.requests.edit(new)
    assert isinstance(became, Request)
    return became


async def test_an_edit_ends_the_old_request_and_opens_another_one_without_votes(
    stores: Stores,
) -> None:
    old = await opened(stores, a_new_request(rule=TWO))
    await stores.requests.vote(TENANT, old.id, principal="bob")
    new = edited(old)
    became = await edit(stores, new)
    assert (became.id, became.state, became.votes) == (new.id, State.OPEN, ())
    assert (became.requester, became.editors, became.became) == ("alice", ("dave",), None)
    assert (became.turn, became.plan) == (old.turn, new.plan)
    ended = await now(stores, old)
    assert (ended.state, ended.ended_by, ended.became) == (State.SUPERSEDED, "dave", new.id)
    assert ended.voters == ("bob",)
    assert ended.editors == ()


async def test_what_became_of_it_is_said_and_the_new_card_behind_that(stores: Stores) -> None:
    old = await opened(stores)
    became = await edit(stores, edited(old))
    ended = await now(stores, old)
    assert await said_in(stores, old.conversation, "note") == [cards.status(ended)]
    assert became.id in cards.status(ended)
    assert await said_in(stores, old.conversation, "card") == [
        encode(old.card),
        encode(became.card),
    ]


async def test_the_new_request_ends_at_a_time_of_its_own(
    stores: Stores, clock: FrozenClock
) -> None:
    old = await opened(stores)
    clock.pass_by(HOUR / 2)
    became = await edit(stores, edited(old))
    assert became.expires_at == old.expires_at + HOUR / 2
    assert {job["id"] for job in await jobs_of(stores, EXPIRE)} == {
        f"expire:{old.id}",
        f"expire:{became.id}",
    }
    clock.pass_by(HOUR / 2)
    await stores.requests.expire()
    assert (await now(stores, old)).state is State.SUPERSEDED
    assert (await now(stores, became)).state is State.OPEN


async def test_i11_an_edit_is_one_transaction_that_tells_who_did_it(stores: Stores) -> None:
    old = await opened(stores)
    new = edited(old)
    entries = await logged_by(stores, lambda on: on.requests.edit(new))
    assert [entry.kind for entry in entries] == ["request.superseded", "request.opened"]
    assert facts_of(entries[0]) == {"principal": "dave", "request": old.id, "by": new.id}
    facts = facts_of(entries[1])
    assert (facts["principal"], facts["supersedes"]) == ("dave", old.id)
    assert facts["editors"] == ["dave"]


async def test_the_turn_that_asked_is_that_of_the_new_request(stores: Stores) -> None:
    answers = await answering(stores, a_new_turn("t_new", conversation="c_1"))
    old = await opened(stores, a_new_request(turn="t_new", closing=answers))
    became = await edit(stores, edited(old))
    turn = await stores.conversations.turn(TENANT, "t_new")
    assert turn is not None
    assert turn.request == became.id


async def _approve(stores: Stores, request: Request) -> object:
    return await stores.requests.vote(TENANT, request.id, principal="bob")


async def _deny(stores: Stores, request: Request) -> object:
    return await stores.requests.deny(TENANT, request.id, principal="bob", reason="no")


async def _revoke(stores: Stores, request: Request) -> object:
    return await stores.requests.revoke(TENANT, request.id, principal="bob", reason="changed")


async def _edit(stores: Stores, request: Request) -> object:
    return await stores.requests.edit(edited(request, a_checked("gamma"), by="carol"))


async def _ask_again(stores: Stores, request: Request) -> object:
    return await stores.requests.open(a_new_request(a_checked("delta"), supersedes=request.id))


Do = Callable[[Stores, Request], Awaitable[object]]
OTHERS: Mapping[str, tuple[Do, State]] = {
    "the last yes": (_approve, State.GRANTED),
    "a no": (_deny, State.DENIED),
    "a stop or a change": (_revoke, State.REVOKED),
    "another edit": (_edit, State.SUPERSEDED),
    "asked again": (_ask_again, State.SUPERSEDED),
}


@pytest.mark.parametrize("other", OTHERS)
async def test_who_comes_after_the_end_changes_nothing_and_gets_what_became_of_it(
    stores: Stores, other: str
) -> None:
    act, state = OTHERS[other]
    old = await opened(stores)
    await act(stores, old)
    before = await everything(stores.database)
    told = await edit(stores, edited(old))
    assert (told.id, told.state) == (old.id, state)
    assert await everything(stores.database) == before


async def test_now_equal_to_the_end_is_too_late_to_edit(stores: Stores, clock: FrozenClock) -> None:
    old = await opened(stores)
    clock.pass_by(HOUR)
    told = await edit(stores, edited(old))
    assert (told.id, told.state) == (old.id, State.EXPIRED)
    assert len(await stores.records.requests()) == 1


@pytest.mark.parametrize("other", OTHERS)
async def test_c37_of_fifty_at_once_exactly_one_is_first(
    stores: Stores, connect: Connect, other: str
) -> None:
    act, state = OTHERS[other]
    connected = [Stores(await connect()) for _ in range(10)]
    old = await opened(stores)

    async def one(number: int) -> None:
        on = connected[number % len(connected)]
        if number % 2:
            word = a_checked(f"word-{number}")
            await on.requests.edit(edited(old, word, by=f"editor-{number}"))
        else:
            await act(on, old)

    # Asked again, what ended already is simply asked for once more.
    await asyncio.gather(*map(one, range(50)))
    ended = await now(stores, old)
    became = [r for r in await stores.records.requests() if r.editors]
    assert len(became) == (1 if ended.became else 0)
    if ended.became:
        assert (ended.state, became[0].id) == (State.SUPERSEDED, ended.became)
        assert became[0].editors == (ended.ended_by,)
    else:
        assert ended.state is state
    kinds = [e.kind for e in await log_of(stores) if facts_of(e).get("request") == old.id]
    ends = {"request.granted", "request.denied", "request.revoked", "request.superseded"}
    assert len([kind for kind in kinds if kind in ends]) == 1


async def test_c37_an_edit_and_the_last_yes_at_once_have_one_outcome(
    stores: Stores, connect: Connect
) -> None:
    voting, editing = [Stores(await connect()) for _ in range(2)]
    for number in range(25):
        old = await opened(stores, a_new_request(a_checked(f"word-{number}")))
        new = edited(old, a_checked(f"other-{number}"))
        voted, became = await asyncio.gather(
            voting.requests.vote(TENANT, old.id, principal="bob"), edit(editing, new)
        )
        assert isinstance(voted, Voted)
        ended = await now(stores, old)
        if became.id == new.id:
            assert (ended.state, voted.job) == (State.SUPERSEDED, None)
        else:
            assert (ended.state, became.id) == (State.GRANTED, old.id)
            assert voted.job is not None
        await _revoke(stores, became)


async def test_i13_an_edit_goes_round_no_denial(stores: Stores) -> None:
    old = await opened(stores)
    other = await opened(stores, a_new_request(a_checked("beta"), requester="dave"))
    await stores.requests.deny(TENANT, other.id, principal="bob", reason="no")
    before = await everything(stores.database)
    denial = await stores.requests.edit(edited(old))
    assert denial == Denial(tool="append-word", by="bob", reason="no")
    assert await everything(stores.database) == before


async def test_i13_what_was_denied_before_is_not_edited_into_something_else(
    stores: Stores,
) -> None:
    old = await opened(stores)
    other = await opened(stores, a_new_request(requester="dave"))
    blind = Stores(ForgetfulDatabase(stores.database, "SELECT id FROM request WHERE tenant"))
    await blind.requests.deny(TENANT, other.id, principal="bob", reason="no")
    assert (await now(stores, old)).state is State.OPEN
    assert isinstance(await stores.requests.edit(edited(old)), Denial)


async def test_i13_a_denied_edit_refuses_its_effect_and_not_the_one_before(stores: Stores) -> None:
    old = await opened(stores)
    became = await edit(stores, edited(old))
    await stores.requests.deny(TENANT, became.id, principal="bob", reason="no")
    assert isinstance(await stores.requests.open(a_new_request(a_checked("beta"))), Denial)
    assert isinstance(await stores.requests.open(a_new_request()), Request)


async def test_what_waits_already_is_not_made_by_an_edit_too(stores: Stores) -> None:
    old = await opened(stores)
    await opened(stores, a_new_request(a_checked("beta")))
    before = await everything(stores.database)
    with pytest.raises(Refused, match="exactly this waits already"):
        await stores.requests.edit(edited(old))
    assert await everything(stores.database) == before


async def test_what_was_asked_in_another_conversation_is_not_edited_from_here(
    stores: Stores,
) -> None:
    old = await opened(stores)
    before = await everything(stores.database)
    told = await edit(stores, edited(old, conversation=OTHER_CONVERSATION))
    assert told.id == old.id
    assert await everything(stores.database) == before


async def test_an_edited_request_asked_for_again_keeps_its_card_and_its_editors(
    stores: Stores,
) -> None:
    became = await edit(stores, edited(await opened(stores)))
    words = AgentText(rationale="alice asked for it")
    again = await opened(stores, a_new_request(a_checked("beta"), rule=TWO, about=words))
    assert (again.id, again.times_asked) == (became.id, 2)
    assert (again.card, again.about, again.editors) == (became.card, became.about, ("dave",))


async def test_an_edited_request_is_edited_once_more(stores: Stores) -> None:
    first = await opened(stores)
    second = await edit(stores, edited(first))
    third = await edit(stores, edited(second, a_checked("gamma"), by="erin"))
    assert [(await now(stores, one)).became for one in (first, second, third)] == [
        second.id,
        third.id,
        None,
    ]
