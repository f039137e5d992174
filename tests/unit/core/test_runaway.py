"""What was made to be slow is searched for secrets in a time that grows with its length and no faster."""

import re
import time
from collections.abc import Callable
from functools import partial

import pytest

from core import gaps
from core.piecewise import pieces
from core.redaction import Redactor

MIB = 2**20
REDACTOR = Redactor.of(
    ["hunter2hunter2", "a" * 50 + "b", "first\nsecond line\nthird", "://eyJ=sk-x"]
)


def _again(text: str, length: int) -> str:
    return text * (length // len(text))


REPEATED = (
    *"aZ09-_./+=:@ \t\n\r\\\"'%&~é\x1b",
    "sk-", "sk-ant-", "xoxb-", "xapp-", "ghp_", "github_pat_", "AKIA", "eyJ", "eyJaaaaa.",
    "eyJaaaaa-", "eyJaaaaa.eyJaaaaa.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN A A A ", "BEGIN ", "://", "://a", "://a:",
    "://a:b", "a:b@", "https://user:pass", "https://hooks.slack.com/", "bearer ", "Bearer a",
    "Basic \n", "password", "password=", "password ", "passwordpassword: ", "api_key=", "api_key='",
    "key=", "token: ", "secret_secret.", "a.-", "M" + "a" * 24 + ".", "M" * 24, "hunter2",
    "hunter2\n", "\x1b[", "\x1b[0;", "\x1b[31m", "\r\n", "\n ", "\n\n    ", " a", "first\nsecond",
)  # fmt: skip
AROUND: dict[str, Callable[[int], str]] = {
    "a key and words": lambda n: "-----BEGIN PRIVATE KEY-----" + " a" * (n // 2),
    "a key and line ends": lambda n: "-----BEGIN PRIVATE KEY-----" + "\n" * n,
    "a kind of key": lambda n: "-----BEGIN " + "A" * n,
    "a token that never ends": lambda n: "eyJ" + "a" * n,
    "two parts of a token": lambda n: "eyJaaaaa.eyJ" + "a" * n,
    "a user that never ends": lambda n: "://" + "a" * n + ":",
    "a password that never ends": lambda n: "://a:" + "b" * n,
    "a value that never ends": lambda n: "password=" + "x" * n,
    "a name that ends late": lambda n: "a.-" * (n // 3) + "password",
    "a secret that almost is there": lambda n: ("a" * 49 + "c") * (n // 50),
    "a secret in single characters": lambda n: "\n".join("hunter2hunter" * (n // 26)),
}
HOSTILE: dict[str, Callable[[int], str]] = {
    **{repr(one)[1:-1]: partial(_again, one) for one in REPEATED},
    **AROUND,
}
SHORT = 2**15


def seconds(work: Callable[[str], object], text: str) -> float:
    """Return what it costs at best, of the processor."""
    found = list[float]()
    for _ in range(3):
        began = time.process_time()
        work(text)
        found.append(time.process_time() - began)
    return min(found)


def growth(work: Callable[[str], object], made: Callable[[int], str]) -> float:
    """Return how much more four times as much costs, each of several times as far as that is needed."""
    found = list[float]()
    for _ in range(4):
        short, long = seconds(work, made(SHORT)), seconds(work, made(4 * SHORT))
        found.append(long / short)
        if found[-1] < 6:
            break
    return min(found)


@pytest.mark.parametrize("name", HOSTILE)
def test_four_times_as_much_takes_about_four_times_as_long(name: str) -> None:
    # Work that grows with the square would take sixteen times as long.
    assert growth(REDACTOR.text, HOSTILE[name]) < 9


@pytest.fixture(scope="module")
def ordinary() -> float:
    """Return what a megabyte of an ordinary log costs."""
    line = "2026-11-30 12:00:01 INFO request 17 from web-3 took 12 ms\n"
    return seconds(REDACTOR.text, (line * MIB)[:MIB])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_takes_not_much_longer_than_an_ordinary_one(name: str, ordinary: float) -> None:
    hostile = HOSTILE[name](MIB)
    began = time.process_time()
    masked = REDACTOR.text(hostile)
    assert time.process_time() - began < 15 * ordinary
    assert masked


def test_the_judge_tells_what_runs_away() -> None:
    runaway = re.compile(r"(?:a|\d)*b")
    assert growth(lambda text: runaway.search(text[: len(text) // 16]), HOSTILE["a"]) > 9


@pytest.mark.parametrize("name", ["\\n", "\\x1b[", "\\x1b[0;", "\\x1b[31m", "\\r\\n", "\\n "])
def test_what_may_interrupt_a_secret_is_found_in_time(name: str) -> None:
    assert growth(gaps.without, HOSTILE[name]) < 9


@pytest.mark.parametrize("name", ["a", "\\n", "password=", "a key and words", "hunter2\\n"])
def test_so_are_its_pieces(name: str) -> None:
    def work(text: str) -> object:
        return list(pieces(text, REDACTOR.text, reach=REDACTOR.reach))

    assert growth(work, HOSTILE[name]) < 9
