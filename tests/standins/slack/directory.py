"""Who there is: people, groups, the app itself and its workspace."""

from tests.standins.slack.methods import method, needs
from tests.standins.slack.wire import Json, SlackSays
from tests.standins.slack.workspace import Workspace


@method("auth.test")
def auth(work: Workspace, _body: Json) -> Json:
    """Say whose token it is."""
    return {
        "url": "https://x.slack.com/", "team": "x", "user": "sayso", "team_id": work.team,
        "user_id": work.bot, "bot_id": work.bot_id, "is_enterprise_install": False,
    }  # fmt: skip


@method("team.info", "team:read")
def team(work: Workspace, _body: Json) -> Json:
    """Describe the workspace."""
    return {"team": {"id": work.team, "name": "X", "domain": "x"}}


@method("bots.info", "users:read")
def bot(work: Workspace, body: Json) -> Json:
    """Describe the app's own bot."""
    if body.get("bot") != work.bot_id:
        raise SlackSays("bot_not_found")
    return {"bot": {
        "id": work.bot_id, "app_id": work.app, "user_id": work.bot, "name": "sayso",
        "deleted": False,
    }}  # fmt: skip


@method("users.info", "users:read")
def person(work: Workspace, body: Json) -> Json:
    """Describe somebody."""
    needs(body, "user")
    user = str(body["user"])
    if user not in work.people:
        raise SlackSays("user_not_found")
    return {"user": described(work, user)}


@method("usergroups.list", "usergroups:read")
def groups(work: Workspace, _body: Json) -> Json:
    """Return the groups, without who is in them."""
    _paid(work)
    return {"usergroups": [
        {
            "id": group, "team_id": work.team, "is_usergroup": True, "handle": group.lower(),
            "name": group.lower(), "date_delete": 0, "user_count": len(users),
        }
        for group, users in work.groups.items()
    ]}  # fmt: skip


@method("usergroups.users.list", "usergroups:read")
def members(work: Workspace, body: Json) -> Json:
    """Return who is in a group."""
    needs(body, "usergroup")
    _paid(work)
    if body["usergroup"] not in work.groups:
        raise SlackSays("no_such_subteam")
    return {"users": list(work.groups[str(body["usergroup"])])}


def described(work: Workspace, user: str) -> Json:
    """Return somebody as Slack describes them, with what a test says about them."""
    name = user.lower()
    return {
        "id": user, "name": name, "real_name": name.title(), "deleted": False, "is_bot": False,
        "is_app_user": False, "is_restricted": False, "is_ultra_restricted": False,
        "is_stranger": False, "updated": int(work.time.now()),
        "profile": {"display_name": name.title(), "real_name": name.title(), "team": work.team},
        **work.people[user],
    }  # fmt: skip


def _paid(work: Workspace) -> None:
    if not work.has_paid_plan:
        raise SlackSays("plan_upgrade_required")
