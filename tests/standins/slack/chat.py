"""`chat.*`: posting, editing and taking back messages."""

from tests.standins.slack.blocks import IN_MESSAGES, checked, short
from tests.standins.slack.methods import method, needs
from tests.standins.slack.wire import Json, SlackSays, copied
from tests.standins.slack.workspace import Workspace

TEXT, EDITED_TEXT, MARKDOWN = 40_000, 4000, 12_000
SHOWN = ("text", "blocks", "attachments", "metadata", "markdown_text")
KEPT = (*SHOWN, "thread_ts")
WITH_BLOCKS = 50


def content(body: Json) -> Json:
    """Return what a message shows, checked and cut as Slack does."""
    if not any(body.get(key) for key in ("text", "blocks", "attachments", "markdown_text")):
        raise SlackSays("no_text")
    shown = {key: body[key] for key in KEPT if body.get(key) is not None}
    if "markdown_text" in shown:
        _markdown(shown)
    if "blocks" in shown:
        shown["blocks"] = short(checked(
            copied({"blocks": shown["blocks"]})["blocks"],
            most=WITH_BLOCKS, allowed=IN_MESSAGES, error="invalid_blocks",
        ))  # fmt: skip
    shown["text"] = str(shown.get("text", ""))[:TEXT]
    _metadata(shown.get("metadata"))
    return shown


def by_app(work: Workspace) -> Json:
    """Return what every message of the app says about who wrote it."""
    return {
        "user": work.bot, "bot_id": work.bot_id, "app_id": work.app, "team": work.team,
        "bot_profile": {"id": work.bot_id, "app_id": work.app, "name": "sayso", "team_id": work.team},
    }  # fmt: skip


@method("chat.postMessage", "chat:write")
def post(work: Workspace, body: Json) -> Json:
    """Post a message; the root of a thread has to be there."""
    needs(body, "channel")
    channel = work.open_to_app(body["channel"])
    shown = content(body)
    if root := body.get("thread_ts"):
        _root(work, channel.id, str(root))
    message = work.add(channel.id, {**by_app(work), **shown})
    return {"channel": channel.id, "ts": message["ts"], "message": copied(message)}


@method("chat.postEphemeral", "chat:write")
def post_ephemeral(work: Workspace, body: Json) -> Json:
    """Show something to one person, who has to be in the channel. Nothing edits it."""
    needs(body, "channel", "user")
    channel = work.open_to_app(body["channel"])
    if body["user"] not in channel.members:
        raise SlackSays("user_not_in_channel")
    shown = content(body)
    ts = work.time.ts()
    work.ephemeral.append({
        **by_app(work), **shown, "channel": channel.id, "user": body["user"], "ts": ts
    })  # fmt: skip
    return {"message_ts": ts}


@method("chat.update", "chat:write")
def update(work: Workspace, body: Json) -> Json:
    """Edit a message of the app, and keep what it was."""
    needs(body, "channel", "ts")
    channel = work.open_to_app(body["channel"])
    message = work.message(channel.id, body["ts"])
    if message.now.get("bot_id") != work.bot_id:
        raise SlackSays("cant_update_message")
    if len(str(body.get("text", ""))) > EDITED_TEXT:
        raise SlackSays("msg_too_long")
    shown = content(body)
    replace(work, channel.id, body["ts"], shown)
    now = copied(message.now)
    return {"channel": channel.id, "ts": body["ts"], "text": now["text"], "message": now}


@method("chat.delete", "chat:write")
def delete(work: Workspace, body: Json) -> Json:
    """Take a message of the app back."""
    needs(body, "channel", "ts")
    channel = work.found(body["channel"])
    message = work.message(channel.id, body["ts"])
    if message.now.get("bot_id") != work.bot_id:
        raise SlackSays("cant_delete_message")
    message.gone = True
    return {"channel": channel.id, "ts": body["ts"]}


@method("chat.getPermalink")
def permalink(work: Workspace, body: Json) -> Json:
    """Return the address of a message."""
    needs(body, "channel", "message_ts")
    channel = work.found(body["channel"])
    message = work.message(channel.id, body["message_ts"])
    link = f"https://x.slack.com/archives/{channel.id}/p{body['message_ts'].replace('.', '')}"
    if message.thread and message.thread != message.now["ts"]:
        link += f"?thread_ts={message.thread}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def replace(work: Workspace, channel: str, ts: str, shown: Json) -> None:
    """Give a message other contents; blocks that are not given again are gone."""
    message = work.message(channel, ts)
    message.before.append(copied(message.now))
    if "blocks" not in shown:
        message.now.pop("blocks", None)
    message.now.update({key: shown[key] for key in SHOWN if key in shown})
    message.now["edited"] = {"user": message.now.get("user"), "ts": work.time.ts()}


def _root(work: Workspace, channel: str, ts: str) -> None:
    root = work.messages.get((channel, ts))
    if root is None or (root.gone and not root.now.get("reply_count")):
        raise SlackSays("thread_not_found")
    if root.thread and root.thread != ts:
        raise SlackSays("cannot_reply_to_message")


def _markdown(shown: Json) -> None:
    if shown.get("text") or shown.get("blocks"):
        raise SlackSays("markdown_text_conflict")
    if len(shown["markdown_text"]) > MARKDOWN:
        raise SlackSays("msg_too_long")


def _metadata(metadata: object) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or {"event_type", "event_payload"} - metadata.keys():
        raise SlackSays("invalid_metadata_format")
