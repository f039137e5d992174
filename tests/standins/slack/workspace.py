"""Everything that there is in the workspace: people, channels, messages, views."""

import itertools
from dataclasses import dataclass, field
from uuid import uuid4

from tests.standins.slack.times import Time
from tests.standins.slack.wire import Json, SlackSays, copied

SCOPES = frozenset({
    "app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write",
    "commands", "files:read", "files:write", "groups:history", "groups:read", "im:history",
    "im:read", "im:write", "mpim:history", "mpim:read", "reactions:write", "team:read", "usergroups:read", "users:read",
})  # fmt: skip


@dataclass(kw_only=True)
class Channel:
    """Where messages are. The app posts where it is a member."""

    id: str
    name: str
    members: set[str]
    is_archived: bool = False
    is_private: bool = False
    is_shared: bool = False
    """Whether people of another workspace are in it, through Slack Connect."""
    partner: str | None = None
    """Whose direct messages with the app these are."""


@dataclass(kw_only=True)
class Message:
    """A message as it is now, and as it was before each edit."""

    channel: str
    now: Json
    before: list[Json] = field(default_factory=list[Json])
    gone: bool = False

    @property
    def thread(self) -> str | None:
        """Return the root of the thread it stands in, if in any."""
        return self.now.get("thread_ts")


@dataclass(kw_only=True)
class Trigger:
    """What opens a modal: for three seconds and once."""

    user: str
    made_at: float
    used: bool = False


@dataclass(kw_only=True)
class ReplyUrl:
    """A `response_url`: five uses in half an hour."""

    channel: str
    user: str
    message: str | None
    made_at: float
    uses: int = 5


@dataclass(kw_only=True)
class Stream:
    """A message that is being written: for five minutes."""

    began_at: float
    text: str = ""
    over: bool = False


@dataclass(kw_only=True)
class Workspace:
    """The state of one workspace in which the app is installed."""

    team: str = "T0TEAM"
    bot: str = "U0BOT"
    bot_id: str = "B0BOT"
    app: str = "A0APP"
    time: Time = field(default_factory=Time)
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    people: dict[str, Json] = field(default_factory=dict[str, Json])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    has_paid_plan: bool = True
    messages: dict[tuple[str, str], Message] = field(default_factory=dict[tuple[str, str], Message])
    ephemeral: list[Json] = field(default_factory=list[Json])
    """What was shown to one person: each with `channel`, `user` and what was posted."""
    views: dict[str, Json] = field(default_factory=dict[str, Json])
    """Modals that are open, by their id; `shown_to` says to whom."""
    homes: dict[str, Json] = field(default_factory=dict[str, Json])
    triggers: dict[str, Trigger] = field(default_factory=dict[str, Trigger])
    reply_urls: dict[str, ReplyUrl] = field(default_factory=dict[str, ReplyUrl])
    streams: dict[tuple[str, str], Stream] = field(default_factory=dict[tuple[str, str], Stream])
    files: dict[str, Json] = field(default_factory=dict[str, Json])
    sessions: dict[tuple[str, str], list[Json]] = field(
        default_factory=dict[tuple[str, str], list[Json]]
    )
    prompts: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    reactions: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def person(self, user: str, *, team: str | None = None, **overrides: object) -> str:
        """Let there be somebody, of another workspace where `team` says so; return who."""
        self.people[user] = {"team_id": team or self.team, **overrides}
        return user

    def channel(self, channel: str, *members: str, joined: bool = True,
        is_archived: bool = False, is_private: bool = False, is_shared: bool = False,
    ) -> str:  # fmt: skip
        """Let there be a channel with these people, and the app where it `joined`; return its id."""
        everybody = {*members, self.bot} if joined else {*members}
        self.channels[channel] = Channel(
            id=channel,
            name=channel.lower(),
            members=everybody,
            is_archived=is_archived,
            is_private=is_private,
            is_shared=is_shared,
        )
        return channel

    def dm(self, user: str) -> str:
        """Return the direct messages of somebody with the app."""
        if user not in self.people:
            raise SlackSays("user_not_found")
        channel = f"D0{user[1:]}"
        self.channels.setdefault(
            channel, Channel(id=channel, name="", members={user, self.bot}, partner=user)
        )
        return channel

    def team_of(self, user: str) -> str:
        """Return the workspace that somebody belongs to."""
        return str(self.people.get(user, {}).get("team_id", self.team))

    def found(self, channel: object) -> Channel:
        """Return a channel, or that of a person's direct messages."""
        name = str(channel)
        if name.startswith(("U", "W")):
            name = self.dm(name) if name in self.people else ""
        if name not in self.channels:
            raise SlackSays("channel_not_found")
        return self.channels[name]

    def open_to_app(self, channel: object) -> Channel:
        """Return a channel that the app may write in."""
        found = self.found(channel)
        if self.bot not in found.members:
            raise SlackSays("channel_not_found" if found.is_private else "not_in_channel")
        if found.is_archived:
            raise SlackSays("is_archived")
        return found

    def message(self, channel: str, ts: object) -> Message:
        """Return a message that is there."""
        found = self.messages.get((channel, str(ts)))
        if found is None or found.gone:
            raise SlackSays("message_not_found")
        return found

    def add(self, channel: str, message: Json) -> Json:
        """Keep a message, which makes a thread of the one it answers; return it with its id."""
        message = {"type": "message", "ts": self.time.ts(), **copied(message)}
        self.messages[channel, message["ts"]] = Message(channel=channel, now=message)
        root = self.messages.get((channel, str(message.get("thread_ts"))))
        if root and root.now is not message:
            root.now["thread_ts"] = root.now["ts"]
            root.now["reply_count"] = root.now.get("reply_count", 0) + 1
        return message

    def thread(self, channel: str, ts: str) -> list[Message]:
        """Return a message and what answers it, in order, without what is gone."""
        return [
            each
            for (where, own), each in sorted(self.messages.items())
            if where == channel and ts in (own, each.thread) and not each.gone
        ]

    def trigger(self, user: str) -> str:
        """Return a fresh `trigger_id` of somebody."""
        made = f"{next(self.numbers)}.{self.team}.{uuid4().hex}"
        self.triggers[made] = Trigger(user=user, made_at=self.time.now())
        return made

    def reply_url(self, channel: str, user: str, message: str | None = None) -> str:
        """Return the id of a fresh `response_url`."""
        made = uuid4().hex
        self.reply_urls[made] = ReplyUrl(
            channel=channel, user=user, message=message, made_at=self.time.now()
        )
        return made
