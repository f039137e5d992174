"""Buttons: a verb and a request's id, and nothing else that Slack could be told."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import cast

from adapters.slack import rich_text
from adapters.slack.rich_text import weight
from core.canonical import JsonObject
from core.cards import Button
from core.display import one_line

_STYLES = {
    "approve": "primary",
    "approve_code": "primary",
    "deny": "danger",
    "stop": "danger",
    "revoke": "danger",
}
_MOST_IN_A_ROW = 25
_LONGEST_LABEL = 75
_MOST_OF_ALL = 4_000


def drawn(buttons: Sequence[Button]) -> list[JsonObject]:
    """Return buttons in rows; several of one verb are numbered, and too many are not drawn."""
    return _within(drawn_apart([buttons])[0])


def drawn_apart(groups: Sequence[Sequence[Button]]) -> list[list[JsonObject]]:
    """Return the rows of each group, numbered over all of them."""
    several = Counter(button.verb for group in groups for button in group)
    numbers = {verb: count() for verb in several}
    return [
        [*_rows([_drawn(one, several[one.verb], next(numbers[one.verb])) for one in group])]
        for group in groups
    ]


def _drawn(button: Button, several: int, number: int) -> JsonObject:
    action = f"sayso:{button.verb}:{number}" if several > 1 else f"sayso:{button.verb}"
    style: JsonObject = {"style": _STYLES[button.verb]} if button.verb in _STYLES else {}
    return {**_button(button.label, action, button.request), **style}


def suggestions(texts: Sequence[str], turn: str) -> list[JsonObject]:
    """Return a button for each text that could be sent instead of typing it."""
    named = [
        _button(text, f"sayso:suggest:{number}", turn) for number, text in enumerate(texts) if text
    ]
    return _within([*_rows(named)])


def _within(rows: list[JsonObject]) -> list[JsonObject]:
    """Return as many of the buttons as leave room for words."""
    if weight(rows) <= _MOST_OF_ALL:
        return rows
    room, kept = _MOST_OF_ALL, list[JsonObject]()
    for button in chain.from_iterable(
        cast("Sequence[JsonObject]", row["elements"]) for row in rows
    ):
        room -= weight(button) + 1
        if room >= 0:
            kept.append(button)
    return [*_rows(kept)]


def is_whole(label: str) -> bool:
    """Return whether a button shows all of this."""
    return len(one_line(label)) <= _LONGEST_LABEL


def _button(label: str, action: str, value: str) -> JsonObject:
    shown = rich_text.plain(one_line(label) or "…", _LONGEST_LABEL)
    return {"type": "button", "text": shown, "action_id": action, "value": value}


def _rows(shown: Sequence[JsonObject]) -> Iterator[JsonObject]:
    for start in range(0, len(shown), _MOST_IN_A_ROW):
        yield rich_text.actions(shown[start : start + _MOST_IN_A_ROW])
