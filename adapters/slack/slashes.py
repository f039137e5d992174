"""Slash commands. They have no thread, so what is asked with one opens its own. Pure."""

from adapters.slack import payload, typed
from adapters.slack.actors import PLATFORM, identity
from adapters.slack.findings import Act, Bot, Finding, Ignored, Route, Sentence
from adapters.slack.payload import Payload
from core import chat_commands
from core.chat_commands import Heard, Meaning
from core.events import OPENS, Lookup, Place, Stop
from core.terminal import Mistyped

COMMANDS = ("/ask", "/stop", "/sayso")

_ASK = Mistyped(sentence="Say what you need, as in: /ask health")
_STOP = Mistyped(sentence="/stop takes nothing, one conversation, or `all`.")


def command(body: Payload, bot: Bot) -> Finding:
    """Read `/ask TEXT`, `/stop [all|CONVERSATION]` and `/sayso WORD …`."""
    heard = _heard(body, bot)
    if heard is None:
        return Ignored(why="it cannot be understood")
    text = typed.plain(payload.text(body, "text")).strip()
    match body.get("command"):
        case "/ask":
            return _found(chat_commands.ask(text, heard) if text else _ASK, body, heard)
        case "/stop":
            return _found(_stop(text, heard), body, heard)
        case "/sayso":
            return _found(_sayso(text, heard), body, heard)
        case _:
            return Ignored(why="it is of a kind that Sayso does not read")


def _stop(text: str, heard: Heard) -> Meaning:
    if len(text.split()) > 1:
        return _STOP
    if text.lower() == "all":
        return Stop(identity=heard.identity, everything=True)
    return Stop(identity=heard.identity, conversation=text[:64] or None)


def _sayso(text: str, heard: Heard) -> Meaning:
    if not text:
        return Lookup(identity=heard.identity, place=heard.place, at="help")
    return chat_commands.read(text, heard, is_command=True) or chat_commands.ask(text, heard)


def _heard(body: Payload, bot: Bot) -> Heard | None:
    channel, user = payload.name(body, "channel_id"), payload.name(body, "user_id")
    trigger = payload.name(body, "trigger_id")
    if not (channel and user and trigger):
        return None
    return Heard(
        identity=identity(payload.name(body, "team_id"), user),
        place=Place(
            platform=PLATFORM,
            workspace=bot.team,
            channel=channel,
            thread=f"{OPENS}{trigger}",
        ),
        in_thread=False,
        deliveries=(f"trigger:{trigger}",),
    )


def _found(found: Meaning, body: Payload, heard: Heard) -> Act | Sentence:
    route = Route(
        channel=heard.place.channel,
        user=heard.identity.user,
        response_url=payload.address(body, "response_url"),
        trigger=payload.name(body, "trigger_id"),
    )
    if isinstance(found, Mistyped):
        return Sentence(text=found.sentence, route=route)
    return Act(event=found, route=route, kind="command")
