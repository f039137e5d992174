"""What is logged holds nobody up, whether somebody reads it or not."""

import fcntl
import os
import pty
import select
from collections.abc import Generator
from contextlib import suppress
from typing import TextIO

import pytest

from bot.logged import Unhurried


@pytest.fixture
def pipe() -> Generator[tuple[int, TextIO]]:
    """Give both ends of a pipe that holds two pages."""
    out, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 8192)
    with os.fdopen(into, "w", encoding="ascii") as stream:
        yield out, stream
    with suppress(OSError):
        os.close(out)


def test_what_finds_no_room_is_left_out_and_counted(pipe: tuple[int, TextIO]) -> None:
    out, stream = pipe
    log = Unhurried(stream)
    for number in range(5):
        log.write(f"WARNING {number}{'.' * 4_086}\n")
    kept = os.read(out, 65_536).decode()
    assert [line[:9] for line in kept.splitlines()] == ["WARNING 0", "WARNING 1"]
    log.write("WARNING \u00e4\n")
    log.write("WARNING more\n")
    assert os.read(out, 65_536).decode().splitlines() == [
        "WARNING left out of this log, which nobody read: 3",
        "WARNING \\xe4",
        "WARNING more",
    ]


def test_a_reader_who_is_gone_is_no_error(pipe: tuple[int, TextIO]) -> None:
    out, stream = pipe
    os.close(out)
    Unhurried(stream).write("WARNING\n")
    assert not stream.closed


def test_a_terminal_that_nobody_looks_at_holds_nobody_up() -> None:
    window, inside = pty.openpty()
    with os.fdopen(inside, "w", encoding="ascii") as terminal:
        log = Unhurried(terminal)
        for number in range(1_000):
            log.write(f"WARNING {number}{'.' * 77}\n")
        *whole, cut = _all(window).split("\r\n")
        log.write("WARNING more\n")
        more = _all(window).split("\r\n")
    os.close(window)
    assert [line.rstrip(".") for line in whole] == [f"WARNING {n}" for n in range(len(whole))]
    left_out = f"WARNING left out of this log, which nobody read: {1_000 - len(whole)}"
    assert more == [*([""] if cut else []), left_out, "WARNING more", ""]


def _all(window: int) -> str:
    """Return what a terminal shows, until nothing more comes."""
    seen = b""
    while select.select([window], [], [], 0.2)[0]:
        seen += os.read(window, 65_536)
    return seen.decode()
