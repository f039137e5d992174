"""Attack 35 and I12: a record of the log is one line, holds no secret, and passes for no other record."""

import logging
import re

import pytest

from bot import log_records
from core.redaction import MASK, Redactor

SECRET = "hunter2hunter2"
NAMES = {
    "a line end": "web\nERROR job j_1 failed",
    "a line end of Windows": "web\r\nERROR job j_1 failed",
    "a return": "web\rERROR job j_1 failed",
    "a line of Unicode": "web\u2028ERROR job j_1 failed",
    "a paragraph of Unicode": "web\u2029ERROR job j_1 failed",
    "the next line": "web\x85ERROR job j_1 failed",
    "a colour": "web\x1b[2K\x1b[1GERROR job j_1 failed",
    "a character that turns": "web\u202eREVO",
    "a NUL": "web\0",
}
log = logging.getLogger("test.records")


def fail(text: str) -> None:
    raise RuntimeError(text)


@pytest.fixture(autouse=True)
def everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("raises", [False, True])
def test_attack_35_a_name_adds_no_line_and_no_record(
    caplog: pytest.LogCaptureFixture, name: str, *, raises: bool
) -> None:
    with log_records.masked(Redactor.of([])):
        if raises:
            try:
                fail(name)
            except RuntimeError:
                log.exception("job %s", "j_2")
        else:
            log.warning("job %s", name)
        log.info("after")
    lines = caplog.text.splitlines()
    assert caplog.text.split("\n")[:-1] == lines  # no other line ends
    records = [line for line in lines if not line.startswith("  ")]
    assert [line.split(" ", 1)[0] for line in records] == ["ERROR" if raises else "WARNING", "INFO"]
    assert re.fullmatch(r"[ -~\ufffd]*", caplog.text.replace("\n", ""))


def test_what_was_logged_can_be_told_from_what_it_shows(caplog: pytest.LogCaptureFixture) -> None:
    with log_records.masked(Redactor.of([])):
        log.warning("%s", "a\nb\u2028c")
    assert caplog.text == "WARNING a\\nb\\u2028c\n"


@pytest.mark.parametrize(
    "text", [SECRET, f"{SECRET[:5]}\n{SECRET[5:]}", f"{SECRET[:5]}\x1b[31m{SECRET[5:]}"]
)
def test_i12_no_secret_is_in_a_record_nor_in_what_was_raised(
    caplog: pytest.LogCaptureFixture, text: str
) -> None:
    redactor = Redactor.of([])
    redactor.learn("FLEET", SECRET)
    with log_records.masked(redactor):
        log.debug("it is %s", text)
        log.debug(text)
        try:
            fail(text)
        except RuntimeError as error:
            log.exception("failed")
            log.warning("again: %s", error, exc_info=error)
    assert caplog.text.count(MASK) == 5
    for record in caplog.records:
        assert SECRET[:6] not in repr(vars(record))


def test_a_record_that_was_written_wrongly_is_a_record(caplog: pytest.LogCaptureFixture) -> None:
    with log_records.masked(Redactor.of([SECRET])):
        log.warning("%d is no number", SECRET)
    assert caplog.text == f"WARNING %d is no number ('{MASK}',)\n"


def test_outside_of_the_block_records_are_as_they_were() -> None:
    before = logging.getLogRecordFactory()
    with log_records.masked(Redactor.of([])):
        assert logging.getLogRecordFactory() is not before
    assert logging.getLogRecordFactory() is before
