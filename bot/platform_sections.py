"""The sections of `sayso.yml` about platforms. A platform is on exactly when its section is there."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from bot.sections import Name, Names, Section

Reference = Annotated[str, Field(pattern="^(env|file):.+")]
"""Where a secret comes from: `env:NAME` or `file:PATH`."""
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
        if base_url is not None and not is_safe(base_url):
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


def is_safe(url: str) -> bool:
    """Whether tokens may be sent there: encrypted, or to this machine."""
    parts = urlsplit(url)
    here = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    is_sealed = parts.scheme == "https" or (parts.scheme == "http" and here)
    return bool(parts.hostname) and url.endswith("/") and is_sealed
