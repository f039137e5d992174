"""What came of what somebody did, as that person alone sees it."""

from adapters.discord import messages
from adapters.discord.drawn import Drawn
from adapters.platforms.takes import Outcome
from core.errors import SaysoError
from core.events import Review
from core.platforms import Event


def drawn(outcome: Outcome, event: Event | None = None) -> Drawn:
    """Return it as a message. Whoever asked for all of a plan may decide below it (I6)."""
    if isinstance(outcome, SaysoError):
        return messages.failed(outcome)
    if isinstance(event, Review) and outcome.card is not None:
        return messages.reviewed(outcome.card)
    return messages.told(outcome)


def says(outcome: Outcome) -> bool:
    """Whether there is anything to tell: what everybody sees is said nowhere else."""
    if isinstance(outcome, SaysoError):
        return True
    return bool(outcome.text or outcome.buttons or outcome.card)
