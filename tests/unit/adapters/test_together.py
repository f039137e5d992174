"""Several transactions under one commit: as if each had been alone, but for the waiting."""

import sqlite3
from collections.abc import Generator
from contextlib import closing

import pytest

from adapters.storage.together import MOST, Together
from adapters.storage.transactions import Transaction, Work, rows, sql
from core.errors import Refused
from tests.fakes.clock import FrozenClock

TABLES = """
PRAGMA foreign_keys = ON;
CREATE TABLE word (text TEXT PRIMARY KEY);
CREATE TABLE after (word TEXT REFERENCES word (text) DEFERRABLE INITIALLY DEFERRED);
"""


class Desk:
    """Takes transactions on an empty database, and notes which statements run."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.executescript(TABLES)
        self.ran = list[str]()
        connection.set_trace_callback(self.ran.append)
        self.together = Together(connection=connection, clock=FrozenClock())

    def words(self) -> list[str]:
        return self.together.run(kept)

    @property
    def commits(self) -> int:
        return self.ran.count("COMMIT")


@pytest.fixture
def desk() -> Generator[Desk]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        yield Desk(connection)


def kept(_: object) -> Transaction[list[str]]:
    found = yield from rows("SELECT text FROM word ORDER BY text")
    return [row["text"] for row in found]


def writing(text: str, *, refused: bool = False) -> Work[list[str]]:
    """Return what writes a word, and then returns all that there are or is refused."""

    def work(now: object) -> Transaction[list[str]]:
        yield sql("INSERT INTO word VALUES (:text)", text=text)
        if refused:
            raise Refused("No.")
        return (yield from kept(now))

    return work


def dangling(_: object) -> Transaction[None]:
    """Write what no commit takes."""
    yield sql("INSERT INTO after VALUES ('nowhere')")


def undoing(_: object) -> Transaction[None]:
    """Write what has SQLite undo the whole transaction at once."""
    yield sql("INSERT INTO word VALUES ('x')")
    yield sql("INSERT OR ROLLBACK INTO word VALUES ('x')")


def test_all_that_wait_are_committed_once_in_their_order(desk: Desk) -> None:
    asked = [desk.together.ask(writing(word)) for word in "abc"]
    assert desk.together.answer(asked[0]) == ["a"]
    assert desk.commits == 1
    ran = len(desk.ran)
    assert [desk.together.answer(one) for one in asked[1:]] == [["a", "b"], ["a", "b", "c"]]
    assert len(desk.ran) == ran


def test_what_is_refused_undoes_itself_alone(desk: Desk) -> None:
    first, second, third = (desk.together.ask(writing(word, refused=word == "b")) for word in "abc")
    assert desk.together.answer(first) == ["a"]
    with pytest.raises(Refused):
        desk.together.answer(second)
    assert desk.together.answer(third) == ["a", "c"]
    assert desk.words() == ["a", "c"]


@pytest.mark.parametrize("broken", [dangling, undoing])
def test_where_it_fails_for_all_nobody_is_told_anything_else_and_it_works_again_later(
    desk: Desk, broken: Work[None]
) -> None:
    works = writing("a"), writing("b", refused=True), broken
    asked = [desk.together.ask(work) for work in works]
    for one in asked:
        with pytest.raises(sqlite3.IntegrityError):
            desk.together.answer(one)
    assert desk.words() == []
    assert desk.together.run(writing("d")) == ["d"]


def test_what_was_forgotten_never_begins(desk: Desk) -> None:
    forgotten, other = desk.together.ask(writing("a")), desk.together.ask(writing("b"))
    desk.together.forget(forgotten)
    assert desk.together.answer(other) == ["b"]
    desk.together.forget(other)
    assert desk.words() == ["b"]


def test_so_many_go_together_and_the_others_after_them(desk: Desk) -> None:
    asked = [desk.together.ask(writing(f"{number:03}")) for number in range(MOST + 2)]
    desk.together.answer(asked[0])
    assert (desk.commits, len(desk.together.answer(asked[-1]))) == (1, MOST + 2)
    assert desk.commits == 2


def test_whoever_waits_behind_many_that_were_forgotten_is_answered(desk: Desk) -> None:
    for number in range(MOST + 2):
        desk.together.forget(desk.together.ask(writing(f"{number:03}")))
    assert desk.together.answer(desk.together.ask(writing("a"))) == ["a"]
