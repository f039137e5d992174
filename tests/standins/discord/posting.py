"""How messages come to be, change and go, whoever does it; the sessions are told of each."""

from collections.abc import Mapping

from tests.standins.discord import limits, shapes
from tests.standins.discord.pings import ROLE, Pings, pings, said
from tests.standins.discord.routes import Upload
from tests.standins.discord.wire import Json, copied, objects
from tests.standins.discord.world import Message, World


def make(world: World, channel: str, author: Json, body: Json,
    files: Mapping[int, Upload] | None = None, *, only_for: str | None = None,
    by_interaction: bool = False, **more: object) -> Message:  # fmt: skip
    """Keep a new message and tell of it, unless one person alone sees it."""
    names = [limits.file_name(each.name) for each in (files or {}).values()]
    limits.check_message(body, names)
    limits.check_sizes([len(each.data) for each in (files or {}).values()])
    now = shapes.message(world.time.snowflake(), channel, author, world.time.stamp())
    now |= {
        "content": body.get("content") or "", "flags": int(body.get("flags") or 0),
        "components": body.get("components") or [], "embeds": body.get("embeds") or [], **more,
    }  # fmt: skip
    now["attachments"] = _attached(world, channel, body, files or {})
    if "nonce" in body:
        now["nonce"] = body["nonce"]
    kept = Message(now=copied(now), guild=world.guild_of(channel), only_for=only_for)
    world.messages[kept.id] = kept
    _reach(world, kept, body, by_interaction=by_interaction)
    if only_for is None:
        _count(world, channel, kept.id)
        world.tell("MESSAGE_CREATE", delivered(world, kept))
    return kept


def edit(
    world: World, message: Message, body: Json, files: Mapping[int, Upload] | None = None
) -> Message:
    """Give a message other words or components; what stays once it is so, stays so."""
    given, before = files or {}, copied(message.now)
    attached = _kept(world, message, body, given)
    limits.check_message(body, [str(each["filename"]) for each in attached], before)
    limits.check_sizes([len(each.data) for each in given.values()])
    message.before.append(before)
    for key in {"content", "components", "embeds"} & body.keys():
        message.now[key] = copied(body)[key] or ("" if key == "content" else [])
    message.now["attachments"] = attached
    if body.get("flags") is not None:
        stays = message.now["flags"] & ~limits.SUPPRESSED
        changed = int(body["flags"]) & (limits.SUPPRESSED | limits.V2)
        message.now["flags"] = stays | changed
    message.now["flags"] &= ~limits.LOADING
    message.now["edited_timestamp"] = world.time.stamp()
    _reach(world, message, body, is_edit=True)
    if message.only_for is None:
        world.tell("MESSAGE_UPDATE", delivered(world, message))
    return message


def remove(world: World, message: Message) -> None:
    """Take a message away."""
    message.gone = True
    if message.only_for is None:
        place = world.channels.get(message.channel)
        if place and "message_count" in place:
            place["message_count"] -= 1
        gone: Json = {"id": message.id, "channel_id": message.channel}
        world.tell("MESSAGE_DELETE", gone | ({"guild_id": message.guild} if message.guild else {}))


def delivered(world: World, message: Message) -> Json:
    """Return a message as the gateway carries it: with its server and who in it wrote it."""
    sent = copied(message.now)
    if message.guild:
        sent["guild_id"] = message.guild
        found = world.guilds[message.guild].members.get(str(sent["author"]["id"]))
        if found and "webhook_id" not in sent:
            sent["member"] = {key: value for key, value in found.items() if key != "user"}
    return sent


def _reach(world: World, message: Message, body: Json, *, is_edit: bool = False,
    by_interaction: bool = False) -> None:  # fmt: skip
    author = str(message.now["author"]["id"])
    is_member = message.guild is None or author in world.guilds[message.guild].members
    told = pings(
        message.now, body.get("allowed_mentions"), is_edit=is_edit, by_interaction=by_interaction,
        may_everyone=is_member and world.may(message.channel, "mention_everyone", author),
    )  # fmt: skip
    people = sorted(each for each in told.users if each in world.users)
    roles = [each for each in ROLE.findall(said(message.now)) if each in told.roles]
    message.now["mentions"] = [world.users[each] for each in people]
    message.now["mention_roles"] = sorted(set(roles))
    message.now["mention_everyone"] = told.everyone
    message.pings.append(
        Pings(
            message=told.message,
            users=frozenset(people),
            roles=told.roles,
            everyone=told.everyone,
            edited=is_edit,
        )
    )


def _count(world: World, channel: str, message: str) -> None:
    place = world.channels[channel]
    place["last_message_id"] = message
    if "message_count" in place:
        place["message_count"] += 1
        place["total_message_sent"] += 1


def _attached(world: World, channel: str, body: Json, files: Mapping[int, Upload]) -> list[Json]:
    told = {str(each.get("id")): each for each in objects(body.get("attachments"))}
    made: list[Json] = []
    for number, upload in files.items():
        own, name = world.time.snowflake(), limits.file_name(upload.name)
        world.files[own] = upload.data
        url = f"{world.at}/attachments/{channel}/{own}/{name}"
        made.append({
            "id": own, "filename": name, "size": len(upload.data), "url": url, "proxy_url": url,
            "content_type": "text/plain; charset=utf-8",
            "description": told.get(str(number), {}).get("description"),
        })  # fmt: skip
    return made


def _kept(world: World, message: Message, body: Json, files: Mapping[int, Upload]) -> list[Json]:
    """Return the files of a message after an edit: those that it names, and the new ones."""
    there: list[Json] = message.now["attachments"]
    if body.get("attachments") is not None or "attachments" in body:
        named = {str(each.get("id")) for each in objects(body["attachments"])}
        there = [each for each in there if each["id"] in named]
    return [*there, *_attached(world, message.channel, body, files)]
