"""Words in Discord's Markdown. What others wrote is literal: nothing in it has a meaning to Discord."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from adapters.platforms import literal as seen
from core.principals import Identity

PLATFORM = "discord"
MOST_NAMED = 10
_MEANINGFUL = re.compile(
    r"[\\*_~`|<\[\]]"  # styles, code, spoilers, links, and whatever begins with `<`
    r"|@(?=everyone|here)"
    r"|:(?=//|[\w+~-]+:)"  # an address, an emoji
    r"|(?:(?<=discord)|(?<=discordapp))\."  # an invitation, a link to a channel
    r"|#(?=#*[ \t]*$)",  # what is left out at the end of a heading
    re.IGNORECASE | re.MULTILINE,
)
_BEGINS = re.compile(r"^([ \t]*)([#+>-])", re.MULTILINE)
_COUNTS = re.compile(r"^([ \t]*\d+)([.)])", re.MULTILINE)
_USER = re.compile(r"[0-9]{1,20}")


def length(words: str) -> int:
    """Return how many characters these are, in UTF-16: never fewer than in any other count."""
    return len(words.encode("utf-16-le", "surrogatepass")) // 2


def literal(words: str) -> str:
    """Return words that read as they are: no style, no link, no mention, no heading comes of them."""
    escaped = _MEANINGFUL.sub(r"\\\g<0>", seen.shown(words))
    return _COUNTS.sub(r"\1\\\2", _BEGINS.sub(r"\1\\\2", escaped))


def dated(words: str) -> str:
    """Return literal words, with each time in them as the reader's own clock has it."""
    pieces = seen.timed(seen.shown(words))
    return "".join(literal(piece) if at is None else moment(at) for piece, at in pieces)


def moment(at: datetime) -> str:
    """Return a time in the reader's zone."""
    return f"<t:{int(at.timestamp())}:f>"


def bold(words: str) -> str:
    """Return words that are Markdown already, in bold."""
    return f"**{words}**" if words.strip() else ""


def code(words: str, info: str = "") -> str:
    """Return text that keeps its spaces, which nothing in it can end."""
    inside = fenced(words)
    first = " " if inside.startswith("\n") or not inside else ""
    return f"```{info}\n{first}{inside}\n```"


def fenced(words: str) -> str:
    """Return what stands between two fences for these words."""
    return seen.shown(words).replace("```", "``\\u0060")


def code_inline(words: str) -> str:
    """Return code within a line, which nothing in it can end."""
    inside = seen.shown(words).replace("``", "`\\u0060")
    return f"`` {inside} ``" if "`" in inside else f"`{inside}`"


def quoted(words: str) -> str:
    """Return what somebody else says, literal, with a bar at the side of every line."""
    return "\n".join(f"> {line}" for line in literal(words).split("\n"))


def small(words: str) -> str:
    """Return words in small grey lines, as only Sayso itself has them."""
    lines = (dated(line.strip()) for line in seen.shown(words).split("\n"))
    return "\n".join(f"-# {line}" for line in lines if line)


def reach(words: str, room: int, drawn: Callable[[str], str] = literal) -> int:
    """Return how many characters from the beginning fit into this room once they are drawn."""
    if length(drawn(words)) <= room:
        return len(words)
    fits, beyond = 0, min(len(words), max(room, 0) + 1)  # none is drawn shorter than it is
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if length(drawn(words[:middle])) <= room:
            fits = middle
        else:
            beyond = middle
    return fits


def user(identity: Identity, guild: str) -> str | None:
    """Return the id of somebody who can be mentioned in this server; None of everybody else."""
    here = identity.platform == PLATFORM and identity.workspace == guild
    return identity.user if here and _USER.fullmatch(identity.user) else None


def users(wanted: Sequence[Identity], guild: str) -> tuple[str, ...]:
    """Return the ids of those who can be mentioned in this server, each once."""
    known = (user(one, guild) for one in wanted)
    return tuple(dict.fromkeys(one for one in known if one))


def mention(name: str) -> str:
    """Return a mention, which only Sayso itself makes."""
    return f"<@{name}>"


def may_approve(known: Sequence[str], label: str = "May approve") -> str:
    """Return a line that mentions these people, as many as are mentioned at once."""
    if not known:
        return ""
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"{label}: {', '.join(map(mention, known[:MOST_NAMED]))}{more}"
