"""What Slack accepts as a text or a button inside of a block."""

from collections.abc import Iterator
from typing import cast

from tests.standins.slack.wire import Json

KEYS = {
    "type", "text", "action_id", "value", "url", "style", "confirm", "accessibility_label",
    "visible_to_user_ids", "agent_prompt",
}  # fmt: skip
LENGTHS = {"value": 2000, "action_id": 255, "url": 3000, "accessibility_label": 75}


def longer(value: object, most: int, at: str) -> Iterator[str]:
    """Yield a complaint where a text is longer than it may be."""
    if isinstance(value, str) and len(value) > most:
        yield f"must be less than {most + 1} characters [json-pointer:{at}]"


def text(value: object, most: int, at: str) -> Iterator[str]:
    """Yield what is wrong with a text object of either kind."""
    if not isinstance(value, dict):
        yield f"must provide an object [json-pointer:{at}]"
        return
    found = cast("Json", value)
    if found.get("type") not in ("plain_text", "mrkdwn"):
        yield f"unsupported type: {found.get('type')} [json-pointer:{at}/type]"
    if found.keys() - {"type", "text", "emoji", "verbatim"}:
        yield f"invalid additional property [json-pointer:{at}]"
    if not found.get("text"):
        yield f"must be more than 0 characters [json-pointer:{at}/text]"
    yield from longer(found.get("text"), most, f"{at}/text")


def label(value: object, most: int, at: str) -> Iterator[str]:
    """Yield what is wrong with a text that may only be plain."""
    yield from text(value, most, at)
    if isinstance(value, dict) and cast("Json", value).get("type") == "mrkdwn":
        yield f"must be plain_text [json-pointer:{at}/type]"


def button(value: object, at: str) -> Iterator[str]:
    """Yield what is wrong with a button, the one element that is pressed."""
    found = cast("Json", value) if isinstance(value, dict) else {}
    if found.get("type") != "button":
        yield f"unsupported type: {found.get('type')} [json-pointer:{at}/type]"
        return
    for key in found.keys() - KEYS:
        yield f"invalid additional property: {key} [json-pointer:{at}]"
    yield from label(found.get("text"), 75, f"{at}/text")
    for key, most in LENGTHS.items():
        yield from longer(found.get(key), most, f"{at}/{key}")
    if found.get("style", "primary") not in ("primary", "danger"):
        yield f"must be primary or danger [json-pointer:{at}/style]"
    if found.get("confirm"):
        yield from _confirm(cast("Json", found["confirm"]), f"{at}/confirm")


def _confirm(found: Json, at: str) -> Iterator[str]:
    for key, most in (("title", 100), ("confirm", 30), ("deny", 30)):
        yield from label(found.get(key), most, f"{at}/{key}")
    yield from text(found.get("text"), 300, f"{at}/text")
