"""T11: what every store of reminders promises."""

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.reminders import settle
from adapters.storage.transactions import rows
from core.conversations import TURN, NewTurn
from core.errors import Refused
from core.jobs import Job, JobState, LeaseLost, Loss, Replay
from core.reminders import DUE, NewReminder, Reminder, ReminderState, job_of, schedule_of
from tests.builders import CALLS, CONVERSATION, PLACE, TENANT, a_caller, a_new_turn
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    OVER,
    THEIR_CONVERSATION,
    Connect,
    Stores,
    erasing,
    everything,
    facts_of,
    hold_calls,
    jobs_of,
    log_of,
    logged_by,
    said_in,
    whole_or_nothing,
)

HOUR = timedelta(hours=1)
MOST = 3


def a_reminder(
    name: str = "n_1",
    *,
    tenant: str = TENANT,
    owner: str = "alice",
    conversation: str = CONVERSATION,
    due: timedelta = HOUR,
    turn: str = "t_9",
) -> NewReminder:
    return NewReminder(
        id=name,
        caller=a_caller(owner, tenant=tenant, conversation=conversation, turn=turn),
        text="look at web",
        due=START + due,
    )


@pytest.fixture(autouse=True)
async def held(stores: Stores) -> None:
    await hold_calls(stores)


async def add(stores: Stores, new: NewReminder | None = None) -> Reminder:
    return await stores.reminders.add(new or a_reminder(), most=MOST)


async def state(stores: Stores, name: str = "n_1", tenant: str = TENANT) -> ReminderState:
    found = await stores.reminders.get(tenant, name)
    assert found is not None
    return found.state


async def test_t11_a_reminder_is_kept_with_its_absolute_time_and_a_job_that_waits(
    stores: Stores, clock: FrozenClock
) -> None:
    clock.pass_by(timedelta(minutes=10))
    kept = await add(stores)
    assert kept == Reminder(
        id="n_1",
        tenant=TENANT,
        owner="alice",
        conversation=CONVERSATION,
        place=PLACE,
        text="look at web",
        set_at=clock.now(),
        due=START + HOUR,
        state=ReminderState.PENDING,
    )
    [job] = await jobs_of(stores, DUE)
    assert (job["id"], job["run_at"]) == ("due:n_1", "2026-03-01T10:30:00.000000Z")


async def test_t11_the_same_one_is_kept_once_with_its_first_time(stores: Stores) -> None:
    await add(stores)
    again = await add(stores, a_reminder(due=2 * HOUR))
    assert again.due == START + HOUR
    assert len(await jobs_of(stores, DUE)) == 1
    assert [e.kind for e in await log_of(stores)].count("reminder.set") == 1


async def test_t11_one_person_has_so_many_and_others_have_their_own(stores: Stores) -> None:
    for number in range(MOST):
        await add(stores, a_reminder(f"n_{number}"))
    with pytest.raises(Refused, match="too many reminders"):
        await add(stores, a_reminder("n_more", conversation=OTHER_CONVERSATION))
    await add(stores, a_reminder("n_bob", owner="bob"))
    await stores.reminders.cancel(a_caller("alice"), "n_0")
    await add(stores, a_reminder("n_more"))


async def test_t11_two_processes_that_set_the_last_one_set_one(connect: Connect) -> None:
    one, other = Stores(await connect()), Stores(await connect())
    for number in range(MOST - 1):
        await add(one, a_reminder(f"n_{number}"))
    came = await asyncio.gather(
        add(one, a_reminder("n_a")), add(other, a_reminder("n_b")), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in came) == ["Refused", "Reminder"]


async def test_t11_a_turn_that_a_reminder_started_sets_none(stores: Stores) -> None:
    await stores.database.transact(
        lambda _: rows(
            "UPDATE turn SET schedule = :schedule WHERE id = 't_1'", schedule=schedule_of("n_0")
        )
    )
    with pytest.raises(Refused, match="A reminder started this turn"):
        await add(stores, a_reminder(turn="t_1"))
    assert await stores.reminders.get(TENANT, "n_1") is None
    assert await jobs_of(stores, DUE) == []


async def test_t11_a_turn_that_a_schedule_started_may_set_one(stores: Stores) -> None:
    await stores.database.transact(
        lambda _: rows("UPDATE turn SET schedule = 'reminders' WHERE id = 't_1'")
    )
    await add(stores, a_reminder(turn="t_1"))


async def test_i14_nothing_is_set_in_a_conversation_of_another_tenant(stores: Stores) -> None:
    with pytest.raises(Refused):
        await add(stores, a_reminder(conversation=THEIR_CONVERSATION))


async def test_i14_the_same_id_in_two_tenants_is_two_reminders(stores: Stores) -> None:
    await add(stores)
    assert await stores.reminders.get(OTHER_TENANT, "n_1") is None
    assert not await stores.reminders.cancel(a_caller(tenant=OTHER_TENANT), "n_1")
    assert await stores.reminders.pending(OTHER_TENANT, "alice", CONVERSATION) == []
    assert await state(stores) is ReminderState.PENDING


async def test_t11_pending_ones_are_listed_by_owner_and_conversation_the_next_first(
    stores: Stores,
) -> None:
    for number, due in enumerate((3 * HOUR, HOUR)):
        await add(stores, a_reminder(f"n_{number}", due=due))
    await add(stores, a_reminder("n_elsewhere", conversation=OTHER_CONVERSATION))
    await add(stores, a_reminder("n_bob", owner="bob"))
    listed = await stores.reminders.pending(TENANT, "alice", CONVERSATION)
    assert [one.id for one in listed] == ["n_1", "n_0"]


async def test_t11_only_its_owner_cancels_it_and_once(stores: Stores) -> None:
    await add(stores)
    assert not await stores.reminders.cancel(a_caller("bob"), "n_1")
    for _ in range(2):
        assert await stores.reminders.cancel(a_caller("alice"), "n_1")
    assert [e.kind for e in await log_of(stores)].count("reminder.cancelled") == 1
    assert not await stores.reminders.cancel(a_caller("bob"), "n_1")
    assert not await stores.reminders.cancel(a_caller("alice"), "n_none")
    assert await state(stores) is ReminderState.CANCELLED
    [job] = await jobs_of(stores, DUE)
    assert job["state"] == "cancelled"


@pytest.mark.parametrize(
    ("first", "second"), [*itertools.permutations(["tell", "cancel", "drop"], 2)]
)
async def test_t11_it_ends_once_whatever_comes_second(
    stores: Stores, first: str, second: str
) -> None:
    kept = await add(stores)

    async def end(how: str) -> None:
        match how:
            case "tell":
                await stores.reminders.tell(kept, "A reminder.")
            case "cancel":
                await stores.reminders.cancel(a_caller("alice"), kept.id)
            case _:
                await stores.reminders.drop(kept)

    await end(first)
    before = await state(stores)
    await end(second)
    await end(first)
    assert await state(stores) is before is not ReminderState.PENDING
    notes = await said_in(stores, CONVERSATION, "note")
    assert notes == (["A reminder."] if first == "tell" else [])


async def settled(stores: Stores, loss: Loss, *, attempt: int = 1) -> JobState:
    """Have somebody find that nobody holds the job of a reminder."""
    job = Job(
        id=job_of("n_1"), kind=DUE, tenant=TENANT, payload={"reminder": "n_1"}, replay=Replay.SAFE,
        lane=None, fence=1, attempt=attempt,
    )  # fmt: skip
    return await stores.database.transact(lambda now: settle(now, job, loss, most=3))


def its_turn() -> NewTurn:
    new = a_new_turn("t_due", conversation=CONVERSATION)
    return replace(new, schedule=schedule_of("n_1"), deliveries=(job_of("n_1"),))


async def test_t11_note_end_and_turn_are_one_transaction(stores: Stores) -> None:
    kept = await add(stores)
    await whole_or_nothing(stores, lambda on: on.reminders.tell(kept, "A reminder.", its_turn()))
    assert await state(stores) is ReminderState.TOLD
    assert await said_in(stores, CONVERSATION, "note") == ["A reminder."]
    turn = await stores.conversations.turn(TENANT, "t_due")
    assert turn is not None
    assert (turn.conversation, turn.reason) == (CONVERSATION, None)


@pytest.mark.parametrize("how", ["cancel", "drop", "tell"])
async def test_t11_one_that_is_over_starts_no_turn(stores: Stores, how: str) -> None:
    kept = await add(stores)
    match how:
        case "cancel":
            await stores.reminders.cancel(a_caller(), kept.id)
        case "drop":
            await stores.reminders.drop(kept)
        case _:
            await stores.reminders.tell(kept, "A reminder.")
    before = await everything(stores.database)
    await stores.reminders.tell(kept, "Again.", its_turn())
    assert await everything(stores.database) == before


async def test_c77_one_of_an_erased_conversation_starts_no_turn(stores: Stores) -> None:
    kept = await add(stores)
    await erasing(stores).erase(CONVERSATION, account="root")
    before = await everything(stores.database)
    await stores.reminders.tell(kept, "A reminder.", its_turn())
    assert await everything(stores.database) == before


async def test_t11_a_turn_that_is_refused_leaves_the_note_and_is_on_record(stores: Stores) -> None:
    kept = await add(stores)
    await stores.reminders.tell(
        kept, "A reminder.", replace(its_turn(), chosen=True, profile="other")
    )
    assert await said_in(stores, CONVERSATION, "note") == ["A reminder."]
    assert await stores.conversations.turn(TENANT, "t_due") is None
    entry = (await log_of(stores))[-1]
    assert (entry.kind, facts_of(entry)["principal"]) == ("attempt.refused", "alice")


@pytest.mark.parametrize("loss", [Loss.FAILED, Loss.DIED], ids=["fails", "dies too often"])
async def test_t11_one_that_cannot_be_told_ends_with_a_word(stores: Stores, loss: Loss) -> None:
    await add(stores)
    assert await settled(stores, loss, attempt=4) is JobState.FAILED
    assert await state(stores) is ReminderState.DROPPED
    [note] = await said_in(stores, CONVERSATION, "note")
    assert note.startswith("A reminder of alice's was due and could not be told")
    assert await settled(stores, loss, attempt=4) is JobState.FAILED
    assert len(await said_in(stores, CONVERSATION, "note")) == 1


async def test_t11_one_whose_process_died_is_tried_again(stores: Stores) -> None:
    await add(stores)
    before = await everything(stores.database)
    assert await settled(stores, Loss.DIED) is JobState.QUEUED
    assert await everything(stores.database) == before


async def test_t11_the_job_of_one_that_was_cancelled_ends_without_a_word(stores: Stores) -> None:
    await add(stores)
    await stores.reminders.cancel(a_caller(), "n_1")
    before = await everything(stores.database)
    assert await settled(stores, Loss.STOPPED) is JobState.CANCELLED
    assert await everything(stores.database) == before


@pytest.mark.parametrize("how", OVER)
@pytest.mark.parametrize("deed", ["set", "cancel"])
async def test_i7_who_lost_the_turn_neither_sets_nor_cancels(
    stores: Stores, how: str, deed: str
) -> None:
    await add(stores)
    await stores.database.transact(
        lambda _: rows(f"UPDATE job SET {OVER[how]} WHERE id = :id", id=CALLS[0])
    )
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await (
            add(stores, a_reminder("n_2"))
            if deed == "set"
            else stores.reminders.cancel(a_caller(), "n_1")
        )
    assert await everything(stores.database) == before


async def test_i11_each_change_and_its_audit_entry_are_one_transaction(stores: Stores) -> None:
    async def setting(stores: Stores) -> None:
        await add(stores)

    async def telling(stores: Stores) -> None:
        found = await stores.reminders.get(TENANT, "n_1")
        assert found
        await stores.reminders.tell(found, "A reminder.")

    async def cancelling(stores: Stores) -> None:
        await stores.reminders.cancel(a_caller("alice"), "n_2")

    [entry] = await logged_by(stores, setting)
    assert (entry.kind, facts_of(entry)) == (
        "reminder.set",
        {"principal": "alice", "reminder": "n_1", "conversation": CONVERSATION},
    )
    [entry] = await logged_by(stores, telling)
    assert (entry.kind, facts_of(entry)["principal"]) == ("reminder.told", "sayso")
    await add(stores, a_reminder("n_2"))
    [entry] = await logged_by(stores, cancelling)
    assert (entry.kind, facts_of(entry)["principal"]) == ("reminder.cancelled", "alice")
    assert not any("look at web" in each.body for each in await log_of(stores))


def test_the_names_of_its_job_and_its_schedule_are_no_other_ones() -> None:
    assert job_of("n_1") == "due:n_1"
    assert not job_of("n_1").startswith(TURN)
    assert " " in schedule_of("n_1")  # no name in the settings holds one
