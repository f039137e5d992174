"""C86: a whole conversation as one value, on every database."""

import json
from dataclasses import asdict

import pytest

from adapters.storage.transactions import rows
from bot import contract
from core import exports
from core.conversations import TurnEnd
from core.outcomes import Reason
from core.stored_entries import Unreadable
from core.trail import Moved
from tests.builders import CONVERSATION, PLACE, TENANT, a_new_turn
from tests.contracts.test_transcripts import ENTRIES
from tests.stores import (
    OTHER_CONVERSATION,
    SUCCEEDED,
    Stores,
    answering,
    everything,
    running,
    stepped,
)

Rows = list[tuple[str, str]]


async def kept(stores: Stores, conversation: str) -> Rows:
    """Return the transcript of a conversation as it lies in the table."""
    found = await stores.database.transact(
        lambda _: rows(
            "SELECT kind, body FROM transcript WHERE conversation = :conversation ORDER BY seq",
            conversation=conversation,
        )
    )
    return [(row["kind"], row["body"]) for row in found]


async def answered(stores: Stores, turn: str, conversation: str, end: TurnEnd) -> None:
    """Have a turn of a conversation end like this."""
    new = a_new_turn(turn, conversation=conversation)
    await stores.conversations.end(await answering(stores, new, end))


async def test_c86_an_export_holds_each_part_in_its_order(stores: Stores) -> None:
    run = await stepped(stores, await running(stores), SUCCEEDED)
    end = TurnEnd(reason=Reason.ANSWERED, text="Three.", entries=ENTRIES)
    await answered(stores, "t_7", CONVERSATION, end)
    found = await stores.records.export(CONVERSATION)
    assert found is not None
    assert (found.conversation, found.tenant, found.place) == (CONVERSATION, TENANT, PLACE)
    assert found.transcript[-len(ENTRIES) :] == ENTRIES
    assert found.entries == tuple(await stores.records.said(CONVERSATION))
    assert [(turn.id, turn.reason) for turn in found.turns] == [
        ("t_1", Reason.ANSWERED),
        ("t_7", Reason.ANSWERED),
    ]
    assert (found.requests, found.runs) == ((run.request,), (run.id,))
    assert found.erased_at is None


async def test_c15_an_export_names_the_turn_that_answered_a_message_together_with_its_own(
    stores: Stores,
) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="Both.", absorbed=("t_8",))
    first = await answering(stores, a_new_turn("t_7", conversation=CONVERSATION), end)
    await stores.conversations.receive(a_new_turn("t_8", conversation=CONVERSATION))
    await stores.conversations.end(first)
    found = await stores.records.export(CONVERSATION)
    assert found is not None
    named = {one["turn"]: one["absorbed_by"] for one in contract.exported(found)["turns"]}
    assert named == {"t_1": None, "t_7": None, "t_8": "t_7"}


async def test_c88_an_export_holds_what_each_call_of_the_model_took(stores: Stores) -> None:
    under_way = await answering(stores, a_new_turn("t_7", conversation=CONVERSATION))
    moved = Moved(
        request="req_1", stop="say", input_tokens=7, output_tokens=3, milliseconds=12,
        prompt="0" * 64, entries=4, options={"effort": "low"},
    )  # fmt: skip
    await stores.conversations.happened(under_way.turn, under_way.job, [moved])
    await stores.conversations.end(under_way)
    found = await stores.records.export(CONVERSATION)
    assert found is not None
    here = [one for one in contract.exported(found)["happenings"] if one["turn"] == "t_7"]
    assert [(one["kind"], one["claim"]) for one in here] == [("moved", 1), ("finished", 1)]
    assert here[0]["body"] == asdict(moved)
    assert json.loads(json.dumps(here)) == here


async def test_c86_what_was_exported_builds_the_same_transcript_again_byte_for_byte(
    stores: Stores,
) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="Three.", entries=ENTRIES)
    await answered(stores, "t_7", CONVERSATION, end)
    found = await stores.records.export(CONVERSATION)
    assert found is not None
    text = json.dumps(contract.exported(found))
    before = await kept(stores, OTHER_CONVERSATION)
    again = TurnEnd(reason=Reason.ANSWERED, text="", entries=exports.rebuilt(text))
    await answered(stores, "t_8", OTHER_CONVERSATION, again)
    assert await kept(stores, OTHER_CONVERSATION) == before + await kept(stores, CONVERSATION)


async def test_what_another_version_kept_is_said_to_be_that(stores: Stores) -> None:
    await stores.database.transact(
        lambda _: rows(
            "INSERT INTO transcript SELECT conversation, seq + 1, 'noted', '{}', NULL FROM transcript"
            f" WHERE conversation = '{CONVERSATION}' ORDER BY seq DESC LIMIT 1"
        )
    )
    with pytest.raises(Unreadable, match="Use the one that wrote it"):
        await stores.records.export(CONVERSATION)


async def test_an_unknown_conversation_has_none_and_reading_changes_nothing(
    stores: Stores,
) -> None:
    before = await everything(stores.database)
    assert await stores.records.export("c_none") is None
    assert await stores.records.export(CONVERSATION) is not None
    assert await everything(stores.database) == before
