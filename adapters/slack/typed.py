"""What a person typed, out of the text in which Slack passes it on. Pure.

Slack writes mentions and links as `<…>` and escapes exactly `&`, `<` and `>` in all the rest. It is
read in one pass, so that nothing that was decoded is read once more as a token or as an escape.
"""

import re

_PART = re.compile(r"<([^<>]*)>|&(amp|lt|gt);")
_SIGNS = {"amp": "&", "lt": "<", "gt": ">"}
_SOMEBODY = re.compile(r"\s*<(?:@|!subteam\^|!here|!channel|!everyone)")


def read(text: str, bot: str) -> str:
    """Return what was typed, without the mentions of Sayso's own user at its beginning."""
    own = rf"(?:<@{re.escape(bot)}(?:\|[^<>]*)?>(?:[,:](?=\s|$))?\s*)*"
    return plain(re.sub(rf"\A\s*{own}", "", text)).strip()


def plain(text: str) -> str:
    """Return text with every token made readable and every escape undone, each exactly once."""
    return _PART.sub(_read, text)


def mentions(text: str, user: str) -> bool:
    """Whether a text mentions a user, rather than spelling out what a mention looks like."""
    return bool(re.search(rf"<@{re.escape(user)}(?:\|[^<>]*)?>", text))


def begins_with_a_mention(text: str) -> bool:
    """Whether a text begins by mentioning somebody: then it is for them."""
    return bool(_SOMEBODY.match(text))


def _read(part: re.Match[str]) -> str:
    token, sign = part.groups()
    return _SIGNS[sign] if sign else _token(token)


def _token(token: str) -> str:
    """Return what a token shows. Signs are escaped inside of one too; no token is inside another."""
    body, _, label = (_PART.sub(_read, piece) for piece in token.partition("|"))
    match body[:1]:
        case "@":
            return body
        case "#":
            return f"#{label.removeprefix('#') or body[1:]}"
        case "!":
            return _special(body[1:], label)
        case _:
            return _link(body, label)


def _special(body: str, label: str) -> str:
    what, _, rest = body.partition("^")
    if what == "date":
        return label or rest
    return f"@{label.removeprefix('@') or rest or what}"


def _link(address: str, label: str) -> str:
    """Return the words of a link, and where it leads unless the words say it."""
    if not label:
        return address
    scheme = re.match(r"(?:https?://|mailto:|tel:)", address)
    bare = address[scheme.end() :] if scheme else address
    says_it = label.rstrip("/") in {address.rstrip("/"), bare.rstrip("/")}
    return label if says_it else f"{label} ({address})"
