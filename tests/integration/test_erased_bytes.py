"""C77: of what is erased no byte is left in the files, however rows grew, shrank and moved before."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import rows
from core.errors import Unavailable
from tests.builders import TENANT, a_new_turn
from tests.fakes.clock import FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    Stores,
    begin_conversations,
    erasing,
    everything,
    heard,
)

HERE = "c_here"
MARK = "quagga"
PLACES = (HERE, OTHER_CONVERSATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Two connections that write whatever rows there can be, into two conversations in turn."""

    chance: random.Random
    stores: tuple[Stores, Stores]
    longest: float
    """The power of ten of the longest text."""

    def text(self, where: str) -> str:
        word = MARK if where == HERE else "other"
        size = int(10 ** self.chance.uniform(1, self.longest))
        return "".join(f"{word}{self.chance.randrange(10**6)}" for _ in range(size // 12 + 1))

    async def run(self, statement: str, *values: str | int) -> None:
        names = {f"v{n}": value for n, value in enumerate(values)}
        stores = self.chance.choice(self.stores)
        await stores.database.transact(lambda _: rows(statement, **names))

    async def moment(self, number: int) -> None:
        """Add, change or remove one row."""
        where = self.chance.choice(PLACES)
        match self.chance.randrange(8):
            case 0 | 1:
                await self.run(
                    "INSERT INTO transcript VALUES (:v0, :v1, 'heard', :v2, NULL)",
                    where, number, self.text(where),
                )  # fmt: skip
            case 2 | 3:
                await self.run(
                    "INSERT INTO turn (id, tenant, conversation, principal, wish, received_at, ended_at)"
                    " VALUES (:v0, :v1, :v2, 'alice', '{\"kind\":\"words\",\"text\":\"\"}', '', '')",
                    f"t_{number}", TENANT, where,
                )  # fmt: skip
            case 4:
                await self.run(
                    "UPDATE turn SET text = :v0 WHERE id = (SELECT id FROM turn WHERE"
                    " conversation = :v1 ORDER BY id LIMIT 1 OFFSET :v2)",
                    self.text(where), where, self.chance.randrange(60),
                )  # fmt: skip
            case 5:
                await self.run(
                    "INSERT INTO memory VALUES (:v0, :v1, :v2, :v3, 'semantic', 'model', '', :v4, '',"
                    " '', '')",
                    f"m_{number}", TENANT, where, number, self.text(where),
                )  # fmt: skip
            case 6:
                await self.run(
                    "UPDATE memory SET text = :v0 WHERE id = (SELECT id FROM memory WHERE"
                    " conversation = :v1 ORDER BY seq LIMIT 1 OFFSET :v2)",
                    self.text(where), where, self.chance.randrange(40),
                )  # fmt: skip
            case _:
                await self.run(
                    "DELETE FROM memory WHERE id = (SELECT id FROM memory WHERE conversation = :v0"
                    " ORDER BY seq LIMIT 1 OFFSET :v1)",
                    where, self.chance.randrange(40),
                )  # fmt: skip


@asynccontextmanager
async def living(path: Path, seed: int) -> AsyncGenerator[Life]:
    chance = random.Random(seed)  # noqa: S311 - no secret
    databases = [await SqliteDatabase.open(path, FrozenClock()) for _ in range(2)]
    one, other = map(Stores, databases)
    try:
        await begin_conversations(one)
        await heard(one, a_new_turn("t_here", MARK, opens=HERE))
        yield Life(chance=chance, stores=(one, other), longest=chance.choice((2, 2.5, 3, 3.5, 5)))
    finally:
        for database in databases:
            await database.aclose()


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


@pytest.mark.parametrize("seed", range(12))
async def test_c77_no_byte_of_it_is_left_however_it_was_written(
    quick_path: Path, seed: int
) -> None:
    async with living(quick_path / "sayso.db", seed) as life:
        for number in range(1000, life.chance.choice((1200, 1600))):
            await life.moment(number)
        kept = await everything(life.stores[0].database)
        await erasing(life.chance.choice(life.stores)).erase(HERE, account="root")
        assert MARK.encode() not in bytes_in(quick_path)
        left = await everything(life.stores[1].database)
        for table in ("turn", "transcript", "memory"):
            others = [row for row in kept[table] if HERE not in repr(row)]
            assert set(others) <= set(left[table])


async def erased(stores: Stores) -> None:
    """Erase it, once more where others were in the way."""
    for _ in range(50):
        try:
            await erasing(stores).erase(HERE, account="root")
        except Unavailable:
            continue
        return
    raise AssertionError


async def test_c77_no_byte_of_it_comes_back_while_others_write(quick_path: Path) -> None:
    async with living(quick_path / "sayso.db", 36) as life, asyncio.TaskGroup() as group:
        for number in range(1000, 1600):
            await life.moment(number)

        async def others() -> None:
            for number in range(100):
                await life.run(
                    "INSERT INTO memory VALUES (:v0, :v1, :v2, :v3, 'semantic', 'model', '', :v4, '',"
                    " '', '')",
                    f"n_{number}", TENANT, OTHER_CONVERSATION, 9000 + number, "x" * 500,
                )  # fmt: skip

        writing = group.create_task(others())
        await erased(life.stores[0])
        assert MARK.encode() not in bytes_in(quick_path)
        await writing
        assert MARK.encode() not in bytes_in(quick_path)
