"""SQLite itself: durability, locks, full disks, other processes, damaged files."""
# ruff: noqa: ASYNC220, ASYNC221, ASYNC240 - nothing else waits for the loop of a test

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import Transaction, log, rows
from approvals import cards
from approvals.models import Request, State
from core import audit
from core.errors import Invalid, SaysoError, Unavailable
from tests.builders import TENANT, a_checked, a_new_request, a_new_turn, a_tool
from tests.fakes.clock import FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    SUCCEEDED,
    TABLES,
    Contents,
    Stores,
    answering,
    begin_conversations,
    claimed,
    erasing,
    everything,
    granted,
    log_of,
    now,
    opened,
    running,
    spend,
    stepped,
)

HOME = Path(__file__).resolve().parents[2]
IMPATIENT = 0.05


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sayso.db"


@asynccontextmanager
async def opening(path: Path, patience: float = IMPATIENT) -> AsyncGenerator[Stores]:
    """Open a file and close it again."""
    database = await SqliteDatabase.open(path, FrozenClock(), patience=patience)
    try:
        yield Stores(database)
    finally:
        await database.aclose()


@pytest.fixture
async def stores(path: Path) -> AsyncGenerator[Stores]:
    """Return impatient stores on SQLite alone."""
    async with opening(path) as stores:
        await begin_conversations(stores)
        yield stores


@contextmanager
def outside(path: Path) -> Generator[sqlite3.Connection]:
    """Return a connection that is not ours."""
    with closing(sqlite3.connect(path, timeout=IMPATIENT, isolation_level=None)) as connection:
        yield connection


async def value(stores: Stores, query: str) -> Any:  # noqa: ANN401 - whatever SQLite answers
    """Return the one value that a statement yields, on our own connection."""
    found = await stores.database.transact(lambda _: rows(query))
    return next(iter(dict(found[0]).values()))


def speaks_plainly(error: SaysoError) -> None:
    """What people get to see is a sentence, with nothing of SQLite in it."""
    assert error.shown[0].isupper()
    assert error.shown.endswith(".")
    assert not {"sqlite", "error", "errno", "none"} & set(error.shown.lower().split())
    assert str(error.detail["error"])


async def unavailable(stores: Stores) -> Unavailable:
    """Try to change something, in vain: nothing at all has changed afterwards."""
    with pytest.raises(Unavailable) as caught:
        await opened(stores)
    speaks_plainly(caught.value)
    return caught.value


# Settings


async def test_what_is_committed_survives_a_power_cut(stores: Stores, path: Path) -> None:
    assert await value(stores, "PRAGMA journal_mode") == "wal"
    assert await value(stores, "PRAGMA synchronous") == 2  # FULL
    async with opening(path) as again:
        assert await value(again, "PRAGMA journal_mode") == "wal"
        assert await value(again, "PRAGMA synchronous") == 2


async def test_references_are_enforced(stores: Stores) -> None:
    assert await value(stores, "PRAGMA foreign_keys") == 1
    with pytest.raises(sqlite3.IntegrityError):
        await stores.database.transact(
            lambda _: rows("INSERT INTO vote VALUES ('none', 'b', '', NULL)")
        )


async def test_the_tables_that_tests_compare_are_all_that_there_are(stores: Stores) -> None:
    found = await stores.database.transact(
        lambda _: rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    )
    assert {row["name"] for row in found} == set(TABLES)


async def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "sayso.db"
    was = os.umask(0)
    try:
        async with opening(path) as stores:
            await begin_conversations(stores)
            files = list(path.parent.iterdir())
            assert {file.name for file in files} == {"sayso.db", "sayso.db-wal", "sayso.db-shm"}
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(was)


async def test_everything_is_there_again_after_closing(stores: Stores, path: Path) -> None:
    await stepped(stores, await running(stores), SUCCEEDED)
    before = await everything(stores.database)
    async with opening(path) as again:
        assert await everything(again.database) == before


# One hop, whole transactions


async def test_a_transaction_takes_one_thread_hop(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    hops: list[object] = []
    submit = ThreadPoolExecutor.submit

    def counted(self: ThreadPoolExecutor, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        hops.append(args)
        return submit(self, *args, **kwargs)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    request = await stores.requests.open(a_new_request())
    assert isinstance(request, Request)
    assert len(hops) == 1
    voted = await stores.requests.vote(TENANT, request.id, principal="bob")
    assert len(hops) == 2
    job = await claimed(stores, voted.request)
    assert len(hops) == 3
    assert await stores.requests.spend(voted.request, job=job, run="r_1")
    assert len(hops) == 4


async def test_all_statements_of_a_file_run_on_one_thread(stores: Stores) -> None:
    threads: set[int] = set()

    def work(_: datetime) -> Transaction[None]:
        threads.add(threading.get_ident())
        yield from rows("SELECT 1")

    await asyncio.gather(*(stores.database.transact(work) for _ in range(20)))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_the_time_that_decides_is_taken_under_the_lock(path: Path) -> None:
    class Clock(FrozenClock):
        def __init__(self) -> None:
            super().__init__()
            self.asked_under_lock: list[bool] = []

        def now(self) -> datetime:
            with outside(path) as other:
                try:
                    other.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError:
                    self.asked_under_lock.append(True)
                else:
                    self.asked_under_lock.append(False)
            return super().now()

    clock = Clock()
    database = await SqliteDatabase.open(path, clock)
    await database.transact(lambda _: rows("SELECT 1"))
    await database.aclose()
    assert clock.asked_under_lock == [True]


class Gate:
    """A transaction that waits in its middle, on the thread, until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go = threading.Event()

    def work(self, now: datetime) -> Transaction[None]:
        yield from log(now, TENANT, "test.one", "alice")
        self.reached.set()
        assert self.go.wait(10)
        yield from log(now, TENANT, "test.two", "alice")


async def _kinds(stores: Stores) -> list[str]:
    return [e.kind for e in await log_of(stores) if e.kind.startswith("test.")]


async def test_a_caller_that_is_cancelled_leaves_the_transaction_whole(stores: Stores) -> None:
    gate = Gate()
    caller = asyncio.ensure_future(stores.database.transact(gate.work))
    await asyncio.to_thread(gate.reached.wait, 10)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    gate.go.set()
    assert await _kinds(stores) == ["test.one", "test.two"]


async def test_a_caller_that_is_cancelled_before_its_turn_changes_nothing(stores: Stores) -> None:
    gate = Gate()
    first = asyncio.ensure_future(stores.database.transact(gate.work))
    waiting = asyncio.ensure_future(
        stores.database.transact(lambda now: log(now, TENANT, "test.three", "alice"))
    )
    await asyncio.to_thread(gate.reached.wait, 10)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.go.set()
    await first
    assert await _kinds(stores) == ["test.one", "test.two"]


async def test_closing_waits_for_what_still_runs(path: Path) -> None:
    gate = Gate()
    async with opening(path) as stores:
        caller = asyncio.ensure_future(stores.database.transact(gate.work))
        await asyncio.to_thread(gate.reached.wait, 10)
        asyncio.get_running_loop().call_later(0.05, gate.go.set)
    await caller
    async with opening(path) as again:
        assert await _kinds(again) == ["test.one", "test.two"]


async def test_a_mistake_in_a_transaction_is_no_outage_and_leaves_nothing(stores: Stores) -> None:
    def wrong(now: datetime) -> Transaction[None]:
        yield from log(now, TENANT, "test.one", "alice")
        yield from rows("INSERT INTO vote VALUES ('none', 'bob', '', NULL)")

    before = await everything(stores.database)
    with pytest.raises(sqlite3.IntegrityError):
        await stores.database.transact(wrong)
    assert await everything(stores.database) == before


# Other processes


OPENS = """
import asyncio, sys
from pathlib import Path
from adapters.storage.sqlite import SqliteDatabase
from tests.builders import a_new_turn
from tests.fakes.clock import FrozenClock
from tests.stores import Stores

async def main(path, number):
    database = await SqliteDatabase.open(Path(path), FrozenClock())
    new = a_new_turn(f"t_{number}", opens=f"c_{number}")
    await Stores(database).conversations.receive(new)
    await database.aclose()

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main(*sys.argv[1:]))
"""


async def test_eight_processes_that_open_a_fresh_file_at_once_all_succeed(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENS, path, str(number)],
            cwd=HOME,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=30)[1] for process in processes]
    assert told == [""] * 8
    assert [process.returncode for process in processes] == [0] * 8
    async with opening(path) as stores:
        assert len(await log_of(stores)) == 8
        assert await value(stores, "PRAGMA journal_mode") == "wal"


async def test_opening_at_once_in_one_process_succeeds_every_time(tmp_path: Path) -> None:
    for number in range(10):
        path = tmp_path / f"{number}.db"
        found = await asyncio.gather(*(SqliteDatabase.open(path, FrozenClock()) for _ in range(8)))
        for database in found:
            await database.aclose()


DIES = """
import asyncio, os, sys
from pathlib import Path
from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import log
from tests.fakes.clock import FrozenClock

def work(now):
    yield from log(now, "acme", "test.one", "alice")
    os.kill(os.getpid(), 9)

async def main():
    database = await SqliteDatabase.open(Path(sys.argv[1]), FrozenClock())
    await database.transact(work)

asyncio.run(main())
"""


async def test_a_process_that_dies_in_a_transaction_leaves_nothing_of_it(
    stores: Stores, path: Path
) -> None:
    before = await everything(stores.database)
    died = subprocess.run([sys.executable, "-c", DIES, path], cwd=HOME, check=False)
    assert died.returncode == -9
    assert await everything(stores.database) == before
    await opened(stores)


async def test_another_that_writes_for_long_makes_it_unavailable(
    stores: Stores, path: Path
) -> None:
    before = await everything(stores.database)
    with outside(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        error = await unavailable(stores)
        assert "busy" in error.shown
        other.execute("ROLLBACK")
    assert await everything(stores.database) == before
    await opened(stores)


async def test_another_that_writes_for_a_moment_is_waited_for(path: Path) -> None:
    async with opening(path, patience=10) as stores:
        await begin_conversations(stores)
        with outside(path) as other:
            other.execute("BEGIN EXCLUSIVE")
            waiting = asyncio.ensure_future(opened(stores))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            other.execute("ROLLBACK")
        assert (await waiting).votes == ()


async def test_another_that_reads_for_long_is_no_hindrance(stores: Stores, path: Path) -> None:
    with outside(path) as other:
        other.execute("BEGIN")
        before = other.execute("SELECT count(*) FROM audit").fetchone()
        await opened(stores)
        assert other.execute("SELECT count(*) FROM audit").fetchone() == before


async def test_a_fresh_file_that_another_holds_is_unavailable(path: Path) -> None:
    with outside(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unavailable) as caught:
            await SqliteDatabase.open(path, FrozenClock(), patience=IMPATIENT)
    speaks_plainly(caught.value)
    async with opening(path) as stores:
        await begin_conversations(stores)


# Full disks


async def test_a_full_disk_leaves_the_transaction_whole_and_works_again_later(
    stores: Stores,
) -> None:
    before, error = await fill(stores, "a" * 3000)
    speaks_plainly(error)
    assert "full" in error.shown
    assert await everything(stores.database) == before
    await value(stores, "PRAGMA max_page_count = 100000")
    request = await granted(stores)
    assert await spend(stores, request)
    await log_of(stores)


async def test_a_spend_on_a_full_disk_starts_nothing(stores: Stores) -> None:
    steps = a_checked(tool=a_tool(steps=100))
    request = await granted(stores, a_new_request(steps))
    await claimed(stores, request)
    before, _ = await fill(stores, "")
    with pytest.raises(Unavailable):
        await spend(stores, request)
    assert await everything(stores.database) == before
    await value(stores, "PRAGMA max_page_count = 100000")
    assert await spend(stores, request)


async def fill(stores: Stores, text: str) -> tuple[Contents, Unavailable]:
    """Write until a full disk refuses; return what was there before that, and the refusal."""
    pages = await value(stores, "PRAGMA page_count")
    await value(stores, f"PRAGMA max_page_count = {pages + 1}")
    number = 0
    while True:
        number += 1
        before = await everything(stores.database)
        try:
            new = a_new_turn(f"t_full_{number}", text, opens=f"c_full_{number}")
            await stores.conversations.receive(new)
        except Unavailable as error:
            return before, error


# Files that are not ours


async def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    async with opening(path):
        pass
    with outside(path) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(Invalid, match="newer Sayso"):
        await SqliteDatabase.open(path, FrozenClock())
    with outside(path) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (99,)


@pytest.mark.parametrize("content", [b"#!/bin/sh\necho not a database\n" * 100, b"\0" * 4096])
async def test_a_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o640)
    with pytest.raises(Unavailable) as caught:
        await SqliteDatabase.open(path, FrozenClock())
    speaks_plainly(caught.value)
    assert "not a database" in caught.value.shown
    assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


async def test_a_damaged_file_is_unavailable(path: Path) -> None:
    async with opening(path) as stores:
        await begin_conversations(stores)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(Unavailable) as caught:
        async with opening(path) as stores:
            await stores.records.audit()
    speaks_plainly(caught.value)
    assert "damaged" in caught.value.shown


async def test_a_folder_in_the_place_of_the_file_is_unavailable(path: Path) -> None:
    path.mkdir()
    with pytest.raises(Unavailable) as caught:
        await SqliteDatabase.open(path, FrozenClock())
    speaks_plainly(caught.value)


async def test_a_file_in_the_place_of_the_folder_is_unavailable(path: Path) -> None:
    path.write_text("a file", "utf-8")
    with pytest.raises(Unavailable) as caught:
        await SqliteDatabase.open(path / "sayso.db", FrozenClock())
    speaks_plainly(caught.value)


DENIED = """
import asyncio, os, sys
from pathlib import Path
from adapters.storage.sqlite import SqliteDatabase
from core.errors import Unavailable
from tests.fakes.clock import FrozenClock

if os.getuid() == 0:
    os.setuid(65534)  # root may read everything
try:
    asyncio.run(SqliteDatabase.open(Path(sys.argv[1]), FrozenClock()))
except Unavailable as error:
    print(error.shown)
"""


@pytest.mark.parametrize("rights", [0o000, 0o500])
async def test_a_folder_without_rights_is_unavailable(tmp_path: Path, rights: int) -> None:
    tmp_path.parent.chmod(0o755)
    tmp_path.parent.parent.chmod(0o755)
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(rights)
    try:
        found = subprocess.run(
            [sys.executable, "-c", DENIED, folder / "sayso.db"],
            cwd=HOME,
            # Whoever measures coverage could not write here as somebody else.
            env={name: value for name, value in os.environ.items() if "COV" not in name},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        folder.chmod(0o700)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("The database cannot be opened or written.")


# What was written stays written


@pytest.mark.parametrize("table", ["audit", "entry"])
@pytest.mark.parametrize(
    "statement",
    ["UPDATE {} SET at = ''", "DELETE FROM {}", "DELETE FROM {} WHERE seq = 1", "DROP TABLE {}"],
)
async def test_i11_our_own_connection_cannot_change_what_was_written(
    stores: Stores, table: str, statement: str
) -> None:
    before = await everything(stores.database)
    with pytest.raises(Unavailable):
        await stores.database.transact(lambda _: rows(statement.format(table)))
    assert await everything(stores.database) == before
    await opened(stores)


_TAKEN_OUT = ("DELETE FROM audit WHERE seq = 1", "DELETE FROM audit WHERE seq = 2")


@pytest.mark.parametrize(
    ("edit", "first_bad"),
    [
        ("UPDATE audit SET body = replace(body, 'alice', 'bob') WHERE seq = 2", 2),
        ("UPDATE audit SET kind = 'turn.ended' WHERE seq = 1", 1),
        ("UPDATE audit SET tenant = 'globex' WHERE seq = 7", 7),
        ("UPDATE audit SET at = '2026-03-01T09:30:00.000001Z' WHERE seq = 3", 3),
        ("DELETE FROM audit WHERE seq = 2", 2),
        ("DELETE FROM audit WHERE seq = 1", 1),
        ("UPDATE audit SET hash = '0' WHERE seq = 7", 7),
        ("DELETE FROM audit WHERE seq = 7", 7),
    ],
)
async def test_i11_an_edit_from_outside_is_found(
    stores: Stores, path: Path, edit: str, first_bad: int
) -> None:
    await opened(stores)
    entries = await log_of(stores)
    head = entries[-1].hash
    assert len(entries) == 7
    with outside(path) as other:
        assert other.execute(edit).rowcount == 1
    found = audit.verify(await stores.records.audit(), head=head)
    assert isinstance(found, audit.Broken)
    assert found.first_bad == first_bad
    assert (found.why == f"entry {first_bad} is missing") is (edit in _TAKEN_OUT)


async def test_i11_an_entry_slipped_in_from_outside_is_found(stores: Stores, path: Path) -> None:
    with outside(path) as other:
        other.execute("INSERT INTO audit VALUES (7, '', 'acme', 'x', '{}', 'prev', 'hash')")
    assert audit.verify(await stores.records.audit()) == audit.Broken(
        first_bad=7, why="it does not follow from the entry before it"
    )


async def test_the_plan_in_the_table_is_believed_only_where_it_hashes_to_what_was_shown(
    stores: Stores, path: Path
) -> None:
    request = await granted(stores)
    with outside(path) as other:
        other.execute("UPDATE plan SET body = replace(body, 'alpha', 'omega')")
    changed = await stores.requests.get(TENANT, request.id)
    assert changed is not None
    with pytest.raises(SaysoError, match="not the one that was shown"):
        _ = changed.plan
    assert await spend(stores, changed) is None
    revoked = await now(stores, request)
    assert (revoked.state, revoked.reason) == (State.REVOKED, cards.ALTERED)
    assert await stores.records.runs() == []


async def test_p55_whatever_was_made_of_the_log_is_read_so_that_it_can_be_told(
    stores: Stores, path: Path
) -> None:
    await granted(stores)
    with outside(path) as other:
        other.execute("UPDATE audit SET body = CAST(x'ff' AS TEXT) WHERE seq = 2")
    verdict = audit.verify(await stores.records.audit())
    assert isinstance(verdict, audit.Broken)
    assert verdict.first_bad == 2


# Erasing


async def test_c77_a_reader_keeps_the_journal_so_it_is_told_and_done_once_more(
    stores: Stores, path: Path
) -> None:
    new = a_new_turn("t_7", "quagga", opens="c_7")
    under_way = await answering(stores, new)
    await stores.conversations.end(under_way)
    with outside(path) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM turn").fetchone()
        with pytest.raises(Unavailable) as unavailable:
            await erasing(stores).erase("c_7", account="root")
        assert unavailable.value.shown.startswith("It is erased, but")
        speaks_plainly(unavailable.value)
    assert await value(stores, "SELECT count(*) FROM audit WHERE kind = 'conversation.erased'") == 1
    assert not (await erasing(stores).erase("c_7", account="root")).removed
    assert b"quagga" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


async def test_c77_others_go_on_while_and_after_a_conversation_is_erased(
    stores: Stores, path: Path
) -> None:
    async with opening(path, patience=5) as others:
        await stepped(others, await running(others), SUCCEEDED)
        await asyncio.gather(
            erasing(stores).erase(OTHER_CONVERSATION, account="root"),
            *(opened(others, a_new_request(a_checked(f"word {n}"))) for n in range(5)),
        )
        assert await everything(others.database) == await everything(stores.database)
        assert len(await others.records.requests()) == 6
        await log_of(others)
