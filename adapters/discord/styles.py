"""Bold, italic and struck words, where Discord reads them as they are meant. Pure.

Its clients end a style at the first mark that ends it, even one in code or in an address. What
stands behind that mark would be read as Markdown, although it was never made literal.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Literal, TypeAlias

from adapters.discord import words
from adapters.platforms.literal import shown

Style: TypeAlias = Literal["bold", "italic", "strike"]
_MARKS: dict[Style, str] = {"bold": "**", "italic": "*", "strike": "~~"}
_ESCAPED = re.compile(r"\\([^0-9A-Za-z\s])")
_RAW = re.compile(r"<https?://[^ >\n]+>|(`+)[\s\S]*?[^`]\1(?!`)")
_READ: dict[Style, re.Pattern[str]] = {
    "bold": re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)"),
    "italic": re.compile(
        r"\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"
    ),
    "strike": re.compile(r"~~([\s\S]+?)~~(?!_)"),
}
"""Of two that begin at once, Discord takes the longer one, and of equal ones the later of these."""
_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Words of one look, as they are to be read."""

    words: str
    styles: tuple[Style, ...] = ()
    """The outermost first."""
    kind: Literal["text", "code", "link"] = "text"


_Atom: TypeAlias = tuple[str, frozenset[Style]]


def inline(runs: Sequence[Run]) -> str:
    """Return what stands within a paragraph: without any style where Discord would misread one."""
    return _inline(tuple(runs))


@lru_cache(_KEPT)
def _inline(runs: tuple[Run, ...]) -> str:
    done = _marked(runs)
    if not any(run.styles for run in runs) or [*_atoms(done)] == [*_meant(runs)]:
        return done
    return "".join(_apart([*_unstyled(runs)]))


def _unstyled(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield the runs without styles: words that then stand side by side are read as one."""
    for kind, some in groupby(runs, key=lambda run: run.kind):
        if kind == "text":
            yield Run(words="".join(run.words for run in some))
        else:
            yield from (replace(run, styles=()) for run in some)


def _marked(runs: Sequence[Run]) -> str:
    done, within = "", tuple[Style, ...]()
    for run, drawn in zip(runs, _apart(runs), strict=True):
        same = _same(within, run.styles)
        done += "".join(_MARKS[style] for style in reversed(within[same:]))
        done += "".join(_MARKS[style] for style in run.styles[same:]) + drawn
        within = run.styles
    return done + "".join(_MARKS[style] for style in reversed(within))


def _same(one: Sequence[Style], other: Sequence[Style]) -> int:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return same


def _apart(runs: Sequence[Run]) -> Iterator[str]:
    """Yield each run as it is drawn; of two codes side by side the backticks would be read together."""
    before = ""
    for run in runs:
        yield f" {_run(run)}" if before == run.kind == "code" else _run(run)
        before = run.kind


def _run(run: Run) -> str:
    match run.kind:
        case "text":
            return words.literal(run.words)
        case "code":
            return words.code_inline(run.words)
        case "link":
            return f"<{run.words}>"


def _meant(runs: Sequence[Run]) -> Iterator[_Atom]:
    """Yield what is to be read: each character of text, each code and each address, with its styles."""
    before = ""
    for run in runs:
        styles = frozenset(run.styles)
        if before == run.kind == "code":
            yield " ", styles
        before = run.kind
        if run.kind == "text":
            yield from ((character, styles) for character in shown(run.words))
        else:
            yield _run(run), styles


def _atoms(source: str, styles: frozenset[Style] = frozenset()) -> Iterator[_Atom]:
    """Yield what Discord reads."""
    at = 0
    while at < len(source):
        if found := _ESCAPED.match(source, at):
            yield found[1], styles
        elif found := _RAW.match(source, at):
            yield found[0], styles
        elif begun := _begun(source, at):
            style, found = begun
            yield from _atoms(found[1], frozenset[Style]((*styles, style)))
        else:
            yield source[at], styles
        at = found.end() if found else at + 1


def _begun(source: str, at: int) -> tuple[Style, re.Match[str]] | None:
    best: tuple[Style, re.Match[str]] | None = None
    for style, read in _READ.items():
        found = read.match(source, at) if source[at] in "*~" else None
        if found and (best is None or len(found[0]) >= len(best[1][0])):
            best = style, found
    return best
