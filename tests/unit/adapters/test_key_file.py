"""The key's file: made once, by one of many, for its owner alone, and never written over."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from adapters.key_file import KeyFile
from core.errors import Invalid, Unavailable
from core.ports import Keys
from core.signatures import Key

ROOT = Path(__file__).parents[3]


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


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_named_and_nobody_waits_for_it(
    path: Path, make: Callable[[Path], object]
) -> None:
    make(path)
    for look in (KeyFile(path).key, KeyFile(path).kept):
        with pytest.raises(Invalid, match="is no file"):
            look()
    assert list(path.parent.iterdir()) == [path]


def test_a_pipe_that_was_put_there_after_the_look_is_no_file_either(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", Path(__file__).stat)
    with pytest.raises(Invalid, match="is no file"):
        KeyFile(path).kept()


def test_a_link_that_leads_nowhere_is_named_and_stays(path: Path) -> None:
    for target in (path.with_name("missing"), path):
        path.symlink_to(target)
        for look in (KeyFile(path).key, KeyFile(path).kept):
            with pytest.raises(Invalid, match="is a link") as error:
                look()
        assert "remove the link" in error.value.shown
        assert list(path.parent.iterdir()) == [path]
        path.unlink()


def test_a_link_to_a_key_is_that_key(path: Path) -> None:
    there = path.with_name("there")
    key = KeyFile(there).key()
    path.symlink_to(there)
    assert KeyFile(path).key() == key
    there.chmod(0o644)
    with pytest.raises(Invalid, match="chmod 600"):
        KeyFile(path).key()


def test_what_cannot_be_read_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeyFile(path).key()
    monkeypatch.setattr("adapters.key_file.os.open", _not_allowed)
    with pytest.raises(Invalid, match="cannot be read"):
        KeyFile(path).kept()


def _not_allowed(*_: object) -> int:
    raise PermissionError


def test_a_key_of_another_account_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeyFile(path).key()
    fstat = os.fstat

    def given_away(file: int) -> os.stat_result:
        fields = list(fstat(file))
        fields[stat.ST_UID] = os.geteuid() + 1
        return os.stat_result(fields)

    monkeypatch.setattr("adapters.key_file.os.fstat", given_away)
    for look in (KeyFile(path).key, KeyFile(path).kept):
        with pytest.raises(Invalid, match="belongs to another account"):
            look()


# on the disk


def test_its_name_is_on_the_disk_before_anybody_signs_with_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, fsync = list[tuple[bool, bool]](), os.fsync

    def note(file: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(file).st_mode), path.exists()))
        fsync(file)

    monkeypatch.setattr("adapters.key_file.os.fsync", note)
    KeyFile(path).key()
    assert synced == [(False, False), (True, True)]  # first what is in it, then its name
    KeyFile(path).key()  # whoever found it cannot know whether who made it came so far
    assert synced[2:] == [(True, True)]


@pytest.mark.parametrize(("number", "is_refused"), [(errno.EIO, True), (errno.EINVAL, False)])
def test_a_folder_that_does_not_get_to_the_disk_gives_no_key(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, is_refused: bool
) -> None:
    key = KeyFile(path).key()

    def fail(_: int) -> None:
        raise OSError(number, "as told")

    monkeypatch.setattr("adapters.key_file.os.fsync", fail)
    if not is_refused:  # a file system without that for folders
        assert KeyFile(path).key() == key
        return
    with pytest.raises(Unavailable, match="its folder"):
        KeyFile(path).key()


# what a crash leaves

DIES = """
import os, sys
from pathlib import Path
from adapters.key_file import KeyFile
link = Path.hardlink_to

def die(path, target):
    if sys.argv[2] == "after":
        link(path, target)
    os._exit(9)

Path.hardlink_to = die
KeyFile(Path(sys.argv[1])).key()
"""
AGES_AGO = 1_600_000_000
BESIDE = ".sayso.key.0123456789abcdef"


def aged(path: Path) -> Path:
    os.utime(path, (AGES_AGO, AGES_AGO), follow_symlinks=False)
    return path


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_crash_left_beside_it_is_removed_once_it_is_old(path: Path, when: str) -> None:
    done = subprocess.run([sys.executable, "-c", DIES, str(path), when], cwd=ROOT, check=False)
    assert done.returncode == 9
    [left] = path.parent.glob(".*")
    assert left.stat().st_mode & 0o777 == 0o600
    assert path.exists() == (when == "after")
    key = KeyFile(path).key()
    assert left.exists()  # somebody may be about to make it a key right now
    aged(left)
    assert KeyFile(path).key() == key
    assert list(path.parent.iterdir()) == [path]


def test_nothing_else_is_removed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeyFile(path).key()
    aged(path)
    names = (f"{BESIDE}0", BESIDE[:-1], BESIDE.upper(), f"{BESIDE}\n", BESIDE[1:], "notes.txt")
    kept = {aged(_touched(path.with_name(name))) for name in names}
    folder = path.with_name(".sayso.key.00000000000000aa")
    folder.mkdir()
    link = path.with_name(".sayso.key.00000000000000bb")
    link.symlink_to(path.with_name("notes.txt"))
    kept |= {path, aged(folder), aged(link)}
    theirs = aged(_touched(path.with_name(BESIDE)))
    KeyFile(path).key()
    assert not theirs.exists()
    assert set(path.parent.iterdir()) == kept
    aged(_touched(theirs))
    lstat = Path.lstat

    def given_away(path: Path) -> os.stat_result:
        fields = list(lstat(path))
        fields[stat.ST_UID] = os.geteuid() + 1
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "lstat", given_away)
    KeyFile(path).key()
    assert set(path.parent.iterdir()) == {*kept, theirs}


def _touched(path: Path) -> Path:
    path.touch()
    return path


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
