"""The app as Slack is to know it: made of what the code takes in and calls. Pure."""

from collections.abc import Mapping
from typing import Any

import yaml

from adapters.slack.scopes import SCOPES
from adapters.slack.slashes import COMMANDS

EVENTS: Mapping[str, frozenset[str]] = {
    "agent_session_stopped": frozenset({"chat:write"}),
    "app_home_opened": frozenset(),
    "app_mention": frozenset({"app_mentions:read"}),
    "member_joined_channel": frozenset({"channels:read", "groups:read"}),
    "message.channels": frozenset({"channels:history"}),
    "message.groups": frozenset({"groups:history"}),
    "message.im": frozenset({"im:history"}),
    "message.mpim": frozenset({"mpim:history"}),
    "subteam_members_changed": frozenset({"usergroups:read"}),
    "subteam_updated": frozenset({"usergroups:read"}),
    "user_change": frozenset({"users:read"}),
}
"""Every event that is subscribed to, and the scopes without which Slack sends none of it."""
METHODS: Mapping[str, frozenset[str]] = {
    "agents.sessions.setStatus": frozenset({"chat:write"}),
    "assistant.threads.setSuggestedPrompts": frozenset({"assistant:write"}),
    "auth.test": frozenset(),
    "bots.info": frozenset({"users:read"}),
    "chat.delete": frozenset({"chat:write"}),
    "chat.postEphemeral": frozenset({"chat:write"}),
    "chat.postMessage": frozenset({"chat:write"}),
    "chat.update": frozenset({"chat:write"}),
    "conversations.history": frozenset(
        {"channels:history", "groups:history", "im:history", "mpim:history"}
    ),
    "conversations.info": frozenset({"channels:read", "groups:read", "im:read", "mpim:read"}),
    "conversations.replies": frozenset(
        {"channels:history", "groups:history", "im:history", "mpim:history"}
    ),
    "files.completeUploadExternal": frozenset({"files:write"}),
    "files.getUploadURLExternal": frozenset({"files:write"}),
    "usergroups.users.list": frozenset({"usergroups:read"}),
    "users.info": frozenset({"users:read"}),
    "views.open": frozenset(),
    "views.publish": frozenset(),
}
"""Every method that is called with the bot token, and the scopes that it takes."""
PATH = "/slack/events"
_ABOUT = {
    "/ask": ("Ask Sayso for something", "[what you need]"),
    "/stop": ("Stop what runs", "[all | conversation]"),
    "/sayso": ("What waits, what ran, what can be done", "[help | requests | runs]"),
}
_DESCRIPTION = "Looks around on its own, and changes things only on your say-so."
_LONG = (
    "Ask Sayso in words with /ask, by mentioning it, in a direct message or in one of its threads. "
    "It looks around with tools that only read. Whatever would change something becomes one plan, "
    "shown as a card that holds every argument. People with the authority approve or deny it there; "
    "what was approved runs exactly as shown and exactly once, and the report comes back to the "
    "thread. /stop stops."
)


def made(address: str | None = None) -> str:
    """Return the manifest as YAML."""
    head = (
        "# Written by `sayso manifest`. Create an app from it at https://api.slack.com/apps,\n"
        "# as docs/slack.md tells step by step.\n"
    )
    return head + yaml.safe_dump(values(address), sort_keys=False, width=100, allow_unicode=True)


def values(address: str | None = None) -> dict[str, Any]:
    """Return the manifest: for Socket Mode, or for HTTP at an address that Slack can reach."""
    url = {"request_url": f"{address.rstrip('/')}{PATH}"} if address else {}
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": "Sayso",
            "description": _DESCRIPTION,
            "long_description": _LONG,
            "background_color": "#1a1d21",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "sayso", "always_online": True},
            "slash_commands": [_command(name, address) for name in COMMANDS],
            "agent_view": {
                "agent_description": _DESCRIPTION,
                "suggested_prompts": [{"title": "What can you do?", "message": "help"}],
            },
        },
        "oauth_config": {"scopes": {"bot": sorted(SCOPES)}},
        "settings": {
            "event_subscriptions": {**url, "bot_events": sorted(EVENTS)},
            "interactivity": {"is_enabled": True, **url},
            "org_deploy_enabled": False,
            "socket_mode_enabled": address is None,
            "token_rotation_enabled": False,
        },
    }


def _command(name: str, address: str | None) -> dict[str, Any]:
    description, hint = _ABOUT[name]
    url = {"url": f"{address.rstrip('/')}{PATH}"} if address else {}
    # Escaped, so that people and channels come as ids: what is read undoes it once.
    return {
        "command": name,
        **url,
        "description": description,
        "usage_hint": hint,
        "should_escape": True,
    }
