"""What a command prints."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One object for scripts or text for people, and the exit code."""

    object: dict[str, Any]
    text: str
    code: int = 0
