"""Whom a message reaches: who is mentioned in it, and who of them is told so.

https://docs.discord.com/developers/resources/message#allowed-mentions-object. Stricter than the
real one in one point: what stands in a code block counts as well.
"""

import re
from dataclasses import dataclass, field

from tests.standins.discord.wire import Json, walk, wrong

USER, ROLE, EVERYONE = (
    re.compile(r"<@!?(\d+)>"),
    re.compile(r"<@&(\d+)>"),
    re.compile(r"@(everyone|here)"),
)
LINK = re.compile(r"(?<!<)\bhttps?://[^\s<>)]+")
SUPPRESSED, V2 = 1 << 2, 1 << 15
"""Flags of a message: no previews of links; made of components."""
DISPLAY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Pings:
    """Who was told of one message, or of one edit of it."""

    message: str
    users: frozenset[str] = field(default_factory=frozenset[str])
    roles: frozenset[str] = field(default_factory=frozenset[str])
    everyone: bool = False
    edited: bool = False
    """Whether it is of an edit: the real one then marks it, but rings nobody's bell."""

    def __bool__(self) -> bool:
        """Whether anybody was told."""
        return bool(self.users or self.roles or self.everyone)


def said(message: Json) -> str:
    """Return the text in which Discord looks for mentions: content, or the text displays."""
    displays = [
        str(each["content"])
        for each in walk(message.get("components"))
        if each.get("type") == DISPLAY and "content" in each
    ]
    return "\n".join([str(message.get("content") or ""), *displays])


def pings(message: Json, allowed: Json | None, *, may_everyone: bool, is_edit: bool = False,
    by_interaction: bool = False) -> Pings:  # fmt: skip
    """Return who is told of a message with these `allowed_mentions`.

    Without any, an answer to an interaction reaches users alone, anything else everybody in it.
    """
    usual = ["users"] if by_interaction else ["users", "roles", "everyone"]
    chosen: Json = {"parse": usual, "replied_user": True} if allowed is None else allowed
    parse, text = set(map(str, chosen.get("parse") or [])), said(message)
    users, roles = set(USER.findall(text)), set(ROLE.findall(text))
    if "users" not in parse:
        users &= set(map(str, chosen.get("users") or []))
    if "roles" not in parse:
        roles &= set(map(str, chosen.get("roles") or []))
    replied = message.get("referenced_message")
    if replied and chosen.get("replied_user"):
        users.add(str(replied["author"]["id"]))
    everyone = "everyone" in parse and may_everyone and bool(EVERYONE.search(text))
    return Pings(
        message=str(message["id"]), users=frozenset(users), roles=frozenset(roles),
        everyone=everyone, edited=is_edit,
    )  # fmt: skip


def check(allowed: Json | None) -> None:
    """Refuse `allowed_mentions` that say two things, or too many."""
    if allowed is None:
        return
    for kind in ("users", "roles"):
        listed = allowed.get(kind) or ()
        if listed and kind in (allowed.get("parse") or ()):
            raise wrong(f"allowed_mentions.{kind}", "Mutually exclusive with parse")
        if len(listed) > 100:
            raise wrong(f"allowed_mentions.{kind}", "Must be 100 or fewer in length.")


def previews(message: Json) -> list[str]:
    """Return the links that Discord draws a preview of below a message."""
    flags = int(message.get("flags") or 0)
    if flags & (SUPPRESSED | V2):
        return []
    return LINK.findall(str(message.get("content") or ""))
