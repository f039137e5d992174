"""`core.deliveries.Drafts`, and what takes a draft's place: each sentence, on every database."""

from dataclasses import replace

import pytest

from adapters.storage.transactions import rows
from core import turn_ends
from core.conversations import Closing, TurnEnd
from core.deliveries import Drafted, draft_of
from core.jobs import LeaseLost
from core.outcomes import Reason
from tests.builders import TENANT, THREAD, a_new_request, a_new_turn
from tests.stores import (
    LOST,
    OTHER_TENANT,
    OWNER,
    Stores,
    answering,
    everything,
    heard,
    lose,
    notice,
    opened,
    whole_or_nothing,
)

HERE = "c_thread"
SAYS = TurnEnd(reason=Reason.ANSWERED, text="It is there.")
KEY = draft_of("t_1a")


@pytest.fixture
async def turn(stores: Stores) -> Closing:
    """Return a turn in a thread that is being answered, and how it is to end."""
    await heard(stores, a_new_turn("t_thread", opens=HERE, place=THREAD))
    return await answering(stores, a_new_turn("t_1a", place=THREAD), SAYS)


async def shown(stores: Stores, turn: Closing, message: str = "17.5") -> None:
    """Have an answer be shown while it is written."""
    await stores.drafts.begin(turn.turn, turn.job)
    await stores.drafts.drafted(turn.turn, turn.job, message)


async def kept(stores: Stores) -> int:
    """Return how many drafts are kept."""
    return len(await stores.database.transact(lambda _: rows("SELECT * FROM draft")))


async def places(stores: Stores) -> dict[int, str | None]:
    """Return the message whose place each entry would take, by its number."""
    found = dict[int, str | None]()
    for seq in range(1, 10):
        entry = await stores.deliveries.entry(TENANT, HERE, seq)
        if entry and entry.drafted and entry.kind != "asked":
            assert entry.drafted.key == KEY
            found[seq] = entry.drafted.message
    return found


async def test_whoever_comes_next_is_told_of_a_draft(stores: Stores, turn: Closing) -> None:
    drafts = stores.drafts
    assert await drafts.begin(turn.turn, turn.job) is None
    assert await drafts.begin(turn.turn, turn.job) == Drafted(key=KEY, message=None)
    await drafts.drafted(turn.turn, turn.job, "17.5")
    assert await drafts.begin(turn.turn, turn.job) == Drafted(key=KEY, message="17.5")


@pytest.mark.parametrize("how", LOST)
async def test_who_does_not_hold_the_turn_keeps_no_draft(
    stores: Stores, turn: Closing, how: str
) -> None:
    await lose(stores, turn.job, how)
    with pytest.raises(LeaseLost):
        await stores.drafts.begin(turn.turn, turn.job)
    assert await kept(stores) == 0


@pytest.mark.parametrize("how", LOST)
async def test_who_lost_the_turn_names_no_message(stores: Stores, turn: Closing, how: str) -> None:
    await shown(stores, turn)
    await lose(stores, turn.job, how)
    with pytest.raises(LeaseLost):
        await stores.drafts.drafted(turn.turn, turn.job, "another")
    assert "another" not in repr(await everything(stores.database))


async def test_an_answer_takes_the_place_of_its_draft_once(stores: Stores, turn: Closing) -> None:
    await shown(stores, turn)
    assert await places(stores) == {}  # nothing of what was said before does
    await stores.conversations.end(turn)
    assert await places(stores) == {3: "17.5"}
    await stores.deliveries.posted(TENANT, HERE, 3, "17.5")
    assert (await places(stores), await kept(stores)) == ({}, 0)


async def test_a_draft_of_which_nobody_knows_the_message_is_to_be_looked_for(
    stores: Stores, turn: Closing
) -> None:
    await stores.drafts.begin(turn.turn, turn.job)
    await stores.conversations.end(turn)
    assert await places(stores) == {3: None}


async def test_what_is_said_of_something_else_takes_no_place(stores: Stores, turn: Closing) -> None:
    await shown(stores, turn)
    await opened(stores, a_new_request(conversation=HERE, turn="t_thread"))
    assert await stores.deliveries.entry(TENANT, HERE, 2)
    assert await places(stores) == {}
    await stores.deliveries.posted(TENANT, HERE, 2, "17.9")
    await stores.conversations.end(turn)
    assert await places(stores) == {4: "17.5"}


@pytest.mark.parametrize("saw", ["", "I looked."], ids=["nothing", "words"])
async def test_a_card_or_what_was_seen_before_it_takes_the_place(
    stores: Stores, turn: Closing, saw: str
) -> None:
    await shown(stores, turn)
    closing = replace(turn, end=TurnEnd(reason=Reason.PROPOSED, text=saw))
    await opened(stores, a_new_request(conversation=HERE, turn="t_1a", closing=closing))
    assert min(await places(stores)) == 3
    await stores.deliveries.posted(TENANT, HERE, 3, "17.5")
    assert (await places(stores), await kept(stores)) == ({}, 0)


async def test_a_card_that_is_there_already_leaves_words_that_take_the_place(
    stores: Stores, turn: Closing
) -> None:
    await opened(stores, a_new_request(conversation=HERE, turn="t_thread"))
    await shown(stores, turn)
    closing = replace(turn, end=TurnEnd(reason=Reason.PROPOSED, text=""))
    await opened(stores, a_new_request(conversation=HERE, turn="t_1a", closing=closing))
    seq = max(await places(stores))
    entry = await stores.deliveries.entry(TENANT, HERE, seq)
    assert entry is not None
    assert entry.text.startswith("That waits already.")


async def test_of_a_turn_that_is_stopped_when_nobody_answers_it_any_more_that_takes_the_place(
    stores: Stores, turn: Closing
) -> None:
    await shown(stores, turn)
    await notice(stores, OWNER)
    await stores.conversations.stop(turn.turn, principal="alice")
    assert await places(stores) == {3: "17.5"}


async def test_of_a_turn_that_is_given_up_that_takes_the_place(
    stores: Stores, turn: Closing
) -> None:
    await shown(stores, turn)
    await stores.database.transact(
        lambda _: rows("UPDATE job SET attempt = 99 WHERE id = :id", id=turn.job.id)
    )
    await notice(stores, OWNER)
    entry = await stores.deliveries.entry(TENANT, HERE, 3)
    assert entry is not None
    assert entry.text == turn_ends.GIVEN_UP.text
    assert await places(stores) == {3: "17.5"}


async def test_i14_another_tenant_finds_no_draft(stores: Stores, turn: Closing) -> None:
    await shown(stores, turn)
    await stores.conversations.end(turn)
    await stores.deliveries.posted(OTHER_TENANT, HERE, 3, "17.5")
    assert await kept(stores) == 1


async def test_all_of_it_happens_or_nothing(stores: Stores, turn: Closing) -> None:
    assert await whole_or_nothing(stores, lambda on: on.drafts.begin(turn.turn, turn.job)) > 1
    await whole_or_nothing(stores, lambda on: on.drafts.drafted(turn.turn, turn.job, "17.5"))
    await stores.conversations.end(turn)
    cuts = await whole_or_nothing(stores, lambda on: on.deliveries.posted(TENANT, HERE, 3, "17.5"))
    assert cuts > 1
