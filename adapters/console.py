"""The console as a platform: who is typing, and cards as plain text."""

import os
import pwd
from collections.abc import Iterator

from core.cards import Button, Card

_COMMANDS = {
    "approve": "sayso approve {}",
    "deny": 'sayso deny {} --reason "…"',
    "review": "sayso requests",
}


def account() -> str:
    """Return the name of the account this process runs as: by its uid, never by the environment."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def draw(card: Card) -> str:
    """Return a card as plain text, section by section in the order of the card."""
    return "\n".join(_lines(card))


def _lines(card: Card) -> Iterator[str]:
    yield card.title
    yield from (f"    {line}" for line in card.plan)
    yield from (f"{fact.label}: {fact.text}" for fact in card.facts)
    yield from (f"Warning: {warning}" for warning in card.warnings)
    yield f"Estimate: {card.estimate}"
    if card.preview:
        yield "Preview (what a dry run printed):"
        yield from (f"    {line}" for line in card.preview)
    if card.unchecked:
        yield "What the agent says (nobody checked this):"
        yield from (f"  > {line}" for line in card.unchecked)
    yield from (_button(button) for button in card.buttons)


def _button(button: Button) -> str:
    return f"{button.label + ':':<9}{_COMMANDS[button.verb].format(button.request)}"
