"""The words that mean the same on every platform: after `/sayso`, after a `!`, and after a mention.

Pure, and never generous: what is not exactly one of these words with what belongs to it is a
message. Nothing but `approve` and the id of a request approves.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from core import durations, rulings
from core.commands import after_mark, assigned, is_stop
from core.events import (
    Approve,
    Ask,
    AskAgain,
    Deny,
    Edit,
    LinkWish,
    Lookup,
    Place,
    ProposeGrant,
    RevokeGrant,
    Stop,
    StopHere,
    Subject,
    UndoRun,
    WantOutput,
)
from core.ids import is_grant_id, is_request_id, is_run_id, resembles_request_id
from core.link_words import deed
from core.one_time_codes import digits
from core.principals import Identity
from core.rulings import Ruling, Speaker
from core.terminal import Mistyped

Meaning: TypeAlias = (
    Ask
    | Approve
    | Deny
    | Edit
    | AskAgain
    | ProposeGrant
    | RevokeGrant
    | UndoRun
    | WantOutput
    | LinkWish
    | Stop
    | StopHere
    | Lookup
    | Ruling
    | Mistyped
)

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
_EDIT = Mistyped(
    sentence="Nothing was edited. Press Edit on the card, or write `edit ID NAME=VALUE` with the id "
    "that stands on it: several of them, if you like, and quotes around a value with blanks. Where "
    "the plan has several calls, the number of one stands behind the id."
)
_GRANT = Mistyped(
    sentence="No standing grant was proposed. Write `grant ID USES TIME` with the id that stands on "
    "the card, as in `grant ID 5 1h`."
)
_REVOKE = Mistyped(
    sentence="Nothing was revoked. Write `revoke ID` with the id that `grants` lists, g_ and 32 digits."
)
_ALONE = Mistyped(
    sentence="Write that as a slash command, as in /sayso link: then you alone see what comes of it."
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
    alone: bool = True
    """Whether nobody else is shown what comes of it."""


def read(text: str, heard: Heard, *, is_command: bool = False) -> Meaning | None:
    """Return what a command means; None for what is a message, which is then asked as it stands.

    `is_command` says that the platform itself says that it is one.
    """
    whole = text.strip()
    if is_stop(whole):
        return _stop("", heard)
    word, rest = [*(after_mark(whole) or whole).split(maxsplit=1), "", ""][:2]
    reader = _READERS.get(word.lower())
    if reader:
        return reader(rest.strip(), heard)
    by = Speaker(identity=heard.identity, place=heard.place, known_only=heard.known_only)
    marked = is_command or after_mark(whole) is not None
    said = rulings.read(word.lower(), rest.strip(), by, marked=marked)
    return Mistyped(sentence=said) if isinstance(said, str) else said


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


def _edit(rest: str, heard: Heard) -> Edit | Mistyped | None:
    first = [*rest.split(maxsplit=1), ""][0]
    if rest and not resembles_request_id(_bare(first)):
        return None
    return edit(rest, heard.identity) or _EDIT


def edit(text: str, identity: Identity) -> Edit | None:
    """Return what `ID [CALL] NAME=VALUE …` means; None for anything else."""
    first, rest = [*text.split(maxsplit=1), "", ""][:2]
    numbered = re.match(r"([0-9]{1,4})(?:\s+|\Z)", rest)
    values = assigned(rest[numbered.end() :] if numbered else rest)
    request = _id(first)
    if request is None or not values:
        return None
    call = int(numbered[1]) if numbered else None
    return Edit(identity=identity, request=request, values=values, call=call)


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


def _grant(rest: str, heard: Heard) -> ProposeGrant | Mistyped | None:
    first, uses, lasts, *more = [*rest.split(), "", "", ""]
    if rest and not resembles_request_id(_bare(first)):
        return None
    request, span = _id(first), _span(lasts)
    if request is None or span is None or any(more) or not re.fullmatch("[1-9][0-9]{0,5}", uses):
        return _GRANT
    return ProposeGrant(identity=heard.identity, request=request, uses=int(uses), lasts=span)


def _span(text: str) -> timedelta | None:
    try:
        return durations.parse(text)
    except ValueError:
        return None


def _revoke(rest: str, heard: Heard) -> RevokeGrant | Mistyped | None:
    if is_grant_id(_bare(rest)):
        return RevokeGrant(identity=heard.identity, grant=_bare(rest))
    return _REVOKE if not rest or _bare(rest).startswith("g_") else None


def _undo(rest: str, heard: Heard) -> UndoRun | None:
    """Take a run or its request: all else that begins with this word is a message."""
    run = rest.strip("`")
    if not (is_run_id(run) or is_request_id(run)):
        return None
    return UndoRun(identity=heard.identity, run=run, place=heard.place, deliveries=heard.deliveries)


def _output(rest: str, heard: Heard) -> WantOutput | None:
    """Take a run and the number of a step: all else that begins with this word is a message."""
    run, index, *more = [*rest.replace("`", "").split(), "", ""]
    if not is_run_id(run) or any(more) or not re.fullmatch("[0-9]{1,4}", index):
        return None
    by, at, known = heard.identity, heard.place, heard.known_only
    return WantOutput(identity=by, place=at, run=run, index=int(index), known_only=known)


def _linking(word: str) -> "_Reader":
    def reader(rest: str, heard: Heard) -> LinkWish | Mistyped | None:
        found = deed(word, rest)
        if found is None or heard.alone:
            return found and LinkWish(
                identity=heard.identity,
                what=found[0],
                given=found[1],
                place=heard.place,
                known_only=heard.known_only,
            )
        return _ALONE

    return reader


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
    "edit": _edit,
    "grant": _grant,
    "grants": _look("grants"),
    "revoke": _revoke,
    "undo": _undo,
    "output": _output,
    "link": _linking("link"),
    "links": _linking("links"),
    "unlink": _linking("unlink"),
    "ask": ask,
    "enrol": _enrol,
    "help": _look("help"),
    "requests": _look("requests"),
    "runs": _look("runs"),
}
