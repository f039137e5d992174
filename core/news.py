"""What software has to tell a model since the last turn, in bounded size: people read all of it."""

from collections.abc import Sequence
from dataclasses import replace

from core.fitting import SHORT_BYTES, TEXT_BYTES
from core.limits import prompt_bytes
from core.transcript import Noted

_MOST_BYTES = TEXT_BYTES // 2
"""Of one report, in a prompt: how something began and how it ended are there, whatever it printed."""


def fitted(news: Sequence[Noted], most: int) -> tuple[Noted, ...]:
    """Return news in so many bytes of a prompt: each cut in its middle, the oldest left out."""
    short = [_cut(one, _MOST_BYTES) for one in news]
    if prompt_bytes(short) <= most:
        return tuple(short)
    left = most - SHORT_BYTES  # which is for the line about the others
    share = max(left // len(news), SHORT_BYTES)
    kept = list[Noted]()
    for one in reversed([_cut(one, share) for one in short]):
        left -= prompt_bytes((one,))
        if left < 0:
            break
        kept.insert(0, one)
    gone = news[: len(news) - len(kept)]
    return (*([_left_out(gone)] if gone else []), *kept)


def _left_out(gone: Sequence[Noted]) -> Noted:
    text = f"(Reports and notes that are left out here, since they are too many: {len(gone)}.)"
    return Noted(text=text, entry=gone[-1].entry)  # so that they count as told


def _cut(one: Noted, most: int) -> Noted:
    """Return news in so many bytes of a prompt; what is cut out is said to be."""
    size, short = most, one
    while prompt_bytes((short,)) > most:
        size //= 2
        short = replace(one, text=_ends(one.text, size))
    return short


def _ends(text: str, most: int) -> str:
    """Return the beginning and the end of a text, together in so many bytes."""
    raw = text.encode()
    half = most // 2
    begins, ends = raw[:half].decode(errors="ignore"), raw[-half:].decode(errors="ignore")
    return f"{begins}\n(Cut here: {len(raw) - 2 * half} bytes that people can read.)\n{ends}"
