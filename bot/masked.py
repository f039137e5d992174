"""What somebody is told whose message was kept masked, and not acted on."""

from core.one_time_codes import MASK

_PUBLIC = (
    "Nothing was approved: a code that others can read is worth nothing, so it was not kept. Press "
    "Approve on the card, which asks you alone, and wait for the next code."
)
_MASKED = (
    "Your message holds what looks like a secret, so I read no further and kept it masked. "
    "Let a runbook name the secret (`secrets:`), and change one that was really used."
)


def told(text: str) -> str:
    """Return why nothing was done with a message, and what to do instead."""
    return _PUBLIC if MASK in text else _MASKED
