"""`core.artifacts.Artifacts`, in a folder and on the fake: all of an output is kept, or nothing."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from adapters.artifact_folder import ArtifactFolder
from core.artifacts import Artifacts, Stored
from core.errors import Refused
from tests.fakes.artifacts import FakeArtifacts

MOST = 1000
A_DAY = 86_400


@dataclass(kw_only=True)
class Shelf:
    """Artifacts, what lies there, and how to make one old."""

    artifacts: Artifacts
    names: Callable[[], set[str]]
    age: Callable[[str], object]


def of_a_folder(folder: Path) -> Shelf:
    where = folder / "data" / "artifacts"

    def age(name: str) -> None:
        was = (where / name).stat().st_mtime - A_DAY
        os.utime(where / name, (was, was))

    return Shelf(
        artifacts=ArtifactFolder(folder=where, most_bytes=MOST),
        names=lambda: {file.name for file in where.iterdir()} if where.exists() else set(),
        age=age,
    )


def of_a_dictionary(_: Path) -> Shelf:
    fake = FakeArtifacts(most_bytes=MOST)
    return Shelf(artifacts=fake, names=lambda: set(fake.files), age=fake.old.add)


@pytest.fixture(params=[of_a_folder, of_a_dictionary])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    made: Shelf = request.param(tmp_path)
    return made


async def pieces(*given: bytes, then: Exception | None = None) -> AsyncIterator[bytes]:
    for one in given:
        await asyncio.sleep(0)
        yield one
    if then:
        raise then


async def test_c85_what_is_kept_is_read_again_with_its_size_and_its_digest(shelf: Shelf) -> None:
    stored = await shelf.artifacts.keep("r_1.0", pieces(b"one\n", b"", b"two\n"))
    assert stored == Stored(bytes=8, sha256=sha256(b"one\ntwo\n").hexdigest())
    assert await shelf.artifacts.read("r_1.0") == b"one\ntwo\n"
    assert shelf.names() == {"r_1.0"}


async def test_what_was_never_kept_is_not_there(shelf: Shelf) -> None:
    assert await shelf.artifacts.read("r_1.0") is None
    assert await shelf.artifacts.left() == frozenset()
    await shelf.artifacts.remove(["r_1.0"])


@pytest.mark.parametrize("given", [(b"a" * MOST,), (b"a" * (MOST - 1), b"a"), (b"a",) * MOST])
async def test_c85_as_much_as_one_may_have_is_kept(shelf: Shelf, given: tuple[bytes, ...]) -> None:
    assert (await shelf.artifacts.keep("r_1.0", pieces(*given))).bytes == MOST


@pytest.mark.parametrize("given", [(b"a" * (MOST + 1),), (b"a" * MOST, b"a"), (b"a",) * (MOST + 1)])
async def test_c85_a_stream_of_a_byte_more_stores_nothing(
    shelf: Shelf, given: tuple[bytes, ...]
) -> None:
    with pytest.raises(Refused):
        await shelf.artifacts.keep("r_1.0", pieces(*given))
    assert shelf.names() == set()
    assert await shelf.artifacts.read("r_1.0") is None


async def test_c85_what_breaks_off_leaves_nothing(shelf: Shelf) -> None:
    with pytest.raises(ZeroDivisionError):
        await shelf.artifacts.keep("r_1.0", pieces(b"one", then=ZeroDivisionError()))
    assert shelf.names() == set()


async def test_a_name_stands_for_what_was_kept_last(shelf: Shelf) -> None:
    await shelf.artifacts.keep("r_1.0", pieces(b"a longer one"))
    await shelf.artifacts.keep("r_1.0", pieces(b"two"))
    with pytest.raises(Refused):
        await shelf.artifacts.keep("r_1.0", pieces(b"a" * 2 * MOST))
    assert await shelf.artifacts.read("r_1.0") == b"two"


async def test_those_that_are_removed_are_gone_and_others_stay(shelf: Shelf) -> None:
    for name in ("r_1.0", "r_1.1", "r_2.0"):
        await shelf.artifacts.keep(name, pieces(name.encode()))
    await shelf.artifacts.remove(["r_1.0", "r_2.0", "r_3.0"])
    assert shelf.names() == {"r_1.1"}


async def test_only_what_lies_there_for_long_may_be_nobodys(shelf: Shelf) -> None:
    for name in ("r_1.0", "r_1.1"):
        await shelf.artifacts.keep(name, pieces(b"x"))
    shelf.age("r_1.0")
    assert await shelf.artifacts.left() == {"r_1.0"}
