"""Buttons that were pressed and modals that were submitted. Pure.

What a button or a modal carries came back through Slack, and is not believed by anybody here.
"""

import json
import re
from collections.abc import Callable, Mapping

from adapters.slack import edit_view, payload
from adapters.slack.actors import PLATFORM, presser
from adapters.slack.findings import Act, Bot, Finding, Ignored, OpenModal, Route
from adapters.slack.payload import Payload
from core.events import (
    Approve,
    AskAgain,
    Deny,
    Edit,
    LinkWish,
    Place,
    ResolveRun,
    RevokeGrant,
    StopRun,
    TakeUp,
    UndoRun,
)
from core.platforms import Event
from core.principals import Identity

_LONGEST = 64
_ACTION = re.compile(r"sayso:([a-z_]+)(?::([0-9]{1,3}))?")
_UNKNOWN = Ignored(why="it is of a kind that Sayso does not read")
_UNCLEAR = Ignored(why="it cannot be understood")


def button(body: Payload, bot: Bot) -> Finding:
    """Read `block_actions`: one button of ours."""
    action = payload.of([*payload.items(body.get("actions")), None][0])
    found = _ACTION.fullmatch(payload.name(action, "action_id"))
    if found is None:
        return _UNKNOWN
    who = presser(body)
    if not isinstance(action.get("value"), str) or not who.user:
        return _UNCLEAR
    return _pressed(found, payload.text(action, "value")[:_LONGEST], who, _route(body), bot)


def _pressed(found: re.Match[str], value: str, who: Identity, route: Route, bot: Bot) -> Finding:
    verb, number = found.groups()
    match verb:
        case "deny" | "review" | "edit" | "approve_code":
            return OpenModal(what=verb, request=value, identity=who, route=route)
        case "suggest":
            return _suggestion(value, number, who, route, bot)
        case "again":
            return Act(event=_again(value, who, route, bot), route=route, kind="action")
        case "undo":
            return Act(event=_undo(value, who, route, bot), route=route, kind="action")
        case _:
            made = _MADE.get(verb)
            return Act(event=made(who, value), route=route, kind="action") if made else _UNKNOWN


def modal(body: Payload) -> Finding:
    """Read `view_submission`: a modal of ours."""
    identity = presser(body)
    if not identity.user:
        return _UNCLEAR
    request, route = _kept(body)
    match payload.name(body, "view", "callback_id"):
        case "sayso:deny":
            why = payload.text(body, "view", "state", "values", "reason", "reason", "value").strip()
            denied = Deny(identity=identity, request=request, reason=why)
            return Act(event=denied, route=route, kind="view")
        case edit_view.EDIT:
            given = tuple(edit_view.values(body))
            edited = Edit(identity=identity, request=request, values=given)
            return Act(event=edited, route=route, kind="view")
        case "sayso:review" | "sayso:approve_code":
            code = payload.text(body, "view", "state", "values", "code", "code", "value")
            approved = Approve(identity=identity, request=request, code=code[:_LONGEST])
            return Act(event=approved, route=route, kind="view")
        case _:
            return _UNKNOWN


def private(request: str, route: Route) -> str:
    """Return what a modal carries, so that submitting it is as good as pressing where it was opened."""
    kept = {
        "request": request,
        "channel": route.channel,
        "thread": route.thread,
        "message": route.message,
    }
    return json.dumps({key: value for key, value in kept.items() if value})


def _kept(body: Payload) -> tuple[str, Route]:
    try:
        kept = payload.of(json.loads(payload.text(body, "view", "private_metadata")))
    except (ValueError, RecursionError):
        kept = {}
    route = Route(
        channel=payload.name(kept, "channel"),
        user=payload.name(body, "user", "id"),
        thread=payload.ts(kept, "thread") or None,
        trigger=payload.name(body, "trigger_id") or None,
        message=payload.ts(kept, "message") or None,
    )
    return payload.text(kept, "request")[:_LONGEST], route


def _route(body: Payload) -> Route:
    """Return where a button was pressed; an ephemeral message is told of by `container` alone."""
    message = payload.ts(body, "container", "message_ts") or payload.ts(body, "message", "ts")
    thread = payload.ts(body, "message", "thread_ts") or payload.ts(body, "container", "thread_ts")
    return Route(
        channel=payload.name(body, "channel", "id")
        or payload.name(body, "container", "channel_id"),
        user=payload.name(body, "user", "id"),
        thread=thread or None,
        response_url=payload.address(body, "response_url"),
        trigger=payload.name(body, "trigger_id") or None,
        message=message or None,
    )


def _again(value: str, identity: Identity, route: Route, bot: Bot) -> AskAgain:
    return AskAgain(
        identity=identity, request=value, place=_place(route, bot), deliveries=_deliveries(route)
    )


def _undo(value: str, identity: Identity, route: Route, bot: Bot) -> UndoRun:
    return UndoRun(
        identity=identity, run=value, place=_place(route, bot), deliveries=_deliveries(route)
    )


def _suggestion(
    turn: str, number: str | None, identity: Identity, route: Route, bot: Bot
) -> Finding:
    place = _place(route, bot)
    if place is None or number is None:
        return _UNCLEAR
    event = TakeUp(
        identity=identity,
        place=place,
        turn=turn,
        number=int(number),
        deliveries=_deliveries(route),
    )
    return Act(event=event, route=route, kind="action")


def _place(route: Route, bot: Bot) -> Place | None:
    """Return the thread of a button; None where it stands outside of any, as in the App Home."""
    thread = route.thread or route.message
    if not (route.channel and thread):
        return None
    return Place(platform=PLATFORM, workspace=bot.team, channel=route.channel, thread=thread)


def _deliveries(route: Route) -> tuple[str, ...]:
    return (f"trigger:{route.trigger}",) if route.trigger else ()


_MADE: Mapping[str, Callable[[Identity, str], Event]] = {
    "approve": lambda who, request: Approve(identity=who, request=request),
    "revoke": lambda who, grant: RevokeGrant(identity=who, grant=grant),
    "stop": lambda who, request: StopRun(identity=who, request=request),
    "verify": lambda who, request: ResolveRun(identity=who, request=request, found="verify"),
    "happened": lambda who, request: ResolveRun(identity=who, request=request, found="happened"),
    "did_not": lambda who, request: ResolveRun(identity=who, request=request, found="did_not"),
    "link_yes": lambda who, link: LinkWish(identity=who, what="confirm", given=link),
    "link_no": lambda who, link: LinkWish(identity=who, what="refuse", given=link),
}
