"""The time on this Discord, which a test can move on, and the ids that are made of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

EPOCH = 1420070400.0
"""Seconds from 1970 to the first of 2015, where snowflakes begin."""


@dataclass(kw_only=True)
class Time:
    """Goes on by itself unless `read` stands still."""

    read: Callable[[], float] = time.time
    ahead: float = 0
    made: int = 0

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self.read() + self.ahead

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        self.ahead += seconds

    def stamp(self) -> str:
        """Return the time as Discord writes it."""
        return datetime.fromtimestamp(self.now(), UTC).isoformat()

    def snowflake(self) -> str:
        """Return an id that nothing else has and that sorts after all before it."""
        milliseconds = int((self.now() - EPOCH) * 1000)
        self.made = max(self.made + 1, milliseconds << 22)
        return str(self.made)

    @staticmethod
    def made_at(snowflake: str) -> float:
        """Return the time at which an id was made, in seconds since 1970."""
        return (int(snowflake) >> 22) / 1000 + EPOCH
