"""What a direct message shows of what is decided in a server: no button that would only refuse. Pure."""

from dataclasses import replace

from core.cards import Button
from core.deliveries import Asking, Message, Text

_ELSEWHERE = "Nothing is decided in a direct message: whoever may types /sayso requests in a channel of the server."
_ANYWHERE = frozenset({"stop", "link_yes", "link_no"})
"""What somebody may press wherever they are."""


def undecided(message: Message) -> Message:
    """Return a message without what can only be done in the server, and where that is said."""
    match message:
        case Asking(card=card):
            kept = _kept(card.buttons)
            if kept == card.buttons:
                return message
            status = f"{message.status} {_ELSEWHERE}"
            return replace(message, card=replace(card, buttons=kept), status=status, wanted=())
        case Text(buttons=buttons):
            return replace(message, buttons=_kept(buttons))
        case _:
            return message


def _kept(buttons: tuple[Button, ...]) -> tuple[Button, ...]:
    return tuple(one for one in buttons if one.verb in _ANYWHERE)
