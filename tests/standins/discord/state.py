"""The world together with what people do in it that waits for an answer."""

from dataclasses import dataclass, field

from tests.standins.discord.interactions import Interaction
from tests.standins.discord.world import World


@dataclass(kw_only=True)
class State:
    """What a call can reach."""

    world: World
    interactions: dict[str, Interaction] = field(default_factory=dict[str, Interaction])
    """By their token."""
    gateway_url: str = ""
    shards: int = 1
    sessions_left: int = 1000

    def interaction(self, token: str) -> Interaction | None:
        """Return what somebody did, by the token that came with it."""
        return self.interactions.get(token)
