"""One-time codes by time (RFC 6238), as every authenticator app makes them. Pure."""

import hmac
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pyotp import random_base32
from pyotp.totp import TOTP

STEP = timedelta(seconds=30)
"""How long one code holds."""
DRIFT = 1
"""So many steps the clock of whoever shows codes may be off, either way."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CODE = re.compile(r"[0-9]{6}")
_LONGEST = 20
MASK = "[code]"
"""What stands in a text where a code was."""
_REQUEST = re.compile(r"(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])", re.IGNORECASE)
_WRITTEN = re.compile(r"(?<![0-9A-Za-z])[0-9]{3} ?[0-9]{3}(?![0-9A-Za-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """What an app makes codes of. Shown once, to whoever enrols, and in no `repr`."""

    base32: str = field(repr=False)

    @classmethod
    def new(cls) -> "Secret":
        """Return one that nobody else has."""
        return cls(base32=random_base32())

    def code(self, step: int) -> str:
        """Return the code of a step of time."""
        return TOTP(self.base32).generate_otp(step)

    def uri(self, person: str, issuer: str) -> str:
        """Return what an app reads out of a QR code. It holds the secret."""
        return TOTP(self.base32).provisioning_uri(name=person, issuer_name=issuer)


def step_at(time: datetime) -> int:
    """Return the step that a time belongs to."""
    return (time - _EPOCH) // STEP


def begin_of(step: int) -> datetime:
    """Return when a step begins."""
    return _EPOCH + step * STEP


def digits(given: str) -> str | None:
    """Return the six digits that somebody typed, apps' blanks left out; None for anything else."""
    written = "".join(given[:_LONGEST].split())
    return written if len(given) <= _LONGEST and _CODE.fullmatch(written) else None


def masked(text: str) -> str:
    """Return a text without what must be a code: six digits beside the id of a request."""
    return _WRITTEN.sub(MASK, text) if _REQUEST.search(text) else text


def matching(secret: Secret, given: str, now: datetime) -> int | None:
    """Return the newest step around now whose code this is, None where it is none of theirs."""
    code, here = digits(given), step_at(now)
    if code is None:
        return None
    near = [here + away for away in range(-DRIFT, DRIFT + 1)]
    found = [step for step in near if hmac.compare_digest(secret.code(step), code)]
    return found[-1] if found else None


def is_fresh(at: object, *, since: datetime, now: datetime) -> bool:
    """Whether somebody proved who they are later than `since`, and not at a time to come (C41).

    Nothing but a moment with its time zone is a time. One step ahead is a clock that goes fast.
    """
    if not isinstance(at, datetime) or at.tzinfo is None:
        return False
    return since < at <= now + DRIFT * STEP
