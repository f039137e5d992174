"""The key's file: made once, by one of many, for its owner alone, and never written over."""

import os
import stat
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from adapters.key_file import KeyFile
from core.errors import Invalid, Unavailable
from core.ports import Keys
from core.signatures import Key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sayso.key"


def public_of(path: Path) -> str:
    """Return the public key that a process of its own finds or makes."""
    return KeyFile(path).key().public


def test_there_is_no_key_until_somebody_needs_one(path: Path) -> None:
    keys: Keys = KeyFile(path)
    assert keys.kept() is None
    assert not path.exists()
    key = keys.key()
    assert keys.kept() == KeyFile(path).key() == key
    assert list(path.parent.iterdir()) == [path]


def test_only_its_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        KeyFile(path).key()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_of_many_at_once_one_makes_it_and_all_have_the_same(path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        assert len(set(threads.map(public_of, [path] * 64))) == 1
    assert list(path.parent.iterdir()) == [path]


def test_of_several_processes_one_makes_it(path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
        assert len(set(processes.map(public_of, [path] * 8))) == 1


@pytest.mark.parametrize("rights", [0o640, 0o604, 0o644, 0o660])
def test_a_key_that_others_can_read_is_refused(path: Path, rights: int) -> None:
    KeyFile(path).key()
    path.chmod(rights)
    with pytest.raises(Invalid, match="chmod 600"):
        KeyFile(path).key()
    path.chmod(0o400)
    assert KeyFile(path).key()


def damaged(text: str) -> list[str]:
    """Return ways in which a key's file can be broken."""
    word, seed, public = text.split()
    other = "0" if seed[0] != "0" else "1"
    return [
        "",
        "\n",
        text[:50],
        text[:-2],
        f"{word} {other}{seed[1:]} {public}\n",
        f"{word} {seed} {public[::-1]}\n",
        f"other {seed} {public}\n",
        f"{word} {seed[:-2]} {public}\n",
        f"{word} {seed}\n",
        f"{word} zz{seed[2:]} {public}\n",
        f"{text}{text}",
        "\0" * 200,
        "\u00e4" * 2000,
    ]


@pytest.mark.parametrize("number", range(13))
def test_a_broken_key_is_an_error_that_says_what_to_do_and_stays_as_it_is(
    path: Path, number: int
) -> None:
    KeyFile(path).key()
    broken = damaged(path.read_text("ascii"))[number]
    path.write_text(broken, "utf-8")
    for look in (KeyFile(path).key, KeyFile(path).kept):
        with pytest.raises(Invalid, match="Restore it from a backup") as error:
            look()
    assert path.read_text("utf-8") == broken
    assert "seed" not in str(error.value.detail)


def test_what_cannot_be_read_is_an_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(Invalid, match="cannot be read"):
        KeyFile(path).kept()


def test_where_it_cannot_be_made_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be made"):
        KeyFile(tmp_path / "missing" / "sayso.key").key()
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_vanishes_at_once_is_no_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(_: KeyFile, key: Key) -> None:
        del key

    monkeypatch.setattr(KeyFile, "_make", lose)
    with pytest.raises(Unavailable, match="Try again"):
        KeyFile(path).key()
