"""What is logged holds nobody up, whether somebody reads it or not."""

import fcntl
import os
import pty
import re
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
        read = _all(window)
        log.write("WARNING more\n")
        read += _all(window)
    os.close(window)
    shown = [int(found) for found in re.findall(rf"^WARNING (\d+){'[.]' * 77}\r$", read, re.M)]
    # A terminal's room is what its kernel has passed on by then: there may be some again in between.
    left_out = re.findall(r"^WARNING left out of this log, which nobody read: (\d+)\r$", read, re.M)
    assert shown == sorted(shown)
    assert left_out
    # What lacked room for nothing but its end counts as left out.
    assert 0 <= len(shown) + sum(map(int, left_out)) - 1_000 <= len(left_out)
    assert read.endswith("\r\nWARNING more\r\n")


def _all(window: int) -> str:
    """Return what a terminal shows, until nothing more comes."""
    seen = b""
    while select.select([window], [], [], 0.2)[0]:
        seen += os.read(window, 65_536)
    return seen.decode()
