"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


class FrozenClock:
    """Implements `core.ports.Clock`."""

    def __init__(self, at: datetime = START) -> None:
        self._now = at

    def now(self) -> datetime:
        """Return the same time until `pass_by` is called."""
        return self._now

    def pass_by(self, time: timedelta) -> None:
        """Let time pass."""
        self._now += time
