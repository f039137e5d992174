"""What may stand in the middle of a word that people read as one: line ends, and colours of a terminal."""

import re
from bisect import bisect_right
from collections.abc import Iterable

_GAP = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~] | [\r\n]++[ \t]{0,64}+", re.VERBOSE)


def without(text: str) -> str:
    """Return what is left of a text without its gaps."""
    return _GAP.sub("", text)


def across(text: str, pattern: re.Pattern[str], mask: str) -> str:
    """Return a text with each match masked that gaps interrupt, and the gaps within it gone."""
    found = [match.span() for match in pattern.finditer(without(text))]
    origin, parts, end = _Origin(text), list[str](), 0
    for first, behind in found:
        parts.append(text[end : origin.of(first)])
        end = origin.of(behind - 1) + 1
    return mask.join((*parts, text[end:]))


def begun(text: str, forms: Iterable[str], *, least: int) -> int:
    """Return how much of the end of a text may go on behind a gap as one of these forms.

    What is shorter than `least` does not count. Only what ends with a line can go on behind one.
    """
    solid = without(text)
    if not solid or without(f"{text}x") != f"{solid}x" or text[-1:] == solid[-1:]:
        return 0
    lengths = (
        length
        for form in forms
        for length in range(least, len(form))
        if form[length - 1] == solid[-1] and solid.endswith(form[:length])
    )
    longest = max(lengths, default=0)
    return len(text) - _Origin(text).of(len(solid) - longest) if longest else 0


class _Origin:
    """Where the characters of a text without gaps are in the one with them."""

    def __init__(self, text: str) -> None:
        self._solid, self._gone = list[int](), [0]
        for match in _GAP.finditer(text):
            self._solid.append(match.start() - self._gone[-1])
            self._gone.append(self._gone[-1] + match.end() - match.start())

    def of(self, place: int) -> int:
        """Return where a character is."""
        return place + self._gone[bisect_right(self._solid, place)]
