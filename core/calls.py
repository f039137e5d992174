"""A model's calls as they are kept: every id once, bounded, without secrets, and with exact JSON."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import count

from core.canonical import Json, encode
from core.display import one_line, sound, strings
from core.errors import Refused
from core.fitting import cut
from core.redaction import Redactor
from core.transcript import Called, Entry, Spoke, ToolCall, Use, Wire

_ID = re.compile(r"[!-~]{1,200}")
_TOOL = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_DEEPEST = 64
UNNAMED = "_unnamed_"
"""Stands for a tool's name that no provider would take back; no tool has it, whatever it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a model wants to call, safe to keep; `ambiguous` where one id stood for two calls."""

    calls: tuple[ToolCall, ...]
    ambiguous: bool
    kept: Called


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The ids that calls of one turn may have, so that none comes twice in a conversation."""

    turn: str
    before: AbstractSet[str] | None
    """Those of the turns before; None where they were not read: then each is named after its turn."""
    used: set[str] = field(default_factory=set[str])
    """Those of this turn."""

    def is_free(self, name: str) -> bool:
        """Return whether nothing is called that, as far as is known."""
        return name not in self.used and name not in (self.before or ())

    def fresh(self, own: str | None) -> str:
        """Return an id that nothing has yet, and take it: a call's own where that can be known."""
        if own is not None and self.before is not None and self.is_free(own):
            name = own
        else:
            stem = "call" if self.before is not None else f"call_{self.turn}"
            numbers = count(len(self.before or ()) + len(self.used) + 1)
            name = next(n for n in map(f"{stem}_{{}}".format, numbers) if self.is_free(n))
        self.used.add(name)
        return name


def ids_of(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the ids of all calls in a transcript."""
    return frozenset(
        call.id for entry in entries if isinstance(entry, Called) for call in entry.calls
    )


def step(move: Use, names: Names, most: int, redactor: Redactor) -> Step:
    """Return the calls of a move, each with an id that is new in its conversation.

    One whose arguments have more than `most` bytes, or no exact JSON form, keeps none of them and
    has a `fault`. The provider's own blocks are kept only where they say exactly the same.
    """
    calls = tuple(
        _sound(call, names.fresh(_own(call, redactor)), most, redactor) for call in move.calls
    )
    kept = tuple(replace(call, arguments=_masked(call, redactor)) for call in calls)
    text = spoken(move.text, Wire(), redactor).text
    same = (kept, text) == (move.calls, move.text)
    content = _content(move.wire, redactor) if same else ""
    ambiguous = len({call.id for call in move.calls}) < len(move.calls)
    return Step(
        calls=calls, ambiguous=ambiguous, kept=Called(calls=kept, text=text, content=content)
    )


def spoken(text: str, wire: Wire, redactor: Redactor) -> Spoke:
    """Return a model's words as they are kept."""
    kept = said(text, redactor)
    return Spoke(text=kept, content=_content(wire, redactor) if kept == text else "")


def said(text: str, redactor: Redactor) -> str:
    """Return what a model wrote as people and stores get it: sound, without secrets, and bounded."""
    return cut(redactor.text(sound(text)))


def _content(wire: Wire, redactor: Redactor) -> str:
    """Return the provider's blocks byte for byte, or nothing where they could not be kept as they are."""
    content = wire.content
    clean = sound(content) == content and _clean(content, redactor, escaped=True)
    return content if clean else ""


def _clean(text: str, redactor: Redactor, *, escaped: bool) -> bool:
    """Return whether a text holds no secret, behind the escapes of JSON either.

    What is `escaped` and cannot be read may hide one; any other text may be no JSON at all.
    """
    if redactor.text(text) != text:
        return False
    if "\\" not in text:
        return True
    try:
        # Pairs stay pairs, so that of two equal keys none is lost.
        value = json.loads(text, object_pairs_hook=list)
        return all(_clean(inner, redactor, escaped=False) for inner in strings(value))
    except (ValueError, RecursionError):
        return not escaped


def _masked(call: ToolCall, redactor: Redactor) -> dict[str, Json]:
    return {redactor.text(name): redactor.value(value) for name, value in call.arguments.items()}


def _own(call: ToolCall, redactor: Redactor) -> str | None:
    """Return the id that a call came with, unless it is a secret or not to be sent back."""
    return call.id if _kept_as_it_is(_ID, call.id, redactor) else None


def _kept_as_it_is(shape: re.Pattern[str], name: str, redactor: Redactor) -> bool:
    return bool(shape.fullmatch(name)) and redactor.text(name) == name


def _sound(call: ToolCall, name: str, most: int, redactor: Redactor) -> ToolCall:
    fault = one_line(redactor.text(call.fault)) or _fault(call, most)
    return ToolCall(
        id=name,
        tool=call.tool if _kept_as_it_is(_TOOL, call.tool, redactor) else UNNAMED,
        arguments={} if fault else call.arguments,
        fault=fault,
    )


def _fault(call: ToolCall, most: int) -> str:
    if _nested(call.arguments):
        return f"The arguments are nested more than {_DEEPEST} levels deep."
    try:
        size = len(encode(call.arguments).encode())
    except Refused as error:
        return error.shown
    return f"The arguments are larger than {most} bytes." if size > most else ""


def _nested(value: Json) -> bool:
    """Return whether a value is nested too deeply, without going as deep as it does."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
