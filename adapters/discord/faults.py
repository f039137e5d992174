"""What may be wrong with how Sayso is set up on Discord, in sentences that say what to do. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from adapters.discord.permissions import Holder, Permission, invitation, lacking
from adapters.discord.servers import Application, Channel, Server

FIRST = 3
"""Of so many channels it is told, since there may be hundreds."""
_PORTAL = "in Discord's Developer Portal under"
INTENT = (
    "The Message Content Intent is off, without which Sayso cannot read what does not mention it: "
    f"turn it on {_PORTAL} “Bot”, or write discord.threads: mentions."
)
ENDPOINT = (
    "The Discord app has an Interactions Endpoint URL, so commands and buttons go there and never "
    f"reach Sayso: remove it {_PORTAL} “General Information”."
)
CODE_GRANT = (
    "“Requires OAuth2 Code Grant” is on, so no link lets Sayso into a Discord server: "
    f"turn it off {_PORTAL} “Bot”."
)
NO_SERVER = (
    "No tenant names a Discord server, so Sayso listens to nobody there: write the id of one as "
    "`discord` of a tenant under `tenants`."
)
COMMANDS = (
    "/ask, /stop and /sayso are not registered with Discord as this version has them: "
    "run `sayso sync discord`."
)


def outside(guild: str, app: Application, others: Sequence[Server]) -> str:
    """Return what to do about a server that Sayso is not in. It may be in others instead."""
    told = (
        f"Sayso is not in the Discord server {guild}, which a tenant names: open "
        f"{invitation(app.id, guild)} as somebody who manages that server, or correct the id."
    )
    names = ", ".join(one.called for one in others[:FIRST])
    return f"{told} Sayso is in {names}, which no tenant names." if names else told


def inside(here: Server, me: Holder, seen: Collection[Channel], app: Application) -> Iterator[str]:
    """Yield what keeps Sayso from its work in a server that it is in."""
    if me.is_silenced:
        yield (
            f"Sayso is timed out in the Discord server {here.called}, so it cannot write there: "
            "let one of its moderators end that."
        )
    able = me.heard()
    missing = lacking(able.at_all())
    if missing:
        yield (
            f"In the Discord server {here.called} Sayso lacks {_needs(missing)}: open "
            f"{invitation(app.id, here.id)} as somebody who manages it, or give Sayso's role that."
        )
    elif not any(one.is_seen(able) for one in seen):
        yield (
            f"In the Discord server {here.called} Sayso sees no channel: let its role view those "
            "that it is for."
        )
    lacks = [(one.name, one.lacks(able, here.anybody())) for one in seen]
    yield from _of_channels(here, [(name, some) for name, some in lacks if some])


def of_groups(
    groups: Mapping[str, frozenset[str]], guilds: Collection[str], known: Collection[Server] | None
) -> Iterator[str]:
    """Yield which roles put nobody in a group. `known` is None where not all servers could be read."""
    there = frozenset[str]().union(*(one.can for one in known)) if known is not None else None
    for group, roles in sorted(groups.items()):
        for role in sorted(roles):
            if role in guilds:
                yield (
                    f"discord.groups.{group} names {role}, which is a server and stands for everybody "
                    "in it, so it puts nobody in that group: name another role."
                )
            elif there is not None and role not in there:
                yield (
                    f"discord.groups.{group} names the role {role}, which no server of a tenant has: "
                    "copy its id anew under “Roles” in the settings of the server."
                )


def _of_channels(here: Server, lacks: Sequence[tuple[str, Sequence[Permission]]]) -> Iterator[str]:
    if not lacks:
        return
    named = [f"{name} ({_names(some)})" for name, some in lacks]
    more = [f"{len(named) - FIRST} more"] if len(named) > FIRST else []
    yield (
        f"In the Discord server {here.called} some channels take permissions away from Sayso: "
        f"{_listed([*named[:FIRST], *more])}. Allow its role these under “Permissions” of each."
    )


def _needs(missing: Sequence[Permission]) -> str:
    return _listed([f"{one.name} ({one.why})" for one in missing])


def _names(missing: Sequence[Permission]) -> str:
    return _listed([one.name for one in missing])


def _listed(items: Sequence[str]) -> str:
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
