"""What people say about whether anything may run at all, and the words for it. Pure.

A word that other bots know too, or that may begin a sentence, counts only behind a mark or a command,
or where it is the whole message: "pause the deploy" is a message.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from core.events import Place
from core.ids import is_request_id
from core.principals import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Somebody wants that nothing runs any more in their tenant."""

    identity: Identity
    reason: str = ""
    place: Place | None = None
    """Where they said so, where that is known."""
    known_only: bool = False
    """As of `core.events.Ask`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Somebody wants that things run again."""

    identity: Identity
    place: Place | None = None
    known_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """Somebody wants that a conversation in which much was denied may propose again."""

    identity: Identity
    conversation: str | None = None
    """That of the place, where none is named."""
    place: Place | None = None
    known_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakGlass:
    """Somebody lets a request run alone, for a reason. `request` is not yet believed."""

    identity: Identity
    request: str
    reason: str
    code: str = field(default="", repr=False)
    """As of `core.events.Approve`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """Somebody asks somebody else to decide a request. Neither of both is yet believed."""

    identity: Identity
    request: str
    to: str
    """A name as Sayso knows it, or an account of the place where it was said."""


Ruling: TypeAlias = Pause | Resume | Lift | BreakGlass | HandOver
Said: TypeAlias = Ruling | str
"""What somebody wants, or a sentence about how to say it, which repeats nothing of what they said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who says it, where, and whether it counts only in a conversation of ours."""

    identity: Identity
    place: Place | None = None
    known_only: bool = False


_UNMISTAKABLE = frozenset({"break-glass", "handover"})
"""Words that begin no sentence, and want an id."""


def read(word: str, rest: str, by: Speaker, *, marked: bool) -> Said | None:
    """Return what a word and the rest of its message mean; None where that is only a message."""
    reader = READERS.get(word)
    if reader is None or (rest and not marked and word not in _UNMISTAKABLE):
        return None
    return reader(rest, by)


def _pause(rest: str, by: Speaker) -> Said:
    return Pause(identity=by.identity, reason=rest, place=by.place, known_only=by.known_only)


def _resume(rest: str, by: Speaker) -> Said:
    if rest:
        return _RESUME
    return Resume(identity=by.identity, place=by.place, known_only=by.known_only)


def _lift(rest: str, by: Speaker) -> Said:
    if len(rest.split()) > 1:
        return _LIFT
    lift = Lift(identity=by.identity, place=by.place, known_only=by.known_only)
    return replace(lift, conversation=rest or None)


def _break(rest: str, by: Speaker) -> Said:
    request, why = [*rest.split(maxsplit=1), "", ""][:2]
    request = request.strip("`").lower()
    if not is_request_id(request) or not why:
        return _BREAK
    return BreakGlass(identity=by.identity, request=request, reason=why)


def _hand_over(rest: str, by: Speaker) -> Said:
    request, to = [*rest.split(maxsplit=1), "", ""][:2]
    request = request.strip("`").lower()
    if not is_request_id(request) or len(to.split()) != 1:
        return _HAND_OVER
    return HandOver(identity=by.identity, request=request, to=to.strip("<>").removeprefix("@"))


_BREAK = "Nothing was let through. Write `break-glass ID WHY` with the id that stands on the card."
_HAND_OVER = "Nobody was asked. Write `handover ID NAME` with the id that stands on the card."
_RESUME = "Nothing was resumed: resume takes nothing after it."
_LIFT = "Nothing was lifted: lift takes nothing, or one conversation."
READERS: Mapping[str, Callable[[str, Speaker], Said]] = {
    "pause": _pause,
    "resume": _resume,
    "lift": _lift,
    "break-glass": _break,
    "handover": _hand_over,
}
