"""Makes each record of the log one line without secrets, whoever writes it and whoever keeps it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from core import display
from core.redaction import Redactor

_INDENT = "  "
"""Before what follows the line of a record, so that nothing in it passes for another record."""


@contextmanager
def masked(redactor: Redactor) -> Generator[None]:
    """Inside the block, have every record of this process be visible and without secrets."""
    before = logging.getLogRecordFactory()

    def made(*arguments: object, **named: object) -> logging.LogRecord:
        record = before(*arguments, **named)
        _mask(record, redactor)
        return record

    logging.setLogRecordFactory(made)
    try:
        yield
    finally:
        logging.setLogRecordFactory(before)


def _mask(record: logging.LogRecord, redactor: Redactor) -> None:
    record.msg, record.args = "\\n".join(_lines(_message(record), redactor)), None
    if record.exc_info:
        trace = logging.Formatter().formatException(record.exc_info)
        record.exc_text = "\n".join(f"{_INDENT}{line}" for line in _lines(trace, redactor))
        # It holds the exception as it is, and some who keep records look into it.
        record.exc_info = None


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        return f"{record.msg} {record.args}"  # somebody else's mistake hides nothing


def _lines(text: str, redactor: Redactor) -> list[str]:
    # Twice, as with what a command prints: making a text visible may undo how a secret looks.
    shown = display.output(redactor.text(text)).replace("\r", "\\r")
    return redactor.text(shown).split("\n")
