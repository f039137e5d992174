"""What was tried and refused, on record: so much of one person that nobody can fill the log with it."""

from datetime import datetime

from adapters.storage import rates
from adapters.storage.transactions import Transaction, log
from core import canonical
from core.display import sound
from core.principals import STRANGER
from core.rates import REFUSALS, UNNOTED

_LEFT_OUT = "Refused too often: what else is refused within the hour is not noted one by one."


def refused(
    now: datetime, tenant: str, principal: str, *, given: str, why: str
) -> Transaction[None]:
    """Note a refusal while there is room for one, and once in a while that there is none."""
    # What was given may be any text at all, so only its digest is kept.
    digest = canonical.sha256(sound(given)) if given else None
    # Of strangers each account is somebody else, and none of them hides another.
    whose = f"{STRANGER} {digest}" if principal == STRANGER else principal
    if (yield from rates.take(now, tenant, whose, [REFUSALS])):
        if (yield from rates.take(now, tenant, whose, [UNNOTED])):
            return
        digest, why = None, _LEFT_OUT
    yield from log(now, tenant, "attempt.refused", principal, given_sha256=digest, why=why)
