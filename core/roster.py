"""The people of a platform, as it knows them now: authority that was revoked there ends here (P-36)."""

from collections.abc import Collection, Mapping
from enum import Enum, auto
from typing import Protocol

from core.principals import Identity
from core.standing import Standing


class Freshness(Enum):
    """How old an answer may be, by what it is for."""

    HELD = auto()
    """For what gives nobody anything: names on a card, a no, a stop. Ten minutes; of an account,
    only what is known already, and one that was not asked about stands as it is listed."""
    RECENT = auto()
    """For what somebody does. A minute; ten where the platform cannot be asked just now."""
    NOW = auto()
    """For the spend: asked after this call began, or unknown."""


class Roster(Protocol):
    """Asks a platform about people who are listed in `people`; nobody else is ever asked about.

    Guests and people of another organisation count because they are listed by (team, user), so
    being one takes nothing away. A bot's account never counts, listed or not: to be listed is
    needed, and not enough, since `people` are people and nobody can tell whose software clicks.
    """

    async def standings(
        self, identities: Collection[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        """Return what the platform says about each of these, within seconds.

        Never raises for a platform that fails, refuses or answers nonsense: that is `Unknown`, or a
        group of which it is unsure.
        """
        ...
