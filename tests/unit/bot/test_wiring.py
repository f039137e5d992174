"""What the app is made of, as far as nothing else would notice."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest

from adapters.storage.transactions import Database, Row, Transaction, Work
from bot import wiring
from bot.wiring import Seams
from core.reminders import NewReminder, ReminderState
from tests.builders import CONVERSATION, TENANT, a_caller
from tests.stores import Stores, begin_conversations, hold_calls, said_in

T = TypeVar("T")
TEAM = """\
tenants:
  acme: {console: true}
people:
  alice: {console: [alice], groups: [eng]}
policy:
  rules:
    - {effect: allow, action: "*", groups: [everyone]}
sandbox: {backend: none}
"""


@dataclass(frozen=True)
class TellsNothing:
    """A database in which the end of a reminder that is told fails in a way that nobody foresaw."""

    database: Database

    async def transact(self, work: Work[T]) -> T:
        return await self.database.transact(lambda now: self._until(work(now)))

    async def changes(self) -> int:
        return await self.database.changes()

    def _until(self, transaction: Transaction[T]) -> Transaction[T]:
        try:
            statement = next(transaction)
            while True:
                if statement.values.get("state") == ReminderState.TOLD:
                    raise RuntimeError
                found: list[Row] = yield statement
                statement = transaction.send(found)
        except StopIteration as end:
            result: T = end.value
            return result


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for folder in ("runbooks", "work"):
        (tmp_path / folder).mkdir()
    (tmp_path / "sayso.yml").write_text(TEAM)
    return tmp_path / "sayso.yml"


async def test_t11_a_reminder_whose_job_fails_for_good_ends_with_a_word(file: Path) -> None:
    kept: list[Database] = []

    def seam(database: Database) -> Database:
        kept.append(database)
        return TellsNothing(database)

    async with wiring.opened(file, Seams(database=seam)) as app:
        stores = Stores(kept[0])
        await begin_conversations(stores)
        await hold_calls(stores)
        new = NewReminder(id="n_1", caller=a_caller(), text="look", due=datetime.now(UTC))
        await stores.reminders.add(new, most=1)
        assert await app.engine.run("due:n_1", asyncio.Event())
        found = await stores.reminders.get(TENANT, "n_1")
        assert found is not None
        assert found.state is ReminderState.DROPPED
        [note] = await said_in(stores, CONVERSATION, "note")
        assert "could not be told" in note
