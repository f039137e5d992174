"""How far one turn may go, and how what a model is given is measured."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from core.canonical import Json, encode
from core.errors import Invalid, Refused
from core.transcript import Called, Compacted, Entry, Spoke, values

_SHARE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far one turn may go; raises `Invalid` for whatever is no positive number."""

    turns: int = 8
    """Times that the model may move."""
    tool_calls: int = 16
    tokens: int = 200_000
    """In and out together, as the provider counts them: the default is six moves with prompts of
    25,000 each, which few questions need, and a conclusion with two of those."""
    seconds: float = 120.0
    """Of wall clock, with all that comes before the first move; whatever is in flight is cancelled."""
    prompt_bytes: int = 256 * 1024
    argument_bytes: int = 32 * 1024
    """Of one call."""
    result_bytes: int = 64 * 1024
    """Of one call."""
    conclusion_seconds: float = 20.0
    """Kept back from `seconds` for a concluding message, but never more than a quarter of them."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _positive(field.name, getattr(self, field.name), whole=field.type is int)

    @property
    def kept_bytes(self) -> int:
        """Return how large a conversation may be at the end of a turn: the rest is for the next message."""
        return self.prompt_bytes - self.prompt_bytes // _SHARE

    @property
    def begun_bytes(self) -> int:
        """Return how large a conversation may be where a turn begins: the rest is for its results."""
        return self.kept_bytes - self.kept_bytes // _SHARE

    @property
    def least_bytes(self) -> int:
        """Return what may always be kept of a step, so that a small one is kept as it is to the end."""
        return self.prompt_bytes // _SHARE**3

    def room(self, used: int) -> int:
        """Return the bytes that what is kept of a step or an answer may have in a prompt of so many."""
        return max(self.kept_bytes - used, self.least_bytes)

    @property
    def move_tokens(self) -> int:
        """Return the tokens that all moves may take: the rest is for a concluding message."""
        return self.tokens - self.tokens // _SHARE

    @property
    def reserve(self) -> float:
        """Return the seconds at the end of a turn in which nothing but a conclusion is written."""
        return min(self.conclusion_seconds, self.seconds / _SHARE)


def prompt_bytes(entries: Iterable[Entry]) -> int:
    """Return the size of entries in a prompt: canonical bytes, where the provider's are not known.

    Raises `Refused` where an entry has no canonical form.
    """
    return sum(map(_entry_bytes, entries))


def _entry_bytes(entry: Entry) -> int:
    match entry:
        case Called(content=content) | Spoke(content=content) if content:
            return len(content.encode())
        case Called():
            return _bytes(values(entry))
        case Compacted():
            return len(entry.text.encode())
        case _:
            return _text_bytes(entry)


def _text_bytes(entry: Entry) -> int:
    """Measure an entry without fractions: its plain JSON is as long as the canonical one, and cheap."""
    try:
        return len(_PLAIN.encode(entry).encode())
    except UnicodeEncodeError as error:
        raise Refused("This text holds half a character, so it has no exact JSON form.") from error


_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=values)


def _bytes(value: Json) -> int:
    return len(encode(value).encode())


def _positive(name: str, value: object, *, whole: bool) -> None:
    kinds = (int,) if whole else (int, float)
    sound = isinstance(value, kinds) and not isinstance(value, bool)
    if not sound or not math.isfinite(value) or value <= 0:  # type: ignore[operator, arg-type]  # a number, as `sound` says
        kind = "a whole number" if whole else "a number"
        raise Invalid(f"The limit {name} has to be {kind} above zero.")
