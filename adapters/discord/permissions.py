"""Which permissions Sayso needs on Discord and what for, and which of them somebody has. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

ADMINISTRATOR = 1 << 3
_EVERYTHING = (1 << 53) - 1
AUTHORIZE = "https://discord.com/oauth2/authorize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A permission that Sayso needs, by the name that Discord shows to people."""

    name: str
    bit: int
    why: str
    """Ends `which Sayso needs …`."""


VIEW = Permission(name="View Channels", bit=1 << 10, why="to see what it is asked")
SEND = Permission(name="Send Messages", bit=1 << 11, why="to begin a conversation in a channel")
FILES = Permission(name="Attach Files", bit=1 << 15, why="to post long texts as files")
HISTORY = Permission(
    name="Read Message History",
    bit=1 << 16,
    why="to post nothing twice, and to miss nothing that was asked while it was away",
)
THREADS = Permission(
    name="Create Public Threads", bit=1 << 35, why="to hold each conversation in a thread"
)
IN_THREADS = Permission(
    name="Send Messages in Threads", bit=1 << 38, why="to answer in threads and posts"
)
NEEDED: tuple[Permission, ...] = (VIEW, SEND, IN_THREADS, THREADS, HISTORY, FILES)
"""All that Sayso asks for. Not Embed Links: it draws none, and what it writes shows no previews. Not
Manage Threads: a locked thread was locked on purpose. Not Mention Everyone: it mentions people."""
IN_POSTS: tuple[Permission, ...] = (VIEW, IN_THREADS, HISTORY, FILES)
"""Those for a forum, where people open the threads themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """What a channel changes for a role or a member."""

    id: str
    is_member: bool
    allow: int
    deny: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Somebody in a server, with what the server lets its roles do."""

    guild: str
    user: str
    roles: frozenset[str]
    """Their own; the one that everybody has is not among them."""
    can: Mapping[str, int]
    """By the id of a role, what it permits. The server's own id stands for everybody."""
    is_owner: bool = False
    is_silenced: bool = False
    """Whether moderators let them do nothing but read for now."""

    def heard(self) -> "Holder":
        """Return what they are once moderators let them speak again."""
        return replace(self, is_silenced=False)

    def at_all(self) -> int:
        """Return what they may do where no channel says otherwise."""
        if self.is_owner:
            return _EVERYTHING
        base = self.can.get(self.guild, 0)
        for role in self.roles:
            base |= self.can.get(role, 0)
        return _EVERYTHING if base & ADMINISTRATOR else self._unless_silenced(base)

    def within(self, overwrites: Iterable[Overwrite]) -> int:
        """Return what they may do in a channel: what it says of everybody, of roles, then of them.

        Without a view of it, the rest means nothing.
        """
        base, told = self.at_all(), tuple(overwrites)
        if base & ADMINISTRATOR:
            return base
        everybody = [one for one in told if not one.is_member and one.id == self.guild]
        roles = [one for one in told if not one.is_member and one.id in self.roles - {self.guild}]
        own = [one for one in told if one.is_member and one.id == self.user]
        for some in (everybody, roles, own):
            base = _overwritten(base, some)
        held = self._unless_silenced(base)
        return held if held & VIEW.bit else 0

    def _unless_silenced(self, bits: int) -> int:
        return bits & (VIEW.bit | HISTORY.bit) if self.is_silenced else bits


def lacking(held: int, needed: Iterable[Permission] = NEEDED) -> tuple[Permission, ...]:
    """Return what Sayso needs and does not have."""
    return tuple(one for one in needed if not held & one.bit)


def integer(needed: Iterable[Permission] = NEEDED) -> int:
    """Return permissions as Discord counts them."""
    return sum({one.bit for one in needed})


def invitation(application: str, guild: str | None = None) -> str:
    """Return the link by which somebody who manages a server lets Sayso in, or gives it more."""
    here = f"&guild_id={guild}&disable_guild_select=true" if guild else ""
    scopes = "bot%20applications.commands"
    return f"{AUTHORIZE}?client_id={application}&scope={scopes}&permissions={integer()}{here}"


def _overwritten(base: int, some: Iterable[Overwrite]) -> int:
    allow = deny = 0
    for one in some:
        allow, deny = allow | one.allow, deny | one.deny
    return base & ~deny | allow
