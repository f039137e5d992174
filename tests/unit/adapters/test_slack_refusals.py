"""What Slack's error codes mean for people."""

from datetime import timedelta

import pytest

from adapters.slack.refusals import OPEN_SOCKET, code_of, failed, is_unclear, unanswered
from core.errors import Invalid, Refused, SaysoError, Unavailable


def said(code: str, *, method: str = "chat.postMessage", **more: str) -> SaysoError:
    return failed(method, status=200, body={"ok": False, "error": code, **more})


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("1", 1), ("30", 30), ("600", 600), ("0", 1), ("999999", 3600), (None, 30), ("soon", 30),
        ("-5", 30), ("1e9", 30), ("9" * 99, 30), ("٣", 30),
    ],
)  # fmt: skip
def test_too_often_says_how_long_to_wait(retry_after: str | None, seconds: int) -> None:
    error = failed("chat.postMessage", status=429, body="", retry_after=retry_after)

    assert isinstance(error, Unavailable)
    assert error.after == timedelta(seconds=seconds)
    assert not is_unclear(error)


def test_too_often_may_come_with_status_200() -> None:
    error = said("ratelimited")

    assert isinstance(error, Unavailable)
    assert error.after is not None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {}),
        (503, "upstream error"),
        (200, {"ok": False, "error": "internal_error"}),
        (200, {"ok": False, "error": "fatal_error"}),
        (200, {"ok": False}),
        (200, "<html>"),
        (200, None),
        (404, b"\xff"),
        (200, {"ok": False, "error": {"a": 1}}),
    ],
)
def test_an_outage_leaves_it_unclear_whether_it_was_done(status: int, body: object) -> None:
    error = failed("chat.postMessage", status=status, body=body)

    assert isinstance(error, Unavailable)
    assert is_unclear(error)


def test_no_answer_is_unclear() -> None:
    assert is_unclear(unanswered("chat.postMessage", why="TimeoutError"))


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("not_in_channel", "/invite"),
        ("channel_not_found", "no such channel"),
        ("is_archived", "archived"),
        ("restricted_action", "rules"),
        ("message_not_found", "no longer"),
        ("cant_update_message", "change that message"),
        ("msg_too_long", "more than Slack takes"),
        ("msg_blocks_too_long", "more than Slack takes"),
        ("expired_trigger_id", "Press it again"),
        ("brand_new_code", "chat.postMessage answered brand_new_code"),
    ],
)
def test_a_refusal_is_a_sentence(code: str, word: str) -> None:
    error = said(code)

    assert type(error) is Refused
    assert word in error.shown
    assert error.shown.endswith(".")
    assert code_of(error) == code


@pytest.mark.parametrize(
    "code",
    [
        "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive",
        "not_allowed_token_type",
    ],
)  # fmt: skip
def test_a_wrong_token_is_named_by_its_setting(code: str) -> None:
    bot, app = said(code), said(code, method=OPEN_SOCKET)

    assert isinstance(bot, Invalid)
    assert isinstance(app, Invalid)
    assert "slack.bot_token" in bot.shown
    assert "slack.app_token" in app.shown
    assert code in bot.shown


def test_a_missing_scope_is_named() -> None:
    bot = said("missing_scope", needed="files:write")
    app = said("missing_scope", method=OPEN_SOCKET, needed="connections:write")

    assert isinstance(bot, Invalid)
    assert "files:write" in bot.shown
    assert "chat.postMessage" in bot.shown
    assert "connections:write" in app.shown
    assert "slack.app_token" in app.shown


@pytest.mark.parametrize("code", ["x" * 200, "a b", "<@U1>", "a\nb", "é"])
def test_nothing_but_a_word_of_slacks_gets_into_a_sentence(code: str) -> None:
    assert code not in said(code).shown
    assert code not in said("missing_scope", needed=code).shown


def test_an_error_that_is_not_slacks_has_no_code() -> None:
    assert code_of(Refused("No.")) == ""
    assert not is_unclear(Refused("No."))
