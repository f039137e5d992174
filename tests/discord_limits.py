"""What Discord refuses of a message or a form, as far as anybody has measured it or written it down."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from simcord.components import validate_components, validate_modal

from adapters.discord.drawn import V2, Drawn

MOST_CONTENT, MOST_TEXT = 2_000, 4_000
CUSTOM_ID = re.compile(r"sayso:[a-z_]{1,20}:[A-Za-z0-9_-]{1,64}(?::[0-9]{1,3})?")
_SHAPES: dict[int, set[str]] = {
    1: {"type", "components"},
    2: {"type", "style", "label", "custom_id"},
    10: {"type", "content"},
    14: {"type", "divider", "spacing"},
    17: {"type", "components", "accent_color"},
}


def refused(drawn: Drawn) -> Iterator[str]:
    """Yield why Discord would not take this message, or why Sayso would not mean it so."""
    if bool(drawn.content) == bool(drawn.components):
        yield "neither words nor components, or both"
    if drawn.below and drawn.components:
        yield "rows below components"
    if utf16(drawn.content) > MOST_CONTENT:
        yield f"{utf16(drawn.content)} characters of words"
    if len(drawn.below) > 5:
        yield f"{len(drawn.below)} rows"
    shown = [*drawn.components, *drawn.below]
    yield from _wrong(shown)
    if counted(shown) > MOST_TEXT:
        yield f"{counted(shown)} characters"
    try:
        validate_components(shown, flags=V2 if drawn.components else 0)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is why
        yield str(error)
    yield from _mentions(drawn)


def _mentions(drawn: Drawn) -> Iterator[str]:
    """Yield who is mentioned and not named, or named and not mentioned."""
    written = f"{drawn.content} {words(drawn.components)}"
    found = set(
        re.findall(r"(?<!\\)<@(\d+)>", re.sub(r"```.*?```|`[^`]*`", "", written, flags=re.DOTALL))
    )
    if found != set(drawn.mentions):
        yield f"{sorted(found)} are mentioned, {sorted(drawn.mentions)} are named"
    if len(drawn.mentions) > 100:
        yield "too many mentions"


def refused_form(form: Mapping[str, Any]) -> Iterator[str]:
    """Yield why Discord would not take this form."""
    try:
        validate_modal(form)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is why
        yield str(error)
    if counted(form["components"]) > MOST_TEXT:
        yield "too many characters"


def counted(value: object) -> int:
    """Return the characters of text in components, in UTF-16, with what stands on buttons."""
    return sum(
        utf16(str(one.get(name, ""))) for one in every(value) for name in ("content", "label")
    )


def words(value: object) -> str:
    """Return what is written in components, in order."""
    return "\n".join(str(one["content"]) for one in every(value) if "content" in one)


def utf16(text: str) -> int:
    """Return how many units of UTF-16 this is, and so never fewer than characters."""
    return len(text.encode("utf-16-le")) // 2


def every(value: object) -> Iterator[dict[str, Any]]:
    """Yield every object inside of a value."""
    if isinstance(value, Mapping):
        yield cast("dict[str, Any]", value)
        for inner in cast("Mapping[str, object]", value).values():
            yield from every(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[object]", value):
            yield from every(inner)


def _wrong(shown: Sequence[object]) -> Iterator[str]:
    for one in every(shown):
        kind = one["type"]
        if one.keys() - _SHAPES.get(kind, set()):
            yield f"{kind} with {sorted(one.keys() - _SHAPES.get(kind, set()))}"
        if kind == 2 and not (one["label"].strip() and CUSTOM_ID.fullmatch(one["custom_id"])):
            yield f"a button {one['label']!r} of {one['custom_id']!r}"
        if kind == 2 and utf16(one["label"]) > 80:
            yield f"a label of {utf16(one['label'])}"
        if kind == 10 and not one["content"].strip():
            yield "empty words"
