"""What Discord's errors mean for whoever called, as errors of Sayso. Pure.

Of an answer only numbers are read: its texts may hold what somebody wrote.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, TypeAlias

from core.errors import Invalid, Refused, SaysoError, Unavailable

Tried: TypeAlias = Literal[
    "log in",
    "post in a channel",
    "post in a thread",
    "post a file",
    "write to one person",
    "open a thread",
    "open a thread again",
    "add somebody to a thread",
    "edit",
    "remove",
    "read messages",
    "read a channel",
    "read a member",
    "read a server",
    "write commands",
    "answer",
    "show typing",
]

SHORTEST_WAIT = timedelta(seconds=1)
LONGEST_WAIT = timedelta(hours=1)
DEFAULT_WAIT = timedelta(seconds=30)
"""Where Discord says that it is too much, and not for how long."""

UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
MISSING_ACCESS = 50001
MISSING_PERMISSIONS = 50013
NOT_FOR_THIS_CHANNEL = 50024
INVALID_FORM = 50035
ARCHIVED = 50083
THREAD_EXISTS = 160004
LOCKED = 160005
WORDS_NOT_ALLOWED = frozenset({20031, INVALID_FORM})
"""A name with which Discord takes no thread."""
TOO_LARGE = frozenset({40005, 50045})

_PERMISSIONS: Mapping[str, str] = {
    "post in a channel": "Send Messages",
    "post in a thread": "Send Messages in Threads",
    "post a file": "Attach Files",
    "open a thread": "Create Public Threads",
    "open a thread again": "Manage Threads",
    "add somebody to a thread": "Send Messages in Threads",
    "edit": "View Channel",
    "remove": "View Channel",
    "read messages": "Read Message History",
    "read a channel": "View Channel",
    "show typing": "Send Messages",
}
_GONE = "That message is no longer on Discord."
_LATE = "Discord waits three seconds for an answer, and that was too long. Do it again."
_ALONE = (
    "Discord does not let Sayso write to that person. They can allow direct messages from members "
    "of the server in its privacy settings."
)
_LONG = "That is more than Discord takes in one message."
_THREADS = "Discord opens no thread there. Ask in a text channel, or in a thread."
_BLOCKED = "A rule of this Discord server (AutoMod) blocked it. Ask one of its moderators."
_SENTENCES: Mapping[int, str] = {
    UNKNOWN_CHANNEL: "That channel or thread is no longer on Discord.",
    10004: "Discord shows Sayso no such server. Invite it there.",
    10007: "That person is not in the server.",
    UNKNOWN_MESSAGE: _GONE,
    10013: "Discord knows no such person.",
    10015: _LATE,
    10062: _LATE,
    40060: "That was answered already.",
    40005: "That file is larger than Discord takes.",
    50005: "Discord does not let Sayso change that message: somebody else wrote it.",
    50006: "There is nothing in that message.",
    50007: _ALONE,
    50278: _ALONE,
    50008: "Nothing can be posted in a channel of that kind.",
    NOT_FOR_THIS_CHANNEL: _THREADS,
    50027: _LATE,
    INVALID_FORM: "Discord refused the form of that message. Ask whoever runs Sayso to report it.",
    50045: "That file is larger than Discord takes.",
    ARCHIVED: "That thread is archived, and Sayso may not open it again.",
    LOCKED: "That thread is locked. Unlock it, or ask elsewhere.",
    160006: "That channel has as many active threads as Discord allows. Archive some of them.",
    160007: "That channel has as many active threads as Discord allows. Archive some of them.",
    200000: _BLOCKED,
    200001: _BLOCKED,
    240000: "Discord holds a link in it for harmful, so it was not posted.",
}
_BUSY = frozenset({130000})
"""Discord says by these that it cannot now."""


def failed(
    tried: Tried, *, status: int, code: int = 0, retry_after: float | None = None
) -> SaysoError:
    """Return the error that an answer of Discord stands for: nothing of it but numbers is in there."""
    if status == 429:  # noqa: PLR2004 - HTTP's own number
        return slow_down(tried, retry_after)
    if status >= 500 or code in _BUSY:  # noqa: PLR2004 - HTTP's own number
        return unanswered(tried, why=f"HTTP {status}")
    if status == 401:  # noqa: PLR2004 - HTTP's own number
        return wrong_token(tried)
    if status == 413:  # noqa: PLR2004 - HTTP's own number
        code = code or next(iter(TOO_LARGE))
    return Refused(_sentence(tried, status, code), error=code, status=status, tried=tried)


def slow_down(tried: Tried, seconds: float | None) -> Unavailable:
    """Return the error for what Discord has not done, since it was asked too often."""
    after = DEFAULT_WAIT if seconds is None else timedelta(seconds=seconds)
    return Unavailable(
        "Discord asks Sayso to slow down. It is tried again by itself.",
        after=min(max(after, SHORTEST_WAIT), LONGEST_WAIT),
        tried=tried,
    )


def unanswered(tried: Tried, *, why: str) -> Unavailable:
    """Return the error for a call of which nobody knows whether it was done."""
    return Unavailable("Discord did not answer. Try again later.", tried=tried, why=why)


def wrong_token(tried: Tried) -> Invalid:
    """Return the error for a token that Discord does not know, or does not know any more."""
    return Invalid(
        "Discord does not accept discord.token. Copy it anew from the Discord Developer Portal, "
        "“Bot”, “Reset Token”.",
        status=401,
        tried=tried,
    )


def code_of(error: SaysoError) -> int:
    """Return Discord's own number for a refusal; 0 where there is none."""
    code = error.detail.get("error", 0)
    return code if isinstance(code, int) else 0


def is_unclear(error: SaysoError) -> bool:
    """Whether what was called for may have been done all the same."""
    return isinstance(error, Unavailable) and error.after is None


def lacks(permission: str) -> str:
    """Return the sentence for one permission that is missing."""
    return (
        f"Sayso lacks the permission “{permission}” there. Give it to Sayso's role in Discord: in the "
        "channel's settings under “Permissions”, or for all of the server under “Roles”."
    )


def _sentence(tried: Tried, status: int, code: int) -> str:
    permission = _PERMISSIONS.get(tried)
    if code == MISSING_ACCESS and tried != "read a member":
        return lacks("View Channel") + " To a private thread somebody has to add it."
    if code == MISSING_PERMISSIONS and permission is not None:
        return lacks(permission)
    if code in _SENTENCES:
        return _SENTENCES[code]
    return f"Discord refused it: to {tried} was answered by {code or f'HTTP {status}'}."
