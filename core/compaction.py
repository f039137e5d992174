"""Old turns of a long conversation are replaced by what software, and maybe a model, keeps of them.

It happens where a turn begins and nowhere else, and the newest turns stay as they were, so no call
is parted from its result (C79).
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.asking import Asking
from core.calls import said
from core.display import one_line
from core.fitting import cut
from core.jobs import LeaseLost
from core.limits import Limits, prompt_bytes
from core.past import Past
from core.prompt import Prompt
from core.redaction import Redactor
from core.transcript import Called, Compacted, Entry, Heard, Move, Noted, Returned, Say, Spoke
from core.waiting import beforehand

_LINE = 200
"""Characters of what was asked, of how a turn ended, and of what waits, in a line."""
_WAITING = 10
_log = logging.getLogger("sayso.turn")
_SUM_UP = Noted(
    text="The older part of this conversation is about to be left out. No tool can be called. Sum up "
    "in words, for yourself, what of it still matters: what people want, what was found and decided, "
    "what is left to do."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a model says of the turns before, and the tokens that it took."""

    words: str = ""
    """Empty where nothing came that can be used: software's lines are then all there is."""
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Keeps conversations small enough that every turn has room for what it finds."""

    limits: Limits
    redactor: Redactor

    def most(self, prompt: Prompt) -> int:
        """Return the bytes that the turns before may have, beside instructions and tools."""
        return max(self.limits.begun_bytes - prompt.says.bytes, 4 * self.limits.least_bytes)

    def is_due(self, past: Past, prompt: Prompt) -> bool:
        """Return whether a conversation is too large for a turn to begin."""
        return past.is_whole and past.bytes > self.most(prompt)

    def shortened(
        self, past: Past, prompt: Prompt, waiting: Iterable[str], words: str
    ) -> tuple[Entry, ...]:
        """Return what stands for the whole of it: at most half of what it may have, so it is rare."""
        return compacted(past.sent, self.most(prompt) // 2, waiting, words)

    async def summary(self, past: Past, asking: Asking, *, end: float) -> Summary:
        """Have the model sum up what it has read; it may fail in any way, and costs no turn.

        It has a part of the time up to the `end` of the turn, so that most is left to answer.
        """
        entries = (*past.sent, _SUM_UP)
        size = past.bytes + prompt_bytes((_SUM_UP,)) + asking.prompt.says.bytes
        if size > self.limits.prompt_bytes:
            return Summary()
        by = beforehand(self.limits.conclusion_seconds, end)
        try:
            return self._of(await asking.conclusion(entries, deadline=by))
        except LeaseLost:
            raise  # nothing that this process does counts any more
        except Exception as error:  # noqa: BLE001 - a message of any shape is left out
            _log.warning("turn %s: no summary: %s", asking.turn, type(error).__name__)
            return Summary()

    def _of(self, move: Move | None) -> Summary:
        words = said(move.text, self.redactor).strip() if isinstance(move, Say) else ""
        return Summary(words=words, tokens=move.wire.tokens if move else 0)


def compacted(
    entries: Sequence[Entry], most: int, waiting: Iterable[str], words: str
) -> tuple[Entry, ...]:
    """Return the newest turns in half of so many bytes, behind what stands for all others."""
    turns = list(_turns(entries))
    kept = _kept(turns, most // 2)
    gone = turns[: len(turns) - len(kept)]
    before = [entry for turn in gone for entry in turn if isinstance(entry, Compacted)]
    lines = [line for turn in gone for line in _lines(turn)]
    bare = Compacted(
        turns=sum(one.turns for one in before) + sum(isinstance(t[0], Heard) for t in gone),
        waiting=tuple(_short(line) for line in waiting)[:_WAITING],
        words=cut(words, most // 8) if words else "",
    )
    room = most - most // 2 - prompt_bytes((bare,))
    told = _newest(lines, room)
    first = Compacted(turns=bare.turns, told=told, waiting=bare.waiting, words=bare.words)
    return (first, *(entry for turn in kept for entry in turn))


def _turns(entries: Sequence[Entry]) -> Iterator[tuple[Entry, ...]]:
    """Yield entries in groups that begin with somebody's words: no call is parted from its result."""
    begins = [number for number, entry in enumerate(entries) if isinstance(entry, Heard)]
    edges = [0, *(number for number in begins if number), len(entries)]
    for start, end in pairwise(edges):
        yield tuple(entries[start:end])


def _kept(turns: Sequence[tuple[Entry, ...]], most: int) -> list[tuple[Entry, ...]]:
    """Return the newest turns that have at most so many bytes together."""
    left, kept = most, list[tuple[Entry, ...]]()
    for turn in reversed(turns):
        left -= prompt_bytes(turn)
        if left < 0:
            break
        kept.insert(0, turn)
    return kept


def _lines(turn: Sequence[Entry]) -> Iterator[str]:
    """Yield a line for each thing to be told of a turn: who asked what, and how it ended."""
    for entry in turn:
        if isinstance(entry, Compacted):
            yield from entry.told
    heard = next((entry for entry in turn if isinstance(entry, Heard)), None)
    tools = dict.fromkeys(
        call.tool for entry in turn if isinstance(entry, Called) for call in entry.calls
    )
    asked = f"{heard.speaker}: {_short(heard.text)}" if heard else ""
    used = f"[{', '.join(tools)}]" if tools else ""
    ends = " | ".join(_short(text) for text in _ends(turn))
    line = " ".join(filter(None, (asked, used, f"-> {ends}" if ends else "")))
    if line:
        yield line


def _ends(turn: Sequence[Entry]) -> Iterator[str]:
    """Yield what a turn came to: its last words, or results, and what software said after them."""
    last = next((e for e in reversed(turn) if isinstance(e, Spoke | Returned)), None)
    match last:
        case Spoke(text=text) if text:
            yield text
        case Returned(results=results):
            yield results[-1].text
        case _:
            pass
    yield from (entry.text for entry in turn if isinstance(entry, Noted))


def _newest(lines: Sequence[str], room: int) -> tuple[str, ...]:
    """Return the last lines that fit."""
    told = list[str]()
    for line in reversed(lines):
        room -= len(line.encode()) + len("- \n")
        if room < 0:
            break
        told.insert(0, line)
    return tuple(told)


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LINE else f"{line[:_LINE]}…"
