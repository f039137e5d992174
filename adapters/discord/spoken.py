"""What somebody wrote in a channel, a thread or a direct message. Pure."""

from adapters.discord import typed
from adapters.discord.findings import Act, Finding, Ignored, Sentence, Us
from adapters.discord.seen import Removed, Rewritten, Written
from adapters.discord.whereabouts import (
    NOBODYS,
    SOFTWARE,
    UNCLEAR,
    UNKNOWN,
    Spot,
    heard,
    is_id,
    meant,
    spot,
)
from core import chat_commands
from core.chat_commands import Heard, Meaning
from core.commands import after_mark, is_stop
from core.events import Edited

_NOBODY = Ignored(why="nobody spoke to Sayso")
_SAME = Ignored(why="it is an edit that changes no word")


def written(said: Written, us: Us) -> Finding:
    """Read a new message."""
    at = _spot(said, us)
    if not isinstance(at, Spot):
        return at
    if at.is_direct or _is_called(said, us):
        return _said(said, at, us)
    if not _may_be_for_us(said, at, us):
        return _NOBODY
    return _overheard(said, at, us)


def _is_called(said: Written, us: Us) -> bool:
    """Whether a message mentions Sayso, or answers it and nobody else.

    A reply tells its author without mentioning them: one to somebody else calls nobody (P-12).
    """
    answers_us = said.answers == us.user and not typed.begins_with_a_mention(said.text)
    return answers_us or typed.mentions(said.text, us.user, us.roles)


def _may_be_for_us(said: Written, at: Spot, us: Us) -> bool:
    """Whether a message that does not call Sayso may be for it: as part of a conversation."""
    if not at.in_thread or typed.begins_with_a_mention(said.text):
        return False
    # Stopping cannot be configured away.
    return not us.mentions_only or is_stop(_text(said, us))


def rewritten(seen: Rewritten, us: Us) -> Finding:
    """Read that a message has other words now, or that nothing but its preview changed."""
    at = _spot(seen.now, us)
    if not isinstance(at, Spot):
        return _told_nobody(at)
    text = _text(seen.now, us)
    if seen.edited is None or (
        seen.before is not None and text == _text(seen.now, us, seen.before)
    ):
        return _SAME
    return _edited(seen.now.id, text, at)


def removed(seen: Removed, us: Us) -> Finding:
    """Read that a message was taken back."""
    if seen.author is None:
        return UNCLEAR
    gone = Written(id=seen.id, author=seen.author, where=seen.where, text="")
    at = _spot(gone, us)
    return _edited(seen.id, "", at) if isinstance(at, Spot) else _told_nobody(at)


def _spot(said: Written, us: Us) -> Spot | Sentence | Ignored:
    at = spot(said.author, said.where, us, opens=said.id)
    if at == SOFTWARE:
        return SOFTWARE
    if not said.is_plain:
        return UNKNOWN
    return at if is_id(said.id) else UNCLEAR


def _told_nobody(at: Sentence | Ignored) -> Ignored:
    """Whoever changes a message wants no answer."""
    return at if isinstance(at, Ignored) else NOBODYS


def _edited(message: str, text: str, at: Spot) -> Act:
    delivery = _delivery(message)
    return Act(event=Edited(identity=at.identity, place=at.place, delivery=delivery, text=text))


def _said(said: Written, at: Spot, us: Us) -> Finding:
    """Read what somebody said to Sayso."""
    text, to = _text(said, us), heard(at, _delivery(said.id))
    return meant(chat_commands.read(text, to) or _asked(text, to), at)


def _overheard(said: Written, at: Spot, us: Us) -> Finding:
    """Read what stands in a thread that may be a conversation of ours or anybody else's."""
    text = _text(said, us)
    if not text:
        return Ignored(why="there is no text in it")
    to = heard(at, _delivery(said.id), known_only=True)
    is_command = is_stop(text) or after_mark(text) is not None
    found = chat_commands.read(text, to) if is_command else None
    return meant(found or _asked(text, to), at)


def _asked(text: str, to: Heard) -> Meaning:
    """Return a message as a question: a line that was pasted as code is what stands in it.

    Code never becomes one of Sayso's own words that way: whoever quotes `approve` approves nothing.
    """
    line = typed.bare(text)
    return chat_commands.ask(text if chat_commands.read(line, to) else line, to)


def _text(said: Written, us: Us, text: str | None = None) -> str:
    return typed.read(said.text if text is None else text, us.user, us.roles, said.names)


def _delivery(message: str) -> str:
    return f"msg:{message}"
