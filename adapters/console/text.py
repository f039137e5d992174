"""A card as plain text, for a command that prints once."""

from collections.abc import Iterator

from core.cards import Button, Card

_COMMANDS = {
    "approve": "approve {}",
    "edit": "edit {} NAME=VALUE",
    "approve_code": "approve {} --code CODE",
    "deny": "deny {} --reason WHY",
    "review": "requests",
}


def draw(card: Card, *, command: str = "sayso ") -> str:
    """Return a card as plain text, in the order of the card; `command` begins what can be typed."""
    return "\n".join(_lines(card, command))


def _lines(card: Card, command: str) -> Iterator[str]:
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
    yield from (_button(button, command) for button in card.buttons)


def _button(button: Button, command: str) -> str:
    return f"{button.label + ':':<9}{command}{_COMMANDS[button.verb].format(button.request)}"
