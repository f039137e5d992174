"""What it means that somebody did on Discord: an event of the core, or why there is none. Pure.

Whatever comes in, however odd, is read; what cannot be understood is ignored, for a reason that
repeats none of it.
"""

from typing import assert_never

from adapters.discord import pressed, slashes, spoken
from adapters.discord.findings import PLATFORM, Finding, Us
from adapters.discord.seen import (
    Added,
    Command,
    Pressed,
    Removed,
    Rewritten,
    Seen,
    Submitted,
    Where,
    Written,
)
from adapters.discord.whereabouts import Spot, meant, spot
from core.events import Invited, Place


def read(seen: Seen, us: Us) -> Finding:
    """Return what somebody did, whatever it is."""
    match seen:
        case Written() | Rewritten() | Removed():
            return _message(seen, us)
        case Command():
            return slashes.command(seen, us)
        case Pressed():
            return pressed.button(seen, us)
        case Submitted():
            return pressed.form(seen, us)
        case Added():
            return _added(seen, us)
        case _:
            assert_never(seen)


def _message(seen: Written | Rewritten | Removed, us: Us) -> Finding:
    match seen:
        case Written():
            return spoken.written(seen, us)
        case Rewritten():
            return spoken.rewritten(seen, us)
        case _:
            return spoken.removed(seen, us)


def _added(seen: Added, us: Us) -> Finding:
    at = spot(seen.by, Where(guild=seen.guild, channel=seen.channel), us, opens="")
    if not isinstance(at, Spot):
        return at
    place = Place(platform=PLATFORM, workspace=seen.guild, channel=seen.channel)
    return meant(Invited(identity=at.identity, place=place), at)
