"""`core.conversations.Conversations`: each sentence of the port, on every database."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.conversations import Conversations, Said, Turn
from core.errors import Refused
from core.events import Place
from tests.builders import CONVERSATION, PLACE, TENANT, a_new_request, a_plan, a_turn
from tests.fakes.clock import START
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    THEIR_CONVERSATION,
    Act,
    Prepare,
    Stores,
    everything,
    facts_of,
    log_of,
    logged_by,
    opened,
    principal_of,
    whole_or_nothing,
)

NEW = a_turn("t_new", conversation="c_new", principal="dave")
LATER = a_turn("t_later", principal="dave")


def _said(kind: str, author: str, text: str) -> Said:
    return Said(at=START, kind=kind, author=author, text=text)


# begin_turn


async def test_a_turn_opens_a_new_conversation_with_what_was_asked(stores: Stores) -> None:
    assert await stores.records.said("c_new") == []
    await stores.conversations.begin_turn(NEW, PLACE, "append alpha", opens=True)
    assert await stores.records.said("c_new") == [_said("asked", "dave", "append alpha")]


async def test_a_turn_goes_on_in_its_conversation(stores: Stores) -> None:
    await stores.conversations.begin_turn(LATER, PLACE, "and beta", opens=False)
    assert await stores.records.said(CONVERSATION) == [
        _said("asked", "alice", "append alpha"),
        _said("asked", "dave", "and beta"),
    ]
    assert len(await stores.records.said(OTHER_CONVERSATION)) == 1


@pytest.mark.parametrize("text", ["", "\0", "';DROP TABLE entry;--", "\u202e😀\n\t\r", "a" * 10**6])
async def test_any_text_is_kept_as_it_is(stores: Stores, text: str) -> None:
    await stores.conversations.begin_turn(LATER, PLACE, text, opens=False)
    assert (await stores.records.said(CONVERSATION))[-1].text == text


FOREIGN: Mapping[str, tuple[Turn, Place]] = {
    "no such conversation": (replace(LATER, conversation="c_none"), PLACE),
    "of another tenant": (replace(LATER, conversation=THEIR_CONVERSATION), PLACE),
    "asked by another tenant": (replace(LATER, tenant=OTHER_TENANT), PLACE),
    "another platform": (LATER, replace(PLACE, platform="slack")),
    "another workspace": (LATER, replace(PLACE, workspace="elsewhere")),
    "another channel": (LATER, replace(PLACE, channel="general")),
}


@pytest.mark.parametrize("case", FOREIGN)
async def test_i14_a_foreign_conversation_is_refused_in_the_words_for_an_unknown_one(
    stores: Stores, case: str
) -> None:
    turn, place = FOREIGN[case]
    before = await everything(stores.database)
    with pytest.raises(Refused) as caught:
        await stores.conversations.begin_turn(turn, place, "hello", opens=False)
    assert caught.value.shown == (
        "There is no such conversation here. Leave it out to start a new one."
    )
    assert await everything(stores.database) == before


# end_turn


async def _of_turn(stores: Stores, turn: str) -> Sequence[object]:
    """Return how a turn ended, as the table has it."""
    (row,) = [row for row in (await everything(stores.database))["turn"] if row[0] == turn]
    return row[-2:]


async def test_the_end_of_a_turn_and_its_answer_are_kept(stores: Stores) -> None:
    assert await _of_turn(stores, "t_1") == (None, None)
    await stores.conversations.end_turn(a_turn(), reason="answered", text="It is there.")
    assert await _of_turn(stores, "t_1") == ("2026-03-01T09:30:00.000000Z", "answered")
    assert await _of_turn(stores, "t_2") == (None, None)
    assert (await stores.records.said(CONVERSATION))[1:] == [
        _said("answered", "sayso", "It is there.")
    ]


async def test_a_turn_that_answers_nothing_adds_nothing(stores: Stores) -> None:
    await stores.conversations.end_turn(a_turn(), reason="cancelled", text="")
    assert len(await stores.records.said(CONVERSATION)) == 1
    assert (await _of_turn(stores, "t_1"))[1] == "cancelled"


async def test_a_turn_ends_once(stores: Stores) -> None:
    await stores.conversations.end_turn(a_turn(), reason="answered", text="one")
    before = await everything(stores.database)
    await stores.conversations.end_turn(a_turn(), reason="failed", text="two")
    assert await everything(stores.database) == before


@pytest.mark.parametrize(
    "turn",
    [
        a_turn("t_none"),
        a_turn(tenant=OTHER_TENANT),
        a_turn(conversation=OTHER_CONVERSATION),
        a_turn(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION),
    ],
    ids=["unknown", "tenant", "conversation", "both"],
)
async def test_i14_a_turn_of_elsewhere_does_not_end(stores: Stores, turn: Turn) -> None:
    before = await everything(stores.database)
    await stores.conversations.end_turn(turn, reason="answered", text="one")
    assert await everything(stores.database) == before


# keep_plan


async def test_a_plan_that_nobody_is_asked_about_is_kept_for_export(stores: Stores) -> None:
    plan = a_plan()
    for _ in range(2):
        await stores.conversations.keep_plan(TENANT, plan.id, plan.sha256, plan.canonical)
    assert await stores.records.plans(plan.id) == [plan.canonical]
    assert await stores.records.requests() == []


async def test_a_plan_that_was_kept_can_be_asked_for(stores: Stores) -> None:
    new = a_new_request()
    await stores.conversations.keep_plan(TENANT, new.plan.id, new.plan.sha256, new.plan.canonical)
    assert (await opened(stores, new)).plan == new.plan


async def test_c32_a_short_id_keeps_the_plan_that_it_names(
    conversations: Conversations, stores: Stores
) -> None:
    plan = a_plan()
    await conversations.keep_plan(TENANT, plan.id, plan.sha256, plan.canonical)
    with pytest.raises(Refused, match="same short id"):
        await conversations.keep_plan(TENANT, plan.id, "0" * 64, "another plan")
    assert await stores.records.plans(plan.id) == [plan.canonical]


async def test_keeping_a_plan_is_whole_or_nothing(stores: Stores) -> None:
    plan = a_plan()
    await whole_or_nothing(
        stores,
        lambda on: on.conversations.keep_plan(TENANT, plan.id, plan.sha256, plan.canonical),
    )
    assert await stores.records.plans(plan.id) == [plan.canonical]


# I11: whole transactions


async def _opening(_: Stores) -> Act:
    return lambda on: on.conversations.begin_turn(NEW, PLACE, "append alpha", opens=True)


async def _going_on(_: Stores) -> Act:
    return lambda on: on.conversations.begin_turn(LATER, PLACE, "and beta", opens=False)


async def _ending(stores: Stores) -> Act:
    await stores.conversations.begin_turn(LATER, PLACE, "and beta", opens=False)
    return lambda on: on.conversations.end_turn(LATER, reason="answered", text="It is there.")


CHANGES: Mapping[str, tuple[Prepare, str, Mapping[str, str]]] = {
    "open": (_opening, "turn.begun", {"turn": "t_new", "conversation": "c_new"}),
    "go on": (_going_on, "turn.begun", {"turn": "t_later", "conversation": CONVERSATION}),
    "end": (_ending, "turn.ended", {"turn": "t_later", "reason": "answered"}),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_i11_every_state_change_has_its_audit_entry_or_does_not_happen(
    stores: Stores, change: str
) -> None:
    prepare, kind, facts = CHANGES[change]
    (entry,) = await logged_by(stores, await prepare(stores))
    assert (entry.kind, entry.tenant, principal_of(entry)) == (kind, TENANT, "dave")
    assert facts_of(entry) == {"principal": "dave", **facts}


async def test_i11_the_log_holds_no_words_of_the_conversation(stores: Stores) -> None:
    await stores.conversations.begin_turn(NEW, PLACE, "my words", opens=True)
    await stores.conversations.end_turn(NEW, reason="answered", text="its words")
    assert "words" not in str(await log_of(stores))
