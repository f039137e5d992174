"""What it takes to be on Discord."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSetup:
    """The bot's token, and what is configured. No secret is part of its `repr`."""

    token: str = field(repr=False)
    api_url: str | None = None
    """Where the REST interface is; None for Discord's own."""
    gateway_url: str | None = None
    """Where the gateway is; None for what Discord says."""
    guilds: frozenset[str] = frozenset()
    """The servers that belong to a tenant."""
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """By a group of Sayso's, the ids of roles whose members are in it. A server's own id is never one."""
    guilds_of: Callable[[str], Collection[str]] = field(default=lambda _: (), repr=False)
    """The servers in which a user id is listed, as the file has it now."""
    mentions_only: bool = False
    """Whether a message has to mention Sayso, or reply to it, to be meant for it.

    Then the privileged intent for the content of messages is not asked for.
    """
