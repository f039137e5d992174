"""Payloads as Slack sends them, with what a test wants to be different."""

from collections.abc import Mapping
from typing import Final

from adapters.slack.findings import Bot

BOT: Final = Bot(team="T0TEAM", user="U0BOT", bot_id="B0BOT", app="A0APP")
ID: Final = "0123456789abcdef" * 2
ROOT: Final = "1782234671.392669"
TS: Final = "1782234700.000100"
TRIGGER: Final = "13345224609.738474920.8088930838d88f008e0"
URL: Final = "https://hooks.slack.com/actions/T0TEAM/1/secret"

Body = dict[str, object]


def event(inner: Mapping[str, object], **top: object) -> Body:
    """The envelope of the Events API around one event."""
    return {
        "token": "old-and-unused",
        "team_id": "T0TEAM",
        "context_team_id": "T0TEAM",
        "context_enterprise_id": None,
        "api_app_id": "A0APP",
        "event": dict(inner),
        "type": "event_callback",
        "event_id": "Ev0PV52K21",
        "event_time": 1782234700,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": "T0TEAM",
                "user_id": "U0BOT",
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-eyJldCI6Im1lc3NhZ2UifQ",
        **top,
    }


def posted(text: str, **inner: object) -> dict[str, object]:
    """A message that Alice wrote in a channel, without its envelope."""
    return {
        "user": "U0ALICE",
        "type": "message",
        "ts": TS,
        "client_msg_id": "b5908b46-178e-4cc2-893e-5a878a225f70",
        "text": text,
        "team": "T0TEAM",
        "blocks": [{"type": "rich_text", "block_id": "buETD", "elements": []}],
        "channel": "C0OPS",
        "event_ts": TS,
        "channel_type": "channel",
        **inner,
    }


def message(text: str, **inner: object) -> Body:
    return event(posted(text, **inner))


def reply(text: str, **inner: object) -> Body:
    return message(text, **{"thread_ts": ROOT, "parent_user_id": "U0BOT", **inner})


def direct(text: str, **inner: object) -> Body:
    return message(text, **{"channel": "D0ALICE", "channel_type": "im", **inner})


def mention(text: str, **inner: object) -> Body:
    made = posted(text, **{"type": "app_mention", **inner})
    return event({key: value for key, value in made.items() if key != "channel_type"})


def changed(now: Mapping[str, object], before: Mapping[str, object], **inner: object) -> Body:
    """An edit, an unfurl, or whatever else changes a message."""
    return event(
        {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "channel": "C0OPS",
            "channel_type": "channel",
            "ts": "1782234720.000200",
            "event_ts": "1782234720.000200",
            "message": dict(now),
            "previous_message": dict(before),
            **inner,
        }
    )


def deleted(before: Mapping[str, object]) -> Body:
    return event(
        {
            "type": "message",
            "subtype": "message_deleted",
            "hidden": True,
            "channel": "C0OPS",
            "channel_type": "channel",
            "ts": "1782234730.000300",
            "event_ts": "1782234730.000300",
            "deleted_ts": TS,
            "previous_message": dict(before),
        }
    )


def slash(command: str, text: str, **more: object) -> Body:
    return {
        "token": "old-and-unused",
        "team_id": "T0TEAM",
        "team_domain": "example",
        "channel_id": "C0OPS",
        "channel_name": "ops",
        "user_id": "U0ALICE",
        "user_name": "alice",
        "command": command,
        "text": text,
        "api_app_id": "A0APP",
        "is_enterprise_install": "false",
        "response_url": URL,
        "trigger_id": TRIGGER,
        **more,
    }


def press(action: str, value: object = ID, **more: object) -> Body:
    """A button of a message in a thread."""
    return {
        "type": "block_actions",
        "user": {"id": "U0BOB", "username": "bob", "name": "bob", "team_id": "T0TEAM"},
        "api_app_id": "A0APP",
        "token": "old-and-unused",
        "container": {
            "type": "message",
            "message_ts": TS,
            "channel_id": "C0OPS",
            "is_ephemeral": False,
            "thread_ts": ROOT,
        },
        "trigger_id": TRIGGER,
        "team": {"id": "T0TEAM", "domain": "example"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": "C0OPS", "name": "ops"},
        "message": {
            "type": "message",
            "user": "U0BOT",
            "bot_id": "B0BOT",
            "app_id": "A0APP",
            "team": "T0TEAM",
            "ts": TS,
            "thread_ts": ROOT,
            "text": "A plan waits",
        },
        "response_url": URL,
        "actions": [
            {
                "type": "button",
                "action_id": action,
                "block_id": "decide",
                "text": {"type": "plain_text", "text": "Approve", "emoji": True},
                "value": value,
                "action_ts": "1782234750.412345",
            }
        ],
        **more,
    }


def submitted(callback: str, private: str, reason: object = None, **more: object) -> Body:
    return {
        "type": "view_submission",
        "team": {"id": "T0TEAM", "domain": "example"},
        "user": {"id": "U0BOB", "username": "bob", "name": "bob", "team_id": "T0TEAM"},
        "api_app_id": "A0APP",
        "token": "old-and-unused",
        "trigger_id": TRIGGER,
        "view": {
            "id": "V0VIEW",
            "team_id": "T0TEAM",
            "type": "modal",
            "callback_id": callback,
            "private_metadata": private,
            "state": {
                "values": {"reason": {"reason": {"type": "plain_text_input", "value": reason}}}
            },
            "hash": "1231232323.12321312",
            "app_id": "A0APP",
            "app_installed_team_id": "T0TEAM",
            "bot_id": "B0BOT",
        },
        "response_urls": [],
        "is_enterprise_install": False,
        "enterprise": None,
        **more,
    }


def joined(user: str, **inner: object) -> Body:
    return event(
        {
            "type": "member_joined_channel",
            "user": user,
            "channel": "C0OPS",
            "channel_type": "C",
            "team": "T0TEAM",
            "inviter": "U0ALICE",
            "event_ts": "1782234600.000500",
            **inner,
        }
    )


def opened(tab: str, **inner: object) -> Body:
    return event(
        {
            "type": "app_home_opened",
            "user": "U0ALICE",
            "channel": "D0ALICE",
            "tab": tab,
            "event_ts": "1782770450.000100",
            **inner,
        }
    )


def native_stop(**inner: object) -> Body:
    return event(
        {
            "type": "agent_session_stopped",
            "channel": "C0OPS",
            "thread_ts": ROOT,
            "user": "U0ALICE",
            "streaming_message_ts": ["1782234987.693923"],
            "event_ts": "1783536983.783769",
            **inner,
        }
    )


ONE_OF_EACH: Final[tuple[Body, ...]] = (
    message("<@U0BOT> restart web"),
    mention("<@U0BOT> restart web"),
    reply("!stop"),
    direct("help"),
    changed(posted("restart it", thread_ts=ROOT), posted("restart web", thread_ts=ROOT)),
    deleted(posted("restart web", thread_ts=ROOT)),
    joined("U0BOT"),
    opened("home"),
    opened("messages"),
    native_stop(),
    slash("/ask", "health"),
    slash("/stop", "all"),
    slash("/sayso", "runs"),
    press("sayso:approve"),
    press("sayso:deny"),
    press("sayso:review"),
    press("sayso:again"),
    press("sayso:suggest:2", "t_0123456789abcdef"),
    submitted("sayso:deny", '{"request": "x", "channel": "C0OPS"}', "not now"),
    submitted("sayso:review", '{"request": "x", "channel": "C0OPS"}'),
)
"""Payloads each of which means something."""
