"""What happened in a turn, on every database: kept in order, and nothing of another tenant."""

from dataclasses import replace

import pytest

from core.conversations import TurnEnd
from core.outcomes import Reason
from core.trail import Finished, Guarded, Happening, Looked, Moved, Stage, Staged
from tests.builders import CONVERSATION, a_new_turn
from tests.stores import OTHER_TENANT, Stores, answering, everything

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
    turn, claim = answered.turn, answered.job.fence
    await stores.conversations.happened(turn, claim, ALL[:2])
    await stores.conversations.happened(turn, claim, ALL[2:])
    assert tuple(await stores.conversations.happenings(turn.tenant, turn.id)) == ALL
    rows = (await everything(stores.database))["happening"]
    assert [row[4] for row in rows if row[2] == turn.id] == [1, 2, 3, 4]


@pytest.mark.parametrize("reason", [Reason.ANSWERED, Reason.MAX_TURNS])
async def test_c77_the_end_of_a_turn_is_kept_with_its_reason(
    stores: Stores, reason: Reason
) -> None:
    end = TurnEnd(reason=reason, text="")
    answered = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION), end)
    await stores.conversations.end(answered)
    found = await stores.conversations.happenings(answered.turn.tenant, "t_9")
    assert found == [Finished(reason=reason)]


async def test_i14_another_tenant_reads_and_adds_nothing(stores: Stores) -> None:
    answered = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    await stores.conversations.happened(replace(answered.turn, tenant=OTHER_TENANT), 1, ALL)
    assert await stores.conversations.happenings(answered.turn.tenant, "t_9") == []
    await stores.conversations.happened(answered.turn, 1, ALL)
    assert await stores.conversations.happenings(OTHER_TENANT, "t_9") == []
