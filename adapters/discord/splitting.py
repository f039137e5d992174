"""Long texts in several messages: parts, packed in order, of which nothing is lost but space at a cut."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from adapters.discord import words
from adapters.discord.styles import Run, inline
from adapters.discord.words import length

MOST = 1_900
"""How many characters one message may have here. Discord refuses more than 2,000 from software."""
_LITTLE = 200
"""Less room than this at the end of a message is left rather than begin something long there."""
_DEEPEST = 6
_LARGEST_HEADING = 3

Kind: TypeAlias = Literal["text", "code", "quote", "item", "heading"]
_Halves: TypeAlias = tuple[tuple[Run, ...], tuple[Run, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A paragraph, a heading, a block of code, a quote or an item of a list."""

    runs: tuple[Run, ...]
    kind: Kind = "text"
    info: str = ""
    """The language of code."""
    level: int = 0
    """Of a heading, or how deep an item stands."""
    number: int | None = None
    """Of an item in a list that counts."""
    group: int = 0
    """Parts of one quote have the same."""


def packed(parts: Iterable[Part], most: int = MOST) -> Iterator[list[Part]]:
    """Yield what goes into each message, all of it in order."""
    now = list[Part]()
    for part in parts:
        rest: Part | None = part
        while rest is not None:
            room = most - length(drawn(now)) - len(_between(now, rest))
            if length(drawn([rest])) <= room:
                now.append(rest)
                rest = None
                continue
            first: Part | None = None
            after: Part | None = rest
            if not now or (length(drawn([rest])) > most and room > _LITTLE):
                first, after = cut(rest, room)
            if first is None and not now:
                first, after = rest, None
            kept = now if first else _without_heading(now)
            yield [*kept, first] if first else kept
            now, rest = now[len(kept) :], after
    if now:
        yield now


def _without_heading(parts: list[Part]) -> list[Part]:
    """Return parts without a heading at the end, which belongs to what follows it."""
    more = len(parts) > 1 and parts[-1].kind == "heading" and parts[-2].kind != "heading"
    return parts[:-1] if more else parts


def drawn(parts: Sequence[Part]) -> str:
    """Return parts in Discord's Markdown."""
    done = ""
    for number, part in enumerate(parts):
        done += _between(parts[:number], part) + _drawn(part)
    return done


def _between(before: Sequence[Part], part: Part) -> str:
    if not before:
        return ""
    last = before[-1]
    apart = last.kind == part.kind and (
        part.kind == "text" or (part.kind == "quote" and last.group != part.group)
    )
    return "\n\n" if apart else "\n"


def _drawn(part: Part) -> str:
    if part.kind == "code":
        return words.code(said(part), part.info)
    first, others = _before(part)
    line, *lines = inline(part.runs).split("\n")
    return "\n".join([f"{first}{line}", *(f"{others}{more}" for more in lines)])


def _before(part: Part) -> tuple[str, str]:
    """Return what stands before the first line of a part, and before all others."""
    match part.kind:
        case "heading":
            return f"{'#' * min(part.level, _LARGEST_HEADING)} ", ""
        case "quote":
            return "> ", "> "
        case "item":
            before = "  " * min(part.level, _DEEPEST)
            mark = "- " if part.number is None else f"{part.number}. "
            return f"{before}{mark}", f"{before}{' ' * len(mark)}"
        case _:
            return "", ""


def said(part: Part) -> str:
    """Return the words of a part alone."""
    return "".join(run.words for run in part.runs)


def cut(part: Part, room: int) -> tuple[Part | None, Part | None]:
    """Return what of a part fits into this room, and the rest."""
    most = _most(part, room)
    halves = _halves(part.runs, most)
    # Fewer words may be drawn longer: Discord would misread a style there, or a code has no end.
    for nicer in (
        _bare(part.kind, _halves(part.runs, at)) for at in (_break(said(part), most), most)
    ):
        if length(_drawn(replace(part, runs=nicer[0]))) <= room:
            halves = nicer
            break
    first, rest = halves
    after = replace(part, runs=rest, kind=_rest_of(part.kind))
    return (replace(part, runs=first) if first else None), (after if rest else None)


def _rest_of(kind: Kind) -> Kind:
    return kind if kind in {"quote", "code"} else "text"


def _bare(kind: Kind, halves: _Halves) -> _Halves:
    """Return both halves without the space at the cut."""
    first, rest = halves
    if kind == "code":
        return _without_break(first), rest
    return _stripped(first, -1), _stripped(rest, 0)


def _most(part: Part, room: int) -> int:
    """Return how many characters of a part fit."""
    fits, beyond = 0, min(len(said(part)), max(room, 0)) + 1
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        first, _ = _halves(part.runs, middle)
        if length(_drawn(replace(part, runs=first))) <= room:
            fits = middle
        else:
            beyond = middle
    return fits


def _halves(runs: Sequence[Run], at: int) -> _Halves:
    """Return runs up to a character, and from it on; a link is never cut."""
    for number, run in enumerate(runs):
        if len(run.words) <= at:
            at -= len(run.words)
            continue
        if at == 0 or run.kind == "link":
            return tuple(runs[:number]), tuple(runs[number:])
        one, other = replace(run, words=run.words[:at]), replace(run, words=run.words[at:])
        return (*runs[:number], one), (other, *runs[number + 1 :])
    return tuple(runs), ()


def _stripped(runs: tuple[Run, ...], at: int) -> tuple[Run, ...]:
    """Return runs without space at this end: a style that ends in space is none to Discord."""
    if not runs or runs[at].kind != "text":
        return runs
    bare = runs[at].words.rstrip() if at else runs[at].words.lstrip()
    kept = (replace(runs[at], words=bare),) if bare else ()
    return (*runs[:-1], *kept) if at else (*kept, *runs[1:])


def _without_break(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Return code without the end of its last line: the fence below it begins a line anyway."""
    if not runs:
        return runs
    bare = replace(runs[-1], words=runs[-1].words.removesuffix("\n"))
    return (*runs[:-1], bare) if bare.words else runs


def _break(whole: str, most: int) -> int:
    """Return where to cut within `most` characters: after a line or a word, where one ends late."""
    if most >= len(whole):
        return most
    for mark in ("\n", " "):
        at = whole.rfind(mark, 0, most) + 1
        if at > most // 2:
            return at
    return most
