"""What happened in a turn, on every database: kept in order, and nothing of another tenant."""

from contextlib import suppress
from dataclasses import replace

import pytest

from core.conversations import TurnEnd
from core.jobs import LeaseLost
from core.outcomes import Reason
from core.trail import Finished, Guarded, Happening, Looked, Moved, Stage, Staged
from tests.builders import CONVERSATION, a_new_turn
from tests.stores import LOST, OTHER_TENANT, Stores, answering, everything, happened_in, lose

ALL: tuple[Happening, ...] = (
    Moved(
        request="req_1", stop="use", input_tokens=7, output_tokens=3, milliseconds=12,
        prompt="0" * 64, entries=4, options={"effort": "low", "max_tokens": 9},
    ),
    Staged(call="1", tool="look", stage=Stage.RATE, why="too often"),
    Looked(call="1", tool="look", failed=True, milliseconds=3),
    Guarded(stage="output", why="no"),
)  # fmt: skip


async def test_c19_what_happened_is_read_back_as_it_was_in_order(stores: Stores) -> None:
    answered = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    turn, job = answered.turn, answered.job
    await stores.conversations.happened(turn, job, ALL[:2])
    await stores.conversations.happened(turn, job, ALL[2:])
    assert tuple(await happened_in(stores, turn.id)) == ALL
    rows = (await everything(stores.database))["happening"]
    assert [row[4] for row in rows if row[2] == turn.id] == [1, 2, 3, 4]


@pytest.mark.parametrize("reason", [Reason.ANSWERED, Reason.MAX_TURNS])
async def test_c77_the_end_of_a_turn_is_kept_with_its_reason(
    stores: Stores, reason: Reason
) -> None:
    end = TurnEnd(reason=reason, text="")
    answered = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION), end)
    await stores.conversations.end(answered)
    assert await happened_in(stores, "t_9") == [Finished(reason=reason)]


async def test_i14_another_tenant_adds_nothing(stores: Stores) -> None:
    answered = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    theirs, held = replace(answered.turn, tenant=OTHER_TENANT), answered.job
    for job in (held, replace(held, tenant=OTHER_TENANT)):
        with suppress(LeaseLost):
            await stores.conversations.happened(theirs, job, ALL)
    assert await happened_in(stores, "t_9") == []


@pytest.mark.parametrize("how", LOST)
async def test_i7_who_lost_the_turn_puts_nothing_on_record(stores: Stores, how: str) -> None:
    answered = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    await lose(stores, answered.job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.conversations.happened(answered.turn, answered.job, ALL)
    assert await everything(stores.database) == before
