"""A platform whose people a test hires, dismisses and puts in groups, and that it can take down."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.ports import Clock
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, NotActive, Standing, Unknown, Why
from tests.fakes.clock import FrozenClock

_AGES = {Freshness.RECENT: timedelta(minutes=1), Freshness.HELD: timedelta(minutes=10)}


@dataclass
class FakeRoster:
    """Implements `core.roster.Roster`: it remembers what it told, for as long as the port says."""

    clock: Clock = field(default_factory=FrozenClock)
    members: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Group -> the users in it."""
    gone: dict[str, Why] = field(default_factory=dict[str, Why])
    """Users whose accounts give nobody anything."""
    down: str = ""
    """Why it cannot be asked about anything, where it cannot."""
    groups_down: str = ""
    """Why it cannot be asked about groups alone."""
    asked: list[tuple[frozenset[str], Freshness]] = field(
        default_factory=list[tuple[frozenset[str], Freshness]]
    )
    _accounts: dict[str, tuple[datetime, Why | None]] = field(
        default_factory=dict[str, tuple[datetime, Why | None]]
    )
    _groups: dict[str, tuple[datetime, frozenset[str]]] = field(
        default_factory=dict[str, tuple[datetime, frozenset[str]]]
    )

    async def standings(
        self, identities: Collection[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        """See the port."""
        self.asked.append((frozenset(one.user for one in identities), freshness))
        return {one: self._standing(one.user, freshness) for one in identities}

    def _standing(self, user: str, freshness: Freshness) -> Standing:
        account = self._account(user, freshness)
        if isinstance(account, Unknown):
            return account
        if account:
            return NotActive(why=account)
        told = {name: self._group(name, freshness) for name in sorted(self.members)}
        return Active(
            groups=frozenset(n for n, g in told.items() if not isinstance(g, str) and user in g),
            unsure={name: group for name, group in told.items() if isinstance(group, str)},
        )

    def _account(self, user: str, freshness: Freshness) -> Why | Unknown | None:
        known = self._accounts.get(user)
        if freshness is Freshness.HELD:
            return known[1] if known and self._is_within(known[0], Freshness.HELD) else None
        if known and freshness is Freshness.RECENT and self._is_within(known[0], freshness):
            return known[1]
        if not self.down:
            self._accounts[user] = (self.clock.now(), self.gone.get(user))
            return self.gone.get(user)
        if known and freshness is Freshness.RECENT and self._is_within(known[0], Freshness.HELD):
            return known[1]
        return Unknown(why=self.down)

    def _group(self, name: str, freshness: Freshness) -> frozenset[str] | str:
        """Return who is in a group, or why that cannot be told."""
        known = self._groups.get(name)
        if known and freshness is not Freshness.NOW and self._is_within(known[0], freshness):
            return known[1]
        down = self.down or self.groups_down
        if not down:
            self._groups[name] = (self.clock.now(), frozenset(self.members[name]))
            return self._groups[name][1]
        if known and freshness is Freshness.RECENT and self._is_within(known[0], Freshness.HELD):
            return known[1]
        return down

    def _is_within(self, at: datetime, freshness: Freshness) -> bool:
        return self.clock.now() - at <= _AGES[freshness]
