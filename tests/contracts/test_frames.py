"""C13: the task of a conversation is kept with the end of a turn, and what waits is read."""

from dataclasses import replace

import pytest

from core.conversations import TurnEnd
from core.entities import Entity
from core.frame import Frame, Known
from core.outcomes import Reason
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_new_turn
from tests.fakes.clock import FrozenClock
from tests.gates import HOUR
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    Stores,
    answering,
    opened,
    whole_or_nothing,
)

FRAME = Frame(
    intent="ship ü\u202e",
    entities=frozenset({Entity(kind="order", value="4711"), Entity(kind="env", value="prod")}),
    since=0,
)


async def ended(stores: Stores, name: str, frame: Frame | None) -> None:
    new = a_new_turn(name, conversation=CONVERSATION)
    end = TurnEnd(reason=Reason.ANSWERED, text="Done.", frame=frame)
    await stores.conversations.end(await answering(stores, new, end))


async def proposed(stores: Stores, name: str, word: str = "alpha") -> str:
    """Have a turn end with a request, and return that."""
    under_way = await answering(stores, a_new_turn(name, conversation=CONVERSATION))
    new = a_new_request(a_checked(word), closing=under_way, turn=name)
    return (await opened(stores, new)).id


async def known(stores: Stores, tenant: str = TENANT, name: str = CONVERSATION) -> Known:
    return await stores.frames.known(tenant, name)


async def test_a_conversation_without_a_task_has_an_empty_one(stores: Stores) -> None:
    found = await known(stores)
    assert (found.frame, found.pending) == (Frame(), ())
    assert found.here > 0


async def test_a_frame_is_read_back_as_it_was_and_the_last_one_counts(stores: Stores) -> None:
    await ended(stores, "t_7", Frame(intent="x"))
    await ended(stores, "t_8", FRAME)
    assert (await known(stores)).frame == FRAME


async def test_a_turn_that_has_no_frame_keeps_that_of_the_one_before(stores: Stores) -> None:
    await ended(stores, "t_7", FRAME)
    await ended(stores, "t_8", None)
    assert (await known(stores)).frame == FRAME


async def test_i11_a_frame_is_kept_with_the_end_of_the_turn_or_not_at_all(stores: Stores) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="Done.", frame=FRAME)
    under_way = await answering(stores, a_new_turn("t_7", conversation=CONVERSATION), end)
    await whole_or_nothing(stores, lambda on: on.conversations.end(under_way))
    assert (await known(stores)).frame == FRAME


async def test_of_a_turn_that_was_stopped_the_frame_is_kept(stores: Stores) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="Done.", frame=FRAME)
    under_way = await answering(stores, a_new_turn("t_7", conversation=CONVERSATION), end)
    await stores.conversations.stop(under_way.turn, principal="alice")
    await stores.conversations.end(under_way)
    assert (await known(stores)).frame == FRAME


async def test_a_proposal_keeps_the_frame_too(stores: Stores) -> None:
    under_way = await answering(stores, a_new_turn("t_7", conversation=CONVERSATION))
    closing = replace(under_way, end=replace(under_way.end, frame=FRAME))
    request = await opened(stores, a_new_request(closing=closing, turn="t_7"))
    assert await known(stores) == Known(
        frame=FRAME, pending=(request.id,), here=(await known(stores)).here
    )


async def test_c13_the_plans_of_a_task_are_those_that_wait_since_it_began(stores: Stores) -> None:
    old = await proposed(stores, "t_7", "old")
    here = (await known(stores)).here
    new = await proposed(stores, "t_8", "new")
    assert set((await known(stores)).pending) == {old, new}
    await ended(stores, "t_9", replace(FRAME, since=here))
    assert (await known(stores)).pending == (new,)


async def test_c13_a_plan_that_is_asked_for_again_is_one_of_the_task(stores: Stores) -> None:
    old = await proposed(stores, "t_7")
    await ended(stores, "t_8", replace(FRAME, since=(await known(stores)).here))
    assert (await known(stores)).pending == ()
    await proposed(stores, "t_9")
    assert (await known(stores)).pending == (old,)


@pytest.mark.parametrize("how", ["granted", "denied", "expired"])
async def test_c13_a_plan_is_one_of_the_task_until_it_is_over(
    stores: Stores, clock: FrozenClock, how: str
) -> None:
    request = await proposed(stores, "t_7")
    if how == "granted":
        await stores.requests.vote(TENANT, request, principal="bob")
    if how == "denied":
        await stores.requests.deny(TENANT, request, principal="bob", reason="")
    if how == "expired":
        clock.pass_by(HOUR)
    assert (await known(stores)).pending == ((request,) if how == "granted" else ())


async def test_i14_nobody_else_sees_a_task_or_what_waits_in_it(stores: Stores) -> None:
    await ended(stores, "t_7", FRAME)
    await proposed(stores, "t_8")
    theirs = await known(stores, OTHER_TENANT)
    assert (theirs.frame, theirs.pending, theirs.here) == (Frame(), (), 0)
    other = await known(stores, TENANT, OTHER_CONVERSATION)
    assert (other.frame, other.pending) == (Frame(), ())
