"""What people press, submit and open, and Slack tells the app of."""

from dataclasses import dataclass

from tests.standins.slack import payloads, views
from tests.standins.slack.delivery import Delivery
from tests.standins.slack.people import EVENTS, Deliver
from tests.standins.slack.plain import pressed
from tests.standins.slack.wire import Json, copied, objects
from tests.standins.slack.workspace import Workspace

INTERACTIVE = "interactive"


@dataclass(kw_only=True)
class Hands:
    """Each method does it in the workspace, delivers it, and returns the delivery."""

    work: Workspace
    deliver: Deliver
    reply_at: str = ""

    async def click(self, user: str, channel: str, ts: str, what: str) -> Delivery:
        """Press a button of a message as it stands there, by its label, its id or its verb."""
        where = self.work.found(channel).id
        button = pressed(self._seen(user, where, ts), what)
        return await self._clicked(user, where, ts, button)

    async def click_forged(
        self, user: str, channel: str, ts: str, action_id: str, value: str
    ) -> Delivery:
        """Send a click on a button that the message does not have."""
        button = {
            "type": "button", "action_id": action_id, "value": value, "block_id": "forged",
            "text": {"type": "plain_text", "text": "Approve", "emoji": True},
        }  # fmt: skip
        return await self._clicked(user, self.work.found(channel).id, ts, button)

    async def click_home(self, user: str, what: str) -> Delivery:
        """Press a button in the home tab."""
        view = self.work.homes[user]
        return await self._clicked_view(user, view, pressed(view, what))

    async def click_view(self, user: str, view_id: str, what: str) -> Delivery:
        """Press a button inside of a modal."""
        view = self.work.views[view_id]
        return await self._clicked_view(user, view, pressed(view, what))

    async def submit_view(self, user: str, view_id: str, values: dict[str, str]) -> Delivery:
        """Submit a modal with a text for each input, by its `block_id`; do what the app answers.

        The modal is closed unless the answer updates it, pushes another or complains.
        """
        view = self.work.views[view_id]
        payload = payloads.interaction(self.work, "view_submission", user)
        shown = _bare(view) | {"state": {"values": _state(view, values)}}
        delivery = await self.deliver(INTERACTIVE, {**payload, "view": shown, "response_urls": []})
        if delivery.acked:
            self._answered(user, view_id, delivery.answer or {})
        return delivery

    async def close_view(self, user: str, view_id: str) -> Delivery | None:
        """Close a modal; Slack tells of it only where the view has `notify_on_close`."""
        view = self.work.views.pop(view_id)
        if not view["notify_on_close"]:
            return None
        payload = payloads.interaction(self.work, "view_closed", user)
        payload.pop("trigger_id")
        return await self.deliver(
            INTERACTIVE, {**payload, "view": _bare(view), "is_cleared": False}
        )

    async def open_home(self, user: str, tab: str = "home") -> Delivery:
        """Open the home tab, or the direct messages with `tab="messages"`."""
        channel = self.work.dm(user)
        return await self._event({
            "type": "app_home_opened", "user": user, "channel": channel, "tab": tab,
            "event_ts": self.work.time.ts(),
        })  # fmt: skip

    async def invite(self, user: str, channel: str, who: str | None = None) -> Delivery:
        """Bring the app, or somebody, into a channel."""
        who = who or self.work.bot
        self.work.found(channel).members.add(who)
        return await self._event({
            "type": "member_joined_channel", "user": who, "channel": channel, "channel_type": "C",
            "team": self.work.team_of(who), "inviter": user, "event_ts": self.work.time.ts(),
        })  # fmt: skip

    async def native_stop(self, user: str, channel: str, thread: str) -> Delivery:
        """Press Slack's own Stop: Slack ends the streams of the thread, then tells the app."""
        stopped = [
            ts
            for (where, ts), stream in self.work.streams.items()
            if where == channel
            and not stream.over
            and self.work.messages[where, ts].thread == thread
        ]
        for ts in stopped:
            self.work.streams[channel, ts].over = True
        return await self._event({
            "type": "agent_session_stopped", "channel": channel, "thread_ts": thread,
            "user": user, "streaming_message_ts": stopped, "event_ts": self.work.time.ts(),
        })  # fmt: skip

    def _seen(self, user: str, channel: str, ts: str) -> Json:
        for each in self.work.ephemeral:
            if (each["channel"], each["user"], each["ts"]) == (channel, user, ts):
                return each
        return self.work.message(channel, ts).now

    async def _clicked(self, user: str, channel: str, ts: str, button: Json) -> Delivery:
        message = copied(self._seen(user, channel, ts))
        fleeting = (channel, ts) not in self.work.messages
        reply = self.work.reply_url(channel, user, None if fleeting else ts)
        thread = {"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {}
        where: Json = {
            "container": {
                "type": "message", "message_ts": ts, "channel_id": channel,
                "is_ephemeral": fleeting, **thread,
            },
            "channel": {"id": channel, "name": payloads.name(self.work.channels[channel])},
            "response_url": f"{self.reply_at}/{reply}",
        }  # fmt: skip
        if not fleeting:
            where["message"] = payloads.returned(message)
        return await self._act(user, where, button)

    async def _clicked_view(self, user: str, view: Json, button: Json) -> Delivery:
        container = {"type": "view", "view_id": view["id"]}
        return await self._act(user, {"container": container, "view": _bare(view)}, button)

    async def _act(self, user: str, where: Json, button: Json) -> Delivery:
        payload = payloads.interaction(self.work, "block_actions", user)
        payload |= {
            **where, "state": {"values": {}},
            "actions": [payloads.action(self.work, button, str(button["block_id"]))],
        }  # fmt: skip
        return await self.deliver(INTERACTIVE, payload)

    async def _event(self, inner: Json) -> Delivery:
        return await self.deliver(EVENTS, payloads.event(self.work, inner))

    def _answered(self, user: str, view_id: str, answer: Json) -> None:
        match answer.get("response_action"):
            case "update":
                views.replace(self.work, view_id, answer["view"])
            case "push":
                views.add(self.work, answer["view"], user=user)
            case "errors":
                known = {each["block_id"] for each in self.work.views[view_id]["blocks"]}
                assert answer["errors"].keys() <= known, f"no such inputs: {answer['errors']}"
            case "clear":
                mine = [key for key, each in self.work.views.items() if each["shown_to"] == user]
                for key in mine:
                    del self.work.views[key]
            case _:
                self.work.views.pop(view_id, None)


def _bare(view: Json) -> Json:
    """Return a view as Slack sends it: nothing in it says to whom it is shown."""
    return {key: value for key, value in copied(view).items() if key != "shown_to"}


def _state(view: Json, values: dict[str, str]) -> Json:
    inputs = {
        each["block_id"]: each["element"]
        for each in objects(view["blocks"])
        if each["type"] == "input"
    }
    assert values.keys() <= inputs.keys(), f"no such inputs: {values.keys() - inputs.keys()}"
    return {
        block: {element["action_id"]: _held(element, values.get(block))}
        for block, element in inputs.items()
    }


def _held(element: Json, value: str | None) -> Json:
    """Return what an input holds: what somebody put there, or what stood there before; empty is nothing."""
    if element["type"] != "static_select":
        held = element.get("initial_value") if value is None else value
        return {"type": element["type"], "value": held or None}
    chosen = element.get("initial_option")
    if value is not None:
        chosen = next((one for one in element["options"] if one["value"] == value), None)
        assert chosen or not value, f"no such option: {value}"
    return {"type": "static_select", "selected_option": chosen}
