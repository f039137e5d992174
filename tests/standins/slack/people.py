"""What people and other programs write in the workspace, and Slack tells the app of."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.standins.slack import payloads
from tests.standins.slack.chat import replace
from tests.standins.slack.delivery import Delivery
from tests.standins.slack.wire import Json, copied, escaped
from tests.standins.slack.workspace import Channel, Workspace

Deliver: TypeAlias = Callable[[str, Json], Awaitable[Delivery]]
EVENTS, COMMANDS = "events_api", "slash_commands"


@dataclass(kw_only=True)
class People:
    """Each method does it in the workspace, delivers it, and returns the delivery.

    A text is what they type; `raw` is what Slack makes of it, links and mentions included.
    """

    work: Workspace
    deliver: Deliver
    reply_at: str = ""
    """Where a `response_url` begins."""

    async def slash(
        self, user: str, channel: str, command: str, text: str = "", *, raw: bool = False
    ) -> Delivery:
        """Type a slash command."""
        found = self.work.found(channel)
        reply = f"{self.reply_at}/{self.work.reply_url(found.id, user)}"
        payload = payloads.slash(
            self.work, user=user, channel=found, command=command,
            text=text if raw else escaped(text), reply=reply,
        )  # fmt: skip
        return await self.deliver(COMMANDS, payload)

    async def say(
        self, user: str, where: str, text: str, *,
        thread: str | None = None, raw: bool = False, **more: object,
    ) -> Delivery:  # fmt: skip
        """Write a message: in a channel, in a thread, or to the app where `where` is the writer."""
        channel = self.work.found(where)
        message = self._written(user, channel, text if raw else escaped(text), thread, more)
        return await self._event(channel, payloads.message_event(channel, message))

    async def mention(
        self, user: str, channel: str, text: str, *,
        thread: str | None = None, raw: bool = False, first: str = "app_mention", **more: object,
    ) -> tuple[Delivery, Delivery]:  # fmt: skip
        """Mention the app. Slack tells of one message twice, in either order; returns both.

        Where `{bot}` stands in the text, there is the mention; in front where it stands nowhere.
        """
        found = self.work.found(channel)
        marked = text if "{bot}" in text else f"{{bot}} {text}"
        written = (marked if raw else escaped(marked)).replace("{bot}", f"<@{self.work.bot}>")
        message = self._written(user, found, written, thread, more)
        both = [payloads.mention_event(found, message), payloads.message_event(found, message)]
        if first == "message":
            both.reverse()
        return await self._event(found, both[0]), await self._event(found, both[1])

    async def edit(self, channel: str, ts: str, text: str, *, raw: bool = False) -> Delivery:
        """Give a message other words, as its writer."""
        found, message = self.work.found(channel), self.work.message(channel, ts)
        before, written = copied(message.now), text if raw else escaped(text)
        shown: Json = {"text": written, "blocks": [payloads.rich(self.work, written)]}
        replace(self.work, channel, ts, shown)
        now = copied(message.now)
        return await self._event(found, payloads.changed_event(self.work, found, now, before))

    async def unfurl(self, channel: str, ts: str) -> Delivery:
        """Have Slack put a preview below a message: told as an edit with the same words."""
        found, message = self.work.found(channel), self.work.message(channel, ts)
        before = copied(message.now)
        message.now["attachments"] = [{"id": 1, "from_url": "https://example.com/", "title": "x"}]
        now = copied(message.now)
        return await self._event(found, payloads.changed_event(self.work, found, now, before))

    async def delete(self, channel: str, ts: str) -> Delivery:
        """Take a message back."""
        found, message = self.work.found(channel), self.work.message(channel, ts)
        message.gone = True
        before = copied(message.now)
        return await self._event(found, payloads.deleted_event(self.work, found, before))

    async def share_file(
        self, user: str, where: str, text: str, *, thread: str | None = None
    ) -> Delivery:
        """Write a message with a file."""
        file = {"id": "F0FILE", "name": "notes.txt", "mimetype": "text/plain", "size": 5}
        return await self.say(
            user, where, text, thread=thread, subtype="file_share", files=[file], upload=False
        )

    async def broadcast(self, user: str, channel: str, text: str, *, thread: str) -> Delivery:
        """Answer in a thread and show it in the channel too."""
        root = copied(self.work.message(channel, thread).now)
        return await self.say(
            user, channel, text, thread=thread, subtype="thread_broadcast", root=root
        )

    async def other_bot(
        self, channel: str, text: str, *, thread: str | None = None, raw: bool = False,
        bot: str = "B0OTHER", mentions: bool = False,
    ) -> Delivery:  # fmt: skip
        """Have another app's bot write, as itself; `mentions` tells of it as a mention."""
        found = self.work.found(channel)
        written = text if raw else escaped(text)
        more = {"bot_id": bot, "app_id": "A0OTHER", "bot_profile": {"id": bot, "name": "other"}}
        message = self._written("U0OTHERBOT", found, written, thread, more)
        told = payloads.mention_event if mentions else payloads.message_event
        return await self._event(found, told(found, message))

    async def webhook(self, channel: str, text: str, *, thread: str | None = None) -> Delivery:
        """Have an incoming webhook post: it has no user."""
        found = self.work.found(channel)
        message: Json = {
            "subtype": "bot_message", "bot_id": "B0HOOK", "username": "hook", "text": text
        }  # fmt: skip
        if thread:
            message["thread_ts"] = thread
        kept = self.work.add(found.id, message)
        return await self._event(found, payloads.message_event(found, copied(kept)))

    async def echo(self, channel: str, ts: str) -> Delivery:
        """Have Slack tell the app of a message that the app itself posted."""
        found = self.work.found(channel)
        own = copied(self.work.message(channel, ts).now)
        return await self._event(found, payloads.message_event(found, own))

    async def echo_edit(self, channel: str, ts: str) -> Delivery:
        """Have Slack tell the app of the last edit that the app itself made."""
        found, message = self.work.found(channel), self.work.message(channel, ts)
        now, before = copied(message.now), copied(message.before[-1])
        return await self._event(found, payloads.changed_event(self.work, found, now, before))

    async def event(self, inner: Json, *, id: str | None = None) -> Delivery:  # noqa: A002
        """Have Slack tell of anything else, with an `event_id` of one's choice."""
        return await self.deliver(EVENTS, payloads.event(self.work, inner, id=id))

    def _written(
        self, user: str, channel: Channel, text: str, thread: str | None, more: Json
    ) -> Json:
        message = {**payloads.spoken(self.work, user, text), **more}
        if thread:
            message |= {"thread_ts": thread, "parent_user_id": self._author(channel.id, thread)}
        return copied(self.work.add(channel.id, message))

    def _author(self, channel: str, ts: str) -> object:
        return self.work.message(channel, ts).now.get("user")

    async def _event(self, channel: Channel, inner: Json) -> Delivery:
        wrapped = payloads.event(self.work, inner, shared=channel.is_shared)
        return await self.deliver(EVENTS, wrapped)
