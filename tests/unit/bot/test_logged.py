"""What is logged holds nobody up, whether somebody reads it or not."""

import fcntl
import os
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
