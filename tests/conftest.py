"""Stores on every database that there is."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from hypothesis import settings

from adapters.storage.postgres import PostgresDatabase
from adapters.storage.sqlite import SqliteDatabase
from approvals.store import ApprovalStore, Records, RunStore
from core.conversations import Conversations
from core.ports import Clock
from tests.fakes.clock import FrozenClock
from tests.postgres import Server, serving
from tests.sayso import Sayso, fresh, waiting
from tests.stores import QUICK, Closable, Connect, Stores, begin_conversations

Open: TypeAlias = Callable[[Clock], Awaitable[Closable]]
PATIENCE = 30.0
"""Seconds: what a suite says of many at once has to hold on a busy machine too."""


EVERYTHING = "--everything-on-postgres"
_NAMED = re.compile(r"test_[icp]\d")
"""What tests of an invariant, a case or a promise are called."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let somebody run on PostgreSQL whatever the suites of the contracts run on SQLite."""
    parser.addoption(EVERYTHING, action="store_true", help="all contract tests on PostgreSQL too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most examples on PostgreSQL, where each test takes five times as long."""
    if config.getoption(EVERYTHING):
        return
    seen = set[object]()
    left_out = {item for item in items if _is_spared(item, seen)}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


def _is_spared(item: pytest.Item, seen: set[object]) -> bool:
    """Whether it is no test of a contract, one more example, or of a test that is named for nothing."""
    spec = getattr(item, "callspec", None)
    if spec is None or spec.params.get("opens") != "postgres":
        return False
    each = item.get_closest_marker("each")
    test = (item.path, item.name.partition("[")[0], each and spec.params[each.args[0]])
    if "unit" in item.path.parts:
        return True  # these are about what stands above the store
    if item.path.parent.name != "contracts" or (_NAMED.match(item.name) and test not in seen):
        seen.add(test)  # `each` tells apart what is to be tried one by one
        return False
    return True


@pytest.fixture(scope="session")
def postgres() -> Generator[Server]:
    """Give a PostgreSQL of this process, with one database that is ready."""
    with serving() as server:
        asyncio.run(server.prepare())
        yield server


@pytest.fixture
def on_sqlite(quick_path: Path) -> Open:
    return lambda clock: SqliteDatabase.open(quick_path / "sayso.db", clock, patience=PATIENCE)


@pytest.fixture
def on_postgres(postgres: Server) -> Open:
    asyncio.run(postgres.wipe())
    return lambda clock: PostgresDatabase.open(postgres.url(), clock=clock, patience=PATIENCE)


@pytest.fixture(params=["sqlite", "postgres"])
def opens(request: pytest.FixtureRequest) -> Open:
    """Return what opens a database of each kind that there is; a new one joins by an opener of its own."""
    opening: Open = request.getfixturevalue(f"on_{request.param}")
    return opening


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def quick_path() -> Generator[Path]:
    with TemporaryDirectory(prefix="sayso-", dir=QUICK) as folder:
        yield Path(folder)


@pytest.fixture
async def connect(opens: Open, clock: FrozenClock) -> AsyncGenerator[Connect]:
    """Return what opens one more connection to the same data, as another process would."""
    opened: list[Closable] = []

    async def another() -> Closable:
        opened.append(await opens(clock))
        return opened[-1]

    yield another
    for database in opened:
        await database.aclose()


@pytest.fixture
async def database(connect: Connect) -> Closable:
    return await connect()


@pytest.fixture
async def stores(database: Closable) -> Stores:
    """Return all stores on one database that holds three conversations."""
    stores = Stores(database)
    await begin_conversations(stores)
    return stores


@pytest.fixture
def requests(stores: Stores) -> ApprovalStore:
    return stores.requests


@pytest.fixture
def runs(stores: Stores) -> RunStore:
    return stores.runs


@pytest.fixture
def conversations(stores: Stores) -> Conversations:
    return stores.conversations


@pytest.fixture
def records(stores: Stores) -> Records:
    return stores.records


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """Return where steps run: without a sandbox, unless a test asks for others of `BACKENDS`."""
    return str(getattr(request, "param", "none"))


@pytest.fixture
def sayso(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, backend: str
) -> Generator[Sayso]:
    """Give a folder in which `alpha`, `web`, `v1` and `slow` wait for people."""
    with waiting(tmp_path_factory.getbasetemp(), tmp_path / "waiting", backend) as sayso:
        yield sayso


@pytest.fixture
def empty(tmp_path: Path, backend: str) -> Generator[Sayso]:
    """Give a copy of the contract's folder in which nothing was asked yet."""
    with fresh(tmp_path / "empty", backend) as sayso:
        yield sayso


# A busy machine is no failure: the suite has its own time limit. The same commit tries the same
# examples everywhere, so that a change is judged by what it changes; `make explore` tries others.
settings.register_profile("sayso", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("sayso")
