"""How often the app calls, and where that is more often than Slack takes."""

from dataclasses import dataclass, field
from itertools import pairwise

POSTS, UPDATES = 1.0, 50


@dataclass(kw_only=True)
class Rates:
    """Counts what came, by Slack's time; answers 429 only where a test wants that."""

    enforced: bool = False
    posts: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    updates: list[float] = field(default_factory=list[float])

    @property
    def fast_posts(self) -> int:
        """Return how many posts came less than a second after the one before in their channel."""
        return sum(
            later - earlier < POSTS
            for times in self.posts.values()
            for earlier, later in pairwise(times)
        )

    @property
    def most_updates(self) -> int:
        """Return how many edits came in the busiest minute."""
        return max((self._updates_before(each) for each in self.updates), default=0)

    def wait(self, method: str, channel: str, now: float) -> int | None:
        """Count a call; return after how many seconds it may come again where it is too much."""
        if method == "chat.postMessage":
            times = self.posts.setdefault(channel, [])
            too_many = bool(times) and now - times[-1] < POSTS
        elif method == "chat.update":
            times = self.updates
            too_many = self._updates_before(now) >= UPDATES
        else:
            return None
        if self.enforced and too_many:
            return 1
        times.append(now)
        return None

    def _updates_before(self, now: float) -> int:
        return sum(now - 60 < each <= now for each in self.updates)
