"""What a person reads in a message, and the buttons below it."""

import re

from tests.standins.discord.wire import Json, objects, walk

BUTTON, DISPLAY, FILE = 2, 10, 13
URL = 5
"""The style of a button that only opens a page."""
TAG = re.compile(r"sayso:([a-z_]+)")


def text_of(message: Json) -> str:
    """Return all that a message shows, its buttons and files aside: content, then components."""
    lines = [str(message["content"])] if message.get("content") else []
    for component in objects(message.get("components")):
        lines += [
            str(each["content"])
            for each in walk(component)
            if each.get("type") == DISPLAY and "content" in each
        ]
    return "\n".join(lines)


def buttons_of(message: Json) -> list[Json]:
    """Return the buttons in the order in which they stand."""
    return [each for each in walk(message.get("components")) if each.get("type") == BUTTON]


def labels_of(message: Json) -> list[str]:
    """Return what stands on the buttons that can be pressed, without those that are greyed out."""
    return [label(each) for each in buttons_of(message) if not each.get("disabled")]


def files_of(message: Json) -> list[str]:
    """Return the names of the files that are shown with a message."""
    return [str(each["filename"]) for each in objects(message.get("attachments"))]


def pressed(message: Json, what: str) -> Json:
    """Return the one button that is meant: by its label, its `custom_id` or the verb in that."""
    buttons = [each for each in buttons_of(message) if each.get("style") != URL]
    for name in (label, _id, _verb):
        found = [each for each in buttons if name(each) == what]
        if len(found) == 1:
            assert not found[0].get("disabled"), f"{what!r} is greyed out"
            return found[0]
    there = [(label(each), _id(each)) for each in buttons]
    raise AssertionError(f"no one button is {what!r}; there are {there}")


def label(button: Json) -> str:
    """Return what stands on a button."""
    emoji: Json = button.get("emoji") or {}
    return str(button.get("label") or emoji.get("name", ""))


def _id(button: Json) -> str:
    return str(button.get("custom_id", ""))


def _verb(button: Json) -> str:
    found = TAG.match(_id(button))
    return found[1] if found else ""
