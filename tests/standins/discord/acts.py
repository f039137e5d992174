"""What is sent to the app when somebody uses a command, presses a button or sends a form.

https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from dataclasses import dataclass
from uuid import uuid4

from tests.standins.discord.interactions import COMPONENT, SUBMIT, Interaction, Modal
from tests.standins.discord.state import State
from tests.standins.discord.wire import Json, copied, objects, walk
from tests.standins.discord.world import Message, World

STRING, INTEGER, TRUTH = 3, 4, 5
"""Kinds of options of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What somebody did, before it is sent."""

    kind: int
    user: str
    channel: str
    data: Json
    source: Message | None = None


def begin(state: State, done: Done) -> Interaction:
    """Let there be an interaction, with what goes out to the app."""
    world = state.world
    own, token = world.time.snowflake(), f"fake-{uuid4().hex}"
    act = Interaction(
        id=own, token=token, kind=done.kind, user=done.user, channel=done.channel,
        time=world.time, born=world.time.now(), source=done.source,
        sent=_sent(world, own, token, done),
    )  # fmt: skip
    state.interactions[token] = act
    return act


def _sent(world: World, own: str, token: str, done: Done) -> Json:
    place = world.channels[done.channel]
    may = world.permissions(done.channel, world.bot)
    sent: Json = {
        "id": own, "application_id": world.app, "type": done.kind, "token": token, "version": 1,
        "channel_id": done.channel, "channel": copied(place), "locale": "en-US",
        "app_permissions": str(may), "entitlements": [], "data": copied(done.data),
        "attachment_size_limit": 10 * 2**20, "authorizing_integration_owners": {},
    }  # fmt: skip
    if done.source:
        sent["message"] = copied(done.source.now)
    guild = world.guild_of(done.channel)
    if guild is None:
        return sent | {"user": world.users[done.user], "context": 1}
    theirs = str(world.permissions(done.channel, done.user))
    member = {**copied(world.guilds[guild].members[done.user]), "permissions": theirs}
    return sent | {
        "guild_id": guild, "guild": {"id": guild, "locale": "en-US", "features": []},
        "guild_locale": "en-US", "member": member, "context": 0,
        "authorizing_integration_owners": {"0": guild},
    }  # fmt: skip


def command(world: World, channel: str, name: str, options: dict[str, object]) -> Json:
    """Return a command as it was typed; fail where nobody could have typed it."""
    guild = world.guild_of(channel)
    there = [*(world.commands.get(guild, []) if guild else []), *world.commands.get(None, [])]
    found = next((each for each in there if each["name"] == name), None)
    assert found, f"there is no command /{name} here, only {[each['name'] for each in there]}"
    known = {str(each["name"]): each for each in objects(found.get("options"))}
    assert options.keys() <= known.keys(), f"/{name} takes {sorted(known)}, not {sorted(options)}"
    needed = {key for key, each in known.items() if each.get("required")}
    assert needed <= options.keys(), f"/{name} needs {sorted(needed)}"
    typed = [{"name": k, "type": known[k]["type"], "value": v} for k, v in options.items()]
    data: Json = {"id": found["id"], "name": name, "type": 1, "options": typed}
    return data | ({"guild_id": guild} if found.get("guild_id") else {})


def press(user: str, message: Message, button: Json) -> Done:
    """Return what a press of a button is."""
    data = {"custom_id": button["custom_id"], "component_type": 2, "id": button.get("id", 1)}
    return Done(
        kind=COMPONENT, user=user, channel=message.channel, data=data, source=message
    )  # fmt: skip


def submit(modal: Modal, fields: dict[str, str], source: Message | None) -> Done:
    """Return what a form is once it is sent; fail where Discord would not let it be sent."""
    parts = [e for e in walk(modal.now["components"]) if e.get("type") in {3, 4}]
    inputs = {e["custom_id"]: e for e in parts}
    assert fields.keys() <= inputs.keys(), f"the form has {sorted(inputs)}, not {sorted(fields)}"
    for name, each in inputs.items():
        written = fields.get(name, _before(each))
        if each["type"] == 4 and (each.get("required", True) or written):
            least, most = int(each.get("min_length") or 1), int(each.get("max_length") or 4000)
            assert least <= len(written) <= most, f"{name!r} takes {least} to {most} characters"
    data = {
        "custom_id": modal.custom_id,
        "components": [_part(each, fields) for each in objects(modal.now["components"])],
    }
    return Done(
        kind=SUBMIT, user=modal.user, channel=modal.channel, data=data, source=source
    )  # fmt: skip


def _part(part: Json, fields: dict[str, str]) -> Json:
    """Return one part of a form as it comes back: what was written, without what stood there."""
    if "component" in part:
        return {"type": 18, "id": part.get("id", 1), "component": _value(part["component"], fields)}
    inner = [_value(each, fields) for each in objects(part.get("components"))]
    return {"type": part["type"], "id": part.get("id", 1), "components": inner}


def _before(given: Json) -> str:
    """Return what stands in a field before anybody writes."""
    if given.get("type") == 4:
        return str(given.get("value", ""))
    chosen = [str(one["value"]) for one in objects(given.get("options")) if one.get("default")]
    return [*chosen, ""][0]


def _value(given: Json, fields: dict[str, str]) -> Json:
    written = fields.get(str(given["custom_id"]), _before(given))
    if given.get("type") == 3:
        known = {str(one["value"]) for one in objects(given.get("options"))}
        assert not written or written in known, f"no such option: {written}"
        chosen = [written] if written else []
        return {
            "type": 3, "id": given.get("id", 2), "custom_id": given["custom_id"], "values": chosen
        }  # fmt: skip
    return {
        "type": 4, "id": given.get("id", 2), "custom_id": given["custom_id"], "value": written
    }  # fmt: skip
