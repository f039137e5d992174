"""What Slack refuses: the limits of its blocks, as far as anybody has measured them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from slack_sdk.models.blocks import Block

MOST_BLOCKS, MOST_BLOCKS_OF_A_VIEW = 50, 100
MOST_TEXT = 10_000
LARGEST_VIEW = 250_000
LONGEST_FALLBACK = 4_000
_SHAPES: dict[str, set[str]] = {
    "header": {"type", "text"},
    "rich_text": {"type", "elements"},
    "context": {"type", "elements"},
    "actions": {"type", "elements"},
    "input": {"type", "block_id", "optional", "label", "element", "hint"},
    "button": {"type", "text", "action_id", "value", "style"},
    "plain_text": {"type", "text", "emoji"},
    "plain_text_input": {
        "type",
        "action_id",
        "multiline",
        "max_length",
        "initial_value",
        "focus_on_load",
    },
    "static_select": {"type", "action_id", "options", "initial_option"},
    "rich_text_section": {"type", "elements"},
    "rich_text_preformatted": {"type", "elements"},
    "rich_text_quote": {"type", "elements"},
    "rich_text_list": {"type", "elements", "style", "indent", "offset"},
    "text": {"type", "text", "style"},
    "link": {"type", "url"},
    "date": {"type", "timestamp", "format", "fallback"},
    "user": {"type", "user_id"},
    "emoji": {"type", "name"},
}
_INSIDE: dict[str, set[str]] = {
    "rich_text": {
        "rich_text_section",
        "rich_text_preformatted",
        "rich_text_quote",
        "rich_text_list",
    },
    "rich_text_section": {"text", "link", "date", "user", "emoji"},
    "rich_text_quote": {"text", "link"},
    "rich_text_preformatted": {"text", "link"},
    "rich_text_list": {"rich_text_section"},
    "context": {"plain_text"},
    "actions": {"button"},
}


def refused(blocks: Sequence[object], *, most: int = MOST_BLOCKS) -> Iterator[str]:
    """Yield why Slack would not take these blocks."""
    if not blocks or len(blocks) > most:
        yield f"{len(blocks)} blocks"
    for block in cast("Sequence[dict[str, Any]]", blocks):
        yield from _wrong(block)
        if block["type"] != "rich_text" and Block.parse(block).to_dict() != block:  # type: ignore[union-attr]
            yield f"the SDK reads {block['type']} as another one"
    ids = [one["action_id"] for one in _every(blocks) if "action_id" in one]
    if len(ids) != len(set(ids)):
        yield "an action id twice"


def refused_message(blocks: Sequence[object], text: str) -> Iterator[str]:
    """Yield why Slack would not take this message."""
    yield from refused(blocks)
    if counted(blocks) > MOST_TEXT:
        yield f"{counted(blocks)} characters"
    if not text or len(text.encode()) > LONGEST_FALLBACK:
        yield f"a fallback of {len(text.encode())} bytes"


def refused_view(view: Mapping[str, Any]) -> Iterator[str]:
    """Yield why Slack would not take this view."""
    yield from refused(view["blocks"], most=MOST_BLOCKS_OF_A_VIEW)
    if len(json.dumps(view)) > LARGEST_VIEW:
        yield "a view too large"
    for name in {"title", "submit", "close"} & view.keys():
        if not 1 <= len(view[name]["text"]) <= 24:
            yield f"a {name} of {len(view[name]['text'])}"
    if len(view.get("private_metadata", "")) > 3_000:
        yield "too much metadata"


def counted(value: object) -> int:
    """Return the characters of text in blocks: escaped, and in UTF-16."""
    return sum(
        len(one[name].encode("utf-16-le")) // 2
        + 4 * one[name].count("&")
        + 3 * (one[name].count("<") + one[name].count(">"))
        for one in _every(value)
        for name in ("text", "url", "fallback", "value")
        if isinstance(one.get(name), str)
    )


def _every(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, Mapping):
        yield cast("dict[str, Any]", value)
        for inner in cast("Mapping[str, object]", value).values():
            yield from _every(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[object]", value):
            yield from _every(inner)


def _wrong(one: dict[str, Any]) -> Iterator[str]:
    kind = one["type"]
    if kind not in _SHAPES or one.keys() - _SHAPES[kind]:
        yield f"{kind} with {sorted(one.keys() - _SHAPES.get(kind, set()))}"
    yield from _too_long(one)
    inner = one.get("elements", [])
    if "elements" in one and not inner:
        yield f"an empty {kind}"
    for element in inner:
        if element["type"] not in _INSIDE[kind]:
            yield f"{element['type']} in {kind}"
        yield from _wrong(element)
    for name in ("text", "label", "element"):
        if isinstance(one.get(name), dict):
            yield from _wrong(one[name])


def _too_long(one: dict[str, Any]) -> Iterator[str]:
    kind = one["type"]
    longest = {"header": 150, "button": 75, "input": 2_000}.get(kind)
    named = one.get("label" if kind == "input" else "text")
    if longest and not 1 <= len(named["text"]) <= longest:  # type: ignore[index]
        yield f"{kind} of {len(named['text'])}"  # type: ignore[index]
    if kind in {"text", "plain_text"} and not one["text"]:
        yield f"empty {kind}"
    if kind == "plain_text" and len(one["text"]) > 3_000:
        yield "plain text too long"
    if kind == "actions" and len(one["elements"]) > 25:
        yield "too many buttons"
    if kind == "context" and len(one["elements"]) > 10:
        yield "too much context"
    if kind == "link" and not (
        len(one["url"]) <= 3_000 and one["url"].startswith(("http", "mailto:"))
    ):
        yield "a link to elsewhere"
    if kind == "button" and not 1 <= len(one["value"]) <= 2_000:
        yield "a button without a value"
