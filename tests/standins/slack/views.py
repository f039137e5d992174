"""`views.*`: modals and the home tab."""

import json
from uuid import uuid4

from tests.standins.slack.blocks import IN_VIEWS, checked
from tests.standins.slack.elements import label, longer
from tests.standins.slack.methods import method, needs
from tests.standins.slack.wire import Json, SlackSays, copied, objects
from tests.standins.slack.workspace import Workspace

UNSAID: Json = {
    "private_metadata": "", "callback_id": "", "external_id": "", "close": None, "submit": None,
    "clear_on_close": False, "notify_on_close": False, "previous_view_id": None,
}  # fmt: skip
"""What Slack says of a modal where the app said nothing."""
TRIGGER_LASTS, BLOCKS, DEEPEST, BYTES = 3.0, 100, 3, 250_000


@method("views.open")
def open_view(work: Workspace, body: Json) -> Json:
    """Open a modal for whoever the trigger came from."""
    needs(body, "view")
    user = _spent(work, body.get("trigger_id"))
    view = _modal(work, body["view"])
    return {"view": _kept(work, view, shown_to=user)}


@method("views.push")
def push(work: Workspace, body: Json) -> Json:
    """Lay a modal over the one that is open; three at most."""
    needs(body, "view")
    user = _spent(work, body.get("trigger_id"))
    if sum(each["shown_to"] == user for each in work.views.values()) >= DEEPEST:
        raise SlackSays("push_limit_reached")
    return {"view": _kept(work, _modal(work, body["view"]), shown_to=user)}


@method("views.update")
def update(work: Workspace, body: Json) -> Json:
    """Replace a modal that is still open, and still what the caller took it for."""
    needs(body, "view")
    old = work.views.get(str(body.get("view_id")))
    if old is None:
        raise SlackSays("not_found")
    if body.get("hash") not in (None, old["hash"]):
        raise SlackSays("hash_conflict")
    return {"view": replace(work, old["id"], body["view"])}


@method("views.publish")
def publish(work: Workspace, body: Json) -> Json:
    """Show the home tab to somebody."""
    needs(body, "user_id", "view")
    if body["user_id"] not in work.people:
        raise SlackSays("user_not_found")
    view = copied(body["view"])
    if view.get("type") != "home":
        raise SlackSays("invalid_arguments", "must be a home view [json-pointer:/view/type]")
    view["blocks"] = _blocks(view)
    shown = {**view, **_identity(work)}
    work.homes[str(body["user_id"])] = shown
    return {"view": copied(shown)}


def replace(work: Workspace, view_id: str, view: Json) -> Json:
    """Put a view in the place of another, as an update and the answer to a submission do."""
    old = work.views[view_id]
    checked_view = _modal(work, view)
    return _kept(work, {**checked_view, "id": view_id}, shown_to=old["shown_to"])


def add(work: Workspace, view: Json, *, user: str) -> Json:
    """Open a modal without a trigger, as the answer to a submission does."""
    return _kept(work, _modal(work, view), shown_to=user)


def _spent(work: Workspace, trigger: object) -> str:
    found = work.triggers.get(str(trigger))
    if found is None:
        raise SlackSays("invalid_trigger_id")
    if found.used:
        raise SlackSays("exchanged_trigger_id")
    if work.time.now() - found.made_at > TRIGGER_LASTS:
        raise SlackSays("expired_trigger_id")
    found.used = True
    return found.user


def _modal(work: Workspace, given: Json) -> Json:
    view = copied(given)
    problems = [
        *label(view.get("title"), 24, "/view/title"),
        *(each for key in ("submit", "close") if view.get(key)
          for each in label(view[key], 24, f"/view/{key}")),
        *longer(view.get("private_metadata"), 3000, "/view/private_metadata"),
        *longer(view.get("callback_id"), 255, "/view/callback_id"),
    ]  # fmt: skip
    if view.get("type") != "modal":
        problems.append("must be a modal [json-pointer:/view/type]")
    if not view.get("submit") and any(
        each.get("type") == "input" for each in objects(view.get("blocks"))
    ):
        problems.append("missing required field: submit [json-pointer:/view]")
    if problems:
        raise SlackSays("invalid_arguments", *problems)
    view["blocks"] = _blocks(view)
    return {**UNSAID, **view, **_identity(work)}


def _blocks(view: Json) -> list[Json]:
    if len(json.dumps(view).encode()) > BYTES:
        raise SlackSays("view_too_large")
    return checked(view.get("blocks"), most=BLOCKS, allowed=IN_VIEWS, error="invalid_arguments")


def _identity(work: Workspace) -> Json:
    return {
        "id": f"V{uuid4().hex[:10].upper()}",
        "hash": f"{work.time.ts()}.{uuid4().hex[:8]}",
        "team_id": work.team,
        "app_id": work.app,
        "app_installed_team_id": work.team,
        "bot_id": work.bot_id,
        "state": {"values": {}},
    }


def _kept(work: Workspace, view: Json, *, shown_to: str) -> Json:
    work.views[view["id"]] = {**view, "root_view_id": view["id"], "shown_to": shown_to}
    return copied(view)
