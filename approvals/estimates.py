"""How long a plan may take: by the runs that did the same before and succeeded. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from statistics import median

NONE = "not estimated"
MOST = 5
"""So many runs are looked at, the newest."""
_BY = " by the last "
_NUMBERS = ("", "run", "two runs", "three runs", "four runs", "five runs")
_SECOND, _MINUTE, _HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
_FEW = 90
"""Up to so many of a unit are told in it."""


def told(took: Sequence[timedelta]) -> str:
    """Return what a card says, by how long those runs took."""
    if not took:
        return NONE
    middle = timedelta(seconds=median(one.total_seconds() for one in took))
    return f"{_roughly(middle)}{_BY}{_NUMBERS[min(len(took), MOST)]}"


def usual(estimate: str) -> str | None:
    """Return the time alone of what a card says; None where it says none."""
    time, found, _ = estimate.partition(_BY)
    return time if found else None


def _roughly(span: timedelta) -> str:
    if span < _SECOND:
        return "under 1 s"
    for unit, name in ((_SECOND, "s"), (_MINUTE, "min")):
        if round(span / unit) <= _FEW:
            return f"about {round(span / unit)} {name}"
    return f"about {round(span / _HOUR)} h"
