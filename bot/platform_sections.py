"""The sections of `sayso.yml` about platforms. A platform is on exactly when its section is there."""

from collections.abc import Collection
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator

from bot.sections import Name, Names, Reference, Section

Snowflakes = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[0-9]{17,20}$")], ...], Field(strict=False)
]
"""Ids of Discord, in quotes: YAML would take them for numbers."""
_LISTEN = r"^(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$"


class SlackSection(Section):
    """A Slack app: over Socket Mode with an app token, over HTTP with a signing secret."""

    bot_token: Reference
    """`env:NAME` or `file:PATH` of the token that begins with xoxb-."""
    app_token: Reference | None = None
    """That of the token that begins with xapp-, for Socket Mode."""
    signing_secret: Reference | None = None
    """That of the signing secret, for HTTP."""
    listen: str | None = Field(default=None, pattern=_LISTEN)
    """Address and port for HTTP, such as 127.0.0.1:3000; Slack reaches it at /slack/events."""
    groups: dict[Name, Names] = Field(default_factory=dict)
    """Ids of Slack user groups whose members, of those under `people`, are in a group of ours."""
    threads: Literal["all", "mentions"] = "all"
    """Whether a reply in a thread of Sayso's is for it, or only one that mentions it."""
    base_url: str | None = None
    """Another address of Slack's Web API. For tests only."""

    @field_validator("base_url")
    @classmethod
    def _is_safe(cls, base_url: str | None) -> str | None:
        if base_url is not None and not (is_safe(base_url) and base_url.endswith("/")):
            raise ValueError("write an https address, or http to this machine, ending with a /")
        return base_url

    @model_validator(mode="after")
    def _has_a_way_in(self) -> "SlackSection":
        over_http = (self.signing_secret, self.listen)
        if self.app_token and any(over_http):
            raise ValueError(
                "write app_token for Socket Mode, or signing_secret and listen for HTTP"
            )
        if not self.app_token and not all(over_http):
            raise ValueError(
                "it needs app_token for Socket Mode, or signing_secret and listen for HTTP"
            )
        return self


class DiscordSection(Section):
    """A Discord bot, over the gateway."""

    token: Reference
    """`env:NAME` or `file:PATH` of the bot's token."""
    groups: dict[Name, Snowflakes] = Field(default_factory=dict)
    """Ids of roles, in quotes, whose members, of those under `people`, are in a group of ours."""
    threads: Literal["all", "mentions"] = "all"
    """Whether a message in a thread of Sayso's is for it, or only one that mentions it or replies to it.

    `all` needs the Message Content Intent, which Discord's developer portal has under “Bot”.
    """
    api_url: str | None = None
    """Another address of Discord's REST interface. For tests only."""
    gateway_url: str | None = None
    """Another address of its gateway. For tests only."""

    @field_validator("api_url", "gateway_url")
    @classmethod
    def _is_safe(cls, url: str | None, info: ValidationInfo) -> str | None:
        kind: Literal["https", "wss"] = "https" if info.field_name == "api_url" else "wss"
        if url is not None and not is_safe(url, kind):
            raise ValueError(f"write an address with {kind}, or without encryption to this machine")
        return url

    def must_name_roles(self, servers: Collection[str]) -> None:
        """Refuse what would put everybody of a server into a group: its id is the role of all."""
        for name, roles in self.groups.items():
            for role in roles:
                if role in servers:
                    raise ValueError(
                        f"groups.{name}: {role} is a server, and everybody has that role"
                    )


def is_safe(url: str, scheme: Literal["https", "wss"] = "https") -> bool:
    """Whether tokens may be sent there: encrypted, or to this machine."""
    parts = urlsplit(url)
    here = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    is_sealed = parts.scheme == scheme or (here and parts.scheme == scheme.removesuffix("s"))
    return bool(parts.hostname) and is_sealed
