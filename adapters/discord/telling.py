"""Tells one person what came of what they did."""

from adapters.discord import messages
from adapters.discord.drawn import Drawn
from adapters.platforms.takes import Outcome
from core.errors import SaysoError


def drawn(outcome: Outcome) -> Drawn:
    """Return what somebody alone is told of an outcome."""
    if isinstance(outcome, SaysoError):
        return messages.failed(outcome)
    return messages.told(outcome) if outcome.card is None else messages.reviewed(outcome)
