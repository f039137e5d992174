"""What people read of an exit code."""

import signal

import pytest

from core import exits


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (1, "exit code 1"),
        (2, "exit code 2, often wrong arguments"),
        (126, "exit code 126, a program was found that may not be started"),
        (127, "exit code 127, a program was not found"),
        (128, "exit code 128"),
        (137, "exit code 137, SIGKILL: it was killed, perhaps for want of memory"),
        (139, "exit code 139, SIGSEGV: it crashed"),
        (128 + signal.SIGXCPU, "exit code 152, SIGXCPU: its processor time was used up"),
        (128 + signal.SIGUSR1, "exit code 138, SIGUSR1"),
        (255, "exit code 255"),
        (-signal.SIGSEGV, "SIGSEGV: it crashed"),
        (-signal.SIGUSR2, "SIGUSR2"),
        (-99, "signal 99"),
    ],
)
def test_an_exit_code_says_what_it_usually_means(code: int, words: str) -> None:
    assert exits.in_words(code) == words


@pytest.mark.parametrize("code", range(-300, 300))
def test_every_exit_code_has_words_in_one_line(code: int) -> None:
    words = exits.in_words(code)
    assert words.isprintable()
    assert len(words) < 80
