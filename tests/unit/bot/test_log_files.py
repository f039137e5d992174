"""A log beside a conversation fails nobody: what its file does not take is told once it is over."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.log_files import logging_into

WARNED = "WARNING first\nWARNING second\n"


def warned(file: Path) -> None:
    with logging_into(file):
        for text in ("first", "second"):
            logging.getLogger("sayso").warning("%s", text)


def folder(file: Path) -> None:
    file.mkdir()


def pipe(file: Path) -> None:
    os.mkfifo(file)


def full(file: Path) -> None:
    file.symlink_to("/dev/full")


def nowhere(file: Path) -> None:
    file.symlink_to("nowhere/log")


def test_what_is_logged_stands_in_the_file_behind_what_was_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sayso.log"
    file.write_text("before\n", "utf-8")
    handlers = [*logging.getLogger().handlers]
    warned(file)
    first, *more = file.read_text("utf-8").splitlines()
    assert (first, [line[24:] for line in more]) == ("before", WARNED.splitlines())
    assert (capfd.readouterr().err, logging.getLogger().handlers) == ("", handlers)


@pytest.mark.parametrize("obstacle", [folder, pipe, full, nowhere])
def test_what_the_file_does_not_take_is_told_behind_the_conversation(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], obstacle: Callable[[Path], None]
) -> None:
    file = tmp_path / "sayso.log"
    obstacle(file)
    warned(file)
    first, *more = capfd.readouterr().err.splitlines()
    assert first == "WARNING this could not be written to sayso.log:"
    assert [line[24:] for line in more] == WARNED.splitlines()
