"""What makes up a message that Discord takes, and one that it does not."""

import re

from tests.standins.discord import components, pings
from tests.standins.discord.wire import DiscordSays, Json, objects, wrong

EPHEMERAL, SUPPRESSED, SILENT, V2 = 1 << 6, 1 << 2, 1 << 12, 1 << 15
HAS_THREAD, LOADING = 1 << 5, 1 << 7
"""Flags of a message. https://docs.discord.com/developers/resources/message"""
SETTABLE = SUPPRESSED | SILENT | V2
"""What a bot can set on a message of a channel; anything else is ignored."""
BY_SOMEBODY = (0, 19, 20)
"""The kinds of messages that somebody wrote: words, replies, answers to commands."""
CONTENT, NONCE, FILES, FILE_BYTES = 2000, 25, 10, 10 * 2**20
FORBIDDEN_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


def check_message(body: Json, files: list[str], before: Json | None = None) -> None:
    """Refuse a message, or an edit of one, that Discord does not take.

    `files` are the names of those that the message has then.
    """
    flags = int(body.get("flags") or 0) | int((before or {}).get("flags") or 0)
    if before is None and flags & LOADING:
        return
    pings.check(body.get("allowed_mentions"))
    content = str(_then(body, before, "content") or "")
    embeds, shown = objects(_then(body, before, "embeds")), _then(body, before, "components")
    if len(content) > CONTENT:
        raise wrong("content", f"Must be {CONTENT} or fewer in length.")
    if len(embeds) > 10:
        raise wrong("embeds", "Must be 10 or fewer in length.")
    if flags & V2:
        if content or embeds:
            raise wrong("content", "The 'content' field cannot be used when using components V2")
        components.check_v2(objects(shown), files)
    else:
        components.check_rows(objects(shown))
    if not (content.strip() or embeds or objects(shown) or files):
        raise DiscordSays(400, 50006, "Cannot send an empty message")


def _then(body: Json, before: Json | None, key: str) -> object:
    """Return what a field is after an edit: as it was where the edit does not name it."""
    return body[key] if key in body else (before or {}).get(key)


def check_nonce(body: Json) -> None:
    """Refuse a nonce that is too long."""
    if len(str(body.get("nonce") or "")) > NONCE:
        raise wrong("nonce", f"Must be {NONCE} or fewer in length.")


def check_sizes(sizes: list[int]) -> None:
    """Refuse too many files, and such as are too large."""
    if len(sizes) > FILES:
        raise DiscordSays(
            400, 30015, f"Maximum number of attachments in a message reached ({FILES})"
        )
    if any(size > FILE_BYTES for size in sizes):
        raise DiscordSays(413, 40005, "Request entity too large")


def file_name(name: str) -> str:
    """Return what Discord makes of a file's name: no spaces, nothing odd."""
    return FORBIDDEN_IN_NAMES.sub("", name.replace(" ", "_")) or "unknown"


def check_name(name: object) -> str:
    """Return the name of a thread; refuse one that is empty or too long."""
    if not isinstance(name, str) or not 1 <= len(name.strip()) <= 100:
        raise wrong("name", "Must be between 1 and 100 in length.")
    return name


COMMAND = re.compile(r"[-_'\w]{1,32}")


def check_command(command: Json, at: str) -> None:
    """Refuse a slash command that Discord does not take."""
    names = [("name", command.get("name"))]
    options = objects(command.get("options"))
    names += [(f"options.{n}.name", each.get("name")) for n, each in enumerate(options)]
    for field, name in names:
        if not isinstance(name, str) or not COMMAND.fullmatch(name) or name != name.lower():
            raise wrong(f"{at}.{field}", "Command name is invalid")
    if len(options) > 25:
        raise wrong(f"{at}.options", "Must be 25 or fewer in length.")
    for number, each in enumerate([command, *options]):
        if not 1 <= len(str(each.get("description") or "")) <= 100:
            raise wrong(f"{at}.{number}.description", "Must be between 1 and 100 in length.")
    required = [bool(each.get("required")) for each in options]
    if required != sorted(required, reverse=True):
        raise wrong(f"{at}.options", "Required options must be placed before non-required options")
