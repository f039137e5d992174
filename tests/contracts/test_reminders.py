"""T11: what every store of reminders promises."""

import asyncio
import itertools
from datetime import timedelta

import pytest

from adapters.storage.transactions import rows
from core.conversations import TURN
from core.errors import Refused
from core.reminders import DUE, NewReminder, Reminder, ReminderState, job_of, schedule_of
from tests.builders import CONVERSATION, PLACE, TENANT
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    THEIR_CONVERSATION,
    Connect,
    Stores,
    begin_conversations,
    facts_of,
    jobs_of,
    log_of,
    logged_by,
    said_in,
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
        tenant=tenant,
        owner=owner,
        conversation=conversation,
        turn=turn,
        text="look at web",
        due=START + due,
    )


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
    await stores.reminders.cancel(TENANT, "alice", "n_0")
    await add(stores, a_reminder("n_more"))


async def test_t11_two_processes_that_set_the_last_one_set_one(connect: Connect) -> None:
    one, other = Stores(await connect()), Stores(await connect())
    await begin_conversations(one)
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
    assert not await stores.reminders.cancel(OTHER_TENANT, "alice", "n_1")
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
    assert not await stores.reminders.cancel(TENANT, "bob", "n_1")
    assert await stores.reminders.cancel(TENANT, "alice", "n_1")
    assert not await stores.reminders.cancel(TENANT, "alice", "n_1")
    assert not await stores.reminders.cancel(TENANT, "alice", "n_none")
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
                await stores.reminders.cancel(TENANT, "alice", kept.id)
            case _:
                await stores.reminders.drop(kept)

    await end(first)
    before = await state(stores)
    await end(second)
    await end(first)
    assert await state(stores) is before is not ReminderState.PENDING
    notes = await said_in(stores, CONVERSATION, "note")
    assert notes == (["A reminder."] if first == "tell" else [])


async def test_i11_each_change_and_its_audit_entry_are_one_transaction(stores: Stores) -> None:
    async def setting(stores: Stores) -> None:
        await add(stores)

    async def telling(stores: Stores) -> None:
        found = await stores.reminders.get(TENANT, "n_1")
        assert found
        await stores.reminders.tell(found, "A reminder.")

    async def cancelling(stores: Stores) -> None:
        await stores.reminders.cancel(TENANT, "alice", "n_2")

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
