"""What Slack sends, in the shapes in which it sends it. Pure."""

from uuid import uuid4

from tests.standins.slack.wire import Json, copied, escaped, unescaped, walk
from tests.standins.slack.workspace import Channel, Workspace


def slash(
    work: Workspace, *, user: str, channel: Channel, command: str, text: str, reply: str
) -> Json:
    """Return the payload of a slash command. It never names a thread."""
    return {
        "token": "legacy", "team_id": work.team_of(user), "team_domain": "x",
        "channel_id": channel.id, "channel_name": name(channel),
        "user_id": user, "user_name": user.lower(), "command": command, "text": text,
        "api_app_id": work.app, "is_enterprise_install": "false", "response_url": reply,
        "trigger_id": work.trigger(user),
    }  # fmt: skip


def name(channel: Channel) -> str:
    """Return how a payload names a channel: not at all, unless it is public."""
    if channel.partner:
        return "directmessage"
    return "privategroup" if channel.is_private else channel.name


def event(work: Workspace, inner: Json, *, shared: bool = False, id: str | None = None) -> Json:  # noqa: A002
    """Return the envelope of an event, as installed in this workspace."""
    return {
        "token": "legacy", "team_id": work.team, "context_team_id": work.team,
        "context_enterprise_id": None, "api_app_id": work.app, "event": inner,
        "type": "event_callback", "event_id": id or f"Ev{uuid4().hex[:10].upper()}",
        "event_time": int(work.time.now()), "is_ext_shared_channel": shared,
        "event_context": f"4-{uuid4().hex}",
        "authorizations": [{
            "enterprise_id": None, "team_id": work.team, "user_id": work.bot, "is_bot": True,
            "is_enterprise_install": False,
        }],
    }  # fmt: skip


def spoken(work: Workspace, user: str, text: str) -> Json:
    """Return what a person's message says; `text` is as Slack writes it down."""
    team = work.team_of(user)
    message: Json = {
        "user": user, "text": text, "client_msg_id": str(uuid4()), "team": team,
        "blocks": [rich(work, text)],
    }  # fmt: skip
    if team != work.team:
        message |= {"user_team": team, "source_team": team, "user_profile": {"team": team}}
    return message


def rich(work: Workspace, text: str) -> Json:
    """Return the rich text beside what was typed: a mention of the app, and the words."""
    mention = f"<@{work.bot}>"
    elements: list[Json] = []
    for number, part in enumerate(text.split(mention)):
        if number:
            elements.append({"type": "user", "user_id": work.bot})
        if part:
            elements.append({"type": "text", "text": part})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": uuid4().hex[:5], "elements": [section]}


def message_event(channel: Channel, message: Json) -> Json:
    """Return the event about a message."""
    kind = "im" if channel.partner else "group" if channel.is_private else "channel"
    return {
        **message, "type": "message", "channel": channel.id, "channel_type": kind,
        "event_ts": message["ts"],
    }  # fmt: skip


def mention_event(channel: Channel, message: Json) -> Json:
    """Return the second event about a message that mentions the app: it knows no `channel_type`."""
    return {**message, "type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}


def changed_event(work: Workspace, channel: Channel, now: Json, before: Json) -> Json:
    """Return the event about an edit, also one that only unfurled a link."""
    at = work.time.ts()
    event = message_event(channel, {"ts": at})
    return {
        **event, "subtype": "message_changed", "hidden": True, "message": now,
        "previous_message": before,
    }  # fmt: skip


def deleted_event(work: Workspace, channel: Channel, before: Json) -> Json:
    """Return the event about a message that somebody took back."""
    event = message_event(channel, {"ts": work.time.ts()})
    return {
        **event, "subtype": "message_deleted", "hidden": True, "deleted_ts": before["ts"],
        "previous_message": before,
    }  # fmt: skip


def returned(value: Json) -> Json:
    """Return blocks as Slack hands them back: every plain text escaped, also one sent as it is."""
    shown = copied(value)
    for each in walk(shown):
        if each.get("type") == "plain_text":
            each["text"] = escaped(unescaped(str(each["text"])))
    return shown


def who(work: Workspace, user: str) -> Json:
    """Return somebody as an interaction names them."""
    name = user.lower()
    return {"id": user, "username": name, "name": name, "team_id": work.team_of(user)}


def interaction(work: Workspace, kind: str, user: str) -> Json:
    """Return what every interaction carries."""
    return {
        "type": kind, "user": who(work, user), "api_app_id": work.app, "token": "legacy",
        "team": {"id": work.team, "domain": "x"}, "enterprise": None,
        "is_enterprise_install": False, "trigger_id": work.trigger(user),
    }  # fmt: skip


def action(work: Workspace, pressed: Json, block: str) -> Json:
    """Return what was pressed. Only what the button has travels."""
    seen = returned(pressed)
    kept: Json = {key: seen[key] for key in ("text", "value", "style", "url") if key in seen}
    return {
        "type": "button", "action_id": pressed["action_id"], "block_id": block, **kept,
        "action_ts": work.time.ts(),
    }  # fmt: skip
