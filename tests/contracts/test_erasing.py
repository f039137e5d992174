"""C77: `sayso erase` removes what was said and done in a conversation, and keeps digests of it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.storage.erasing import LIVE, PARTS, UNKNOWN
from adapters.storage.transactions import Database, rows
from approvals.models import RunState, StepEnd, StepState
from approvals.proposals import NewRequest
from core import canonical
from core.conversations import TurnEnd
from core.deliveries import POST, post_of
from core.errors import Refused, Unavailable
from core.memories import Kind, NewMemory, Trust
from core.outcomes import Reason
from core.transcript import AgentText, Called, Heard, Noted, Result, Returned, Spoke, ToolCall
from tests.builders import (
    TENANT,
    THREAD,
    a_caller,
    a_checked,
    a_new_request,
    a_new_turn,
    a_rule,
    a_tool,
)
from tests.fakes.clock import FrozenClock
from tests.stores import (
    IN_A_FILE,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    TABLES,
    THEIR_CONVERSATION,
    WHOLE,
    Closable,
    Stores,
    answering,
    begin_conversations,
    erasing,
    everything,
    facts_of,
    hold_calls,
    jobs_of,
    kept_plan,
    log_of,
    memories,
    opened,
    running,
    stepped,
    whole_or_nothing,
)
from tests.stores import (
    UNKNOWN as A_LOSS,
)

HERE = "c_here"
MARK = "quagga"
"""Stands in everything that anybody says or does in the conversation."""
SAID = TurnEnd(
    reason=Reason.ANSWERED,
    text=f"a {MARK} was here",
    suggestions=(f"ask for {MARK}",),
    entries=(
        Heard(speaker="alice", text=f"find {MARK}"),
        Called(calls=(ToolCall(id="1", tool="look", arguments={"word": MARK}),), text=MARK),
        Returned(results=(Result(call="1", text=MARK),)),
        Spoke(text=MARK, content=MARK),
    ),
)
ABOUT = AgentText(rationale=f"{MARK} is right")


def a_request(word: str, turn: str = "t_here") -> NewRequest:
    """Return a request in the conversation, whose arguments and texts hold the mark."""
    return a_new_request(
        a_checked(word, tool=a_tool(verify=True)),
        rule=a_rule(1),
        conversation=HERE,
        turn=turn,
        about=ABOUT,
    )


async def told(stores: Stores, turn: str = "t_here") -> None:
    """Have a message with the mark asked and answered, in a thread."""
    new = a_new_turn(turn, f"find {MARK}", opens=HERE, place=THREAD)
    await stores.conversations.end(await answering(stores, new, SAID))


async def lived(stores: Stores) -> None:
    """Have all happen in a conversation that leaves content behind."""
    await told(stores)
    denied = await opened(stores, a_request(f"{MARK}-1"))
    await stores.requests.deny(TENANT, denied.id, principal="bob", reason=f"no {MARK}, please")
    revoked = await opened(stores, a_request(f"{MARK}-2"))
    await stores.requests.revoke(TENANT, revoked.id, principal="bob", reason=f"{MARK} changed")
    ran = await running(stores, a_request(f"{MARK}-3"))
    await stepped(
        stores, ran, StepEnd(state=StepState.UNKNOWN, output=MARK, note=MARK, whole=WHOLE)
    )
    await stores.runs.resolve(TENANT, ran.id, 0, happened=True, principal="carol")
    await happened(stores)


async def run(database: Database, statement: str) -> None:
    """Run one statement."""
    await database.transact(lambda _: rows(statement))


async def erase(database: Closable, statement: str) -> None:
    """Run one statement as what erases may."""
    await database.erase(lambda _: rows(statement))


async def happened(stores: Stores) -> None:
    """Leave a memory, a happening, a draft, a task and a reminder."""
    for statement in (
        f"INSERT INTO happening VALUES ('{TENANT}', '{HERE}', 't_here', 1, 99, '', 'looked', '{MARK}')",
        f"UPDATE request SET broken_by = 'bob', broken_why = '{MARK}' WHERE conversation = '{HERE}'",
        f"INSERT INTO draft VALUES ('t_here', '{TENANT}', '{HERE}', '1.{MARK}')",
        f"INSERT INTO frame VALUES ('{HERE}', '{TENANT}', '{MARK}', '{MARK}', 1)",
        f"INSERT INTO reminder VALUES ('{TENANT}', 'n_1', '{HERE}', 'alice', '{MARK}', '', '', 'pending')",
        f"INSERT INTO memory VALUES ('m_1', '{TENANT}', '{HERE}', 1, 'semantic', 'model', '{MARK}',"
        f" '{MARK}', '{canonical.sha256(MARK)}', '2026-03-01', '2027-03-01')",
        f"INSERT INTO frozen SELECT tenant, id, '{HERE}' FROM plan WHERE tenant = '{TENANT}' LIMIT 1",
    ):
        await run(stores.database, statement)


def bytes_in(folder: Path) -> bytes:
    """Return all bytes of the database's files, its journal too."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


async def test_c77_nothing_of_what_was_said_or_done_is_left_in_any_table(stores: Stores) -> None:
    await lived(stores)
    assert MARK in repr(await everything(stores.database))
    erased = await erasing(stores).erase(HERE, account="root")
    assert MARK not in repr(await everything(stores.database))
    assert set(erased.removed) == {part.table for part in PARTS}
    assert not await stores.database.transact(
        lambda _: rows(f"SELECT * FROM happening WHERE conversation = '{HERE}'")
    )


NO_CONTENT = {
    "conversation", "received", "posted", "vote", "run", "rate", "audit", "job", "job_lock",
    "lease", "factor", "link", "linking", "standing_grant", "grant_use", "brake", "called", "handover",
}  # fmt: skip
"""Tables of ids, states, times and digests alone; and of pauses, which are of no conversation."""


def test_c77_every_table_either_holds_no_content_or_is_erased() -> None:
    assert set(TABLES) == NO_CONTENT | {part.table for part in PARTS}


@IN_A_FILE
async def test_c77_its_bytes_are_gone_from_the_files(stores: Stores, quick_path: Path) -> None:
    await run(stores.database, "PRAGMA secure_delete = OFF")
    await lived(stores)
    assert MARK.encode() in bytes_in(quick_path)
    await erasing(stores).erase(HERE, account="root")
    assert MARK.encode() not in bytes_in(quick_path)
    assert b"alice" in bytes_in(quick_path)


@IN_A_FILE
async def test_c77_bytes_of_what_was_removed_before_are_gone_too(
    stores: Stores, quick_path: Path
) -> None:
    # As an SQLite does it that was built without this, where what is deleted stays in the file.
    await run(stores.database, "PRAGMA secure_delete = OFF")
    await told(stores)
    await hold_calls(stores)
    long = " ".join([MARK] * 140)
    for number in range(60):
        new = NewMemory(
            caller=a_caller(conversation=HERE), kind=Kind.SEMANTIC, trust=Trust.MODEL, source="",
            text=f"{long} {number}",
        )  # fmt: skip
        await memories(stores).keep(new, retention=timedelta(days=1), most=100)
        await memories(stores).forget(new.caller, new.id, trust=None)
    assert MARK.encode() in bytes_in(quick_path)
    await erasing(stores).erase(HERE, account="root")
    assert MARK.encode() not in bytes_in(quick_path)


async def test_i11_one_audit_entry_keeps_counts_and_digests_and_the_chain_holds(
    stores: Stores,
) -> None:
    await lived(stores)
    sent = await stores.database.transact(
        lambda _: rows(f"SELECT seq, kind, body FROM transcript WHERE conversation = '{HERE}'")
    )
    before = await log_of(stores)
    erased = await erasing(stores).erase(HERE, account="root")
    (entry,) = (await log_of(stores))[len(before) :]
    facts = facts_of(entry)
    assert (entry.kind, entry.tenant) == ("conversation.erased", TENANT)
    assert facts["conversation"] == HERE
    assert facts["account"] == "root"
    assert facts["removed"] == erased.removed
    digests = facts["digests"]
    assert isinstance(digests, dict)
    # Whoever kept an export can show that this is what was removed.
    assert digests["transcript"] == canonical.digest([list(row) for row in sent])
    assert facts["sha256"] == erased.sha256 == canonical.digest(digests)
    assert erased.removed["transcript"] == len(sent) == len(SAID.entries)


async def test_i11_it_is_erased_and_logged_or_neither(stores: Stores) -> None:
    await lived(stores)
    cuts = await whole_or_nothing(stores, lambda on: erasing(on).erase(HERE, account="root"))
    assert cuts > len(PARTS)


async def test_what_is_left_says_that_it_was_erased(stores: Stores) -> None:
    await lived(stores)
    await erasing(stores).erase(HERE, account="root")
    requests = [one for one in await stores.records.requests() if one.conversation == HERE]
    assert len(requests) == 3
    assert {one.card.title for one in requests} == {"Erased"}
    assert {one.reason for one in requests} == {"", "erased"}
    (ran,) = await stores.records.runs()
    assert ran.state is RunState.SUCCEEDED
    assert [(step.tool, step.output, step.note) for step in ran.steps] == [
        ("append-word", "", "erased")
    ]
    said = await stores.records.said(HERE)
    assert {one.text for one in said} == {""}
    kinds = {"asked", "answered", "card", "note", "progress", "report"}
    assert {one.kind for one in said} == kinds
    turn = await stores.conversations.turn(TENANT, "t_here")
    assert turn is not None
    assert (turn.wish.shown, turn.text, turn.suggestions) == ("", "", ())
    assert turn.reason is Reason.ANSWERED
    assert await stores.records.plans(requests[0].plan_sha256[:12]) == []


async def test_the_other_conversations_keep_what_they_have(stores: Stores) -> None:
    await lived(stores)
    before = await everything(stores.database)
    await erasing(stores).erase(HERE, account="root")
    after = await everything(stores.database)
    for table in TABLES:
        others = [row for row in before[table] if MARK not in repr(row) and HERE not in repr(row)]
        assert set(others) <= set(after[table]), table


async def test_i01_an_erased_request_can_never_run_or_be_asked_for_again(stores: Stores) -> None:
    await lived(stores)
    await erasing(stores).erase(HERE, account="root")
    for request in await stores.records.requests():
        if request.conversation == HERE:
            assert not request.is_intact


async def test_a_plan_that_another_conversation_shows_stays_until_that_is_erased_too(
    stores: Stores,
) -> None:
    await told(stores)
    theirs = a_new_request(a_checked("shared"), conversation=OTHER_CONVERSATION, turn="t_2")
    ours = a_new_request(a_checked("shared"), conversation=HERE, turn="t_here")
    for new in (theirs, ours):
        request = await opened(stores, new)
        await stores.requests.revoke(TENANT, request.id, principal="bob", reason="over")
    assert "plan" not in (await erasing(stores).erase(HERE, account="root")).removed
    assert await stores.records.plans(ours.plan.id) == [ours.plan.canonical]
    assert (await erasing(stores).erase(OTHER_CONVERSATION, account="root")).removed["plan"] == 1
    assert await stores.records.plans(ours.plan.id) == []


async def test_a_plan_that_was_erased_is_kept_anew_when_it_is_proposed_again(
    stores: Stores,
) -> None:
    await lived(stores)
    await erasing(stores).erase(HERE, account="root")
    new = a_new_request(
        a_checked(f"{MARK}-3", tool=a_tool(verify=True)),
        conversation=OTHER_CONVERSATION,
        turn="t_2",
    )
    assert (await opened(stores, new)).is_intact


async def test_a_plan_that_was_only_frozen_goes_with_the_last_conversation_that_has_it(
    stores: Stores,
) -> None:
    kept = a_new_request(a_checked(MARK)).plan
    await kept_plan(stores, OTHER_TENANT, kept.id, kept.sha256, kept.canonical)
    for turn, opens in (("t_here", HERE), ("t_9", OTHER_CONVERSATION)):
        new = a_new_turn(turn, opens=opens, conversation=None if opens == HERE else opens)
        asks = await answering(stores, new, SAID)  # which does not name it
        await stores.conversations.keep_plan(asks.turn, asks.job, kept)
        await stores.conversations.end(asks)
    assert "plan" not in (await erasing(stores).erase(HERE, account="root")).removed
    assert (await erasing(stores).erase(OTHER_CONVERSATION, account="root")).removed["plan"] == 1
    assert await stores.records.plans(kept.id) == [kept.canonical]  # the other tenant's


async def test_erasing_twice_is_harmless_and_takes_what_came_since(stores: Stores) -> None:
    await lived(stores)
    await erasing(stores).erase(HERE, account="root")
    before = await log_of(stores)
    assert not (await erasing(stores).erase(HERE, account="root")).removed
    assert await log_of(stores) == before
    await told(stores, "t_later")
    again = await erasing(stores).erase(HERE, account="root")
    assert dict(again.removed) == {
        "entry": 2,
        "transcript": len(SAID.entries),
        "turn": 1,
        "happening": 1,
    }


async def test_a_new_message_starts_from_nothing(stores: Stores) -> None:
    await lived(stores)
    await erasing(stores).erase(HERE, account="root")
    new = a_new_turn("t_new", "hello", opens="c_unused", place=THREAD)
    under_way = await answering(stores, new)
    assert under_way.turn.conversation == HERE
    history = await stores.conversations.history(under_way.turn)
    assert (history.entries, history.news) == ((), ())
    hello = (Heard(speaker="alice", text="hello"), Noted(text="hi"))
    end = TurnEnd(reason=Reason.ANSWERED, text="hi", entries=hello)
    await stores.conversations.end(replace(under_way, end=end))
    assert (await stores.conversations.history(under_way.turn)).entries == hello
    said = await stores.records.said(HERE)
    assert [one.text for one in said if one.text] == ["hello", "hi"]


async def test_what_was_not_posted_yet_is_never_posted_and_posted_cards_say_erased(
    stores: Stores,
) -> None:
    await lived(stores)
    edits = len(await jobs_of(stores, "edit"))
    await erasing(stores).erase(HERE, account="root")
    for job in await jobs_of(stores, POST):
        seq = int(job["id"].rpartition(":")[2])
        assert job["id"] == post_of(HERE, seq)
        assert await stores.deliveries.entry(TENANT, HERE, seq) is None
    assert len(await jobs_of(stores, "edit")) == edits + 3


@pytest.mark.parametrize("live", ["queued", "answering", "open", "granted", "running", "unknown"])
async def test_it_is_refused_while_something_is_live(stores: Stores, live: str) -> None:
    await told(stores)
    if live in {"queued", "answering"}:
        new = a_new_turn("t_live", conversation=HERE, place=THREAD)
        if live == "queued":
            await stores.conversations.receive(new)
        else:
            await answering(stores, new)
    elif live in {"open", "granted"}:
        request = await opened(stores, a_request("alpha"))
        if live == "granted":
            await stores.requests.vote(TENANT, request.id, principal="bob")
    else:
        ran = await running(stores, a_request("alpha"))
        if live == "unknown":
            await stepped(stores, ran, A_LOSS)
    before = await everything(stores.database)
    with pytest.raises(Refused) as refused:
        await erasing(stores).erase(HERE, account="root")
    assert refused.value.shown == LIVE
    assert await everything(stores.database) == before


async def test_what_is_past_its_time_is_not_live(stores: Stores, clock: FrozenClock) -> None:
    await told(stores)
    request = await opened(stores, a_request("alpha"))
    clock.pass_by(request.expires_at - request.opened_at)
    assert (await erasing(stores).erase(HERE, account="root")).removed["request"] == 1


@pytest.mark.parametrize("name", ["c_none", "", "t_1"])
async def test_i14_an_unknown_one_has_one_answer(stores: Stores, name: str) -> None:
    before = await everything(stores.database)
    with pytest.raises(Refused) as refused:
        await erasing(stores).erase(name, account="root")
    assert refused.value.shown == UNKNOWN
    assert await everything(stores.database) == before


async def test_conversations_that_nobody_erased_are_still_only_added_to(
    stores: Stores, database: Closable
) -> None:
    await erasing(stores).erase(THEIR_CONVERSATION, account="root")
    before = await everything(database)
    for statement in (
        "UPDATE entry SET text = ''",
        "DELETE FROM transcript",
        "DELETE FROM audit",
        "UPDATE audit SET body = ''",
    ):
        with pytest.raises(Unavailable):
            await run(database, statement)
    assert await everything(database) == before


async def test_i11_even_erasing_cannot_touch_the_audit_log(database: Closable) -> None:
    await begin_conversations(Stores(database))
    before = await everything(database)
    for statement in ("DELETE FROM audit", "UPDATE audit SET body = ''"):
        with pytest.raises(Unavailable):
            await erase(database, statement)
    assert await everything(database) == before
