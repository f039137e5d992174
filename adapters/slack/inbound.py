"""What a payload of Slack's means: an event of the core, or why nothing comes of it. Pure.

Whatever comes in, however odd, is read; what cannot be understood is ignored, for a reason that
repeats none of it.
"""

from collections.abc import Callable, Mapping

from adapters.slack import payload, pressed, slashes, spoken
from adapters.slack.actors import PLATFORM, is_ours, speaker
from adapters.slack.findings import (
    Act,
    Bot,
    Finding,
    HomeOpened,
    Ignored,
    OpenModal,
    PeopleChanged,
    PromptsWanted,
    Route,
    Sentence,
)
from adapters.slack.payload import Payload
from adapters.slack.pressed import private
from core.events import Invited, Place, StopHere

__all__ = [
    "Act",
    "Bot",
    "Finding",
    "HomeOpened",
    "Ignored",
    "OpenModal",
    "PeopleChanged",
    "PromptsWanted",
    "Route",
    "Sentence",
    "private",
    "read",
]

_UNKNOWN = Ignored(why="it is of a kind that Sayso does not read")
_UNCLEAR = Ignored(why="it cannot be understood")


def read(body: Payload, bot: Bot, *, mentions_only: bool = False) -> Finding:
    """Return what a payload means, whatever it is.

    `mentions_only`: in a channel, only what mentions Sayso is for it, even inside its own threads.
    """
    if not is_ours(body, bot):
        return Ignored(why="it is for another workspace or app")
    match body.get("type"):
        case "event_callback":
            return _event(body, bot, mentions_only=mentions_only)
        case "block_actions":
            return pressed.button(body, bot)
        case "view_submission":
            return pressed.modal(body)
        case _:
            return slashes.command(body, bot) if "command" in body else _UNKNOWN


def _event(body: Payload, bot: Bot, *, mentions_only: bool) -> Finding:
    kind = payload.name(body, "event", "type")
    if kind in {"app_mention", "message"}:
        return _message(body, bot, mentions_only=mentions_only)
    reader = _READERS.get(kind)
    return reader(body, bot) if reader else _UNKNOWN


def _message(body: Payload, bot: Bot, *, mentions_only: bool) -> Finding:
    match payload.name(body, "event", "subtype"):
        case "message_changed":
            return spoken.edited(body, bot)
        case "message_deleted":
            return spoken.gone(body, bot)
        case _:
            return spoken.written(body, bot, mentions_only=mentions_only)


def _joined(body: Payload, bot: Bot) -> Finding:
    event = payload.of(body.get("event"))
    channel, inviter = payload.name(event, "channel"), payload.name(event, "inviter")
    if payload.name(event, "user") != bot.user:
        return Ignored(why="it is about somebody else")
    if not (channel and inviter):
        return _UNCLEAR
    # The team in this event is that of who joined: of Sayso itself.
    identity = speaker(body, {}, inviter, bot)
    place = Place(platform=PLATFORM, workspace=bot.team, channel=channel)
    return Act(
        event=Invited(identity=identity, place=place),
        route=Route(channel=channel, user=inviter),
        kind="event",
    )


def _home(body: Payload, bot: Bot) -> Finding:
    event = payload.of(body.get("event"))
    channel, user = payload.name(event, "channel"), payload.name(event, "user")
    match event.get("tab"):
        case "home" if user:
            return HomeOpened(identity=speaker(body, event, user, bot))
        case "messages" if channel:
            return PromptsWanted(channel=channel)
        case _:
            return _UNCLEAR


def _stopped(body: Payload, bot: Bot) -> Finding:
    """Read that somebody pressed Slack's own Stop, which it shows while Sayso works in a thread."""
    event = payload.of(body.get("event"))
    channel, user = payload.name(event, "channel"), payload.name(event, "user")
    thread = payload.ts(event, "thread_ts")
    if not (channel and user and thread):
        return _UNCLEAR
    place = Place(platform=PLATFORM, workspace=bot.team, channel=channel, thread=thread)
    return Act(
        event=StopHere(identity=speaker(body, event, user, bot), place=place),
        route=Route(channel=channel, user=user, thread=thread),
        kind="event",
    )


def _changed(body: Payload, bot: Bot) -> Finding:
    del bot
    return PeopleChanged(event=payload.of(body.get("event")))


_READERS: Mapping[str, Callable[[Payload, Bot], Finding]] = {
    "member_joined_channel": _joined,
    "app_home_opened": _home,
    "agent_session_stopped": _stopped,
    "user_change": _changed,
    "subteam_members_changed": _changed,
    "subteam_updated": _changed,
}
