"""How long a plan may take, as a card says it."""

from datetime import timedelta

import pytest

from approvals import estimates


def seconds(*given: float) -> list[timedelta]:
    return [timedelta(seconds=one) for one in given]


@pytest.mark.parametrize(
    ("took", "words"),
    [
        ((), "not estimated"),
        ((20,), "about 20 s by the last run"),
        ((10, 20), "about 15 s by the last two runs"),
        ((1, 900, 20), "about 20 s by the last three runs"),
        ((18, 22, 1, 20, 900), "about 20 s by the last five runs"),
        ((0.2, 0.9), "under 1 s by the last two runs"),
        ((1,), "about 1 s by the last run"),
        ((90.4,), "about 90 s by the last run"),
        ((91,), "about 2 min by the last run"),
        ((5400,), "about 90 min by the last run"),
        ((7200,), "about 2 h by the last run"),
    ],
)
def test_it_is_the_median_of_the_last_runs(took: tuple[float, ...], words: str) -> None:
    assert estimates.told(seconds(*took)) == words


@pytest.mark.parametrize(
    ("estimate", "usual"),
    [
        (estimates.told(seconds(20)), "about 20 s"),
        (estimates.told(seconds(0.1, 0.2)), "under 1 s"),
        (estimates.NONE, None),
        ("none", None),
    ],
)
def test_beside_a_run_that_goes_on_the_time_alone_is_told(estimate: str, usual: str | None) -> None:
    assert estimates.usual(estimate) == usual
