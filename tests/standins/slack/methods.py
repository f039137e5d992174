"""The methods of the Web API by name, each with the scope that it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.standins.slack.wire import Json, SlackSays
from tests.standins.slack.workspace import Workspace

Does: TypeAlias = Callable[[Workspace, Json], Json]
HISTORY, READ = "history", "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What a method does; a scope of `history` or `read` depends on the kind of channel."""

    does: Does
    scope: str | None


METHODS: dict[str, Method] = {}


def method(name: str, scope: str | None = None) -> Callable[[Does], Does]:
    """Name the function that answers a method."""

    def named(does: Does) -> Does:
        METHODS[name] = Method(does=does, scope=scope)
        return does

    return named


def answer(work: Workspace, name: str, body: Json) -> Json:
    """Return what Slack answers to a call with a valid token."""
    if name not in METHODS:
        raise SlackSays("unknown_method")
    needed = _scope(work, METHODS[name].scope, body)
    if needed and needed not in work.scopes:
        raise SlackSays("missing_scope", needed=needed, provided=",".join(sorted(work.scopes)))
    return {"ok": True, **METHODS[name].does(work, body)}


def needs(body: Json, *keys: str) -> None:
    """Raise where an argument is missing."""
    for key in keys:
        if body.get(key) in (None, ""):
            raise SlackSays("invalid_arguments", f"missing required field: {key}")


def _scope(work: Workspace, scope: str | None, body: Json) -> str | None:
    if scope not in (HISTORY, READ):
        return scope
    channel = work.channels.get(str(body.get("channel")))
    if channel and channel.partner:
        return f"im:{scope}"
    return f"groups:{scope}" if channel and channel.is_private else f"channels:{scope}"
