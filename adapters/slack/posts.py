"""A message that a person wrote, as an event tells of it. Pure."""

from dataclasses import dataclass

from adapters.slack import payload
from adapters.slack.actors import PLATFORM, is_software, speaker
from adapters.slack.findings import Bot, Ignored, Route
from adapters.slack.payload import Payload
from core.events import Place
from core.principals import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message that a person wrote."""

    identity: Identity
    place: Place
    raw: str
    """Its text as Slack escapes it."""
    in_thread: bool
    """Whether it stands in a thread; if not, it may become the root of one."""
    is_direct: bool
    delivery: str
    """The id of the message itself, under which every event about it can be told to be about it."""

    @property
    def route(self) -> Route:
        """Return how to reach whoever wrote it."""
        thread = self.place.thread if self.in_thread else None
        return Route(channel=self.place.channel, user=self.identity.user, thread=thread)


def post_of(body: Payload, said: Payload, bot: Bot) -> Post | Ignored:
    """Return the message that a person wrote; why it is ignored, where no person did."""
    if is_software(said, bot):
        return Ignored(why="software wrote it")
    subtype = said.get("subtype")
    if subtype is not None and subtype not in ("file_share", "thread_broadcast"):
        return Ignored(why="it is of a kind that Sayso does not read")
    channel = payload.name(body, "event", "channel")
    user, ts = payload.name(said, "user"), payload.ts(said, "ts")
    if not (channel and user and ts):
        return Ignored(why="it cannot be understood")
    root = payload.ts(said, "thread_ts") or ts
    return Post(
        identity=speaker(body, said, user, bot),
        place=Place(platform=PLATFORM, workspace=bot.team, channel=channel, thread=root),
        raw=payload.text(said, "text"),
        in_thread=root != ts,
        is_direct=channel.startswith("D"),
        delivery=delivery(channel, ts),
    )


def delivery(channel: str, ts: str) -> str:
    """Return the id that a message has in every event about it."""
    return f"msg:{channel}:{ts}"
