"""What was tried and refused, on record: so much of one person that nobody can fill the log with it."""

from datetime import datetime

from adapters.storage import rates
from adapters.storage.transactions import Transaction, log
from core import canonical
from core.display import sound
from core.rates import REFUSALS, UNNOTED

_LEFT_OUT = "Refused too often: what else is refused within the hour is not noted one by one."


def refused(
    now: datetime, tenant: str, principal: str, *, given: str, why: str
) -> Transaction[None]:
    """Note a refusal while there is room for one, and once in a while that there is none."""
    if (yield from rates.take(now, tenant, principal, [REFUSALS])):
        if (yield from rates.take(now, tenant, principal, [UNNOTED])):
            return
        given, why = "", _LEFT_OUT
    # What was given may be any text at all, so only its digest is kept.
    digest = canonical.sha256(sound(given)) if given else None
    yield from log(now, tenant, "attempt.refused", principal, given_sha256=digest, why=why)
