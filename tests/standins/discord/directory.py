"""The routes about the application, servers, members, roles and channels."""

from tests.standins.discord import limits, permissions, shapes, threads
from tests.standins.discord.routes import Asked, route
from tests.standins.discord.state import State
from tests.standins.discord.wire import DiscordSays, Json, copied, missing_permissions, unknown
from tests.standins.discord.world import CONTENT, MEMBERS, OWNER, Guild, World

BOT_ADDED = 28
"""What a server's log has where a bot was brought into it."""
IN_LOG = (
    "webhooks", "integrations", "threads", "application_commands", "guild_scheduled_events",
    "auto_moderation_rules",
)  # fmt: skip


def application(world: World) -> Json:
    """Return the bot's application."""
    flags = shapes.CONTENT_LIMITED if world.privileged & CONTENT else 0
    flags |= shapes.MEMBERS_LIMITED if world.privileged & MEMBERS else 0
    return shapes.application(world.app, world.users[world.bot], flags, OWNER)


@route("GET /users/@me")
def me(state: State, asked: Asked) -> Json:
    """Return the bot's account."""
    del asked
    return copied(state.world.users[state.world.bot])


@route("GET /oauth2/applications/@me")
def own_application(state: State, asked: Asked) -> Json:
    """Return the bot's application."""
    del asked
    return application(state.world)


@route("GET /applications/@me")
def own_application_too(state: State, asked: Asked) -> Json:
    """Return the bot's application."""
    del asked
    return application(state.world)


@route("GET /applications/{app}/rpc")
def public_application(state: State, asked: Asked) -> Json:
    """Return the bot's application as everybody sees it."""
    del asked
    return application(state.world)


@route("GET /applications/{app}")
def named_application(state: State, asked: Asked) -> Json:
    """Return the bot's application by its id."""
    if asked.path["app"] != state.world.app:
        raise unknown(10002, "Application")
    return application(state.world)


@route("GET /users/@me/guilds")
def guilds(state: State, asked: Asked) -> list[Json]:
    """Return the servers that the bot is in."""
    after, most = int(asked.query.get("after", 0)), int(asked.query.get("limit", 200))
    found = sorted(state.world.joined, key=int)
    there = [each for each in found if int(each) > after][:most]
    return [_named(state.world, each) for each in there]


def _named(world: World, guild: str) -> Json:
    now = world.guilds[guild].now
    ids = {guild, *world.guilds[guild].members[world.bot]["roles"]}
    roles = [each for each in now["roles"] if each["id"] in ids]
    may = permissions.granted(roles, [], everyone=guild, member=world.bot)
    keys = ("id", "name", "icon", "banner", "features")
    named = {key: now[key] for key in keys}
    return {**named, "owner": False, "permissions": str(may)}


@route("GET /gateway")
def gateway(state: State, asked: Asked) -> Json:
    """Return where the gateway is."""
    del asked
    return {"url": state.gateway_url}


@route("GET /gateway/bot")
def gateway_bot(state: State, asked: Asked) -> Json:
    """Return where the gateway is, how many shards it wants and how often one may identify."""
    del asked
    limit = {
        "total": 1000, "remaining": state.sessions_left, "reset_after": 14400000,
        "max_concurrency": 1,
    }  # fmt: skip
    return {"url": state.gateway_url, "shards": state.shards, "session_start_limit": limit}


@route("GET /guilds/{guild}")
def guild(state: State, asked: Asked) -> Json:
    """Return a server."""
    found = copied(_guild(state.world, asked).now)
    if asked.query.get("with_counts", "").lower() in ("1", "true"):
        found |= {"approximate_member_count": 5, "approximate_presence_count": 1}
    return found


@route("GET /guilds/{guild}/roles")
def roles(state: State, asked: Asked) -> list[Json]:
    """Return the roles of a server."""
    return [copied(each) for each in _guild(state.world, asked).roles]


@route("GET /guilds/{guild}/audit-logs")
def log(state: State, asked: Asked) -> Json:
    """Return who brought the bot into a server, to a bot that may read that."""
    found, world = _guild(state.world, asked), state.world
    guild = asked.path["guild"]
    ids = {guild, *found.members[world.bot]["roles"]}
    there = [each for each in found.roles if each["id"] in ids]
    may = permissions.granted(there, [], everyone=guild, member=world.bot)
    if not may & permissions.BITS["view_audit_log"]:
        raise missing_permissions()
    who, wanted = world.brought.get(guild), asked.query.get("action_type", str(BOT_ADDED))
    entry = {"id": guild, "user_id": who, "target_id": world.bot, "action_type": BOT_ADDED}
    known = who is not None and wanted == str(BOT_ADDED)
    return {
        "audit_log_entries": [entry] if known else [],
        "users": [copied(world.users[each]) for each in (who, world.bot) if each],
        **{each: list[Json]() for each in IN_LOG},
    }  # fmt: skip


@route("GET /guilds/{guild}/channels")
def channels(state: State, asked: Asked) -> list[Json]:
    """Return the channels of a server, threads aside."""
    _guild(state.world, asked)
    return [
        copied(each)
        for each in state.world.channels.values()
        if each.get("guild_id") == asked.path["guild"] and "thread_metadata" not in each
    ]


@route("GET /guilds/{guild}/members")
def members(state: State, asked: Asked) -> list[Json]:
    """Return who is in a server: for applications that may ask for members."""
    found = _guild(state.world, asked)
    if not state.world.privileged & MEMBERS:
        raise missing_permissions()
    most, after = int(asked.query.get("limit", 1)), int(asked.query.get("after", 0))
    there = sorted((e for e in found.members if int(e) > after), key=int)[:most]
    return [copied(found.members[each]) for each in there]


@route("GET /guilds/{guild}/members/{user}")
def member(state: State, asked: Asked) -> Json:
    """Return somebody in a server, with the ids of the roles."""
    found, user = _guild(state.world, asked), asked.path["user"]
    if user not in found.members:
        raise unknown(10007 if user in state.world.users else 10013, "Member")
    return copied(found.members[user])


@route("GET /users/{user}")
def user(state: State, asked: Asked) -> Json:
    """Return an account."""
    if asked.path["user"] not in state.world.users:
        raise unknown(10013, "User")
    return copied(state.world.users[asked.path["user"]])


@route("POST /users/@me/channels")
def direct(state: State, asked: Asked) -> Json:
    """Return the direct messages with somebody."""
    return copied(state.world.channels[state.world.dm(str(asked.body.get("recipient_id")))])


@route("GET /channels/{channel}")
def channel(state: State, asked: Asked) -> Json:
    """Return a channel, a thread or direct messages."""
    found = state.world.found(asked.path["channel"])
    return copied(state.world.with_membership(found))


@route("PATCH /channels/{channel}")
def change(state: State, asked: Asked) -> Json:
    """Rename, archive or lock a thread.

    https://docs.discord.com/developers/topics/threads#editing-deleting-threads
    """
    world, thread = state.world, asked.path["channel"]
    found, body = world.found(thread), asked.body
    meta: Json | None = found.get("thread_metadata")
    if meta is None:
        world.needs(thread, "manage_channels")
        found["name"] = limits.check_name(body.get("name", found["name"]))
        return copied(found)
    is_moderator = world.may(thread, "manage_threads")
    is_own = found["owner_id"] == world.bot
    if not is_moderator and (not is_own or "locked" in body):
        only_revives = body == {"archived": False} and not meta["locked"]
        if not (only_revives and world.bot in world.thread_members[thread]):
            raise missing_permissions()
    if meta["archived"] and body.get("archived") is not False:
        raise DiscordSays(400, 50083, "Thread is archived")
    known = ("name", "archived", "locked", "auto_archive_duration")
    changes = {key: body[key] for key in known if key in body}
    return copied(world.with_membership(threads.change(world, thread, **changes)))


def _guild(world: World, asked: Asked) -> Guild:
    found = world.guilds.get(asked.path["guild"])
    if found is None:
        raise unknown(10004, "Guild")
    if world.bot not in found.members:
        raise DiscordSays(403, 50001, "Missing Access")
    return found
