"""A card as a file: all of it, where a platform cannot show it."""

from core.cards import Card
from core.display import output

PREVIEW = "Preview (what a dry run printed):"
UNCHECKED = "What the agent says (nobody checked this):"


def document(card: Card) -> str:
    """Return all of a card as plain text, in the order in which it is drawn."""
    lines = [
        card.title,
        *(f"    {line}" for line in card.plan),
        *(f"{fact.label}: {fact.text}" for fact in card.facts),
        *(f"Warning: {warning}" for warning in card.warnings),
        f"Estimate: {card.estimate}",
        *([PREVIEW] if card.preview else []),
        *(f"    {line}" for line in card.preview),
        *([UNCHECKED] if card.unchecked else []),
        *(f"  > {line}" for line in card.unchecked),
    ]
    return output("\n".join(lines))
