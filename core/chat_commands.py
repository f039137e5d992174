"""The words that mean the same on every platform: after `/sayso`, after a `!`, and after a mention.

Pure, and never generous: what is not exactly one of these words with what belongs to it is a
message. Nothing but `approve` and the id of a request approves.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from core.commands import after_mark, is_stop
from core.events import Approve, Ask, AskAgain, Deny, Lookup, Place, Stop, StopHere, Subject
from core.ids import is_request_id, resembles_request_id
from core.one_time_codes import digits
from core.principals import Identity
from core.terminal import Mistyped

Meaning: TypeAlias = Ask | Approve | Deny | AskAgain | Stop | StopHere | Lookup | Mistyped

_APPROVE = Mistyped(
    sentence="Nothing was approved. Press Approve on the card, or write `approve ID` with the id "
    "that stands on it. What begins with this word can be asked with `ask` in front of it."
)
_BURNT = Mistyped(
    sentence="Nothing was approved: a code that others can read is worth nothing. Press Approve on the "
    "card, which asks you alone, and wait for the next code."
)
_ENROL = Mistyped(
    sentence="A second factor is enrolled in a terminal on Sayso's machine, as yourself: sayso enrol. "
    "What it is made of is never sent through a chat."
)
_DENY = Mistyped(
    sentence="Nothing was denied. Press Deny on the card, or write `deny ID WHY` with the id that "
    "stands on it. What begins with this word can be asked with `ask` in front of it."
)
_AGAIN = Mistyped(
    sentence="Nothing was asked again. Press Ask again on the card, or write `again ID` with the "
    "id that stands on it."
)
_ASK = Mistyped(sentence="Say what you need, as in: ask health")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Who said something, where, and how it reached Sayso."""

    identity: Identity
    place: Place
    in_thread: bool
    """Whether it was said inside a thread, which may be a conversation."""
    known_only: bool = False
    """Whether it counts only where the thread is a conversation of ours."""
    deliveries: tuple[str, ...] = ()


def read(text: str, heard: Heard) -> Meaning | None:
    """Return what a command means; None for what is a message, which is then asked as it stands."""
    whole = text.strip()
    if is_stop(whole):
        return _stop("", heard)
    word, rest = [*(after_mark(whole) or whole).split(maxsplit=1), "", ""][:2]
    reader = _READERS.get(word.lower())
    return reader(rest.strip(), heard) if reader else None


def ask(text: str, heard: Heard) -> Ask | Mistyped:
    """Return a text as something that somebody wants; how to say it where there is none."""
    if not text.strip():
        return _ASK
    return Ask(
        identity=heard.identity,
        place=heard.place,
        text=text.strip(),
        deliveries=heard.deliveries,
        known_only=heard.known_only,
    )


def _stop(rest: str, heard: Heard) -> Stop | StopHere | None:
    if rest.lower() == "all":
        return Stop(identity=heard.identity, everything=True)
    if re.fullmatch(r"c_\S{1,62}", rest):
        return Stop(identity=heard.identity, conversation=rest)
    if rest:
        return None
    if not heard.in_thread:
        return Stop(identity=heard.identity)
    return StopHere(identity=heard.identity, place=heard.place, known_only=heard.known_only)


def _approve(rest: str, heard: Heard) -> Approve | Mistyped:
    first, more = [*rest.split(maxsplit=1), "", ""][:2]
    if more and _id(first) and digits(more):
        return _BURNT
    request = _id(rest)
    return Approve(identity=heard.identity, request=request) if request else _APPROVE


def _deny(rest: str, heard: Heard) -> Deny | Mistyped:
    first, why = [*rest.split(maxsplit=1), "", ""][:2]
    request = _id(first)
    return Deny(identity=heard.identity, request=request, reason=why) if request else _DENY


def _again(rest: str, heard: Heard) -> AskAgain | Mistyped | None:
    request = _id(rest)
    if request:
        return AskAgain(
            identity=heard.identity,
            request=request,
            place=heard.place,
            deliveries=heard.deliveries,
        )
    first = [*rest.split(maxsplit=1), ""][0]
    return _AGAIN if not rest or resembles_request_id(_bare(first)) else None


def _look(at: Subject) -> "_Reader":
    def reader(rest: str, heard: Heard) -> Lookup | None:
        if rest:
            return None
        return Lookup(
            identity=heard.identity, place=heard.place, at=at, known_only=heard.known_only
        )

    return reader


def _id(word: str) -> str | None:
    """Return the id of a request that a word is, even where it was copied as code."""
    return _bare(word) if is_request_id(_bare(word)) else None


def _bare(word: str) -> str:
    return word.strip("`").lower()


def _enrol(rest: str, heard: Heard) -> Mistyped | None:
    del heard
    return None if rest else _ENROL


_Reader: TypeAlias = Callable[[str, Heard], Meaning | None]
_READERS: Mapping[str, _Reader] = {
    "stop": _stop,
    "approve": _approve,
    "deny": _deny,
    "again": _again,
    "ask": ask,
    "enrol": _enrol,
    "help": _look("help"),
    "requests": _look("requests"),
    "runs": _look("runs"),
}
