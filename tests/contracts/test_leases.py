"""`core.leases.Leases`, on every database and on the fake: of two at once, one holds it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias, TypeVar

import pytest

from adapters.storage.leases import Leases as StoredLeases
from adapters.storage.transactions import Database, Work, rows
from core.leases import Leases
from tests.fakes.clock import FrozenClock
from tests.fakes.leases import FakeLeases
from tests.stores import Connect, Stores, whole_or_nothing

T = TypeVar("T")
SHARD, OTHER_SHARD = "shard 0", "shard 1"
LASTS = timedelta(seconds=30)
MICROSECOND = timedelta(microseconds=1)


@dataclass
class Machine:
    """Processes that want the same, and the clock that they go by."""

    clock: FrozenClock
    another: Callable[[], Awaitable[Leases]]
    """Return the leases as one more process sees them."""
    dead: set[str] = field(default_factory=set[str])
    """The owners whose process has died here."""


NOBODY = frozenset[str]().__contains__
Build: TypeAlias = Callable[[FrozenClock, Connect], Machine]


def faked(clock: FrozenClock, _: Connect) -> Machine:
    dead = set[str]()
    leases = FakeLeases(clock=clock, is_dead=dead.__contains__)

    async def another() -> Leases:
        await asyncio.sleep(0)
        return leases

    return Machine(clock, another, dead)


def stored(clock: FrozenClock, connect: Connect) -> Machine:
    dead = set[str]()

    async def another() -> Leases:
        return StoredLeases(await connect(), dead.__contains__)

    return Machine(clock, another, dead)


BUILDS: Mapping[str, Build] = {"fake": faked, "database": stored}


@pytest.fixture(params=BUILDS)
def machine(request: pytest.FixtureRequest, clock: FrozenClock, connect: Connect) -> Machine:
    return BUILDS[request.param](clock, connect)


@pytest.fixture
async def leases(machine: Machine) -> Leases:
    """Return the leases, of which `a` holds one."""
    leases = await machine.another()
    assert await leases.take(SHARD, "a", LASTS)
    return leases


async def test_what_nobody_took_has_no_holder_and_is_to_be_had(machine: Machine) -> None:
    leases = await machine.another()
    assert await leases.holder(SHARD) is None
    assert await leases.take(SHARD, "a", LASTS)
    assert await leases.holder(SHARD) == "a"


async def test_what_somebody_holds_is_not_to_be_had_by_another(leases: Leases) -> None:
    assert not await leases.take(SHARD, "b", LASTS)
    assert await leases.holder(SHARD) == "a"


async def test_each_name_is_held_by_itself(leases: Leases) -> None:
    assert await leases.take(OTHER_SHARD, "b", LASTS)
    assert await leases.holder(SHARD) == "a"
    assert await leases.holder(OTHER_SHARD) == "b"


async def test_of_several_at_once_exactly_one_has_it_and_each_sees_which(machine: Machine) -> None:
    owners = [f"process {number}" for number in range(8)]
    seen = [await machine.another() for _ in owners]
    took = await asyncio.gather(
        *(one.take(SHARD, owner, LASTS) for one, owner in zip(seen, owners, strict=True))
    )
    assert took.count(True) == 1
    assert {await one.holder(SHARD) for one in seen} == {owners[took.index(True)]}


async def test_it_is_over_at_the_end_of_its_time_and_not_before(
    machine: Machine, leases: Leases
) -> None:
    machine.clock.pass_by(LASTS - MICROSECOND)
    assert await leases.holder(SHARD) == "a"
    assert not await leases.take(SHARD, "b", LASTS)
    machine.clock.pass_by(MICROSECOND)
    assert await leases.holder(SHARD) is None
    assert await leases.take(SHARD, "b", LASTS)
    assert await leases.holder(SHARD) == "b"


async def test_of_several_at_once_exactly_one_has_what_is_over(
    machine: Machine, leases: Leases
) -> None:
    machine.clock.pass_by(LASTS)
    others = [leases, *[await machine.another() for _ in range(3)]]
    took = await asyncio.gather(
        *(one.take(SHARD, owner, LASTS) for one, owner in zip(others, "abcd", strict=True))
    )
    assert took.count(True) == 1


async def test_its_holder_prolongs_it_from_now_on(machine: Machine, leases: Leases) -> None:
    machine.clock.pass_by(LASTS / 2)
    assert await leases.take(SHARD, "a", LASTS)
    machine.clock.pass_by(LASTS - MICROSECOND)
    assert not await leases.take(SHARD, "b", LASTS)
    machine.clock.pass_by(MICROSECOND)
    assert await leases.take(SHARD, "b", LASTS)


async def test_its_holder_has_it_again_after_its_time_where_nobody_took_it(
    machine: Machine, leases: Leases
) -> None:
    machine.clock.pass_by(10 * LASTS)
    assert await leases.take(SHARD, "a", LASTS)
    assert await leases.holder(SHARD) == "a"


async def test_whoever_lost_it_is_told_so_when_they_prolong_it(
    machine: Machine, leases: Leases
) -> None:
    machine.clock.pass_by(LASTS)
    assert await leases.take(SHARD, "b", LASTS)
    assert not await leases.take(SHARD, "a", LASTS)
    assert await leases.holder(SHARD) == "b"


async def test_what_was_given_back_is_to_be_had_at_once(machine: Machine, leases: Leases) -> None:
    await leases.give_back(SHARD, "a")
    assert await leases.holder(SHARD) is None
    assert await (await machine.another()).take(SHARD, "b", LASTS)


async def test_nobody_gives_back_what_somebody_else_holds(leases: Leases) -> None:
    await leases.give_back(SHARD, "b")
    await leases.give_back(OTHER_SHARD, "a")
    assert await leases.holder(SHARD) == "a"


async def test_what_was_given_back_late_stays_with_whoever_has_it_now(
    machine: Machine, leases: Leases
) -> None:
    machine.clock.pass_by(LASTS)
    assert await leases.take(SHARD, "b", LASTS)
    await leases.give_back(SHARD, "a")
    assert await leases.holder(SHARD) == "b"


async def test_a_holder_that_died_here_is_noticed_by_whoever_comes(
    machine: Machine, leases: Leases
) -> None:
    other = await machine.another()
    machine.dead.add("a")
    assert await leases.holder(SHARD) is None
    assert await other.take(SHARD, "b", LASTS)
    assert await leases.holder(SHARD) == "b"


async def test_of_several_at_once_exactly_one_has_what_the_dead_left(
    machine: Machine, leases: Leases
) -> None:
    machine.dead.add("a")
    others = [leases, *[await machine.another() for _ in range(3)]]
    took = await asyncio.gather(
        *(one.take(SHARD, owner, LASTS) for one, owner in zip(others, "bcde", strict=True))
    )
    assert took.count(True) == 1


async def test_somebody_elses_death_takes_it_from_nobody(machine: Machine, leases: Leases) -> None:
    machine.dead.add("c")
    assert not await leases.take(SHARD, "b", LASTS)
    assert await leases.holder(SHARD) == "a"


# On every database


@dataclass
class Late:
    """A database whose second transaction comes after what somebody else does."""

    database: Database
    meanwhile: Callable[[], Awaitable[object]]
    passed: int = 0

    async def transact(self, work: Work[T]) -> T:
        self.passed += 1
        if self.passed == 2:
            await self.meanwhile()
        return await self.database.transact(work)

    async def changes(self) -> int:
        return await self.database.changes()


async def test_who_saw_a_dead_holder_does_not_take_it_from_whoever_came_before_them(
    connect: Connect,
) -> None:
    quicker = StoredLeases(await connect(), "a".__eq__)
    assert await quicker.take(SHARD, "a", LASTS)
    late = Late(await connect(), lambda: quicker.take(SHARD, "b", LASTS))
    assert not await StoredLeases(late, "a".__eq__).take(SHARD, "c", LASTS)
    assert (await quicker.holder(SHARD), late.passed) == ("b", 2)


async def test_all_of_it_happens_or_nothing(stores: Stores) -> None:
    assert await whole_or_nothing(stores, lambda on: on.leases.take(SHARD, "a", LASTS)) > 1
    dead = await whole_or_nothing(
        stores, lambda on: StoredLeases(on.database, "a".__eq__).take(SHARD, "b", LASTS)
    )
    assert dead > 2
    assert await whole_or_nothing(stores, lambda on: on.leases.give_back(SHARD, "b")) > 1
    kept = await stores.database.transact(lambda _: rows("SELECT * FROM lease"))
    assert kept == []
