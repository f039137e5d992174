"""The routes of slash commands, of all servers and of one.

https://docs.discord.com/developers/interactions/application-commands
"""

from tests.standins.discord import limits
from tests.standins.discord.routes import Asked, route
from tests.standins.discord.state import State
from tests.standins.discord.wire import DiscordSays, Json, copied, unknown, wrong
from tests.standins.discord.world import World

GLOBAL, GUILD = "/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"


def kept(world: World, command: Json, guild: str | None) -> Json:
    """Return a command as Discord keeps it."""
    made: Json = {
        "type": 1, "description": "", "default_member_permissions": None, "nsfw": False,
        "name_localizations": None, "description_localizations": None, "options": [],
        **copied(command), "id": world.time.snowflake(), "application_id": world.app,
        "version": world.time.snowflake(),
    }  # fmt: skip
    if guild:
        made["guild_id"] = guild
    else:
        made = {"contexts": None, "integration_types": [0], "dm_permission": True} | made
    return made


def declare(world: World, commands: list[Json], guild: str | None = None) -> list[Json]:
    """Keep commands in the place of those that there were."""
    if len({str(each.get("name")) for each in commands}) < len(commands):
        raise wrong("name", "Application command names must be unique")
    for number, each in enumerate(commands):
        limits.check_command(each, str(number))
    if guild is not None and guild not in world.guilds:
        raise DiscordSays(403, 50001, "Missing Access")
    world.commands[guild] = [kept(world, each, guild) for each in commands]
    return world.commands[guild]


@route(f"GET {GLOBAL}")
def read(state: State, asked: Asked) -> list[Json]:
    """Return the commands."""
    return [copied(each) for each in state.world.commands.get(asked.path.get("guild"), [])]


@route(f"PUT {GLOBAL}")
def replace(state: State, asked: Asked) -> list[Json]:
    """Replace all commands."""
    made = declare(state.world, asked.items, asked.path.get("guild"))
    return [copied(each) for each in made]


@route(f"POST {GLOBAL}")
def add(state: State, asked: Asked) -> Json:
    """Add a command, in the place of one of the same name."""
    world, guild = state.world, asked.path.get("guild")
    limits.check_command(asked.body, "0")
    others = [each for each in world.commands.get(guild, []) if each["name"] != asked.body["name"]]
    made = kept(world, asked.body, guild)
    world.commands[guild] = [*others, made]
    return copied(made)


@route(f"DELETE {GLOBAL}/{{command}}")
def remove(state: State, asked: Asked) -> None:
    """Take a command away."""
    there = state.world.commands.get(asked.path.get("guild"), [])
    found = next((each for each in there if each["id"] == asked.path["command"]), None)
    if found is None:
        raise unknown(10063, "application command")
    there.remove(found)


for _name, _does in (("GET", read), ("PUT", replace), ("POST", add)):
    route(f"{_name} {GUILD}")(_does)
route(f"DELETE {GUILD}/{{command}}")(remove)
