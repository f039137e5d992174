"""`conversations.*`: channels, who is in them and what was said there."""

from tests.standins.slack.methods import HISTORY, READ, method, needs
from tests.standins.slack.wire import Json, SlackSays, copied, truth
from tests.standins.slack.workspace import Channel, Message, Workspace


@method("conversations.info", READ)
def info(work: Workspace, body: Json) -> Json:
    """Describe a channel."""
    channel = work.found(body.get("channel"))
    if channel.is_private and work.bot not in channel.members:
        raise SlackSays("channel_not_found")
    return {"channel": described(work, channel)}


@method("conversations.members", READ)
def members(work: Workspace, body: Json) -> Json:
    """Return who is in a channel, a page at a time."""
    channel = work.found(body.get("channel"))
    everybody = sorted(channel.members)
    return _page("members", everybody, body, most=100)


@method("conversations.open", "im:write")
def open_dm(work: Workspace, body: Json) -> Json:
    """Return the direct messages with somebody."""
    needs(body, "users")
    user = str(body["users"])
    person = work.people.get(user)
    if person is None:
        raise SlackSays("user_not_found")
    if person.get("deleted"):
        raise SlackSays("user_disabled")
    return {"channel": {"id": work.dm(user)}}


@method("conversations.replies", HISTORY)
def replies(work: Workspace, body: Json) -> Json:
    """Return a message and what answers it, oldest first."""
    needs(body, "channel", "ts")
    channel = _readable(work, body)
    found = work.thread(channel.id, str(body["ts"]))
    if not found:
        raise SlackSays("thread_not_found")
    return _page("messages", _shown(found, body), body, most=1000)


@method("conversations.history", HISTORY)
def history(work: Workspace, body: Json) -> Json:
    """Return what was said in a channel outside of threads, newest first."""
    channel = _readable(work, body)
    found = [
        each
        for (where, ts), each in sorted(work.messages.items(), reverse=True)
        if where == channel.id
        and not each.gone
        and (each.thread in (None, ts) or each.now.get("subtype") == "thread_broadcast")
    ]
    return _page("messages", _shown(found, body), body, most=999)


def described(work: Workspace, channel: Channel) -> Json:
    """Return a channel as Slack describes it."""
    shape: Json = {
        "id": channel.id,
        "is_channel": not channel.is_private and not channel.partner,
        "is_group": channel.is_private,
        "is_im": channel.partner is not None,
        "is_private": channel.is_private or channel.partner is not None,
        "is_archived": channel.is_archived,
        "is_member": work.bot in channel.members,
        "is_shared": channel.is_shared,
        "is_ext_shared": channel.is_shared,
    }
    return shape | ({"user": channel.partner} if channel.partner else {"name": channel.name})


def _readable(work: Workspace, body: Json) -> Channel:
    channel = work.found(body.get("channel"))
    if work.bot not in channel.members:
        raise SlackSays("channel_not_found" if channel.is_private else "not_in_channel")
    return channel


def _shown(found: list[Message], body: Json) -> list[Json]:
    oldest, latest = float(body.get("oldest") or 0), float(body.get("latest") or "inf")
    inclusive, metadata = truth(body.get("inclusive")), truth(body.get("include_all_metadata"))
    shown: list[Json] = []
    for each in found:
        at = float(each.now["ts"])
        if oldest < at < latest or (inclusive and at in (oldest, latest)):
            now = copied(each.now)
            if not metadata and "metadata" in now:
                now["metadata"] = {"event_type": now["metadata"]["event_type"]}
            shown.append(now)
    return shown


def _page(name: str, items: list[Json] | list[str], body: Json, *, most: int) -> Json:
    start = int(body.get("cursor") or 0)
    end = start + min(int(body.get("limit") or most), most)
    more = end < len(items)
    return {
        name: items[start:end],
        "has_more": more,
        "response_metadata": {"next_cursor": str(end) if more else ""},
    }
