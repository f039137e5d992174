"""What stands where the configuration names nothing, or nothing was opened: it does nothing and says why."""

from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NoReturn

from core.errors import Invalid, Unavailable
from core.platforms import Desk, Platform
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, Standing, Unknown

_NO_SECRETS = "its tokens cannot be read here"


class NoDatabase:
    """A database for whoever only looks at what is configured."""

    async def transact(self, work: object) -> NoReturn:
        """Refuse."""
        del work
        raise Unavailable("Nothing is opened here, so nothing can be kept.")

    async def changes(self) -> int:
        """Return that nothing has changed."""
        return 0


@dataclass(frozen=True, slots=True)
class NoChat:
    """A `Chat` without the secrets that it takes: whoever has them posts what is to be posted."""

    error: Invalid

    async def post(self, *_: object, **__: object) -> NoReturn:
        """Leave it."""
        raise Unavailable(self.error.shown)

    edit = draft = post


@dataclass(frozen=True, slots=True)
class NoRoster:
    """A `Roster` that can ask about nobody."""

    groups: frozenset[str]

    async def standings(
        self, identities: Collection[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        """See the port."""
        held = Active(unsure=dict.fromkeys(self.groups, _NO_SECRETS))
        standing = held if freshness is Freshness.HELD else Unknown(why=_NO_SECRETS)
        return dict.fromkeys(identities, standing)


@dataclass(frozen=True, slots=True)
class NoPlatform:
    """A `Platform` whose secrets are not here: enough for whoever only looks, or stops something."""

    error: Invalid
    groups: frozenset[str]

    @property
    def chat(self) -> NoChat:
        """See the port."""
        return NoChat(self.error)

    @property
    def roster(self) -> NoRoster:
        """See the port."""
        return NoRoster(self.groups)

    @asynccontextmanager
    async def connected(self, desk: Desk) -> AsyncGenerator[None]:
        """See the port."""
        del desk
        must_be_here([self])
        yield

    async def check(self) -> tuple[str, ...]:
        """See the port."""
        return (self.error.shown,)


def must_be_here(platforms: Iterable[Platform]) -> None:
    """Raise `Invalid` where somebody is about to serve without the secrets of a platform."""
    for platform in platforms:
        if isinstance(platform, NoPlatform):
            raise platform.error
