"""Implements `core.roster.Roster` over Discord: who left a server, and roles as groups of Sayso.

One question about a member tells all of it, so accounts and groups are as old as one another.
Discord's own words never reach anybody from here: a reason is one of ours, or one of its codes.
"""

import asyncio
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from adapters.discord.members import NOBODY, Member, member
from adapters.discord.refusals import code_of
from adapters.platforms.answers import LATE, Answers
from core.errors import Invalid, SaysoError, Unavailable
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, NotActive, Standing, Unknown

PATIENCE = 3.0
AT_ONCE = 5
"""So many are asked about at a time, where all who are listed are only to be named."""
_WAITING = "it limits how often it is asked"
_NONSENSE = "its answer could not be read"
_OURS = frozenset({LATE, _NONSENSE})
_NOBODY = frozenset({10007, 10013})
"""Unknown member, unknown user."""
_WORDS = {
    10004: "Sayso is not in that server",
    50001: "Sayso is not in that server",
}
_ID = re.compile(r"[0-9]{1,20}")


class Rest(Protocol):
    """Asks Discord's REST interface."""

    async def member(self, guild: str, user: str) -> Mapping[str, object]:
        """Return a member of a server; raise `SaysoError` otherwise.

        Its detail holds what `adapters.discord.refusals` puts there.
        """
        ...


class DiscordRoster:
    """Asks Discord about members of servers, and remembers the answers for a while.

    `groups` says which roles make up a group of Sayso, by their ids: whoever has one of them is in
    it, for as long as that is so. A server's own id is the role that everybody has: it gives nothing.
    """

    def __init__(
        self,
        rest: Rest,
        *,
        groups: Mapping[str, frozenset[str]],
        now: Callable[[], float] | None = None,
        wall: Callable[[], float] = time.time,
        patience: float = PATIENCE,
    ) -> None:
        self._rest, self._groups, self._patience = rest, groups, patience
        self._now = now or (lambda: asyncio.get_running_loop().time())
        self._wall = wall
        self._members = Answers(self._member, self._now, patience=patience)

    async def standings(
        self, identities: Collection[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        """See the port."""
        asked = tuple(identities)
        if freshness is Freshness.HELD:
            unsure = await self._filled(asked)
            return {one: self._named(one, unsure.get(one)) for one in asked}
        told = await asyncio.gather(*(self._of(one, freshness) for one in asked))
        return {one: self._standing(one, said) for one, said in zip(asked, told, strict=True)}

    def seen(self, identity: Identity, roles: Collection[str], *, age: float = 0.0) -> None:
        """Take over what an interaction says of the person who acts: they are there, with these roles.

        That spares a question about what somebody does; whatever is spent is asked about anyway.
        `age` is for how many seconds Discord has been saying so.
        """
        self._members.learn(_key(identity), Member(roles=frozenset(roles)), self._now() - age)

    async def _filled(self, asked: Sequence[Identity]) -> Mapping[Identity, str]:
        """Ask about whoever is not held, for their roles; return of whom there is no answer, and why.

        It takes no longer than one answer may: who is left over is asked about the next time.
        """
        if not self._groups:
            return {}
        missing = [one for one in asked if self._members.held(_key(one)) is None]
        unsure, left = dict.fromkeys(missing, LATE), iter(missing)

        async def ask() -> None:
            for one in left:
                told = await self._of(one, Freshness.HELD)
                if isinstance(told, Unknown):
                    unsure[one] = told.why
                else:
                    del unsure[one]

        try:
            async with asyncio.timeout(self._patience):
                await asyncio.gather(*(ask() for _ in missing[:AT_ONCE]))
        except TimeoutError:
            pass  # whoever is left over is late
        return unsure

    async def _of(self, one: Identity, freshness: Freshness) -> Member | Unknown:
        if not _ID.fullmatch(one.user):
            return NOBODY
        try:
            return await self._members.get(_key(one), freshness)
        except SaysoError as error:
            return Unknown(why=_reason(error))

    def _named(self, identity: Identity, why: str | None) -> Standing:
        """Return the standing of somebody who is only to be named: as listed, where nothing is held."""
        held = self._members.held(_key(identity))
        if held is not None:
            return self._standing(identity, held)
        return Active(unsure=dict.fromkeys(self._groups, why) if why else {})

    def _standing(self, identity: Identity, told: Member | Unknown) -> Standing:
        if isinstance(told, Unknown):
            return told
        why = told.counts_for_nothing(self._wall())
        if why is not None:
            return NotActive(why=why)
        roles = told.roles - {identity.workspace}
        return Active(groups=frozenset(n for n, some in self._groups.items() if roles & some))

    async def _member(self, key: str) -> Member:
        guild, user = key.split("/")
        try:
            given = await self._rest.member(guild, user)
        except SaysoError as error:
            if code_of(error) in _NOBODY:
                return NOBODY
            raise
        told = member(given, user)
        if told is None:
            raise Unavailable(_NONSENSE)
        return told


def _key(identity: Identity) -> str:
    return f"{identity.workspace}/{identity.user}"


def _reason(error: SaysoError) -> str:
    """Return why Discord could not be asked, in our words, or by its number."""
    if error.shown in _OURS:
        return error.shown
    if isinstance(error, Unavailable):
        return "it could not be reached" if error.after is None else _WAITING
    if isinstance(error, Invalid):
        return "it does not accept Sayso's token"
    code = code_of(error)
    return _WORDS.get(code, f"it answered {code}") if code else "it refused to say"
