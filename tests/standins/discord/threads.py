"""Threads: how they begin, who is in them, how they are put away.

https://docs.discord.com/developers/topics/threads
"""

from tests.standins.discord import limits, posting, shapes
from tests.standins.discord.routes import Asked, route
from tests.standins.discord.state import State
from tests.standins.discord.wire import DiscordSays, Json, copied, missing_permissions, unknown
from tests.standins.discord.world import Message, World

STARTER, CREATED = 21, 18
"""Kinds of messages: what a thread began with, stands first in it; that one began, in the channel."""
MEMBER = "/channels/{channel}/thread-members/{user}"


def begin(world: World, parent: str, name: str, *, owner: str, message: Message | None = None,
    **more: object) -> Json:  # fmt: skip
    """Let there be a thread, from a message or from none, and tell of it."""
    own = message.id if message else world.time.snowflake()
    if own in world.channels:
        raise DiscordSays(400, 160004, "A thread has already been created for this message")
    at, place = world.time.stamp(), world.channels[parent]
    made = shapes.thread(own, place, name, owner=owner, at=at, **more)
    world.channels[own] = made
    world.thread_members[own] = {owner: shapes.thread_member(own, owner, at)}
    world.tell("THREAD_CREATE", {**copied(world.with_membership(made)), "newly_created": True})
    if message:
        _start_from(world, own, message)
    elif place["type"] != shapes.FORUM:
        _say_begun(world, parent, made, owner)
    return made


def _start_from(world: World, thread: str, message: Message) -> None:
    message.now["flags"] |= limits.HAS_THREAD
    message.now["thread"] = copied(world.channels[thread])
    world.tell("MESSAGE_UPDATE", posting.delivered(world, message))
    reference = {"message_id": message.id, "channel_id": message.channel}
    _notice(world, thread, message.now["author"], {
        "type": STARTER, "message_reference": {**reference, "guild_id": message.guild},
        "referenced_message": copied(message.now),
    })  # fmt: skip


def _say_begun(world: World, parent: str, thread: Json, owner: str) -> None:
    reference = {"channel_id": thread["id"], "guild_id": thread["guild_id"]}
    _notice(world, parent, world.users[owner], {
        "type": CREATED, "content": thread["name"], "message_reference": reference,
    })  # fmt: skip


def _notice(world: World, channel: str, author: Json, more: Json) -> None:
    own = world.time.snowflake()
    now = shapes.message(own, channel, author, world.time.stamp(), **more)
    kept = Message(now=copied(now), guild=world.guild_of(channel))
    world.messages[own] = kept
    world.tell("MESSAGE_CREATE", posting.delivered(world, kept))


def revive(world: World, channel: str, who: str | None = None) -> None:
    """Bring an archived thread back, as a message in it does; refuse where it is locked.

    "Sending a message will automatically unarchive the thread, unless the thread has been locked
    by a moderator."
    """
    meta: Json = world.channels[channel].get("thread_metadata") or {}
    if meta.get("locked") and not world.may(channel, "manage_threads", who):
        if meta["archived"]:
            raise DiscordSays(400, 50083, "Thread is archived")
        raise DiscordSays(400, 160005, "This thread is locked")
    if meta.get("archived"):
        change(world, channel, archived=False)


def change(world: World, thread: str, **changes: object) -> Json:
    """Archive, lock or rename a thread, and tell of it."""
    found = world.channels[thread]
    if "name" in changes:
        found["name"] = limits.check_name(changes.pop("name"))
    if "archived" in changes:
        found["thread_metadata"]["archive_timestamp"] = world.time.stamp()
    found["thread_metadata"].update(changes)
    world.tell("THREAD_UPDATE", copied(world.with_membership(found)))
    return found


def join(world: World, thread: str, user: str) -> None:
    """Let somebody into a thread."""
    members = world.thread_members[thread]
    if user not in members:
        members[user] = shapes.thread_member(thread, user, world.time.stamp())
        world.channels[thread]["member_count"] = len(members)
    world.tell("THREAD_MEMBERS_UPDATE", {
        "id": thread, "guild_id": world.guild_of(thread), "member_count": len(members),
        "added_members": [copied(members[user])], "removed_member_ids": [],
    })  # fmt: skip


@route("POST /channels/{channel}/messages/{message}/threads")
def from_message(state: State, asked: Asked) -> Json:
    """Begin a thread from a message, with its id."""
    world, channel = state.world, asked.path["channel"]
    if "thread_metadata" in world.found(channel) or world.partner(channel):
        raise DiscordSays(400, 50024, "Cannot execute action on this channel type")
    world.needs(channel, "create_public_threads")
    message = world.message(channel, asked.path["message"])
    name = limits.check_name(asked.body.get("name"))
    return copied(begin(world, channel, name, owner=world.bot, message=message))


@route("POST /channels/{channel}/threads")
def without_message(state: State, asked: Asked) -> Json:
    """Begin a thread with nothing in it; in a forum, a post with its first message."""
    world, channel = state.world, asked.path["channel"]
    place = world.found(channel)
    if "thread_metadata" in place or world.partner(channel):
        raise DiscordSays(400, 50024, "Cannot execute action on this channel type")
    is_forum = place["type"] == shapes.FORUM
    world.needs(channel, "send_messages" if is_forum else "create_public_threads")
    name = limits.check_name(asked.body.get("name"))
    if not is_forum:
        return copied(begin(world, channel, name, owner=world.bot))
    body: Json = asked.body.get("message") or {}
    names = [limits.file_name(each.name) for each in asked.files.values()]
    limits.check_message(body, names)
    return post(world, channel, name, world.users[world.bot], body, asked)


def post(world: World, forum: str, name: str, author: Json, body: Json,
    asked: Asked | None = None) -> Json:  # fmt: skip
    """Let there be a post in a forum: the thread and its first message have one id."""
    made = begin(world, forum, name, owner=str(author["id"]))
    thread, files = str(made["id"]), asked.files if asked else None
    first = posting.make(world, thread, author, body, files, id=thread)
    return {**copied(world.with_membership(made)), "message": copied(first.now)}


@route(f"PUT {MEMBER}")
def add(state: State, asked: Asked) -> None:
    """Let the bot, or somebody else, into a thread."""
    world = state.world
    thread, user = _thread(world, asked), asked.path["user"]
    if thread["thread_metadata"]["archived"]:
        raise DiscordSays(400, 50083, "Thread is archived")
    world.needs(str(thread["id"]), "send_messages_in_threads")
    found = world.bot if user == "@me" else user
    if found not in world.users:
        raise unknown(10013, "User")
    join(world, str(thread["id"]), found)


@route(f"DELETE {MEMBER}")
def leave(state: State, asked: Asked) -> None:
    """Let the bot leave a thread."""
    world, user = state.world, asked.path["user"]
    thread = str(_thread(world, asked)["id"])
    if user != "@me":
        world.needs(thread, "manage_threads")
    world.thread_members[thread].pop(world.bot if user == "@me" else user, None)


@route("GET /channels/{channel}/thread-members")
def members(state: State, asked: Asked) -> list[Json]:
    """Return who is in a thread: for applications that may ask for members."""
    world = state.world
    thread = str(_thread(world, asked)["id"])
    if not world.privileged & 2:
        raise missing_permissions()
    return [copied(each) for each in world.thread_members[thread].values()]


@route(f"GET {MEMBER}")
def member(state: State, asked: Asked) -> Json:
    """Return whether somebody is in a thread."""
    world, user = state.world, asked.path["user"]
    found = world.thread_members[str(_thread(world, asked)["id"])]
    who = world.bot if user == "@me" else user
    if who not in found:
        raise unknown(10007, "Member")
    return copied(found[who])


@route("GET /channels/{channel}/threads/archived/public")
def archived(state: State, asked: Asked) -> Json:
    """Return the threads of a channel that are archived, the newest first."""
    world, channel = state.world, asked.path["channel"]
    world.found(channel)
    world.needs(channel, "read_message_history")
    found = [
        each
        for each in world.channels.values()
        if each.get("parent_id") == channel and each["thread_metadata"]["archived"]
    ]
    found.sort(key=lambda each: str(each["thread_metadata"]["archive_timestamp"]), reverse=True)
    if before := asked.query.get("before"):
        found = [e for e in found if e["thread_metadata"]["archive_timestamp"] < before]
    most = int(asked.query.get("limit", 50))
    return {**_listed(world, found[:most]), "has_more": len(found) > most}


@route("GET /guilds/{guild}/threads/active")
def active(state: State, asked: Asked) -> Json:
    """Return the threads of a server that are not archived."""
    world = state.world
    if asked.path["guild"] not in world.guilds:
        raise unknown(10004, "Guild")
    return _listed(world, world.threads(asked.path["guild"]))


def _listed(world: World, threads: list[Json]) -> Json:
    own = [world.thread_members[str(each["id"])].get(world.bot) for each in threads]
    return {
        "threads": [copied(each) for each in threads], "members": [each for each in own if each]
    }  # fmt: skip


def _thread(world: World, asked: Asked) -> Json:
    found = world.found(asked.path["channel"])
    if "thread_metadata" not in found:
        raise DiscordSays(400, 50024, "Cannot execute action on this channel type")
    return found
