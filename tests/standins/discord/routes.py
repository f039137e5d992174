"""The routes of the REST interface, each with the function that answers it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.standins.discord.state import State
from tests.standins.discord.wire import DiscordSays, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that came with a call."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call: what stands in its path, its query and its body."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    items: list[Json] = field(default_factory=list[Json])
    """The body, where it is a list."""
    files: Mapping[int, Upload] = field(default_factory=dict[int, Upload])


Answer: TypeAlias = Json | list[Json] | None
"""What comes back; None for a status of 204."""
Does: TypeAlias = Callable[[State, Asked], Answer]
ROUTES: dict[str, tuple[re.Pattern[str], Does]] = {}
"""By `METHOD /path/{name}`."""


def route(name: str) -> Callable[[Does], Does]:
    """Name the function that answers a route."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", name))

    def named(does: Does) -> Does:
        ROUTES[name] = (pattern, does)
        return does

    return named


def find(method: str, path: str) -> tuple[str, Does, dict[str, str]]:
    """Return the route that a call is of, and what stands in its path."""
    for name, (pattern, does) in ROUTES.items():
        if matched := pattern.fullmatch(f"{method} {path}"):
            return name, does, matched.groupdict()
    raise DiscordSays(404, 0, f"404: Not Found {method} {path}")
