"""Slash commands. What is asked with one outside of a thread opens its own. Pure."""

from collections.abc import Callable, Mapping

from adapters.discord import typed
from adapters.discord.findings import Finding, Us
from adapters.discord.seen import Command
from adapters.discord.whereabouts import UNCLEAR, UNKNOWN, Spot, heard, is_id, meant, spot
from core import chat_commands
from core.chat_commands import Heard, Meaning
from core.events import Lookup, Stop
from core.terminal import Mistyped

_LONGEST = 64
_ASK = Mistyped(sentence="Say what you need, as in: /ask health")
_STOP = Mistyped(sentence="/stop takes nothing, one conversation, or `all`.")


def command(seen: Command, us: Us) -> Finding:
    """Read `/ask TEXT`, `/stop [all|CONVERSATION]` and `/sayso WORD …`."""
    reader = _READERS.get(seen.name)
    if reader is None:
        return UNKNOWN
    at = spot(seen.by, seen.where, us, opens=f"i{seen.interaction}")
    if not isinstance(at, Spot):
        return at
    if not is_id(seen.interaction):
        return UNCLEAR
    text = typed.plain(seen.text, {}).strip()
    return meant(reader(text, heard(at, f"interaction:{seen.interaction}")), at)


def _ask(text: str, to: Heard) -> Meaning:
    return chat_commands.ask(text, to) if text else _ASK


def _stop(text: str, to: Heard) -> Meaning:
    if len(text.split()) > 1:
        return _STOP
    if text.lower() == "all":
        return Stop(identity=to.identity, everything=True)
    if text:
        return Stop(identity=to.identity, conversation=text[:_LONGEST])
    return chat_commands.read("stop", to) or _STOP


def _sayso(text: str, to: Heard) -> Meaning:
    if not text:
        return Lookup(identity=to.identity, place=to.place, at="help")
    return chat_commands.read(text, to, is_command=True) or chat_commands.ask(text, to)


_READERS: Mapping[str, Callable[[str, Heard], Meaning]] = {
    "ask": _ask,
    "stop": _stop,
    "sayso": _sayso,
}
