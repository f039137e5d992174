"""C79: what is reported between two turns has bounds for a model, however much it is."""

from hypothesis import given
from hypothesis import strategies as st

from core.limits import prompt_bytes
from core.news import fitted
from core.transcript import Noted


def news(*texts: str) -> list[Noted]:
    return [Noted(text=text, entry=number) for number, text in enumerate(texts, 1)]


def test_what_fits_stays_as_it_is() -> None:
    told = news("Run r_1 succeeded.", "y" * 5000)
    assert fitted(told, 8000) == tuple(told)
    assert fitted([], 8000) == ()


def test_a_long_report_keeps_its_beginning_and_its_end_and_says_what_is_cut() -> None:
    [one] = fitted(news(f"begins{'x' * 90_000}ends"), 100_000)
    assert (one.text[:6], one.text[-4:], one.entry) == ("begins", "ends", 1)
    assert "\n(Cut here: 81818 bytes that people can read.)\n" in one.text


def test_of_too_many_the_newest_are_told_and_the_others_counted() -> None:
    left_out, *kept = fitted(news(*(f"{n} {'x' * 900}" for n in range(20))), 8192)
    assert [one.entry for one in kept] == list(range(21 - len(kept), 21))
    assert left_out.text.endswith(f": {20 - len(kept)}.)")
    assert left_out.entry == 20 - len(kept)
    assert len(kept) > 5


def test_where_nothing_fits_all_count_as_told() -> None:
    [left_out] = fitted(news("x" * 2000, "y" * 2000), 1024)
    assert left_out.text.endswith(": 2.)")
    assert left_out.entry == 2


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=40),
    st.integers(1, 2000),
    st.integers(1024, 50_000),
)
def test_c79_together_they_have_the_bytes_that_they_may_have(
    texts: list[str], times: int, most: int
) -> None:
    told = news(*(text * times for text in texts))
    found = fitted(told, most)
    assert prompt_bytes(found) <= most
    assert not told or found[-1].entry == told[-1].entry
    assert fitted(found, most) == found
