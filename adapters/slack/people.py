"""Implements `core.roster.Roster` over Slack: deactivated people, and user groups as groups of Sayso.

Slack's own words never reach anybody from here: a reason is one of ours, or one of its error codes.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapters.platforms.answers import LATE, Answers
from core.errors import SaysoError, Unavailable
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, NotActive, Standing, Unknown, Why

PATIENCE = 3.0
_WAITING = "it limits how often it is asked"
_NONSENSE = "its answer could not be read"
_OURS = frozenset({LATE, _WAITING, _NONSENSE})
_NOBODY = frozenset({"user_not_found", "user_not_visible"})
_WORDS = {
    "plan_upgrade_required": "its plan has no user groups",
    "no_such_subteam": "the user group was deleted",
    "subteam_not_found": "the user group was deleted",
    "missing_scope": "Sayso lacks the right to ask",
    "ratelimited": _WAITING,
}
_CODE = re.compile(r"[a-z_]{1,60}")


class Web(Protocol):
    """Calls Slack's Web API."""

    async def call(self, method: str, **arguments: object) -> Mapping[str, object]:
        """Return an answer that is `ok`; raise `SaysoError` otherwise.

        Its detail holds Slack's code as `error`.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Account:
    """What Slack says of a user id."""

    teams: frozenset[str]
    """Where it is at home; empty where Slack knows no such account."""
    gone: Why | None


class SlackRoster:
    """Asks Slack about people of one installation, and remembers the answers for a while.

    `groups` says which user groups (`S…`) make up a group of Sayso: whoever is in one of them is in
    it, for as long as that is so. Each of them costs one call at each spend, of which Slack allows
    some twenty a minute; who asks meanwhile shares that answer.
    """

    def __init__(
        self,
        web: Web,
        *,
        team: str,
        groups: Mapping[str, frozenset[str]],
        now: Callable[[], float] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._web, self._team, self._groups = web, team, groups
        self._now = now or (lambda: asyncio.get_running_loop().time())
        self._not_before: dict[str, float] = {}
        self._accounts = Answers(self._account, self._now, patience=patience)
        self._members = Answers(self._users, self._now, patience=patience)

    async def standings(
        self, identities: Collection[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        """See the port."""
        asked = tuple(identities)
        if not asked:
            return {}
        accounts: Sequence[_Account | Unknown | None]
        if freshness is Freshness.HELD:  # everybody who is listed, and nobody waits for it
            accounts = [self._accounts.held(one.user) for one in asked]
            members = await self._of_groups(freshness)
        else:
            accounts, members = await asyncio.gather(
                asyncio.gather(*(self._of_account(one.user, freshness) for one in asked)),
                self._of_groups(freshness),
            )
        return {
            one: self._standing(one, account, members)
            for one, account in zip(asked, accounts, strict=True)
        }

    def changed(self, event: Mapping[str, object]) -> None:
        """Forget what an event of Slack says has changed; any other event changes nothing."""
        match event:
            case {"type": "user_change", "user": {"id": str(user)}}:
                self._accounts.forget(user)
            case {"type": "subteam_members_changed", "subteam_id": str(group)} | {
                "type": "subteam_updated",
                "subteam": {"id": str(group)},
            }:
                self._members.forget(group)
            case _:
                pass

    async def _of_account(self, user: str, freshness: Freshness) -> _Account | Unknown:
        try:
            return await self._accounts.get(user, freshness)
        except SaysoError as error:
            return Unknown(why=_reason(error))

    async def _of_groups(self, freshness: Freshness) -> Mapping[str, frozenset[str] | Unknown]:
        """Return who is in each user group."""
        wanted = sorted(frozenset[str]().union(*self._groups.values()))
        told = await asyncio.gather(*(self._of_group(one, freshness) for one in wanted))
        return dict(zip(wanted, told, strict=True))

    async def _of_group(self, group: str, freshness: Freshness) -> frozenset[str] | Unknown:
        try:
            return await self._members.get(group, freshness)
        except SaysoError as error:
            return Unknown(why=_reason(error))

    def _standing(
        self,
        identity: Identity,
        account: _Account | Unknown | None,
        members: Mapping[str, frozenset[str] | Unknown],
    ) -> Standing:
        match account:
            case None:  # user groups hold nobody from elsewhere
                is_ours = identity.workspace == self._team
                return self._grouped(identity.user, members) if is_ours else Active()
            case Unknown():
                return account
            case _Account(teams=teams) if identity.workspace not in teams:
                # An id alone says nothing: the same one may be another person elsewhere (P-17).
                return NotActive(why=Why.NOT_THERE)
            case _Account(gone=Why() as why):
                return NotActive(why=why)
            case _:
                return self._grouped(identity.user, members)

    def _grouped(self, user: str, members: Mapping[str, frozenset[str] | Unknown]) -> Active:
        groups, unsure = set[str](), dict[str, str]()
        for name, made_of in self._groups.items():
            told = [members[one] for one in sorted(made_of)]
            if any(not isinstance(one, Unknown) and user in one for one in told):
                groups.add(name)
                continue
            why = next((one.why for one in told if isinstance(one, Unknown)), None)
            if why:
                unsure[name] = why
        return Active(groups=frozenset(groups), unsure=unsure)

    async def _account(self, user: str) -> _Account:
        try:
            answer = await self._call("users.info", user=user)
        except SaysoError as error:
            if error.detail.get("error") in _NOBODY:
                return _Account(teams=frozenset(), gone=None)
            raise
        match answer:
            case {"user": {"id": told, "team_id": str(team), "deleted": bool(deleted), **about}}:
                grid = _mapping(about.get("enterprise_user"))
                if user not in (told, grid.get("id")):
                    raise Unavailable(_NONSENSE)
                gone = Why.DEACTIVATED if deleted else None
                is_bot = about.get("is_bot") or about.get("is_workflow_bot")
                return _Account(teams=_teams(team, grid), gone=Why.BOT if is_bot else gone)
            case _:
                raise Unavailable(_NONSENSE)

    async def _users(self, group: str) -> frozenset[str]:
        match await self._call("usergroups.users.list", usergroup=group):
            case {"users": [*users]} if all(isinstance(one, str) for one in users):
                return frozenset(map(str, users))
            case _:
                raise Unavailable(_NONSENSE)

    async def _call(self, method: str, **arguments: str) -> Mapping[str, object]:
        """Call Slack, unless it asked not to be called for a while."""
        if self._now() < self._not_before.get(method, 0.0):
            raise Unavailable(_WAITING)
        try:
            return await self._web.call(method, **arguments)
        except Unavailable as error:
            if error.after is None:
                raise
            self._not_before[method] = self._now() + error.after.total_seconds()
            raise Unavailable(_WAITING) from error


def _teams(team: str, grid: Mapping[str, object]) -> frozenset[str]:
    """Return each workspace that an account belongs to: on Enterprise Grid, one is in several."""
    match grid.get("teams"):
        case [*teams]:
            return frozenset({team, *(one for one in teams if isinstance(one, str))})
        case _:
            return frozenset({team})


def _mapping(given: object) -> Mapping[str, object]:
    return given if isinstance(given, Mapping) else {}


def _reason(error: SaysoError) -> str:
    """Return why Slack could not be asked, in our words, or by its code."""
    code = error.detail.get("error")
    if isinstance(code, str) and _CODE.fullmatch(code):
        return _WORDS.get(code, f"it answered {code}")
    return error.shown if error.shown in _OURS else "it could not be reached"
