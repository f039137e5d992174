"""Who did something and where, as the core knows people and places. Pure."""

import re
from dataclasses import dataclass

from adapters.discord.findings import PLATFORM, Act, Ignored, Sentence, Us
from adapters.discord.seen import Where, Who
from core.chat_commands import Heard
from core.events import (
    OPENS,
    Approve,
    AskAgain,
    BeginEdit,
    Deny,
    Edit,
    Place,
    ProposeGrant,
    ResolveRun,
    Review,
    RevokeGrant,
    UndoRun,
)
from core.platforms import Event
from core.principals import Identity
from core.rulings import BreakGlass, HandOver, Lift, Pause, Resume
from core.terminal import Mistyped

SOFTWARE = Ignored(why="software wrote it")
UNKNOWN = Ignored(why="it is of a kind that Sayso does not read")
UNCLEAR = Ignored(why="it cannot be understood")
NOBODYS = Ignored(why="it is of a server that is nobody's here")
STRANGER = Sentence(
    text="Sayso does not know you from any server. Write to it in a channel of your server, or ask "
    "whoever runs Sayso to list you there."
)
NOT_HERE = Sentence(
    text="Nothing was decided: a direct message shows nobody's roles. Decide in the server: where the "
    "card stands, or in any channel after `/sayso requests`, which shows what was asked here too."
)

_SNOWFLAKE = re.compile(r"[0-9]{1,20}")
_DECISIONS = (
    Approve,
    Deny,
    BeginEdit,
    Edit,
    AskAgain,
    ResolveRun,
    Review,
    ProposeGrant,
    RevokeGrant,
    UndoRun,
    BreakGlass,
    HandOver,
    Lift,
    Pause,
    Resume,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Somebody, where they are."""

    identity: Identity
    place: Place
    in_thread: bool
    is_direct: bool


def is_id(text: str) -> bool:
    """Whether a text is an id of Discord's."""
    return bool(_SNOWFLAKE.fullmatch(text))


def spot(by: Who, where: Where, us: Us, *, opens: str) -> Spot | Sentence | Ignored:
    """Return who did something where; why nothing comes of it, where it is none of our business.

    `opens` tells the thread that what they want opens from others, if they are in none.
    """
    if by.is_software or by.user == us.user:
        return SOFTWARE
    if not (is_id(by.user) and is_id(where.channel) and is_id(where.parent or where.channel)):
        return UNCLEAR
    if where.guild is None:
        return _direct(by.user, where.channel, us)
    if where.guild not in us.guilds:
        return NOBODYS
    return Spot(
        identity=Identity(platform=PLATFORM, workspace=where.guild, user=by.user),
        place=Place(
            platform=PLATFORM,
            workspace=where.guild,
            channel=where.parent or where.channel,
            thread=where.channel if where.parent else f"{OPENS}{opens}",
        ),
        in_thread=where.parent is not None,
        is_direct=False,
    )


def _direct(user: str, channel: str, us: Us) -> Spot | Sentence:
    """Take a direct message, which names no server, to be in the first that lists who wrote it."""
    guild = min(us.guilds.intersection(us.guilds_of(user)), default=None)
    if guild is None:
        return STRANGER
    return Spot(
        identity=Identity(platform=PLATFORM, workspace=guild, user=user),
        place=Place(platform=PLATFORM, workspace=guild, channel=channel, thread=channel),
        in_thread=False,
        is_direct=True,
    )


def heard(at: Spot, delivery: str, *, known_only: bool = False) -> Heard:
    """Return how the words that mean the same everywhere are to be read here."""
    return Heard(
        identity=at.identity,
        place=at.place,
        in_thread=at.in_thread,
        known_only=known_only,
        deliveries=(delivery,),
        alone=at.is_direct or not delivery.startswith("msg:"),
    )


def meant(found: Event | Mistyped, at: Spot) -> Act | Sentence:
    """Return what somebody meant, unless it is a decision in a direct message (C61)."""
    if isinstance(found, Mistyped):
        return Sentence(text=found.sentence)
    if at.is_direct and isinstance(found, _DECISIONS):
        return NOT_HERE
    return Act(event=found)
