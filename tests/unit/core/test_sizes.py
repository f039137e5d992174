"""Sizes as people read them."""

import pytest

from core.sizes import in_words


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (1_000_000, "1.0 MB"),
        (1_234_567, "1.2 MB"),
        (8 * 2**20, "8.4 MB"),
        (5 * 10**9, "5.0 GB"),
        (5 * 10**12, "5000.0 GB"),
    ],
)
def test_a_number_of_bytes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words
