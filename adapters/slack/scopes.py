"""Which rights the Slack app needs, and what for."""

from collections.abc import Mapping

SCOPES: Mapping[str, str] = {
    "app_mentions:read": "to hear mentions",
    "assistant:write": "to offer what one could ask",
    "channels:history": "to hear replies in public channels, and to post nothing twice",
    "channels:read": "to know whether it is in a channel",
    "chat:write": "to post anything at all",
    "commands": "for /ask, /stop and /sayso",
    "files:write": "to post long texts as files",
    "groups:history": "to hear replies in private channels, and to post nothing twice",
    "groups:read": "to know whether it is in a private channel",
    "im:history": "to hear direct messages",
    "im:read": "to know a direct message when it sees one",
    "im:write": "to write to somebody directly where it cannot post",
    "mpim:history": "to hear replies in direct messages of several people",
    "mpim:read": "to know direct messages of several people",
    "usergroups:read": "to know who is in a user group",
    "users:read": "to know who may not use Slack any more",
}
"""Every scope of the bot token, with what Sayso needs it for."""


def lacking(granted: frozenset[str]) -> tuple[str, ...]:
    """Return a sentence for each scope that is not there."""
    return tuple(
        f"The Slack app lacks the scope {scope}, which Sayso needs {why}: add it under "
        "“OAuth & Permissions” and install the app again."
        for scope, why in SCOPES.items()
        if scope not in granted
    )
