"""The time in the workspace, which a test can move on."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(kw_only=True)
class Time:
    """Goes on by itself unless `read` stands still; the ids of messages are made of it."""

    read: Callable[[], float] = time.time
    ahead: float = 0
    made: int = 0

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self.read() + self.ahead

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        self.ahead += seconds

    def ts(self) -> str:
        """Return an id that no other message has and that sorts after all before it."""
        self.made += 1
        return f"{int(self.now())}.{self.made:06d}"
