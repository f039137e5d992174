"""What a model is told of states that change: at first whole, then what changed, never too little (C76).

What was delivered is what the transcript holds: it is read from there and kept nowhere else. So a
delivery that was lost or trimmed is made again, and one that is there is not.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.display import sound
from core.errors import Invalid
from core.redaction import Redactor
from core.tools import Caller
from core.toolset import State
from core.transcript import Entry, Form, Stated, Trust
from core.waiting import within

MOST_BYTES = 8 * 1024
"""Of one state."""
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something whose state a model is kept informed of."""

    name: str
    state: State
    trust: Trust = Trust.OUTSIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything whose state a model is kept informed of; raises `Invalid` where a name is taken."""

    sources: tuple[Source, ...]
    redactor: Redactor
    most: int = MOST_BYTES

    def __post_init__(self) -> None:
        for name, times in Counter(source.name for source in self.sources).items():
            if times > 1:
                raise Invalid(f"Two states are called {name}. Rename one of their toolsets.")

    async def news(
        self, caller: Caller, history: Sequence[Entry], *, by: float
    ) -> tuple[Stated, ...]:
        """Return what to add to a transcript so that it tells the present state of every source.

        A source that fails, or has not answered by then, is said to be away, once; what was said
        of it stays.
        """
        sources = (*self.sources, *self._gone(history))
        found = await asyncio.gather(*(self._now(source, caller, by) for source in sources))
        made = (
            _next(source, statements(history, source.name), text)
            for source, text in zip(sources, found, strict=True)
        )
        return tuple(one for one in made if one)

    def _gone(self, history: Sequence[Entry]) -> Iterator[Source]:
        """Yield what was told of and is no longer there: nothing of it is so any more."""
        known = {source.name for source in self.sources}
        told = dict.fromkeys(entry.source for entry in history if isinstance(entry, Stated))
        return (Source(name=name, state=_nothing) for name in told if name not in known)

    async def _now(self, source: Source, caller: Caller, by: float) -> str | None:
        """Return a state as a model may see it; None where it cannot be looked at."""
        try:
            text = await within(lambda: source.state(caller), by)
            return self._capped(sound(text))
        except Exception as error:  # noqa: BLE001 - whatever fails here must not cost the answer
            _log.warning("the state of %s: %s", source.name, type(error).__name__)
            return None

    def _capped(self, text: str) -> str:
        """Return as many whole lines as may be sent, masked, and how many are left out."""
        head, is_all = self.redactor.head(text, self.most)
        every = _lines(head)
        count = len(every) if is_all else text.count("\n") + 1
        lines, left = list[str](), self.most
        for line in every if is_all else every[:-1]:
            left -= len(line.encode()) + 1
            if left < 0:
                break
            lines.append(line)
        left_out = count - len(lines)
        return "\n".join(
            (*lines, *([f"(Lines that are not shown: {left_out})"] if left_out else ()))
        )


def statements(history: Sequence[Entry], source: str) -> tuple[Stated, ...]:
    """Return what a transcript states of one source."""
    return tuple(e for e in history if isinstance(e, Stated) and e.source == source)


def told(made: Sequence[Stated]) -> Counter[str] | None:
    """Return the lines that statements of one source come down to; None where one is missing.

    The order of lines means nothing, but how often one is there does.
    """
    lines: Counter[str] | None = None
    number = 0
    for one in made:
        follows = lines is not None and one.number == number + 1
        match one.form:
            case Form.WHOLE:
                lines = Counter(_lines(one.text))
            case Form.CHANGES if lines is not None and follows:
                lines = _changed(lines, one.text)
            case Form.AWAY if follows:
                pass
            case _:
                lines = None
        number = one.number
    return lines


def _next(source: Source, made: Sequence[Stated], text: str | None) -> Stated | None:
    """Return the statement that is missing after these, or None where nothing is."""
    last = made[-1] if made else None
    number = last.number + 1 if last else 1
    was_away = last is not None and last.form is Form.AWAY
    if text is None:
        return None if was_away else _stated(source, number, Form.AWAY, "")
    before, now = told(made), Counter(_lines(text))
    if (before == now and not was_away) or (not made and not now):
        return None
    changes = None if before is None else _difference(before, _lines(text))
    if changes is None or len(changes.encode()) > len(text.encode()):
        return _stated(source, number, Form.WHOLE, text)
    return _stated(source, number, Form.CHANGES, changes)


def _stated(source: Source, number: int, form: Form, text: str) -> Stated:
    trust = Trust.SOFTWARE if form is Form.AWAY else source.trust
    return Stated(source=source.name, number=number, form=form, text=text, trust=trust)


def _difference(before: Counter[str], now: Iterable[str]) -> str:
    """Return the lines that went and those that came, in the order in which they stood."""
    after = Counter(now)
    went, came = before - after, after - before
    return "\n".join(
        (*(f"- {line}" for line in went.elements()), *(f"+ {line}" for line in came.elements()))
    )


def _changed(lines: Counter[str], changes: str) -> Counter[str]:
    after = lines.copy()
    for line in changes.splitlines():
        after[line[2:]] += 1 if line.startswith("+") else -1
    return after


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


async def _nothing(_: Caller) -> str:
    return ""
