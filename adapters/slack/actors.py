"""Whom a payload is for, and who did what it tells of: a user of a workspace, always both. Pure."""

from adapters.slack import payload
from adapters.slack.findings import Bot
from adapters.slack.payload import Payload
from core.principals import Identity

PLATFORM = "slack"
_SLACKBOT = "USLACKBOT"


def is_ours(body: Payload, bot: Bot) -> bool:
    """Whether a payload is for this app as it is installed in this workspace.

    In a channel that is shared with others, the team at the top may be somebody else's.
    """
    is_the_app = not bot.app or payload.name(body, "api_app_id") == bot.app
    return is_the_app and bot.team in _installed(body)


def _installed(body: Payload) -> set[str]:
    listed = payload.items(body.get("authorizations"))
    if listed:
        return {payload.name(payload.of(one), "team_id") for one in listed}
    view = payload.name(body, "view", "app_installed_team_id")
    if view:
        return {view}
    places = (("team_id",), ("team", "id"), ("message", "team"), ("view", "team_id"))
    return {payload.name(body, *place) for place in places}


def speaker(body: Payload, said: Payload, user: str, bot: Bot) -> Identity:
    """Return who spoke in an event: with their own workspace, and none where nobody can tell it."""
    team = payload.name(said, "user_team") or payload.name(said, "team")
    return identity(_home(body, team, bot), user)


def presser(body: Payload) -> Identity:
    """Return who pressed a button or submitted a modal."""
    return identity(payload.name(body, "user", "team_id"), payload.name(body, "user", "id"))


def identity(team: str, user: str) -> Identity:
    """Return a user of Slack's. Where the workspace is unknown, it is nobody whom anybody could list."""
    return Identity(platform=PLATFORM, workspace=team, user=user)


def is_software(said: Payload, bot: Bot) -> bool:
    """Whether a message comes from an app, a workflow, a webhook or Slack itself, or from us."""
    by_app = any(said.get(mark) for mark in ("bot_id", "bot_profile", "app_id", "workflow_id"))
    return by_app or payload.name(said, "user") in {bot.user, _SLACKBOT}


def _home(body: Payload, team: str, bot: Bot) -> str:
    if not team:
        return "" if body.get("is_ext_shared_channel") else bot.team
    if team.startswith("E") and team == _organisation(body):
        # Within one organisation a user's id is the same in every workspace.
        return bot.team
    return team


def _organisation(body: Payload) -> str:
    first = [*payload.items(body.get("authorizations")), None][0]
    return payload.name(payload.of(first), "enterprise_id")
