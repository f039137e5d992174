"""Phrases: what people can write instead of a call, matched word for word and never guessed.

A text is a list of clauses, joined by a new line, `;`, "and" or "then". Every word of a clause is a
word of one phrase, a value of its parameters, or politeness (at most three such words in a row).
A text that can be read in two ways is not read at all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from pydantic import ValidationError

from core.canonical import Json
from core.commands import typed
from core.errors import Incorrect
from core.tools import Tool, Toolbox
from core.transcript import ToolCall
from core.words import POLITE, Word, fold, negates, splits, words_of

JOINTS = frozenset({"\n", ";", "and", "then"})

_LONGEST = 12_000
_MOST_WORDS = 1_000
_MOST_CLAUSES = 50
_MOST_STATES = 200
_TWO = 2  # readings are enough to know that a text is not certain
_POLITE_IN_A_ROW = 3
_PIECES_OF_A_JOINT = 4
_PLACEHOLDER = re.compile(r"\{\w*\}")

Arguments: TypeAlias = tuple[tuple[str, Json], ...]
Call: TypeAlias = tuple[str, Arguments]
State: TypeAlias = tuple[int, Arguments]
Reader: TypeAlias = Callable[[Tool, str, str], Json]
T = TypeVar("T")


class _Unclear(Exception):
    """There is more to read here than anybody means."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or a `;`."""

    text: str
    glued: bool
    """No white space stands before it, so it may also continue a word."""


def interpret(text: str, tools: Toolbox, *, first: int = 1) -> tuple[ToolCall, ...]:
    """Return the calls that a text certainly means; none where that is not certain.

    One clause of which only the values do not fit is returned too: its tool refuses them, and says
    what it expects.
    """
    try:
        pieces = _pieces(text)
        readings = _readings(pieces, tools) or _misfits(pieces, tools)
    except _Unclear:
        return ()
    calls = readings[0] if len(readings) == 1 else ()
    return tuple(
        ToolCall(id=f"call_{number}", tool=name, arguments=dict(arguments))
        for number, (name, arguments) in enumerate(calls, first)
    )


def fitting(tool: Tool, name: str, text: str) -> Json:
    """Return the value that a text spells; raise `Incorrect` where its parameter refuses it."""
    value = typed(tool, name, text)
    try:
        tool.parameters.model_validate({name: value})
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        if any(problem["loc"][:1] == (name,) for problem in problems):
            raise Incorrect(f"{tool.name}: `{name}` does not take this.") from error
    return value


def _pieces(text: str) -> tuple[Piece, ...]:
    if len(text) > _LONGEST or text.count(";") > _MOST_CLAUSES:
        raise _Unclear
    found: list[Piece] = []
    for line in filter(str.strip, text.splitlines()):
        found += [Piece("\n", glued=False)] if found else []
        for word in line.split():
            parts = filter(None, re.split("(;)", word))
            found += [Piece(part, glued=at > 0) for at, part in enumerate(parts)]
    if len(found) > _MOST_WORDS:
        raise _Unclear
    return tuple(found)


def _readings(pieces: Sequence[Piece], tools: Toolbox) -> list[tuple[Call, ...]]:
    """Return the readings of the whole text, but no more than two of them."""
    found: dict[int, list[tuple[Call, ...]]] = {0: [()]} if pieces else {}
    for start in range(len(pieces)):
        before = found.get(start, [])
        if any(len(reading) >= _MOST_CLAUSES for reading in before):
            raise _Unclear
        for end, call in _clauses(pieces, start, tools, fitting) if before else ():
            for following in _past_joint(pieces, end):
                known = found.setdefault(following, [])
                longer = [(*reading, call) for reading in before if len(known) < _TWO]
                found[following] = _unique([*known, *longer])[:_TWO] if longer else known
    return found.get(len(pieces), [])


def _misfits(pieces: Sequence[Piece], tools: Toolbox) -> list[tuple[Call, ...]]:
    """Return the readings of the text as one clause in which any word is a value."""
    clauses = _clauses(pieces, 0, tools, _as_it_stands) if pieces else []
    return [(call,) for end, call in clauses if len(pieces) in _past_joint(pieces, end)]


def _clauses(
    pieces: Sequence[Piece], start: int, tools: Toolbox, read: Reader
) -> list[tuple[int, Call]]:
    """Return every call that begins here, with where its words end."""
    return _unique(
        (end, (tool.name, arguments))
        for tool in tools
        for words in map(words_of, tool.phrases)
        if words and (read is fitting or any(name is None for word in words for _, name in word))
        for end, arguments in _matches(tool, words, pieces, start, read)
    )


def _matches(
    tool: Tool, words: Sequence[Word], pieces: Sequence[Piece], start: int, read: Reader
) -> Iterator[State]:
    states: list[State] = [(start, ())]
    for word in words:
        states = _unique(
            (end, arguments)
            for at, known in states
            for begin in _past_politeness(pieces, at, start)
            for end, text in _spans(pieces, begin, start)
            for arguments in _bound(tool, word, text, known, read)
        )
        if len(states) > _MOST_STATES:
            raise _Unclear
    for at, known in states:
        yield from ((end, known) for end in _past_politeness(pieces, at, start))


def _bound(
    tool: Tool, word: Word, text: str, known: Arguments, read: Reader
) -> Iterator[Arguments]:
    """Yield the arguments after this word, once for each way in which it can be taken apart."""
    for count, texts in enumerate(splits(word, text, fold(text))):
        if count >= _MOST_STATES:
            raise _Unclear
        if texts and (negates(text) or any(map(_is_no_value, texts.values()))):
            continue
        try:
            given = {name: read(tool, name, spelt) for name, spelt in texts.items()}
        except Incorrect:
            continue
        if all(given.get(name, value) == value for name, value in known):
            yield tuple(sorted({**dict(known), **given}.items(), key=lambda item: item[0]))


def _is_no_value(text: str) -> bool:
    return negates(text) or _PLACEHOLDER.fullmatch(text) is not None


def _as_it_stands(tool: Tool, name: str, text: str) -> Json:
    try:
        return typed(tool, name, text)
    except Incorrect:
        return text


def _spans(pieces: Sequence[Piece], at: int, start: int) -> Iterator[tuple[int, str]]:
    """Yield each word that begins here: a `;` inside may belong to it or end the clause."""
    text = ""
    for end in range(at, len(pieces)):
        glued = pieces[end].glued and end != start
        if pieces[end].text == "\n" or glued != (end > at):
            return
        text += pieces[end].text
        after = pieces[end + 1 : end + 2]
        if not after or not after[0].glued or after[0].text == ";":
            yield end + 1, text


def _past_politeness(pieces: Sequence[Piece], at: int, start: int) -> Iterator[int]:
    """Yield every place where the next word may begin."""
    yield at
    for _ in range(_POLITE_IN_A_ROW):
        if at >= len(pieces) or (pieces[at].glued and at != start):
            return
        one, two = (" ".join(p.text for p in pieces[at : at + n]) for n in (1, 2))
        sizes = [n for n, words in ((1, one), (2, two)) if fold(words).rstrip(",.!") in POLITE]
        if not sizes:
            return
        at += sizes[0]
        yield at


def _past_joint(pieces: Sequence[Piece], at: int) -> Iterator[int]:
    """Yield every place where the next clause may begin; the end where nothing more is said."""
    if all(piece.text in {"\n", ";"} for piece in pieces[at:]):
        yield len(pieces)
    for following in range(at + 1, min(len(pieces), at + 1 + _PIECES_OF_A_JOINT)):
        if fold(pieces[following - 1].text) not in JOINTS:
            return
        yield following


def _unique(items: Iterable[T]) -> list[T]:
    """Return each item once; by its spelling, for 1 equals true."""
    return list({repr(item): item for item in items}.values())
