"""What a message on Discord carries, and what a thread is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from adapters.discord.marks import file_of, mark, nonce
from adapters.discord.naming import thread_name
from core.deliveries import Text
from tests.discord_posts import asking


def test_each_piece_of_each_message_carries_its_own_and_the_same_for_every_try() -> None:
    pieces = [
        (key, number) for key in ("post:c:1", "post:c:11", "more:1,2") for number in range(12)
    ]

    for carried in (nonce, mark):
        assert len({carried(*piece) for piece in pieces}) == len(pieces)
        assert [carried(*piece) for piece in pieces] == [carried(*piece) for piece in pieces]


@given(some.text(), some.integers(0, 20))
def test_what_it_carries_is_as_discord_takes_it(key: str, number: int) -> None:
    assert len(nonce(key, number)) == 25
    assert 1 << 30 <= mark(key, number) < 1 << 31


def test_a_file_is_called_what_it_is() -> None:
    names = [
        file_of("post:c:1", message)
        for message in (asking(), Text(text="x"), Text(text="x", is_report=True))
    ]

    assert [name.partition("-")[0] for name in names] == ["plan", "answer", "report"]
    assert file_of("post:c:2", asking()) != names[0]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("restart web", "restart web"),
        ("  restart\n\n web\t", "restart web"),
        ("", "Sayso"),
        ("\u200b\u202e \n", "Sayso"),
        ("\u3164\u2800\u115f", "Sayso"),
        ("a\u202eb\x00c", "a b c"),
        ("word " * 30, "word " * 19 + "word…"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        ("😀" * 60, "😀" * 49 + "…"),
    ],
)
def test_a_thread_is_called_what_was_asked(asked: str, name: str) -> None:
    assert thread_name(asked) == name


@given(some.text(max_size=300))
def test_a_thread_always_has_a_name_that_discord_takes(asked: str) -> None:
    name = thread_name(asked)

    assert 1 <= len(name.strip()) <= len(name.encode("utf-16-le")) // 2 <= 100
    assert "\n" not in name
