"""The routes of messages in channels, threads and direct messages.

https://docs.discord.com/developers/resources/message
"""

from tests.standins.discord import limits, posting, shapes
from tests.standins.discord.routes import Asked, route
from tests.standins.discord.state import State
from tests.standins.discord.threads import revive
from tests.standins.discord.wire import DiscordSays, Json, copied, wrong
from tests.standins.discord.world import Message, World

MESSAGES = "/channels/{channel}/messages"
ONE = MESSAGES + "/{message}"
REPLY = 19


@route(f"POST {MESSAGES}")
def post(state: State, asked: Asked) -> Json:
    """Post, unless the nonce says that it was."""
    world, channel, body = state.world, asked.path["channel"], asked.body
    _writable(world, channel, has_files=bool(asked.files))
    limits.check_nonce(body)
    body = body | {"flags": int(body.get("flags") or 0) & limits.SETTABLE}
    if earlier := _posted(world, channel, body):
        return copied(earlier.now)
    more = _reply(world, channel, body)
    revive(world, channel)
    made = posting.make(world, channel, world.users[world.bot], body, asked.files, **more)
    if body.get("nonce") is not None:
        world.nonces[channel, str(body["nonce"])] = made.id
    return copied(made.now)


@route(f"GET {MESSAGES}")
def history(state: State, asked: Asked) -> list[Json]:
    """Return the newest messages, the newest first; with `after` those right after it."""
    world, channel = state.world, asked.path["channel"]
    world.found(channel)
    if not world.may(channel, "read_message_history"):
        return []
    most = int(asked.query.get("limit", 50))
    if not 1 <= most <= 100:
        raise wrong("limit", "int value should be between 1 and 100.")
    there = list(world.history(channel))
    if before := asked.query.get("before"):
        there = [each for each in there if int(each.id) < int(before)]
    if after := asked.query.get("after"):
        there = [each for each in there if int(each.id) > int(after)][:most]
    return [read(world, each) for each in reversed(there[-most:])]


@route(f"GET {ONE}")
def get(state: State, asked: Asked) -> Json:
    """Return one message."""
    state.world.found(asked.path["channel"])
    state.world.needs(asked.path["channel"], "read_message_history")
    return read(state.world, _message(state.world, asked))


@route(f"PATCH {ONE}")
def patch(state: State, asked: Asked) -> Json:
    """Edit one of the bot's own messages."""
    world, message = state.world, _message(state.world, asked)
    if message.now["author"]["id"] != world.bot:
        raise DiscordSays(403, 50005, "Cannot edit a message authored by another user")
    _open(world, message.channel)
    if asked.files:
        world.needs(message.channel, "attach_files")
    return copied(posting.edit(world, message, asked.body, asked.files).now)


@route(f"DELETE {ONE}")
def delete(state: State, asked: Asked) -> None:
    """Take a message away; one of somebody else only with the permission to."""
    world, message = state.world, _message(state.world, asked)
    if message.now["author"]["id"] != world.bot:
        world.needs(message.channel, "manage_messages")
    posting.remove(world, message)


@route("POST /channels/{channel}/typing")
def typing(state: State, asked: Asked) -> None:
    """Show that the bot writes."""
    _writable(state.world, asked.path["channel"])


@route("GET /channels/{channel}/messages/pins")
def pins(state: State, asked: Asked) -> Json:
    """Return that nothing is pinned."""
    state.world.found(asked.path["channel"])
    return {"items": [], "has_more": False}


def read(world: World, message: Message) -> Json:
    """Return a message as REST shows it: empty where its content is nothing for the app."""
    return copied(message.now) if world.reads(message.now) else world.blanked(message.now)


def _message(world: World, asked: Asked) -> Message:
    return world.message(asked.path["channel"], asked.path["message"])


def _writable(world: World, channel: str, *, has_files: bool = False) -> None:
    """Refuse where the bot may not write: another sentence for each reason."""
    place = world.found(channel)
    if place["type"] == shapes.FORUM:
        raise DiscordSays(400, 50008, "Cannot send messages in a non-text channel")
    if world.partner(channel) in world.shut_to_bot:
        raise DiscordSays(403, 50007, "Cannot send messages to this user")
    own = "send_messages_in_threads" if "thread_metadata" in place else "send_messages"
    world.needs(channel, own, *(["attach_files"] if has_files else []))


def _open(world: World, channel: str) -> None:
    """Refuse an edit where a thread is archived or locked."""
    meta: Json = world.channels[channel].get("thread_metadata") or {}
    if meta.get("archived"):
        raise DiscordSays(400, 50083, "Thread is archived")
    if meta.get("locked") and not world.may(channel, "manage_threads"):
        raise DiscordSays(400, 160005, "This thread is locked")


def _posted(world: World, channel: str, body: Json) -> Message | None:
    """Return what was posted with this nonce lately, where the app wants that told."""
    if not body.get("enforce_nonce"):
        return None
    found = world.messages.get(world.nonces.get((channel, str(body.get("nonce"))), ""))
    if found is None or found.gone:
        return None
    age = world.time.now() - world.time.made_at(found.id)
    return found if age <= world.nonce_seconds else None


def _reply(world: World, channel: str, body: Json) -> Json:
    reference = body.get("message_reference")
    if not reference:
        return {}
    if not world.may(channel, "read_message_history"):
        raise DiscordSays(400, 160002, "Cannot reply without permission to read message history")
    found = world.messages.get(str(reference.get("message_id")))
    if found and found.now["type"] not in limits.BY_SOMEBODY:
        raise wrong("message_reference", "Cannot reply to a system message")
    if found is None or found.gone or found.channel != channel:
        if reference.get("fail_if_not_exists", True):
            raise wrong("message_reference", "Unknown message")
        return {}
    return replies(found)


def replies(to: Message) -> Json:
    """Return what makes a message the reply to another."""
    reference = {"message_id": to.id, "channel_id": to.channel, "type": 0}
    if to.guild:
        reference["guild_id"] = to.guild
    return {
        "type": REPLY, "message_reference": reference, "referenced_message": copied(to.now),
    }  # fmt: skip
