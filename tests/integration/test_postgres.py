"""PostgreSQL itself: tables, what stays written, locks, lost connections, other processes."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from adapters.storage.postgres import PostgresDatabase
from adapters.storage.postgres_attempts import ALONE
from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import Database, Row, Transaction, log, rows
from core.errors import Invalid, Unavailable
from tests.builders import TENANT
from tests.conftest import Open
from tests.fakes.clock import FrozenClock
from tests.postgres import Server
from tests.stores import (
    TABLES,
    Closable,
    Stores,
    begin_conversations,
    everything,
    log_of,
    opened,
)


@pytest.fixture
async def database(on_postgres: Open, clock: FrozenClock) -> AsyncGenerator[Closable]:
    database = await on_postgres(clock)
    yield database
    await database.aclose()


@pytest.fixture
async def beside(quick_path: Path, clock: FrozenClock) -> AsyncGenerator[SqliteDatabase]:
    """Give an SQLite to compare it with."""
    database = await SqliteDatabase.open(quick_path / "sayso.db", clock)
    yield database
    await database.aclose()


async def asked(database: Database, query: str, **values: str) -> list[Row]:
    return await database.transact(lambda _: rows(query, **values))


# Tables


_KINDS = {"text": "TEXT", "bigint": "INTEGER"}
_ONLY_HERE = {("turn", "rowid", "INTEGER", True)}
"""SQLite numbers the rows of every table by itself."""


async def test_both_databases_have_the_same_columns(
    database: Closable, beside: SqliteDatabase
) -> None:
    here = await asked(
        database,
        "SELECT table_name, column_name, data_type, is_nullable = 'NO' AS needed"
        " FROM information_schema.columns WHERE table_schema = 'public'"
        " AND table_name <> 'schema_version'",
    )
    there = await asked(
        beside,
        "SELECT master.name AS tbl, info.name, info.type, info.'notnull' OR info.pk > 0 AS needed"
        " FROM sqlite_master master JOIN pragma_table_info(master.name) info WHERE master.type = 'table'",
    )
    found = {
        (table, column, _KINDS[kind], needed) for table, column, kind, needed in map(tuple, here)
    }
    assert {name for name, *_ in found} == set(TABLES)
    assert found - _ONLY_HERE == {(*row[:3], bool(row[3])) for row in map(tuple, there)}


async def test_both_databases_hold_the_same_things_to_be_unique(
    database: Closable, beside: SqliteDatabase
) -> None:
    here = await asked(
        database,
        "SELECT i.indrelid::regclass::text AS tbl, i.indpred IS NOT NULL AS part,"
        " (SELECT string_agg(a.attname, ',' ORDER BY a.attname) FROM pg_attribute a"
        " WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) AS columns"
        " FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid"
        " WHERE i.indisunique AND t.relnamespace = 'public'::regnamespace",
    )
    there = await asked(
        beside,
        "SELECT master.name AS tbl, list.partial AS part, (SELECT group_concat(name, ',')"
        " FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY name)) AS columns"
        " FROM sqlite_master master JOIN pragma_index_list(master.name) list"
        " WHERE master.type = 'table' AND list.'unique'",
    )
    numbered = {("audit", False, "seq"), ("job", False, "seq")}
    """The rows of these two are found by their number, for which SQLite needs no index."""
    assert {(row["tbl"], bool(row["part"]), row["columns"]) for row in here} == {
        (row["tbl"], bool(row["part"]), row["columns"]) for row in there
    } | numbered


async def test_both_databases_have_the_same_indexes(
    database: Closable, beside: SqliteDatabase
) -> None:
    here = await asked(
        database,
        "SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public'"
        " AND indexname NOT LIKE '%\\_pkey' AND indexname NOT LIKE '%\\_key'",
    )
    there = await asked(
        beside, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    )
    assert {row["name"] for row in here} == {row["name"] for row in there}


async def test_both_databases_refer_to_the_same_rows(
    database: Closable, beside: SqliteDatabase
) -> None:
    here = await asked(
        database,
        "SELECT conrelid::regclass::text AS tbl, confrelid::regclass::text AS other"
        " FROM pg_constraint WHERE contype = 'f'",
    )
    there = await asked(
        beside,
        "SELECT DISTINCT master.name AS tbl, list.'table' AS other, list.id"
        " FROM sqlite_master master JOIN pragma_foreign_key_list(master.name) list",
    )
    assert sorted((row["tbl"], row["other"]) for row in here) == sorted(
        (row["tbl"], row["other"]) for row in there
    )


async def test_texts_are_compared_byte_by_byte(database: Closable) -> None:
    found = await asked(
        database,
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'",
    )
    assert found == []


async def test_many_that_open_a_fresh_database_at_once_all_succeed(postgres: Server) -> None:
    await postgres.do("CREATE DATABASE fresh")
    found = await asyncio.gather(
        *(PostgresDatabase.open(postgres.url("fresh"), patience=20) for _ in range(8))
    )
    try:
        await begin_conversations(Stores(found[0]))
        assert len(await log_of(Stores(found[7]))) == 6
    finally:
        for database in found:
            await database.aclose()
        await postgres.do("DROP DATABASE fresh")


async def test_what_a_newer_sayso_wrote_is_left_alone(postgres: Server) -> None:
    await postgres.do("CREATE DATABASE newer TEMPLATE migrated")
    try:
        await postgres.do("UPDATE schema_version SET number = number + 1", "newer")
        with pytest.raises(Invalid, match="newer Sayso"):
            await PostgresDatabase.open(postgres.url("newer"))
    finally:
        await postgres.do("DROP DATABASE newer")


# What was written stays written


@pytest.mark.parametrize("table", ["audit", "entry"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {} SET at = ''",
        "DELETE FROM {}",
        "DELETE FROM {} WHERE seq = 1",
        "TRUNCATE {} CASCADE",
    ],
)
async def test_i11_our_own_connection_cannot_change_what_was_written(
    database: Closable, table: str, statement: str
) -> None:
    stores = Stores(database)
    await begin_conversations(stores)
    before = await everything(database)
    with pytest.raises(Unavailable):
        await asked(database, statement.format(table))
    assert await everything(database) == before
    await opened(stores)


async def test_i11_not_even_erasing_changes_the_audit_log(database: Closable) -> None:
    await begin_conversations(Stores(database))
    with pytest.raises(Unavailable):
        await database.erase(lambda _: rows("DELETE FROM audit"))
    await log_of(Stores(database))


async def test_what_postgresql_cannot_keep_is_kept(database: Closable) -> None:
    text = "\0a\U0010ffff0\U0010ffff\0\U0010ffff1b"
    found = await asked(database, "SELECT :text AS text", text=text)
    assert found[0]["text"] == text


# Time and locks


async def test_the_time_that_decides_is_the_databases(postgres: Server) -> None:
    database = await PostgresDatabase.open(postgres.url())

    def work(now: datetime) -> Transaction[tuple[datetime, datetime]]:
        found = yield from rows("SELECT clock_timestamp() AS later")
        return now, found[0]["later"]

    now, later = await database.transact(work)
    await database.aclose()
    assert now.tzinfo == UTC
    assert 0 <= (later - now).total_seconds() < 5


@pytest.mark.usefixtures("on_postgres")
async def test_whoever_waits_for_the_lock_is_given_the_time_after_it(postgres: Server) -> None:
    one, other = [await PostgresDatabase.open(postgres.url()) for _ in range(2)]
    order: list[datetime] = []

    def work(now: datetime) -> Transaction[None]:
        order.append(now)
        yield from log(now, TENANT, "test.one", "alice")
        yield from rows("SELECT pg_sleep(0.01)")

    await asyncio.gather(*(database.transact(work) for _ in range(10) for database in (one, other)))
    assert len(await log_of(Stores(one))) == len(order) == 20
    assert order == sorted(order)
    await one.aclose()
    await other.aclose()


@pytest.mark.usefixtures("database")
async def test_another_that_writes_for_long_makes_it_unavailable(postgres: Server) -> None:
    impatient = await PostgresDatabase.open(postgres.url(), patience=0.2)
    other = await asyncpg.connect(postgres.url())
    try:
        await other.execute("SELECT pg_advisory_lock(1398028659, 1)")
        with pytest.raises(Unavailable, match="busy"):
            await begin_conversations(Stores(impatient))
    finally:
        await other.close()
    await begin_conversations(Stores(impatient))
    await impatient.aclose()


async def test_whoever_stands_still_in_a_transaction_is_ended_and_others_go_on(
    postgres: Server, database: Closable
) -> None:
    still = await PostgresDatabase.open(postgres.url(), patience=2.0)
    async with still.pool.acquire() as connection:
        await connection.execute(ALONE)
        await begin_conversations(Stores(database))
    await still.transact(lambda _: rows("SELECT 1"))
    await still.aclose()


async def test_whoever_stands_still_each_time_is_told_that_the_server_ended_it(
    postgres: Server,
) -> None:
    still = await PostgresDatabase.open(postgres.url(), patience=0.4)

    def work(_: datetime) -> Transaction[None]:
        yield from rows("SELECT 1")
        time.sleep(0.5)
        yield from rows("SELECT 2")

    with pytest.raises(Unavailable) as caught:
        await still.transact(work)
    assert "Connection.terminate" not in str(caught.value.detail["error"])
    await still.aclose()


# Lost connections and callers that leave


def _logged(kind: str, now: datetime) -> Transaction[None]:
    yield from log(now, TENANT, kind, "alice")


async def _kinds(database: Database) -> list[str]:
    return [e.kind for e in await log_of(Stores(database)) if e.kind.startswith("test.")]


async def test_what_lost_its_connection_before_the_commit_begins_again(database: Closable) -> None:
    times = list[datetime]()

    def work(now: datetime) -> Transaction[None]:
        times.append(now)
        yield from log(now, TENANT, f"test.{len(times)}", "alice")
        if len(times) == 1:
            yield from rows("SELECT pg_terminate_backend(pg_backend_pid())")

    await database.transact(work)
    assert await _kinds(database) == ["test.2"]


_LOST_AT_COMMIT = """
CREATE TABLE lost (number BIGINT);
CREATE OR REPLACE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER lost AFTER INSERT ON lost DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION lost();
"""


async def test_what_lost_it_at_the_commit_is_told_as_not_known_and_not_begun_again(
    postgres: Server, database: Closable
) -> None:
    await postgres.do(_LOST_AT_COMMIT, "migrated")
    times = list[datetime]()

    def work(now: datetime) -> Transaction[None]:
        times.append(now)
        yield from rows("INSERT INTO lost VALUES (1)")

    with pytest.raises(Unavailable, match="did not say"):
        await database.transact(work)
    assert len(times) == 1
    await begin_conversations(Stores(database))


async def test_what_is_cut_again_and_again_is_whole_and_told(
    postgres: Server, database: Closable
) -> None:
    other = await PostgresDatabase.open(postgres.url())
    kept = set[str]()

    async def write(number: int, where: Database) -> None:
        for part in range(5):
            kind = f"test.{number}.{part}"
            with suppress(Unavailable):
                await where.transact(partial(_logged, kind))
                kept.add(kind)

    async def cut() -> None:
        for _ in range(5):
            await asyncio.sleep(0.02)
            await postgres.do(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'sayso'"
            )

    await asyncio.gather(
        cut(), *(write(number, one) for number, one in enumerate([database, other] * 5))
    )
    found = await _kinds(database)
    assert len(found) == len(set(found))
    assert kept <= set(found)
    assert len(kept) > 25
    await other.aclose()


async def test_a_restart_of_the_server_loses_nothing_that_was_kept(
    postgres: Server, database: Closable
) -> None:
    kept, not_known = list[str](), list[str]()
    is_back = asyncio.Event()

    async def keep_writing() -> None:
        while not is_back.is_set():
            kind = f"test.{len(kept)}"
            try:
                await database.transact(partial(_logged, kind))
                kept.append(kind)
            except Unavailable as error:
                not_known.append(error.shown)
                await asyncio.sleep(0.01)

    async def restart() -> None:
        await asyncio.sleep(0.05)
        await postgres.restart()
        is_back.set()

    await asyncio.gather(keep_writing(), restart())
    await database.transact(partial(_logged, "test.after"))
    found = await _kinds(database)
    assert set(kept) <= set(found)
    assert "test.after" in found
    assert len(kept) > 1
    # Whatever was not yet to be committed waited for the server, and was begun again.
    assert len(not_known) <= 1
    assert all("did not say" in one for one in not_known)


async def test_a_caller_that_is_cancelled_leaves_nothing_and_nobody_waits_for_it(
    database: Closable,
) -> None:
    begun = asyncio.Event()
    left_open = list[object]()
    """The pool tells the loop of each connection that it is given back within a transaction."""
    asyncio.get_running_loop().set_exception_handler(lambda _, told: left_open.append(told))

    def work(now: datetime) -> Transaction[None]:
        yield from log(now, TENANT, "test.one", "alice")
        begun.set()
        yield from rows("SELECT pg_sleep(20)")

    caller = asyncio.ensure_future(database.transact(work))
    await begun.wait()
    waiting = asyncio.ensure_future(
        database.transact(lambda now: log(now, TENANT, "test.two", "alice"))
    )
    await asyncio.sleep(0)
    for task in (waiting, caller):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await _kinds(database) == []
    assert left_open == []
