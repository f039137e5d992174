"""A typed line, read: the same events as of any platform, and what only a terminal has. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from core import chat_commands, rulings
from core.chat_commands import Heard
from core.commands import is_stop
from core.display import sound
from core.events import (
    Approve,
    Ask,
    AskAgain,
    Deny,
    Found,
    LinkWish,
    ProposeGrant,
    RevokeGrant,
    Stop,
    UndoRun,
    WantOutput,
)
from core.ids import is_request_id, resembles_request_id
from core.link_words import deed
from core.one_time_codes import digits
from core.rulings import Lift, Speaker
from core.terminal import (
    Bare,
    Become,
    Begin,
    Event,
    Leave,
    Look,
    Mistyped,
    Resolve,
    Seat,
    Show,
    Typed,
    Verb,
)

_FOUND: Mapping[str, Found] = {"verify": "verify", "happened": "happened", "did-not": "did_not"}
_UNKNOWN = Mistyped(
    sentence="There is no such command here; /help lists them. What begins with a / can be asked "
    "with /ask in front of it."
)
_ONE_LINE = Mistyped(sentence="A command is one line. Type it again without the rest.")
_NO_ID = Mistyped(
    sentence="That is no id, so nothing was denied. Copy it from the card: /deny ID WHY"
)
_EDIT = Mistyped(
    sentence="Write /edit, the id on the card, and NAME=VALUE for what is to change, with quotes "
    "around a value that has blanks. Where the plan has several calls, the number of one stands "
    "behind the id."
)
_ONE_ID = Mistyped(
    sentence="Name one request, by the id on its card, or none where only one waits."
)
_RESOLVE = Mistyped(
    sentence="Write /resolve verify, /resolve happened or /resolve did-not; with the run and the "
    "number of the step before that, where several are unknown."
)
_ONE_RUN = Mistyped(sentence="Name one run, by the id in its report: /undo RUN")
_ONE_STEP = Mistyped(
    sentence="Name one run and one of its steps, as its report does: /output RUN INDEX"
)
_LINK = Mistyped(
    sentence="Write /link, /link CODE, /link confirm ID, /link refuse ID, /links, or /unlink."
)
_NO_ARGUMENT = Mistyped(sentence="This command takes nothing after it.")


def read(line: str, seat: Seat) -> Typed | None:
    """Return what a line means from where somebody sits; None for one with nothing in it."""
    text = sound(line).strip()
    if is_stop(text):
        return _stop("", seat)
    if text.startswith("/"):
        return _command(text, seat)
    return _ask(text, seat) if text else None


def _command(text: str, seat: Seat) -> Typed:
    word, rest = [*text.split(maxsplit=1), ""][:2]
    if word.lower() == "/sayso":  # as what is said everywhere tells people to type it
        return read(f"/{rest or 'help'}", seat) or _UNKNOWN
    reader = _READERS.get(word.lower(), _unknown)
    if reader not in {_ask, _unknown} and len(text.splitlines()) > 1:
        return _ONE_LINE
    return reader(rest.strip(), seat)


def _unknown(_: str, __: Seat) -> Typed:
    return _UNKNOWN


def _ask(rest: str, seat: Seat) -> Event | Mistyped:
    if not rest:
        return Mistyped(sentence="Say what you need, as in: /ask health")
    return Ask(identity=seat.identity, place=seat.place, text=rest, conversation=seat.conversation)


def _stop(rest: str, seat: Seat) -> Event | Mistyped:
    if rest == "all":
        return Stop(identity=seat.identity, everything=True)
    if len(rest.split()) > 1:
        return Mistyped(sentence="/stop takes nothing, one conversation, or `all`.")
    return Stop(identity=seat.identity, conversation=rest or seat.conversation)


def _approve(rest: str, seat: Seat) -> Typed:
    first, code = [*rest.split(maxsplit=1), "", ""][:2]
    if code and digits(code) is None:
        return _ONE_ID
    if not first:
        return _bare("approve")
    return Approve(identity=seat.identity, request=first, code=code)


def _edit(rest: str, seat: Seat) -> Typed:
    return chat_commands.edit(rest, seat.identity) or _EDIT


def _again(rest: str, seat: Seat) -> Typed:
    if len(rest.split()) > 1:
        return _ONE_ID
    return AskAgain(identity=seat.identity, request=rest) if rest else _bare("again")


def _undo(rest: str, seat: Seat) -> Typed:
    return UndoRun(identity=seat.identity, run=rest) if len(rest.split()) == 1 else _ONE_RUN


def _output(rest: str, seat: Seat) -> Typed:
    heard = Heard(identity=seat.identity, place=seat.place, in_thread=True)
    found = chat_commands.read(f"output {rest}", heard)
    return found if isinstance(found, WantOutput) else _ONE_STEP


def _linking(word: str) -> Callable[[str, Seat], Typed]:
    def reader(rest: str, seat: Seat) -> Typed:
        found = deed(word, rest)
        if found is None:
            return _LINK
        return LinkWish(identity=seat.identity, what=found[0], given=found[1])

    return reader


def _show(rest: str, _: Seat) -> Show | Mistyped:
    return _ONE_ID if len(rest.split()) > 1 else Show(request=rest or None)


def _deny(rest: str, seat: Seat) -> Typed:
    first, *reason = rest.split(maxsplit=1) or [""]
    if is_request_id(first.lower()):
        return Deny(identity=seat.identity, request=first.lower(), reason="".join(reason))
    if resembles_request_id(first.lower()):
        return _NO_ID
    return _bare("deny", rest)


def _bare(verb: Verb, reason: str = "") -> Bare:
    return Bare(verb=verb, reason=reason)


def _word(word: str) -> Callable[[str, Seat], Typed]:
    """Return what reads a command that means the same on every platform."""

    def read(rest: str, seat: Seat) -> Typed:
        heard = Heard(identity=seat.identity, place=seat.place, in_thread=True)
        found = chat_commands.read(f"{word} {rest}", heard) or chat_commands.read(word, heard)
        return found if isinstance(found, ProposeGrant | RevokeGrant | Mistyped) else _UNKNOWN

    return read


def _resolve(rest: str, _: Seat) -> Resolve | Mistyped:
    *where, last = rest.split() or [""]
    found = _FOUND.get(last)
    match where:
        case [] if found:
            return Resolve(found=found)
        case [run, index] if found and re.fullmatch(r"[0-9]{1,4}", index):
            return Resolve(found=found, run=run, index=int(index))
        case _:
            return _RESOLVE


def _as(rest: str, _: Seat) -> Become | Mistyped:
    names = rest.split()
    return Become(name=names[0]) if len(names) == 1 else Mistyped(sentence="Write /as and a name.")


def _alone(meaning: Typed) -> Callable[[str, Seat], Typed]:
    return lambda rest, _: _NO_ARGUMENT if rest else meaning


def _ruling(word: str) -> Callable[[str, Seat], Typed]:
    def reader(rest: str, seat: Seat) -> Typed:
        said = rulings.READERS[word](rest, Speaker(identity=seat.identity, place=seat.place))
        if isinstance(said, str):
            return Mistyped(sentence=said)
        if isinstance(said, Lift) and said.conversation is None:
            return replace(said, conversation=seat.conversation)
        return said

    return reader


_READERS: Mapping[str, Callable[[str, Seat], Typed]] = {
    "/ask": _ask,
    "/stop": _stop,
    "/approve": _approve,
    "/deny": _deny,
    "/show": _show,
    "/edit": _edit,
    "/again": _again,
    "/resolve": _resolve,
    "/undo": _undo,
    "/output": _output,
    "/link": _linking("link"),
    "/links": _linking("links"),
    "/unlink": _linking("unlink"),
    "/as": _as,
    **{f"/{word}": _ruling(word) for word in rulings.READERS},
    "/new": _alone(Begin()),
    "/help": _alone(Look(at="help")),
    "/history": _alone(Look(at="history")),
    "/requests": _alone(Look(at="requests")),
    "/runs": _alone(Look(at="runs")),
    "/grant": _word("grant"),
    "/revoke": _word("revoke"),
    "/grants": _alone(Look(at="grants")),
    "/quit": _alone(Leave()),
}
