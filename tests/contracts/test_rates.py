"""`core.rates.Rates`, on every database: C22, counted once, by everybody, after a restart too."""

import asyncio
from datetime import timedelta

import pytest

from adapters.storage.rates import Rates
from core.rates import Rate
from tests.builders import TENANT
from tests.fakes.clock import FrozenClock
from tests.stores import OTHER_TENANT, Connect, Stores

HOUR = timedelta(hours=1)
TWICE = Rate(name="restart-*", most=2, per=HOUR)


async def test_c22_a_third_use_is_refused_after_a_restart_too(connect: Connect) -> None:
    assert [await Rates(await connect()).take(TENANT, "alice", TWICE) for _ in range(2)] == [
        None,
        None,
    ]
    assert await Rates(await connect()).take(TENANT, "alice", TWICE) == HOUR / 2


async def test_what_was_refused_is_not_counted(stores: Stores, clock: FrozenClock) -> None:
    rates = Rates(stores.database)
    for _ in range(9):
        await rates.take(TENANT, "alice", TWICE)
    clock.pass_by(HOUR / 2)
    assert await rates.take(TENANT, "alice", TWICE) is None
    assert await rates.take(TENANT, "alice", TWICE) == HOUR / 2


async def test_room_for_one_comes_back_at_its_time_and_never_more_than_all(
    stores: Stores, clock: FrozenClock
) -> None:
    rates = Rates(stores.database)
    await rates.take(TENANT, "alice", TWICE)
    await rates.take(TENANT, "alice", TWICE)
    clock.pass_by(HOUR / 2 - timedelta(microseconds=1))
    assert await rates.take(TENANT, "alice", TWICE) == timedelta(microseconds=1)
    clock.pass_by(10 * HOUR)
    used = [await rates.take(TENANT, "alice", TWICE) for _ in range(3)]
    assert used == [None, None, HOUR / 2]


@pytest.mark.parametrize("most", [3, 7, 999_983])
async def test_a_span_that_does_not_divide_evenly_still_has_room_for_all(
    stores: Stores, most: int
) -> None:
    rates, rate = (
        Rates(stores.database),
        Rate(name="x", most=min(most, 50), per=timedelta(seconds=1)),
    )
    used = [await rates.take(TENANT, "alice", rate) for _ in range(min(most, 50))]
    assert set(used) == {None}
    assert await rates.take(TENANT, "alice", rate) is not None


async def test_i14_each_person_and_each_tenant_and_each_rate_is_counted_alone(
    stores: Stores,
) -> None:
    rates, once = Rates(stores.database), Rate(name="x", most=1, per=HOUR)
    assert await rates.take(TENANT, "alice", once) is None
    for tenant, who, rate in (
        (TENANT, "bob", once),
        (OTHER_TENANT, "alice", once),
        (TENANT, "alice", Rate(name="y", most=1, per=HOUR)),
    ):
        assert await rates.take(tenant, who, rate) is None
    assert await rates.take(TENANT, "alice", once) == HOUR


async def test_at_the_same_time_no_more_than_the_rate_get_through(connect: Connect) -> None:
    several = [Rates(await connect()) for _ in range(4)]
    takes = (one.take(TENANT, "alice", TWICE) for one in several for _ in range(5))
    found = await asyncio.gather(*takes)
    assert found.count(None) == 2


async def test_a_rate_that_was_changed_holds_for_what_was_used_before(stores: Stores) -> None:
    rates = Rates(stores.database)
    await rates.take(TENANT, "alice", TWICE)
    stricter = Rate(name=TWICE.name, most=1, per=HOUR / 2)
    assert await rates.take(TENANT, "alice", stricter) == HOUR / 2
