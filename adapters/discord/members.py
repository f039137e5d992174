"""What Discord says of a member of a server. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.standing import Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member, or the news that there is none."""

    roles: frozenset[str] = frozenset()
    """The ids of roles, as Discord lists them: the one that everybody has is never among them."""
    gone: Why | None = None
    """Why they count for nothing, whatever the time is."""
    silent_until: float = 0.0
    """Until when moderators do not let them do anything there, in seconds since 1970."""

    def counts_for_nothing(self, at: float) -> Why | None:
        """Return why they give nobody any authority at that time."""
        if self.gone is None and at < self.silent_until:
            return Why.TIMED_OUT
        return self.gone


NOBODY = Member(gone=Why.NOT_THERE)


def member(given: Mapping[str, object], user: str) -> Member | None:
    """Read Discord's answer about a user id; None where it makes no sense, which is never a yes."""
    match given:
        case {"user": {"id": str(told), **about}, "roles": [*roles]} if told == user:
            software = [about.get("bot", False), about.get("system", False)]
            is_pending = given.get("pending", False)
            until = _time(given.get("communication_disabled_until"))
            flags = all(isinstance(one, bool) for one in (*software, is_pending))
            if until is None or not flags or not all(isinstance(one, str) for one in roles):
                return None
            why = Why.BOT if any(software) else Why.PENDING if is_pending else None
            return Member(roles=frozenset(map(str, roles)), gone=why, silent_until=until)
        case _:
            return None


def _time(given: object) -> float | None:
    """Return a time as seconds since 1970, 0 for none at all; None where it cannot be read."""
    if given is None:
        return 0.0
    try:
        read = datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        return None
    return read.timestamp() if read and read.tzinfo else None
