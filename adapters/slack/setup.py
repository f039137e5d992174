"""What it takes to be in a Slack workspace."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSetup:
    """Tokens and where to connect. No secret is part of its `repr`."""

    bot_token: str = field(repr=False)
    app_token: str | None = field(default=None, repr=False)
    """For Socket Mode, which needs no address that Slack can reach."""
    signing_secret: str | None = field(default=None, repr=False)
    """For HTTP mode: proves that a request is Slack's."""
    listen: tuple[str, int] | None = None
    """Host and port to listen on: HTTP mode."""
    base_url: str | None = None
    """Where the Web API is; None for Slack's own."""
    teams: frozenset[str] = frozenset()
    """The workspaces that belong to a tenant."""
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """By a group of Sayso's, the user groups whose members are in it."""
    mentions_only: bool = False
    """Whether a message in a thread has to mention Sayso to be meant for it."""
