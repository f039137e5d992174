"""JSON as it travels, and the errors that Slack answers with."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

Json: TypeAlias = dict[str, Any]


class SlackSays(Exception):
    """Slack answers with status 200, `ok: false` and this error."""

    def __init__(self, error: str, *messages: str, **more: str) -> None:
        super().__init__(error, *messages)
        self.error = error
        self.messages = messages
        self.more = more

    def answer(self) -> Json:
        """Return the body, with the messages where Slack puts what exactly is wrong."""
        said: Json = {"ok": False, "error": self.error, **self.more}
        if self.messages:
            said["errors"] = list(self.messages)
            said["response_metadata"] = {"messages": [f"[ERROR] {each}" for each in self.messages]}
        return said


def walk(value: object) -> Iterator[Json]:
    """Yield every object inside a value, itself included."""
    if isinstance(value, dict):
        inner = cast("Json", value)
        yield inner
        for each in inner.values():
            yield from walk(each)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from walk(item)


def copied(value: Json) -> Json:
    """Return the value as it would arrive: no change to one changes the other."""
    return cast("Json", json.loads(json.dumps(value)))


def objects(value: object) -> list[Json]:
    """Return the objects of a list; nothing where it is none."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def truth(value: object) -> bool:
    """Return what a flag means: forms carry booleans as text."""
    return value in (True, 1, "1", "true")


def escaped(text: str) -> str:
    """Return what somebody typed in the way Slack writes it down."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    """Return the text of a message in the way a person reads it."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
