"""JSON as it travels, and the errors that Discord answers with."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

Json: TypeAlias = dict[str, Any]


class DiscordSays(Exception):
    """Discord answers with this status, and a body of a code and a sentence."""

    def __init__(self, status: int, code: int, message: str, *, errors: Json | None = None) -> None:
        super().__init__(status, code, message, errors)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors

    def body(self) -> Json:
        """Return the body, with what exactly is wrong about which field."""
        said: Json = {"code": self.code, "message": self.message}
        return said | ({"errors": self.errors} if self.errors else {})


def wrong(field: str, says: str) -> DiscordSays:
    """Return the error for a field, such as `components.0.label`, that Discord does not take."""
    errors: Json = {"_errors": [{"code": "INVALID", "message": says}]}
    for part in reversed(field.split(".")):
        errors = {part: errors}
    return DiscordSays(400, 50035, "Invalid Form Body", errors=errors)


def missing_access() -> DiscordSays:
    """Return the error where something cannot even be seen."""
    return DiscordSays(403, 50001, "Missing Access")


def missing_permissions() -> DiscordSays:
    """Return the error where something may be seen, but that may not be done."""
    return DiscordSays(403, 50013, "Missing Permissions")


def unknown(code: int, what: str) -> DiscordSays:
    """Return the error for what is not there."""
    return DiscordSays(404, code, f"Unknown {what}")


def walk(value: object) -> Iterator[Json]:
    """Yield every object inside a value, itself included, in the order in which they stand."""
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


def one(value: object) -> Json:
    """Return an object; an empty one where it is none."""
    return cast("Json", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[Json]:
    """Return the objects of a list; nothing where it is none."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]
