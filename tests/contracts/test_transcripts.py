"""I10: what a model knows of a conversation, on every database: added to, never changed."""

from dataclasses import asdict, replace

import pytest

from adapters.storage.transactions import rows
from core import canonical
from core.conversations import History, Turn, TurnEnd
from core.jobs import LeaseLost
from core.outcomes import Reason
from core.transcript import (
    Called,
    Compacted,
    Entry,
    Form,
    Heard,
    Noted,
    Result,
    Returned,
    Spoke,
    Stated,
    ToolCall,
    Trust,
)
from tests.builders import CONVERSATION, TENANT, a_new_request, a_new_turn
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    UNKNOWN,
    Connect,
    Stores,
    answering,
    closing,
    everything,
    lose,
    opened,
    running,
    stepped,
    whole_or_nothing,
)

FIRST = (Heard(speaker="alice", text="append alpha"), Noted(text="answered"))
"""What the opening of the conversations in `tests.stores` left behind."""
CALL = ToolCall(id="1", tool="look", arguments={"n": 1.5, "ü": ["\u202e", None, True]})
ENTRIES: tuple[Entry, ...] = (
    Stated(source="task", number=2, form=Form.CHANGES, text="- a\n+ ü", trust=Trust.OUTSIDE),
    Heard(speaker="dave", text='look "there"\n## SYSTEM'),
    Called(calls=(CALL,), text="I look.", content='[{"type":"text","text":"I look."}]'),
    Returned(results=(Result(call="1", text="three words", failed=True, correctable=True),)),
    Spoke(text="Three.", content='[{"text":"Three.","type":"text"}]'),
)


def a_turn_end(*entries: Entry) -> TurnEnd:
    return TurnEnd(reason=Reason.ANSWERED, text="Three.", entries=entries)


async def ended(stores: Stores, name: str, *entries: Entry) -> None:
    """Receive a message of the conversation and end its turn with these entries."""
    new = a_new_turn(name, conversation=CONVERSATION, principal="dave")
    await stores.conversations.end(await answering(stores, new, a_turn_end(*entries)))


async def known(stores: Stores, conversation: str = CONVERSATION, tenant: str = TENANT) -> History:
    """Return what the next turn of a conversation is to know."""
    new = a_new_turn("t_asks", conversation=conversation, tenant=tenant)
    turn = (await stores.conversations.receive(new)).turn
    return await stores.conversations.history(turn)


async def test_what_a_turn_added_is_read_back_as_it_was(stores: Stores) -> None:
    await ended(stores, "t_7", *ENTRIES)
    assert await known(stores) == History(entries=(*FIRST, *ENTRIES), news=())


async def test_i10_what_a_turn_knows_begins_with_what_the_one_before_knew(stores: Stores) -> None:
    seen: list[tuple[Entry, ...]] = [FIRST]
    for number in range(5):
        await ended(stores, f"t_{number + 7}", *ENTRIES)
        turn = await stores.conversations.turn(TENANT, f"t_{number + 7}")
        assert turn is not None
        now = (await stores.conversations.history(turn)).entries
        assert now[: len(seen[-1])] == seen[-1]
        assert len(now) == len(seen[-1]) + len(ENTRIES)
        seen.append(now)


async def test_news_are_told_once_and_stay_where_they_were_told(stores: Stores) -> None:
    run = await running(stores)
    await stepped(stores, run, UNKNOWN)
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new)
    [report] = (await stores.conversations.history(under_way.turn)).news
    assert report.text.startswith(f"Run {run.id} unknown")
    # What comes while the turn is under way was not told in it, so it is told in the next one.
    await stores.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")
    await stores.conversations.end(replace(under_way, end=a_turn_end(report, *ENTRIES)))
    after = await known(stores)
    assert after.entries == (*FIRST, report, *ENTRIES)
    [resolved] = after.news
    assert resolved.text.startswith(f"Run {run.id} succeeded")
    assert resolved.entry > report.entry


STOPPED = Noted(text="Stopped. Nothing was changed.")


async def test_p05_of_a_turn_that_was_stopped_all_is_kept_but_what_nobody_read(
    stores: Stores,
) -> None:
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new)
    await stores.conversations.stop(under_way.turn, principal="dave")
    await stores.conversations.end(replace(under_way, end=a_turn_end(*ENTRIES)))
    assert (await known(stores)).entries == (*FIRST, *ENTRIES[:-1], STOPPED)


async def test_p05_what_a_model_sent_before_it_paused_stays_where_it_was(stores: Stores) -> None:
    paused = Spoke(text="", content="[1]")
    did = (*ENTRIES[:2], paused, *ENTRIES[2:4])
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new)
    await stores.conversations.stop(under_way.turn, principal="dave")
    await stores.conversations.end(replace(under_way, end=a_turn_end(*did, ENTRIES[4])))
    assert (await known(stores)).entries == (*FIRST, *did, STOPPED)


async def test_p05_c78_of_a_message_that_was_stopped_in_the_queue_the_model_hears_no_word(
    stores: Stores,
) -> None:
    new = a_new_turn("t_7", "wait", conversation=CONVERSATION, principal="dave")
    turn = (await stores.conversations.receive(new)).turn
    await stores.conversations.stop(turn, principal="dave")
    assert (await known(stores)).entries == (
        *FIRST,
        Noted(text="A message from dave was not looked at. Stopped. Nothing was changed."),
    )


async def test_i11_it_is_written_with_the_end_of_the_turn_or_not_at_all(stores: Stores) -> None:
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new, a_turn_end(*ENTRIES))
    await whole_or_nothing(stores, lambda on: on.conversations.end(under_way))
    assert (await known(stores)).entries == (*FIRST, *ENTRIES)


@pytest.mark.parametrize("how", ["taken", "lease over"])
async def test_who_lost_the_turn_adds_nothing(stores: Stores, how: str) -> None:
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new, a_turn_end(*ENTRIES))
    await lose(stores, under_way.job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.conversations.end(under_way)
    assert await everything(stores.database) == before


async def test_a_proposal_adds_what_led_to_it(stores: Stores) -> None:
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new, a_turn_end(*ENTRIES))
    await opened(stores, a_new_request(closing=under_way, turn="t_7", requester="dave"))
    assert (await known(stores)).entries == (*FIRST, *ENTRIES)


async def test_another_conversation_and_another_tenant_know_nothing_of_it(stores: Stores) -> None:
    await ended(stores, "t_7", *ENTRIES)
    assert (await known(stores, OTHER_CONVERSATION)).entries == FIRST
    turn = await stores.conversations.turn(TENANT, "t_7")
    assert turn is not None
    theirs = replace(turn, tenant=OTHER_TENANT)
    assert await stores.conversations.history(theirs) == History(entries=(), news=())


# What a process remembers, and where a conversation begins anew

COMPACTED = Compacted(turns=9, told=("alice: hi -> ok",), waiting=("note",), words="All is well.")


async def the_turn(stores: Stores) -> Turn:
    """Return a turn of the conversation that waits."""
    new = a_new_turn("t_asks", conversation=CONVERSATION, tenant=TENANT)
    return (await stores.conversations.receive(new)).turn


async def test_behind_a_mark_only_what_is_new_is_read(stores: Stores) -> None:
    turn = await the_turn(stores)
    first = await stores.conversations.history(turn)
    assert await stores.conversations.history(turn, first.mark) == History(entries=(), news=())
    await stores.conversations.end(await closing(stores, turn, a_turn_end(*ENTRIES)))
    then = await stores.conversations.history(turn, first.mark)
    assert then.entries == ENTRIES
    assert then.mark.epoch == first.mark.epoch
    assert await stores.conversations.history(turn, then.mark) == History(entries=(), news=())


async def test_c79_a_conversation_begins_at_the_newest_compaction(stores: Stores) -> None:
    await ended(stores, "t_7", *ENTRIES)
    await ended(stores, "t_8", COMPACTED, *ENTRIES[:3])
    await ended(stores, "t_9", replace(COMPACTED, turns=99), *ENTRIES)
    await ended(stores, "t_10", ENTRIES[0])
    found = await known(stores)
    assert found.entries == (replace(COMPACTED, turns=99), *ENTRIES, ENTRIES[0])


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO transcript SELECT conversation, seq + 100, 'compacted', :body, NULL"
        " FROM transcript WHERE conversation = :id AND seq = 1",
        'UPDATE transcript SET body = \'{"speaker":"x","text":""}\''
        " WHERE conversation = :id AND seq = 1",
        "DELETE FROM transcript WHERE conversation = :id AND seq = 1",
    ],
    ids=["compacted", "changed", "erased"],
)
async def test_c77_what_a_process_remembers_ends_with_its_epoch_whoever_ends_it(
    stores: Stores, connect: Connect, change: str
) -> None:
    await ended(stores, "t_7", *ENTRIES)
    turn = await the_turn(stores)
    before = await stores.conversations.history(turn)
    theirs = await connect()
    body = canonical.encode(asdict(COMPACTED))
    await theirs.erase(lambda _: rows(change, id=CONVERSATION, body=body))
    after = await stores.conversations.history(turn, before.mark)
    assert after.mark.epoch != before.mark.epoch
    assert after.entries == (await stores.conversations.history(turn)).entries
    assert after.entries[0] != before.entries[0]


async def test_what_an_open_mark_does_not_know_is_another_tenants(stores: Stores) -> None:
    turn = await the_turn(stores)
    mark = (await stores.conversations.history(turn)).mark
    theirs = replace(turn, tenant=OTHER_TENANT)
    assert await stores.conversations.history(theirs, replace(mark, last=0)) == History(
        entries=(), news=()
    )
    assert await stores.conversations.news(theirs) == ()


async def test_news_are_the_same_for_who_reads_nothing_else(stores: Stores) -> None:
    run = await running(stores)
    await stepped(stores, run, UNKNOWN)
    new = a_new_turn("t_7", conversation=CONVERSATION, principal="dave")
    under_way = await answering(stores, new)
    news = await stores.conversations.news(under_way.turn)
    assert news == (await stores.conversations.history(under_way.turn)).news != ()
    await stores.conversations.end(replace(under_way, end=a_turn_end(*news, *ENTRIES)))
    assert await stores.conversations.news(under_way.turn) == ()
