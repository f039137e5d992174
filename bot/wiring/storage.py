"""Which database everything is kept in, and how the death of a process is told there."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adapters import processes
from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import ErasingDatabase
from bot import settings
from bot.storage_sections import StorageSection
from bot.wiring.catalogue import SystemClock
from core.errors import Invalid

if TYPE_CHECKING:
    from adapters.storage.postgres import PostgresDatabase


@asynccontextmanager
async def storage(section: StorageSection, home: Path) -> AsyncGenerator[ErasingDatabase]:
    """Open the database, bring it up to date, and close it again."""
    database = await (_shared(section, home) if section.is_shared else _file(section, home))
    try:
        yield database
    finally:
        await database.aclose()


def passwords(section: StorageSection, home: Path) -> tuple[str, ...]:
    """Return the password of the database where there is one; raise `Invalid` for an unreadable one."""
    if section.password is None:
        return ()
    return (settings.secret("storage.password", section.password, home),)


def death_in(section: StorageSection) -> Callable[[str], bool]:
    """Return what tells whether a process is dead: only of this machine's, where there may be others."""
    return processes.is_dead_here if section.is_shared else processes.is_dead


async def _file(section: StorageSection, home: Path) -> SqliteDatabase:
    return await SqliteDatabase.open(home / section.path, SystemClock())


async def _shared(section: StorageSection, home: Path) -> "PostgresDatabase":
    try:
        from adapters.storage.postgres import PostgresDatabase  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Invalid(
            "PostgreSQL needs one package more. Install Sayso with its extra: sayso[postgres]."
        ) from error
    password = next(iter(passwords(section, home)), None)
    return await PostgresDatabase.open(section.url, password=password, most=section.connections)
