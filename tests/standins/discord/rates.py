"""How often the app calls, and where that is more often than Discord takes."""

from dataclasses import dataclass, field

from tests.standins.discord.times import Time


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left in a bucket after a call, or how long it is to wait."""

    limit: int
    remaining: int
    reset_after: float
    is_over: bool = False


@dataclass(kw_only=True)
class Rates:
    """Counts what came by Discord's time; answers 429 only where a test set a limit.

    A bucket is a route together with its channel, server or webhook.
    """

    time: Time
    limits: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    """By route: so many calls in so many seconds, of each bucket."""
    came: dict[tuple[str, str], list[float]] = field(
        default_factory=dict[tuple[str, str], list[float]]
    )
    refused: int = 0

    def limit(self, route: str, calls: int, seconds: float) -> None:
        """Have Discord take so many calls of a route in so many seconds."""
        self.limits[route] = (calls, seconds)

    def most(self, route: str, *, within: float) -> int:
        """Return how many calls came in the busiest so many seconds of one bucket."""
        return max(
            (
                sum(each - within < other <= each for other in times)
                for (name, _), times in self.came.items()
                if name == route
                for each in times
            ),
            default=0,
        )

    def take(self, route: str, major: str) -> Left:
        """Count a call."""
        calls, seconds = self.limits.get(route, (1000, 1.0))
        now, times = self.time.now(), self.came.setdefault((route, major), [])
        recent = [each for each in times if each > now - seconds]
        reset = (recent[0] + seconds - now) if recent else seconds
        if len(recent) >= calls:
            self.refused += 1
            return Left(limit=calls, remaining=0, reset_after=reset, is_over=True)
        times.append(now)
        return Left(limit=calls, remaining=calls - len(recent) - 1, reset_after=reset)
