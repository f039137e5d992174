"""What belongs to agents: streams, sessions, suggested prompts, reactions."""

from tests.standins.slack.chat import by_app, content, replace
from tests.standins.slack.methods import method, needs
from tests.standins.slack.wire import Json, SlackSays, objects
from tests.standins.slack.workspace import Stream, Workspace

STREAM_LASTS, MARKDOWN, PROMPTS = 300.0, 12_000, 4
STATUSES = {"processing", "active", "suspended", "closed"}


@method("chat.startStream", "chat:write")
def start(work: Workspace, body: Json) -> Json:
    """Begin a message that is written bit by bit, in a thread."""
    needs(body, "channel", "thread_ts")
    channel = work.open_to_app(body["channel"])
    if channel.partner is None:
        needs(body, "recipient_team_id", "recipient_user_id")
    stream = Stream(began_at=work.time.now(), text=_written(body))
    message = work.add(
        channel.id, {**by_app(work), "thread_ts": body["thread_ts"], "text": stream.text}
    )
    work.streams[channel.id, message["ts"]] = stream
    return {"channel": channel.id, "ts": message["ts"]}


@method("chat.appendStream", "chat:write")
def append(work: Workspace, body: Json) -> Json:
    """Write on, within five minutes of the beginning."""
    needs(body, "channel", "ts")
    stream = _going_on(work, body)
    stream.text += _written(body)
    work.message(body["channel"], body["ts"]).now["text"] = stream.text
    return {"channel": body["channel"], "ts": body["ts"]}


@method("chat.stopStream", "chat:write")
def stop(work: Workspace, body: Json) -> Json:
    """End a stream, with its blocks if any."""
    append(work, body)
    stream = _going_on(work, body)
    replace(work, body["channel"], body["ts"], content(_whole(body, stream)))
    stream.over = True
    return {"channel": body["channel"], "ts": body["ts"]}


@method("agents.sessions.setStatus", "chat:write")
def set_status(work: Workspace, body: Json) -> Json:
    """Say what the agent is at in a thread."""
    needs(body, "channel_id", "thread_ts", "status")
    channel = work.open_to_app(body["channel_id"])
    if body["status"] not in STATUSES:
        raise SlackSays("invalid_arguments", f"unknown status: {body['status']}")
    work.sessions.setdefault((channel.id, body["thread_ts"]), []).append(dict(body))
    return {}


@method("assistant.threads.setStatus", "assistant:write")
def set_typing(work: Workspace, body: Json) -> Json:
    """Say that the agent is writing."""
    needs(body, "channel_id", "thread_ts")
    work.open_to_app(body["channel_id"])
    return {}


@method("assistant.threads.setSuggestedPrompts", "assistant:write")
def suggest(work: Workspace, body: Json) -> Json:
    """Offer up to four prompts."""
    needs(body, "channel_id", "prompts")
    channel = work.open_to_app(body["channel_id"])
    prompts = objects(body["prompts"])
    if len(prompts) > PROMPTS or not all(p.get("title") and p.get("message") for p in prompts):
        raise SlackSays("invalid_arguments", "invalid prompts [json-pointer:/prompts]")
    work.prompts[channel.id] = prompts
    return {}


@method("reactions.add", "reactions:write")
def react(work: Workspace, body: Json) -> Json:
    """Put a reaction of the app to a message."""
    found = _reaction(work, body)
    if found in work.reactions:
        raise SlackSays("already_reacted")
    work.reactions.add(found)
    return {}


@method("reactions.remove", "reactions:write")
def unreact(work: Workspace, body: Json) -> Json:
    """Take a reaction of the app back."""
    found = _reaction(work, body)
    if found not in work.reactions:
        raise SlackSays("no_reaction")
    work.reactions.discard(found)
    return {}


def _reaction(work: Workspace, body: Json) -> tuple[str, str, str]:
    needs(body, "channel", "timestamp", "name")
    channel = work.found(body["channel"])
    work.message(channel.id, body["timestamp"])
    return channel.id, body["timestamp"], body["name"]


def _whole(body: Json, stream: Stream) -> Json:
    blocks = {"blocks": body["blocks"]} if body.get("blocks") else {}
    return {"text": stream.text or " ", **blocks}


def _written(body: Json) -> str:
    chunks = [str(each.get("text") or "") for each in objects(body.get("chunks"))]
    written = "".join(chunks) or str(body.get("markdown_text") or "")
    if len(written) > MARKDOWN:
        raise SlackSays("msg_too_long")
    return written


def _going_on(work: Workspace, body: Json) -> Stream:
    stream = work.streams.get((str(body["channel"]), str(body["ts"])))
    if stream is None:
        raise SlackSays("message_not_found")
    if stream.over or work.time.now() - stream.began_at > STREAM_LASTS:
        raise SlackSays("message_not_in_streaming_state")
    return stream
