"""C77: what is remembered of conversations, on every database."""

import asyncio
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import rows
from core.canonical import Json, encode, sha256
from core.errors import Refused
from core.jobs import LeaseLost
from core.memories import Kind, Memory, NewMemory, Trust, owned
from tests.builders import CALLS, CONVERSATION, TENANT, a_caller
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    OVER,
    QUICK,
    THEIR_CONVERSATION,
    Stores,
    begin_conversations,
    everything,
    facts_of,
    hold_calls,
    log_of,
    logged_by,
    memories,
)

LATER = 100
"""Numbers that no happening has that the turns of `tests.stores` left."""
ENDED = {"t_1.1", "t_2.1", "t_theirs.1"}
"""The ends of those."""
DAY = timedelta(days=1)
HERE = (TENANT, CONVERSATION)


def a_memory(
    text: str = "web runs on port 8080",
    *,
    tenant: str = TENANT,
    conversation: str = CONVERSATION,
    kind: Kind = Kind.SEMANTIC,
    trust: Trust = Trust.MODEL,
    source: str = "t_1/1",
) -> NewMemory:
    """Return something to be kept."""
    return NewMemory(
        caller=a_caller(tenant=tenant, conversation=conversation),
        kind=kind,
        trust=trust,
        source=source,
        text=text,
    )


@pytest.fixture(autouse=True)
async def held(stores: Stores) -> None:
    await hold_calls(stores)


async def forget(
    stores: Stores, memory: str, *where: str, by: str = "alice", trust: Trust | None = None
) -> bool:
    """Have somebody remove one, here unless told otherwise."""
    tenant, conversation = where or HERE
    caller = a_caller(by, tenant=tenant, conversation=conversation)
    return await memories(stores).forget(caller, memory, trust=trust)


async def keep(stores: Stores, new: NewMemory, *, most: int = 10) -> Memory:
    """Keep it for a day."""
    return await memories(stores).keep(new, retention=DAY, most=most)


async def happened(stores: Stores, seq: int, kind: str, body: Json, at: str, *where: str) -> None:
    """Have the record of a turn, as the keeper of happenings writes it."""
    tenant, conversation = where or HERE
    await stores.database.transact(
        lambda _: rows(
            "INSERT INTO happening"
            " VALUES (:tenant, :conversation, 't_1', 1, :seq, :at, :kind, :body)",
            tenant=tenant, conversation=conversation, seq=LATER + seq, at=at, kind=kind, body=encode(body),
        )
    )  # fmt: skip


async def episodes(stores: Stores, *where: str, most: int = 10) -> list[tuple[str, str]]:
    """Return when something happened, and what."""
    tenant, conversation = where or HERE
    found = await memories(stores).episodes(tenant, conversation, retention=DAY, most=most)
    return [(one.id, one.text) for one in found if one.id not in ENDED]


async def test_c77_what_is_kept_is_read_with_whose_word_it_is_and_where_it_came_from(
    stores: Stores,
) -> None:
    new = a_memory(kind=Kind.PROCEDURAL, trust=Trust.PERSON, source="alice")
    kept = await keep(stores, new)
    assert kept == Memory(
        id=new.id,
        tenant=TENANT,
        conversation=CONVERSATION,
        kind=Kind.PROCEDURAL,
        trust=Trust.PERSON,
        source="alice",
        text=new.text,
        sha256=sha256(new.text),
        at=START,
        expires_at=START + DAY,
    )
    assert await memories(stores).kept(*HERE) == [kept]


async def test_the_newest_is_read_first_and_the_same_said_again_is_one_that_lasts(
    stores: Stores, clock: FrozenClock
) -> None:
    for text in ("one", "two", "three"):
        await keep(stores, a_memory(text))
    clock.pass_by(DAY / 2)
    again = await keep(stores, a_memory("one", source="t_9/4"))
    found = await memories(stores).kept(*HERE)
    assert [one.text for one in found] == ["one", "three", "two"]
    assert found[0] == again
    assert (again.source, again.expires_at) == ("t_9/4", START + DAY / 2 + DAY)


async def test_the_same_by_another_or_of_another_kind_is_another(stores: Stores) -> None:
    news = [
        a_memory("one"),
        a_memory("one", trust=Trust.PERSON),
        a_memory("one", kind=Kind.PROCEDURAL),
        a_memory("one", conversation=OTHER_CONVERSATION),
        a_memory("one", tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION),
    ]
    assert len({(await keep(stores, new)).id for new in news}) == 5


async def test_c77_there_is_room_for_so_many_and_no_more_until_one_is_forgotten(
    stores: Stores,
) -> None:
    kept = [await keep(stores, a_memory(text), most=2) for text in ("one", "two")]
    before = await everything(stores.database)
    with pytest.raises(Refused, match="remembers 2 things, which is the most"):
        await keep(stores, a_memory("three"), most=2)
    assert await everything(stores.database) == before
    await keep(stores, a_memory("two"), most=2)  # there already
    await keep(stores, a_memory("three", conversation=OTHER_CONVERSATION), most=2)
    assert await forget(stores, kept[0].id)
    await keep(stores, a_memory("three"), most=2)


async def test_c77_past_its_time_it_is_not_read_and_gone_after_whoever_looks_next(
    stores: Stores, clock: FrozenClock
) -> None:
    old = await keep(stores, a_memory("old"))
    clock.pass_by(DAY - timedelta(microseconds=1))
    assert [one.id for one in await memories(stores).kept(*HERE)] == [old.id]
    clock.pass_by(timedelta(microseconds=1))
    assert await memories(stores).kept(TENANT, OTHER_CONVERSATION) == []
    assert (await everything(stores.database))["memory"] == []
    assert facts_of((await log_of(stores))[-1]) == {"principal": "sayso", "memory": old.id}


async def test_past_its_time_it_takes_no_room_and_cannot_be_forgotten(
    stores: Stores, clock: FrozenClock
) -> None:
    old = await keep(stores, a_memory("old"), most=1)
    clock.pass_by(DAY)
    assert not await forget(stores, old.id)
    await keep(stores, a_memory("new"), most=1)
    clock.pass_by(DAY)
    await keep(stores, a_memory("newer"), most=1)


async def test_i11_what_is_kept_and_forgotten_is_in_the_audit_log_without_its_words(
    stores: Stores,
) -> None:
    new = a_memory("quagga")
    (kept,) = await logged_by(stores, lambda on: keep(on, new))
    (gone,) = await logged_by(stores, lambda on: forget(on, new.id, by="bob"))
    assert (kept.kind, gone.kind) == ("memory.kept", "memory.forgotten")
    assert facts_of(kept) == {
        "principal": "alice",
        "memory": new.id,
        "conversation": CONVERSATION,
        "memory_kind": "semantic",
        "trust": "model",
        "sha256": sha256("quagga"),
    }
    assert facts_of(gone) == {
        "principal": "bob",
        "memory": new.id,
        "conversation": CONVERSATION,
        "sha256": sha256("quagga"),
    }


async def test_what_is_of_another_trust_is_not_forgotten(stores: Stores) -> None:
    kept = await keep(stores, a_memory(trust=Trust.PERSON))
    assert not await forget(stores, kept.id, trust=Trust.MODEL)
    assert await memories(stores).kept(*HERE) == [kept]
    assert await forget(stores, kept.id, trust=Trust.PERSON)
    assert not await forget(stores, kept.id, trust=Trust.PERSON)


@pytest.mark.parametrize("where", [(OTHER_TENANT, CONVERSATION), (TENANT, "c_none")])
async def test_i14_a_foreign_conversation_is_answered_as_an_unknown_one(
    stores: Stores, where: tuple[str, str]
) -> None:
    kept = await keep(stores, a_memory())
    await happened(stores, 1, "finished", {"reason": "answered"}, "2026-03-01T09:00:00.000000Z")
    before = await everything(stores.database)
    assert await memories(stores).kept(*where) == []
    assert await episodes(stores, *where) == []
    assert not await forget(stores, kept.id, *where, by="eve")
    with pytest.raises(Refused, match="no such conversation here"):
        await keep(stores, a_memory(tenant=where[0], conversation=where[1]))
    assert await everything(stores.database) == before


@pytest.mark.parametrize("how", OVER)
@pytest.mark.parametrize("deed", ["keep", "forget"])
async def test_i7_who_lost_the_turn_neither_keeps_nor_removes(
    stores: Stores, how: str, deed: str
) -> None:
    kept = await keep(stores, a_memory())
    await stores.database.transact(
        lambda _: rows(f"UPDATE job SET {OVER[how]} WHERE id = :id", id=CALLS[0])
    )
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await (keep(stores, a_memory("more")) if deed == "keep" else forget(stores, kept.id))
    assert await everything(stores.database) == before


async def test_c77_a_foreign_record_aborts_the_read(stores: Stores) -> None:
    await keep(stores, a_memory("ours"))
    await keep(stores, a_memory("theirs"))
    await stores.database.transact(
        lambda _: rows("UPDATE memory SET tenant = 'globex' WHERE text = 'theirs'")
    )
    found = await memories(stores).kept(*HERE)
    with pytest.raises(Refused, match="so none of it is read"):
        owned(found, *HERE)


async def test_c77_what_happened_in_turns_is_remembered_as_it_was_noted(stores: Stores) -> None:
    looked: Json = {"call": "1", "tool": "look", "failed": False, "milliseconds": 3}
    failed: Json = {"call": "2", "tool": "look", "failed": True, "milliseconds": 3}
    for seq, (kind, body) in enumerate(
        [
            ("staged", {"call": "1", "tool": "look", "stage": "known", "why": ""}),
            ("looked", looked),
            ("looked", failed),
            ("guarded", {"stage": "input", "why": "it holds a\ncard number"}),
            ("finished", {"reason": "max_turns"}),
        ]
    ):
        await happened(stores, seq, kind, body, f"2026-03-01T09:00:0{seq}.000000Z")
    told = [
        ("t_1.104", "The turn ended: max_turns."),
        ("t_1.103", "A guardrail stopped the turn at its input: it holds a card number"),
        ("t_1.102", "The tool look failed (call 2)."),
        ("t_1.101", "The tool look answered (call 1)."),
    ]
    assert await episodes(stores) == told
    assert len(await memories(stores).episodes(*HERE, retention=DAY, most=2)) == 2
    found = await memories(stores).episodes(*HERE, retention=DAY, most=9)
    assert {(one.kind, one.trust, one.source) for one in found} == {
        (Kind.EPISODIC, Trust.SOFTWARE, "t_1")
    }
    assert owned(found, *HERE) == tuple(found)


async def test_what_happened_longer_ago_than_is_kept_is_not_remembered(stores: Stores) -> None:
    for seq, at in enumerate(("2026-02-28T09:30:00.000000Z", "2026-02-28T09:30:00.000001Z")):
        await happened(stores, seq, "finished", {"reason": "answered"}, at)
    assert [name for name, _ in await episodes(stores)] == ["t_1.101"]


async def test_a_foreign_happening_aborts_the_read_too(stores: Stores) -> None:
    at = "2026-03-01T09:00:00.000000Z"
    await happened(stores, 1, "finished", {"reason": "answered"}, at, OTHER_TENANT, CONVERSATION)
    found = await memories(stores).episodes(*HERE, retention=DAY, most=9)
    with pytest.raises(Refused):
        owned(found, *HERE)


PLACES = (
    (TENANT, CONVERSATION),
    (TENANT, OTHER_CONVERSATION),
    (OTHER_TENANT, THEIR_CONVERSATION),
    (OTHER_TENANT, CONVERSATION),
)
"""Two tenants and their conversations, and a conversation that is not the tenant's."""
TEXT = st.sampled_from(["one", "two", "three"])
DEED = st.tuples(st.sampled_from(["keep", "forget", "read"]), st.sampled_from(PLACES), TEXT)


async def _plays(folder: str, deeds: list[tuple[str, tuple[str, str], str]]) -> None:
    database = await SqliteDatabase.open(Path(folder) / "sayso.db", FrozenClock())
    stores = Stores(database)
    await begin_conversations(stores)
    await hold_calls(stores)
    expected: dict[tuple[str, str], dict[str, str]] = {place: {} for place in PLACES}
    try:
        for deed, place, text in deeds:
            await _play(stores, deed, place, text, expected)
            for where in PLACES:
                found = owned(await memories(stores).kept(*where), *where)
                assert {one.id: one.text for one in found} == expected[where]
    finally:
        await database.aclose()


async def _play(
    stores: Stores,
    deed: str,
    place: tuple[str, str],
    text: str,
    expected: dict[tuple[str, str], dict[str, str]],
) -> None:
    new = a_memory(text, tenant=place[0], conversation=place[1])
    if deed == "keep" and place == PLACES[-1]:
        with pytest.raises(Refused):
            await keep(stores, new)
    elif deed == "keep":
        expected[place][new.id] = (await keep(stores, new)).text
    elif deed == "forget":
        # Whatever id somebody got hold of: it is theirs, or it is nobody's.
        for name in {one: 1 for known in expected.values() for one in known}:
            gone = await forget(stores, name, *place, by="eve")
            assert gone == (expected[place].pop(name, None) is not None)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(DEED, max_size=12))
def test_i14_nobody_reads_or_removes_what_another_conversation_remembers(
    deeds: list[tuple[str, tuple[str, str], str]],
) -> None:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir=QUICK) as folder:
        asyncio.run(_plays(folder, deeds))
