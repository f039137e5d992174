"""What Slack's error codes mean for whoever called, as errors of Sayso. Pure."""

import re
from collections.abc import Mapping
from datetime import timedelta

from core.errors import Invalid, Refused, SaysoError, Unavailable

OPEN_SOCKET = "apps.connections.open"
"""The only method that is called with the app token."""

SHORTEST_WAIT = timedelta(seconds=1)
LONGEST_WAIT = timedelta(hours=1)
DEFAULT_WAIT = timedelta(seconds=30)
"""Where Slack says that it is too much, and not for how long."""

_TOO_MUCH = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_OUTAGES = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "accesslimited"}
)
_TOKENS = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "not_allowed_token_type",
    }
)
_GONE = "That message is no longer in Slack."
_LATE = "Slack waits three seconds for a form to open, and that was too long. Press it again."
_RULES = "The rules of this Slack workspace do not let Sayso post there. Ask one of its admins."
_LONG = "That is more than Slack takes in one message."
_SENTENCES = {
    "not_in_channel": "Sayso is not in that channel. Type /invite there and name it.",
    "channel_not_found": "Slack shows Sayso no such channel. Invite it there if it is private.",
    "is_archived": "That channel is archived, so nothing can be posted there.",
    "restricted_action": _RULES,
    "restricted_action_read_only_channel": _RULES,
    "restricted_action_thread_only_channel": _RULES,
    "restricted_action_non_threadable_channel": _RULES,
    "no_permission": _RULES,
    "message_not_found": _GONE,
    "thread_not_found": "The thread is no longer in Slack.",
    "cant_update_message": "Slack does not let Sayso change that message.",
    "edit_window_closed": "Slack does not let Sayso change that message any more.",
    "msg_too_long": _LONG,
    "msg_blocks_too_long": _LONG,
    "user_not_in_channel": "That person is not in the channel.",
    "expired_trigger_id": _LATE,
    "exchanged_trigger_id": _LATE,
    "invalid_trigger_id": _LATE,
    "trigger_expired": _LATE,
    "trigger_exchanged": _LATE,
}


def failed(method: str, *, status: int, body: object, retry_after: str | None = None) -> SaysoError:
    """Return the error that an answer of Slack stands for: nothing of it but codes is in there."""
    code, needed = _word(body, "error"), _word(body, "needed")
    if status == 429 or code in _TOO_MUCH:  # noqa: PLR2004 - HTTP's own number
        return slow_down(_wait(retry_after), method)
    if status >= 500 or code in _OUTAGES or not code:  # noqa: PLR2004 - HTTP's own number
        return unanswered(method, why=code or f"HTTP {status}")
    if code == "missing_scope":
        return _lacks(method, needed, code)
    if code in _TOKENS:
        return _wrong_token(method, code)
    sentence = _SENTENCES.get(code, f"Slack refused it: {method} answered {code}.")
    return Refused(sentence, error=code, method=method)


def slow_down(after: timedelta, method: str) -> Unavailable:
    """Return the error for what Slack has not done, since it was asked too often."""
    return Unavailable(
        "Slack asks Sayso to slow down. It is tried again by itself.", after=after, method=method
    )


def unanswered(method: str, *, why: str) -> Unavailable:
    """Return the error for a call of which nobody knows whether it was done."""
    return Unavailable("Slack did not answer. Try again later.", method=method, why=why)


def code_of(error: SaysoError) -> str:
    """Return Slack's own word for a refusal; empty where there is none."""
    return str(error.detail.get("error", ""))


def is_unclear(error: SaysoError) -> bool:
    """Whether what was called for may have been done all the same."""
    return isinstance(error, Unavailable) and error.after is None


def _lacks(method: str, needed: str, code: str) -> Invalid:
    if method == OPEN_SOCKET:
        sentence = (
            "The Slack app token lacks the scope connections:write. Make one that has it under "
            "“Basic Information”, “App-Level Tokens”, and set it as slack.app_token."
        )
    else:
        sentence = (
            f"The Slack app lacks the scope {needed or 'for this'}, which {method} needs. "
            "Add it under “OAuth & Permissions” and install the app again."
        )
    return Invalid(sentence, error=code, method=method, needed=needed)


def _wrong_token(method: str, code: str) -> Invalid:
    if method == OPEN_SOCKET:
        name, where = "app_token", "“Basic Information”, “App-Level Tokens”"
    else:
        name, where = "bot_token", "“OAuth & Permissions”"
    return Invalid(
        f"Slack does not accept slack.{name} ({code}). Copy the token anew from {where}.",
        error=code,
        method=method,
    )


def _word(body: object, key: str) -> str:
    """Return what may be shown of a code: Slack's are short words, and scopes with commas."""
    found: Mapping[object, object] = body if isinstance(body, dict) else {}
    value = found.get(key)
    word = value if isinstance(value, str) else ""
    return word if re.fullmatch(r"[A-Za-z0-9_.:,-]{1,120}", word) else ""


def _wait(retry_after: str | None) -> timedelta:
    if retry_after is None or not re.fullmatch(r"[0-9]{1,6}", retry_after):
        return DEFAULT_WAIT
    return min(max(timedelta(seconds=int(retry_after)), SHORTEST_WAIT), LONGEST_WAIT)
