"""Everything that there is: servers, channels, people, messages, and who may do what."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.standins.discord import permissions, shapes
from tests.standins.discord.pings import Pings
from tests.standins.discord.times import Time
from tests.standins.discord.wire import Json, copied, missing_access, missing_permissions, unknown

GUILD, OPS, BOT = "700000000000000001", "600000000000000001", "900000000000000001"
ALICE, BOB = "500000000000000001", "500000000000000002"
CAROL, MALLORY = "500000000000000003", "500000000000000004"
OWNER = "500000000000000099"
BOT_ROLE = "800000000000000099"
CONTENT, MEMBERS, PRESENCES = 1 << 15, 1 << 1, 1 << 8
"""Privileged intents."""

Tell: TypeAlias = Callable[[str, Json], None]
"""Tells the sessions of an event: its name, and what it carries."""


@dataclass(kw_only=True, eq=False)
class Message:
    """A message as it is now, and as it was before each edit."""

    now: Json
    guild: str | None
    only_for: str | None = None
    """Who alone sees it, where it is ephemeral."""
    before: list[Json] = field(default_factory=list[Json])
    gone: bool = False
    pings: list[Pings] = field(default_factory=list[Pings])
    """Who was told of it, and of each edit."""

    @property
    def id(self) -> str:
        """Return its id."""
        return str(self.now["id"])

    @property
    def channel(self) -> str:
        """Return where it stands."""
        return str(self.now["channel_id"])


@dataclass(kw_only=True)
class Guild:
    """A server: its object without what is in it, and its members."""

    now: Json
    members: dict[str, Json] = field(default_factory=dict[str, Json])

    @property
    def roles(self) -> list[Json]:
        """Return the roles, that of everybody first."""
        found: list[Json] = self.now["roles"]
        return found


@dataclass(kw_only=True)
class World:
    """The state of this Discord, as one application's bot may come to know it."""

    app: str = BOT
    bot: str = BOT
    time: Time = field(default_factory=Time)
    privileged: int = CONTENT
    """The privileged intents that are switched on for the application."""
    users: dict[str, Json] = field(default_factory=dict[str, Json])
    guilds: dict[str, Guild] = field(default_factory=dict[str, Guild])
    channels: dict[str, Json] = field(default_factory=dict[str, Json])
    """Channels, forums, threads and direct messages by their id."""
    thread_members: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What is in each file, by the id of the attachment."""
    commands: dict[str | None, list[Json]] = field(default_factory=dict[str | None, list[Json]])
    """Slash commands by server; None for those of all servers."""
    nonces: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    nonce_seconds: float = 180
    """How long a nonce is known: "the past few minutes"."""
    brought: dict[str, str] = field(default_factory=dict[str, str])
    """Who brought the bot into a server, where its log has that."""
    shut_to_bot: set[str] = field(default_factory=set[str])
    """Who takes no direct messages from the bot."""
    tell: Tell = lambda _name, _data: None
    at: str = ""
    """The server's own address, where files are."""

    def person(self, user: str, name: str, *roles: str, guild: str | None = GUILD,
        bot: bool = False) -> str:  # fmt: skip
        """Let there be somebody, a member of a server unless `guild` is None; return who."""
        self.users[user] = shapes.user(user, name, bot=bot)
        if guild is not None:
            self.guilds[guild].members[user] = shapes.member(self.users[user], list(roles))
        return user

    def role(self, role: str, name: str, *can: str, guild: str = GUILD) -> str:
        """Let there be a role; return its id."""
        self.guilds[guild].roles.append(shapes.role(role, name, permissions.bits(*can)))
        return role

    def lets(self, role: str, *can: str, guild: str = GUILD) -> None:
        """Have a role allow this and nothing else; a server's own id is the role of everybody."""
        [found] = [each for each in self.guilds[guild].roles if each["id"] == role]
        found["permissions"] = str(permissions.bits(*can))

    def guild(self, guild: str, name: str) -> str:
        """Let there be a server with the bot in it; return its id."""
        everyone = shapes.role(guild, "@everyone", permissions.bits(*permissions.USUAL))
        own = shapes.role(BOT_ROLE, "sayso", permissions.bits("mention_everyone"), managed=True)
        own["tags"] = {"bot_id": self.bot}
        self.guilds[guild] = Guild(now=shapes.guild(guild, name, OWNER, [everyone, own]))
        self.guilds[guild].members[self.bot] = shapes.member(self.users[self.bot], [BOT_ROLE])
        return guild

    def channel(self, channel: str, name: str, *, guild: str = GUILD, forum: bool = False) -> str:
        """Let there be a channel, or a forum; return its id."""
        kind = shapes.FORUM if forum else shapes.TEXT
        self.channels[channel] = shapes.channel(channel, guild, name, kind)
        self.channels[channel]["position"] = len(self.channels)
        return channel

    def dm(self, user: str) -> str:
        """Return the direct messages of somebody with the bot."""
        if user not in self.users or user == self.bot:
            raise unknown(10013, "User")
        channel = str(62 * 10**16 + int(user) % 10**15)
        self.channels.setdefault(channel, shapes.direct(channel, self.users[user]))
        return channel

    @property
    def joined(self) -> list[str]:
        """Return the servers that the bot is in."""
        return [key for key, each in self.guilds.items() if self.bot in each.members]

    def partner(self, channel: str) -> str | None:
        """Return whose direct messages these are; None in a server."""
        found = self.channels[channel].get("recipients")
        return str(found[0]["id"]) if found else None

    def guild_of(self, channel: str) -> str | None:
        """Return the server that a channel is in."""
        found = self.channels[channel].get("guild_id")
        return str(found) if found else None

    def home(self, channel: str) -> Json:
        """Return the channel whose permissions count: of a thread, the one that it is in."""
        found = self.channels[channel]
        return self.channels[found["parent_id"]] if "thread_metadata" in found else found

    def deny(self, channel: str, *names: str, who: str | None = None) -> None:
        """Let the bot, or another member or role, not do something in a channel."""
        self._overwrite(channel, who or self.bot, "deny", names)

    def allow(self, channel: str, *names: str, who: str | None = None) -> None:
        """Let the bot, or another member or role, do something in a channel."""
        self._overwrite(channel, who or self.bot, "allow", names)

    def may(self, channel: str, name: str, who: str | None = None) -> bool:
        """Whether the bot, or somebody else, may do something in a channel."""
        return bool(self.permissions(channel, who or self.bot) & permissions.BITS[name])

    def permissions(self, channel: str, who: str) -> int:
        """Return all that somebody may do in a channel."""
        home, guild = self.home(channel), self.guild_of(channel)
        if guild is None:
            return permissions.bits(*permissions.USUAL)
        found = self.guilds[guild]
        if who == found.now["owner_id"]:
            return permissions.ALL
        if who not in found.members:
            return 0
        ids = {guild, *found.members[who]["roles"]}
        roles = [each for each in found.roles if each["id"] in ids]
        over = home["permission_overwrites"]
        return permissions.granted(roles, over, everyone=guild, member=who)

    def needs(self, channel: str, *names: str) -> None:
        """Refuse where the bot may not see a channel, or not do something in it."""
        if not self.may(channel, "view_channel"):
            raise missing_access()
        if not all(self.may(channel, each) for each in names):
            raise missing_permissions()

    def found(self, channel: str) -> Json:
        """Return a channel that the bot sees."""
        if channel not in self.channels:
            raise unknown(10003, "Channel")
        self.needs(channel)
        return self.channels[channel]

    def message(self, channel: str, message: str) -> Message:
        """Return a message that the bot's token reaches: not one for one person alone."""
        self.found(channel)
        kept = self.messages.get(message)
        if kept is None or kept.gone or kept.only_for or kept.channel != channel:
            raise unknown(10008, "Message")
        return kept

    def history(self, channel: str) -> Iterator[Message]:
        """Yield what is in a channel for everybody in it, oldest first."""
        for each in self.messages.values():
            if each.channel == channel and not each.gone and each.only_for is None:
                yield each

    def reads(self, message: Json, *, has_intent: bool | None = None) -> bool:
        """Whether the app gets to read a message.

        Without the intent it reads its own, those that mention it, replies with a ping included,
        and direct messages. https://docs.discord.com/developers/events/gateway
        """
        wanted = bool(self.privileged & CONTENT) if has_intent is None else has_intent
        mentioned = any(each["id"] == self.bot for each in message["mentions"])
        own = message["author"]["id"] == self.bot
        return wanted or own or mentioned or self.guild_of(message["channel_id"]) is None

    def blanked(self, message: Json) -> Json:
        """Return a message without what was written in it."""
        empty: Json = {"content": "", "embeds": [], "attachments": [], "components": []}
        blank = copied(message) | empty
        if blank.get("referenced_message") and not self.reads(blank["referenced_message"]):
            blank["referenced_message"] |= empty
        return blank

    def threads(self, guild: str) -> list[Json]:
        """Return the threads of a server that are not archived and that the bot sees."""
        return [
            copied(self.with_membership(each))
            for each in self.channels.values()
            if each.get("guild_id") == guild and "thread_metadata" in each
            and not each["thread_metadata"]["archived"]
            and self.may(str(each["id"]), "view_channel")
        ]  # fmt: skip

    def with_membership(self, channel: Json) -> Json:
        """Return a thread with the bot's own membership in it, if it has one."""
        own = self.thread_members.get(str(channel["id"]), {}).get(self.bot)
        return {**channel, "member": own} if own else channel

    def _overwrite(self, channel: str, who: str, key: str, names: tuple[str, ...]) -> None:
        overwrites: list[Json] = self.channels[channel]["permission_overwrites"]
        guild = self.guild_of(channel)
        kind = 0 if guild and any(each["id"] == who for each in self.guilds[guild].roles) else 1
        found = next((each for each in overwrites if each["id"] == who), None)
        if found is None:
            found = {"id": who, "type": kind, "allow": "0", "deny": "0"}
            overwrites.append(found)
        other, changed = "allow" if key == "deny" else "deny", permissions.bits(*names)
        found[key] = str(int(found[key]) | changed)
        found[other] = str(int(found[other]) & ~changed)


def contract(time: Time) -> World:
    """Return the world of the contract: one server, one channel, three people and a stranger."""
    world = World(time=time)
    world.users[BOT] = shapes.user(BOT, "sayso", bot=True)
    world.guild(GUILD, "acme")
    world.channel(OPS, "ops")
    for user, name in ((ALICE, "alice"), (BOB, "bob"), (CAROL, "carol"), (MALLORY, "mallory")):
        world.person(user, name)
    return world
