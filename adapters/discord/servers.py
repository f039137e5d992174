"""Servers and the app itself, as far as it matters for how Sayso is set up there. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adapters.discord.members import Member
from adapters.discord.permissions import (
    IN_POSTS,
    NEEDED,
    SEND,
    VIEW,
    Holder,
    Overwrite,
    Permission,
    lacking,
)
from core.display import one_line
from core.errors import Unavailable

_FORUMS = frozenset({15, 16})
_TALKED_IN = frozenset({0, 5}) | _FORUMS
"""Text, announcements, forums and media: elsewhere, there are no threads."""
_LONGEST_NAME = 60
ODD = "Discord's answer could not be read. Try again later."
_CONTENT = 1 << 18 | 1 << 19
"""The flags that say so: of an app that was let to by Discord, and of one in few servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The app that the token belongs to."""

    id: str
    reads_everything: bool
    """Whether it may ask for what messages say that do not mention it."""
    has_endpoint: bool
    """Whether what people press and type goes to an address instead of the gateway."""
    wants_code_grant: bool
    """Whether it takes more than a link to let it into a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that Sayso is in."""

    id: str
    name: str
    owner: str = ""
    can: Mapping[str, int] = field(default_factory=dict[str, int])
    """By the id of a role, what it permits."""

    @property
    def called(self) -> str:
        """Return its name and its id: several may have the same name."""
        return f"{self.name} ({self.id})"

    def holder(self, user: str, member: Member, at: float) -> Holder:
        """Return a member with what their roles let them do."""
        return Holder(
            guild=self.id,
            user=user,
            roles=member.roles,
            can=self.can,
            is_owner=user == self.owner,
            is_silenced=at < member.silent_until,
        )

    def anybody(self) -> Holder:
        """Return somebody without any role."""
        return Holder(guild=self.id, user="", roles=frozenset(), can=self.can)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel in which there may be threads."""

    name: str
    is_forum: bool
    overwrites: tuple[Overwrite, ...]

    def is_seen(self, me: Holder) -> bool:
        """Whether Sayso may view it."""
        return bool(me.within(self.overwrites) & VIEW.bit)

    def lacks(self, me: Holder, anybody: Holder) -> tuple[Permission, ...]:
        """Return what Sayso cannot do here, of what it can elsewhere in this server.

        What it cannot see is none of its business; what all may read and none may write to, such as
        the rules of a server, is no place to ask for anything.
        """
        mine, everybodys = me.within(self.overwrites), anybody.within(self.overwrites)
        is_for_reading = everybodys & VIEW.bit and not everybodys & SEND.bit
        if not mine & VIEW.bit or is_for_reading:
            return ()
        needed = IN_POSTS if self.is_forum else NEEDED
        everywhere = lacking(me.at_all())
        return tuple(one for one in lacking(mine, needed) if one not in everywhere)


def application(given: Mapping[str, object]) -> Application:
    """Read the app; raise `Unavailable` where that makes no sense."""
    match given:
        case {"id": str(id_)}:
            flags = given.get("flags")
            return Application(
                id=id_,
                reads_everything=bool(isinstance(flags, int) and flags & _CONTENT),
                has_endpoint=bool(given.get("interactions_endpoint_url")),
                wants_code_grant=given.get("bot_require_code_grant") is True,
            )
        case _:
            raise Unavailable(ODD)


def server(given: Mapping[str, object]) -> Server:
    """Read a server with its roles; raise `Unavailable` where that makes no sense."""
    match given:
        case {"id": str(id_), "name": str(name), "owner_id": str(owner), "roles": [*roles]}:
            can = dict(map(_role, roles))
            return Server(id=id_, name=one_line(name, _LONGEST_NAME), owner=owner, can=can)
        case _:
            raise Unavailable(ODD)


def servers(given: Iterable[object]) -> tuple[Server, ...]:
    """Read servers of which Discord says no more than the names."""
    return tuple(map(_named, given))


def channels(given: Iterable[object]) -> tuple[Channel, ...]:
    """Read those channels of a server that Sayso could be asked in."""
    return tuple(
        Channel(
            name="#" + one_line(name, _LONGEST_NAME),
            is_forum=kind in _FORUMS,
            overwrites=tuple(map(_overwrite, overwrites)),
        )
        for name, kind, overwrites in map(_channel, given)
        if kind in _TALKED_IN
    )


def _named(given: object) -> Server:
    match given:
        case {"id": str(id_), "name": str(name)}:
            return Server(id=id_, name=one_line(name, _LONGEST_NAME))
        case _:
            raise Unavailable(ODD)


def _channel(given: object) -> tuple[str, int, list[object]]:
    match given:
        case {"name": str(name), "type": int(kind), **more}:
            overwrites = more.get("permission_overwrites") or []
            if isinstance(overwrites, list):
                return name, kind, overwrites
    raise Unavailable(ODD)


def _role(given: object) -> tuple[str, int]:
    match given:
        case {"id": str(id_), "permissions": str(bits)} if bits.isdecimal():
            return id_, int(bits)
        case _:
            raise Unavailable(ODD)


def _overwrite(given: object) -> Overwrite:
    match given:
        case {"id": str(id_), "type": int(kind), "allow": str(allow), "deny": str(deny)} if (
            allow.isdecimal() and deny.isdecimal()
        ):
            return Overwrite(id=id_, is_member=kind == 1, allow=int(allow), deny=int(deny))
        case _:
            raise Unavailable(ODD)
