"""What Slack accepts as rich text."""

from collections.abc import Iterator
from typing import cast

from tests.standins.slack.wire import Json, objects

CONTAINERS = {
    "rich_text_section": {"type", "elements"},
    "rich_text_list": {"type", "elements", "style", "indent", "offset", "border"},
    "rich_text_quote": {"type", "elements", "border"},
    "rich_text_preformatted": {"type", "elements", "border", "language"},
}
NEEDED = {
    "text": "text",
    "link": "url",
    "user": "user_id",
    "usergroup": "usergroup_id",
    "broadcast": "range",
    "date": "timestamp",
    "emoji": "name",
    "channel": "channel_id",
}
"""What each element of a line cannot be without."""
FURTHER = {"link": {"text", "unsafe"}, "date": {"format", "url", "fallback"}, "emoji": {"unicode"}}
STYLES = {
    "bold",
    "italic",
    "strike",
    "code",
    "underline",
    "highlight",
    "client_highlight",
    "unlink",
}
DEEPEST = 8


def wrong(block: Json, at: str) -> Iterator[str]:
    """Yield what is wrong with a `rich_text` block."""
    if not objects(block.get("elements")):
        yield f"no elements [json-pointer:{at}/elements]"
    for number, part in enumerate(objects(block.get("elements"))):
        yield from _container(part, f"{at}/elements/{number}")


def _container(part: Json, at: str) -> Iterator[str]:
    kind = part.get("type")
    if kind not in CONTAINERS:
        yield f"unsupported type: {kind} [json-pointer:{at}/type]"
        return
    for key in part.keys() - CONTAINERS[kind]:
        yield f"invalid additional property: {key} [json-pointer:{at}]"
    if not isinstance(part.get("elements"), list):
        yield f"missing required field: elements [json-pointer:{at}]"
    if kind == "rich_text_list":
        yield from _list(part, at)
        return
    only = {"text", "link"} if kind == "rich_text_preformatted" else set(NEEDED)
    for number, element in enumerate(objects(part.get("elements"))):
        yield from _inline(element, only, f"{at}/elements/{number}")


def _list(part: Json, at: str) -> Iterator[str]:
    if part.get("style") not in ("bullet", "ordered"):
        yield f"must be bullet or ordered [json-pointer:{at}/style]"
    if not 0 <= int(part.get("indent") or 0) <= DEEPEST:
        yield f"must be at most {DEEPEST} [json-pointer:{at}/indent]"
    for number, item in enumerate(objects(part.get("elements"))):
        if item.get("type") != "rich_text_section":
            yield f"unsupported type: {item.get('type')} [json-pointer:{at}/elements/{number}/type]"
        else:
            yield from _container(item, f"{at}/elements/{number}")


def _inline(element: Json, only: set[str], at: str) -> Iterator[str]:
    kind = str(element.get("type"))
    if kind not in only:
        yield f"unsupported type: {kind} [json-pointer:{at}/type]"
        return
    if element.get(NEEDED[kind]) in (None, ""):
        yield f"must be more than 0 characters [json-pointer:{at}/{NEEDED[kind]}]"
    if kind == "broadcast" and element.get("range") not in ("here", "channel", "everyone"):
        yield f"must be a known range [json-pointer:{at}/range]"
    for key in element.keys() - {"type", "style", NEEDED[kind]} - FURTHER.get(kind, set()):
        yield f"invalid additional property: {key} [json-pointer:{at}]"
    style = element.get("style", {})
    if not isinstance(style, dict) or not cast("Json", style).keys() <= STYLES:
        yield f"invalid style [json-pointer:{at}/style]"
