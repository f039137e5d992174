"""What a message carries so that it is posted once, and found again. Pure."""

import hashlib

from core.deliveries import Asking, Message, Text

_LONGEST_NONCE = 25
"""Discord takes no more characters."""
_HIGH = 1 << 30
"""Above whatever Discord numbers the other components with, and within 31 bits."""


def nonce(key: str, number: int) -> str:
    """Return what Discord knows a piece of a message by for some minutes: the same for every try."""
    return _digest(key, number)[:_LONGEST_NONCE]


def mark(key: str, number: int) -> int:
    """Return the id of the first component of a piece: the same for every try."""
    return int(_digest(key, number)[:8], 16) % _HIGH | _HIGH


def file_of(key: str, message: Message) -> str:
    """Return the name of the file that belongs to a message: the same for every try."""
    match message:
        case Asking():
            what = "plan"
        case Text(is_report=True):
            what = "report"
        case _:
            what = "answer"
    return f"{what}-{_digest(key, 0)[:12]}.txt"


def _digest(key: str, number: int) -> str:
    return hashlib.sha256(f"{key}\n{number}".encode()).hexdigest()
