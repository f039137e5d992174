"""Components of version 2, as Discord's REST interface takes them."""

from collections.abc import Sequence
from itertools import islice
from typing import cast

from adapters.discord.words import length
from adapters.platforms.literal import shown
from core.canonical import JsonObject
from core.cards import Button
from core.display import one_line

ROW, BUTTON, TEXT, SEPARATOR, CONTAINER = 1, 2, 10, 14, 17
MOST = 3_900
"""How many characters a message with components may have here. Discord refuses more than 4,000."""
WAITS = 0xF0B132
"""The colour at the side of what waits for somebody."""
LONGEST_LABEL = 80
_GREY, _GREEN, _RED = 2, 3, 4
_STYLES = {"approve": _GREEN, "approve_code": _GREEN, "deny": _RED, "stop": _RED}
_IN_A_ROW = 5
_MOST_BUTTONS = 20
"""With their rows, a container and what it says, fewer than the 40 components that Discord takes."""
_OF_ALL_LABELS = 800
"""Room that is left to words."""


def text(content: str) -> JsonObject:
    """Return words, which are Markdown already."""
    return {"type": TEXT, "content": content if content.strip() else "…"}


def separator() -> JsonObject:
    """Return a line between what is said and what may be pressed."""
    return {"type": SEPARATOR, "divider": True, "spacing": 1}


def container(inside: Sequence[JsonObject], colour: int | None = None) -> JsonObject:
    """Return a box, which nothing has but what software wrote."""
    side: JsonObject = {} if colour is None else {"accent_color": colour}
    return {"type": CONTAINER, "components": list(inside), **side}


def pressed(buttons: Sequence[Button]) -> list[JsonObject]:
    """Return buttons in rows; of those that would mean the same, the first, and not too many."""
    apart = {f"sayso:{one.verb}:{one.request}": one for one in reversed(buttons)}
    order = sorted(apart.items(), key=lambda item: buttons.index(item[1]))
    drawn, room = list[JsonObject](), _OF_ALL_LABELS
    for custom_id, one in order[:_MOST_BUTTONS]:
        room -= length(label(one.label))
        if room >= 0:
            drawn.append(_button(one.label, custom_id, _STYLES.get(one.verb, _GREY)))
    return rows(drawn)


def suggestions(texts: Sequence[str], turn: str) -> list[JsonObject]:
    """Return a button for each text that could be sent instead of typing it, as many as there may be."""
    named = (
        _button(said, f"sayso:suggest:{turn}:{number}", _GREY)
        for number, said in enumerate(texts)
        if said.strip()
    )
    return rows([*islice(named, _IN_A_ROW * _IN_A_ROW)])


def label(words: str) -> str:
    """Return what a button shows of this."""
    whole = shown(one_line(words)) or "…"
    if length(whole) <= LONGEST_LABEL:
        return whole
    short = whole[: LONGEST_LABEL - 1]
    while length(short) >= LONGEST_LABEL:
        short = short[:-1]
    return f"{short}…"


def is_whole(words: str) -> bool:
    """Return whether a button shows all of this."""
    return length(one_line(words)) <= LONGEST_LABEL


def rows(buttons: Sequence[JsonObject]) -> list[JsonObject]:
    """Return buttons one beside the other, as many as a row takes."""
    return [
        {"type": ROW, "components": list(buttons[start : start + _IN_A_ROW])}
        for start in range(0, len(buttons), _IN_A_ROW)
    ]


def weight(components: Sequence[JsonObject]) -> int:
    """Return how many characters components have, those on buttons too."""
    return sum(map(_weight, components))


def _weight(one: JsonObject) -> int:
    own = sum(
        length(words) for name in ("content", "label") if isinstance(words := one.get(name), str)
    )
    inside = one.get("components", ())
    return own + weight([*cast("Sequence[JsonObject]", inside)])


def _button(words: str, custom_id: str, style: int) -> JsonObject:
    return {"type": BUTTON, "style": style, "label": label(words), "custom_id": custom_id}
