"""`core.rates.Rates`, on every database: C22, counted once, by everybody, after a restart too."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adapters.storage.rates import Rates
from adapters.storage.sqlite import SqliteDatabase
from core.rates import NoRoom, Rate
from tests.builders import TENANT
from tests.fakes.clock import FrozenClock
from tests.stores import OTHER_TENANT, QUICK, Connect, CutDatabase, Stores

HOUR = timedelta(hours=1)
MICROSECOND = timedelta(microseconds=1)
TWICE = Rate(name="restart-*", most=2, per=HOUR)
OTHER = Rate(name="other", most=2, per=HOUR)


async def wait(rates: Rates, rate: Rate, *, tenant: str = TENANT, who: str = "alice") -> timedelta:
    """Use a rate once; return how long that has to wait, which is no time where it was counted."""
    lacking = await rates.take(tenant, who, [rate])
    return lacking[0].wait if lacking else timedelta()


async def places(rates: Rates, *asked: Rate) -> list[int]:
    """Use several at once; return which of them had no room."""
    return [one.at for one in await rates.take(TENANT, "alice", asked)]


async def test_c22_a_third_use_is_refused_after_a_restart_too(connect: Connect) -> None:
    waits = [await wait(Rates(await connect()), TWICE) for _ in range(3)]
    assert waits == [timedelta(), timedelta(), HOUR / 2]


async def test_what_was_refused_is_not_counted(stores: Stores, clock: FrozenClock) -> None:
    rates = Rates(stores.database)
    for _ in range(9):
        await wait(rates, TWICE)
    clock.pass_by(HOUR / 2)
    assert await wait(rates, TWICE) == timedelta()
    assert await wait(rates, TWICE) == HOUR / 2


async def test_room_for_one_comes_back_at_its_time_and_never_more_than_all(
    stores: Stores, clock: FrozenClock
) -> None:
    rates = Rates(stores.database)
    await wait(rates, TWICE)
    await wait(rates, TWICE)
    clock.pass_by(HOUR / 2 - MICROSECOND)
    assert await wait(rates, TWICE) == MICROSECOND
    clock.pass_by(10 * HOUR)
    used = [await wait(rates, TWICE) for _ in range(3)]
    assert used == [timedelta(), timedelta(), HOUR / 2]


@pytest.mark.parametrize("most", [3, 7, 50])
async def test_a_span_that_does_not_divide_evenly_has_room_for_all_and_no_more(
    stores: Stores, most: int
) -> None:
    rates = Rates(stores.database)
    for per in (timedelta(seconds=1), most * MICROSECOND + MICROSECOND):
        rate = Rate(name=f"{per}", most=most, per=per)
        used = [await wait(rates, rate) for _ in range(most)]
        assert set(used) == {timedelta()}
        assert await wait(rates, rate) > timedelta()


async def test_i14_each_person_and_each_tenant_and_each_rate_is_counted_alone(
    stores: Stores,
) -> None:
    rates, once = Rates(stores.database), Rate(name="x", most=1, per=HOUR)
    assert await wait(rates, once) == timedelta()
    assert await wait(rates, once, who="bob") == timedelta()
    assert await wait(rates, once, tenant=OTHER_TENANT) == timedelta()
    assert await wait(rates, Rate(name="y", most=1, per=HOUR)) == timedelta()
    assert await wait(rates, once) == HOUR


async def test_at_the_same_time_no_more_than_the_rate_get_through(connect: Connect) -> None:
    several = [Rates(await connect()) for _ in range(4)]
    found = await asyncio.gather(*(wait(one, TWICE) for one in several for _ in range(5)))
    assert found.count(timedelta()) == 2


# All or none


async def test_several_are_counted_all_or_none(stores: Stores) -> None:
    rates = Rates(stores.database)
    assert await places(rates, TWICE, OTHER, TWICE) == []
    assert await places(rates, OTHER, TWICE) == [1]
    assert await places(rates, OTHER) == []  # what was refused with another was not counted
    assert await places(rates, OTHER, TWICE) == [0, 1]


async def test_nothing_at_all_has_room_and_nobody_is_asked(stores: Stores) -> None:
    assert await places(Rates(CutDatabase(stores.database, 0))) == []


async def test_several_of_one_rate_wait_until_there_is_room_for_all_of_them(
    stores: Stores, clock: FrozenClock
) -> None:
    rates, rate = Rates(stores.database), Rate(name="x", most=4, per=HOUR)
    assert await places(rates, *[rate] * 3) == []
    lacking = await rates.take(TENANT, "alice", [OTHER, *[rate] * 3])
    assert lacking == tuple(NoRoom(at=at, rate=rate, uses=3, wait=HOUR / 2) for at in (2, 3))
    clock.pass_by(HOUR / 2)
    assert await places(rates, *[rate] * 3) == []


async def test_for_more_than_there_ever_is_nothing_is_counted(stores: Stores) -> None:
    rates = Rates(stores.database)
    assert [one.uses for one in await rates.take(TENANT, "alice", [TWICE] * 3)] == [3]
    assert await places(rates, TWICE, TWICE) == []


async def test_at_the_same_time_several_are_counted_all_or_none(connect: Connect) -> None:
    several = [Rates(await connect()) for _ in range(4)]
    one, other = [TWICE, OTHER], [OTHER, TWICE]
    found = await asyncio.gather(
        *(places(each, *asked) for each in several for asked in (one, other))
    )
    assert found.count([]) == 2


# A clock that goes back, and a rate that is another one now


@pytest.mark.parametrize("back", [HOUR / 2, HOUR, 1000 * HOUR])
@pytest.mark.parametrize("most", [1, 2, 7])
async def test_nobody_waits_longer_than_the_span_where_the_clock_went_back(
    stores: Stores, clock: FrozenClock, back: timedelta, most: int
) -> None:
    rates, rate = Rates(stores.database), Rate(name="x", most=most, per=HOUR)
    for _ in range(most):
        await wait(rates, rate)
    clock.pass_by(-back)
    first = await wait(rates, rate)
    assert timedelta() < first <= HOUR / most + MICROSECOND
    clock.pass_by(first)
    assert await wait(rates, rate) == timedelta()
    assert await wait(rates, rate) > timedelta()


async def test_who_is_refused_again_and_again_waits_no_longer_for_it(
    stores: Stores, clock: FrozenClock
) -> None:
    rates = Rates(stores.database)
    await wait(rates, TWICE)
    clock.pass_by(-1000 * HOUR)
    waits = list[timedelta]()
    for _ in range(4):
        waits.append(await wait(rates, TWICE))
        clock.pass_by(HOUR / 8)
    assert waits == [HOUR / 2, HOUR * 3 / 8, HOUR / 4, HOUR / 8]
    assert await wait(rates, TWICE) == timedelta()


async def test_a_rate_that_was_changed_holds_for_what_was_used_before(stores: Stores) -> None:
    rates = Rates(stores.database)
    await wait(rates, TWICE)
    stricter = Rate(name=TWICE.name, most=1, per=HOUR / 2)
    assert await wait(rates, stricter) == HOUR / 2


async def test_a_shorter_span_is_waited_for_no_longer_than_it_is(
    stores: Stores, clock: FrozenClock
) -> None:
    rates, second = Rates(stores.database), timedelta(seconds=1)
    await wait(rates, Rate(name="x", most=1, per=8766 * HOUR))
    for most in (1, 5):
        shorter = Rate(name="x", most=most, per=second)
        assert await wait(rates, shorter) == second / most
        clock.pass_by(second / most)
        assert await wait(rates, shorter) == timedelta()


async def test_a_longer_span_has_at_once_the_room_that_it_adds(stores: Stores) -> None:
    rates = Rates(stores.database)
    assert [await wait(rates, TWICE) for _ in range(2)] == [timedelta()] * 2
    longer = Rate(name=TWICE.name, most=3, per=3 * HOUR)
    assert [await wait(rates, longer) for _ in range(3)] == [timedelta()] * 2 + [HOUR]


# Against buckets that drain


@dataclass
class Buckets:
    """One for each name that was used; they drain, one for each microsecond."""

    levels: dict[str, int] = field(default_factory=dict[str, int])

    def pass_by(self, micros: int) -> None:
        self.levels = {name: level - micros for name, level in self.levels.items()}

    def take(self, rates: Sequence[Rate]) -> dict[str, int]:
        """Return by how much which would flow over; none where all were used.

        None is ever less than empty, or more than full.
        """
        full = {rate.name: _each(rate) * rate.most for rate in rates}
        held = {name: min(max(self.levels.get(name, 0), 0), full[name]) for name in full}
        used = {rate.name: held[rate.name] + _each(rate) * rates.count(rate) for rate in rates}
        over = {name: used[name] - full[name] for name in full if used[name] > full[name]}
        known = {name: min(self.levels[name], full[name]) for name in full if name in self.levels}
        self.levels |= known if over else used
        return over


def _each(rate: Rate) -> int:
    return -(-(rate.per // MICROSECOND) // rate.most)


SPANS = st.integers(1, 60).map(lambda micros: micros * MICROSECOND)
KINDS = st.builds(Rate, name=st.sampled_from("ab"), most=st.integers(1, 9), per=SPANS)
ASKED = st.lists(KINDS, min_size=1, max_size=2, unique_by=lambda rate: rate.name).flatmap(
    lambda kinds: st.lists(st.sampled_from(kinds), min_size=1, max_size=5)
)
STEPS = st.lists(st.tuples(st.integers(-80, 80), ASKED), max_size=25)


@given(STEPS)
@example([(0, [Rate(name="a", most=5, per=7 * MICROSECOND)] * 5)] * 2)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_the_clock_and_the_settings_do_it_is_as_with_a_bucket_that_drains(
    steps: list[tuple[int, list[Rate]]],
) -> None:
    asyncio.run(_as_a_bucket(steps))


async def _as_a_bucket(steps: list[tuple[int, list[Rate]]]) -> None:
    clock, buckets = FrozenClock(), Buckets()
    with TemporaryDirectory(prefix="sayso-", dir=QUICK) as folder:
        database = await SqliteDatabase.open(Path(folder) / "sayso.db", clock)
        rates = Rates(database)
        try:
            for passes, asked in steps:
                clock.pass_by(passes * MICROSECOND)
                buckets.pass_by(passes)
                lacking = await rates.take(TENANT, "alice", asked)
                found = {one.rate.name: one.wait // MICROSECOND for one in lacking}
                assert found == buckets.take(asked)
                assert all(one.wait <= one.rate.per for one in lacking if one.uses == 1)
        finally:
            await database.aclose()
