"""What a person typed, out of the text in which Discord passes it on. Pure.

Discord writes mentions, emoji and times as `<…>`, and takes none of them for one inside of code or
behind a backslash. All the rest is as it was typed and stays so: backslashes and Markdown as well.
It is read in one pass, so that no name is read once more as anything but a name.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime

from core.display import sound

_CODE = r"(?<!`)(?P<marks>`++)(?s:.+?)(?<!`)(?P=marks)(?!`)"
_ESCAPED = r"\\[^0-9A-Za-z\s]"
_WRITTEN = (
    r"<(?P<token>@[!&]?[0-9]{1,20}|#[0-9]{1,20}|a?:\w{1,32}:[0-9]{1,20}"
    r"|/[^<>:]{1,100}:[0-9]{1,20}|t:-?[0-9]{1,13}(?::[A-Za-z])?|https?://[^\s<>]+)>"
)
_PART = re.compile(rf"{_CODE}|{_ESCAPED}|{_WRITTEN}")
_SOMEBODY = re.compile(r"\s*(?:<@[!&]?[0-9]{1,20}>|@(?:everyone|here)\b)")
_ONE_LINE = re.compile(r"```(?:[\w+#.-]*\n)?([^`\n]+)\n?```|``([^`\n]+)``|`([^`\n]+)`")
_LONGEST_NAME = 100


def read(text: str, user: str, roles: Collection[str], names: Mapping[str, str]) -> str:
    """Return what was typed, without the mentions of Sayso itself at its beginning."""
    own = rf"(?:<(?:{_own(user, roles)})>(?:[,:](?=\s|$))?\s*)*"
    return plain(re.sub(rf"\A\s*{own}", "", text), names).strip()


def plain(text: str, names: Mapping[str, str]) -> str:
    """Return text with every token made readable, each exactly once."""
    return sound(_PART.sub(lambda part: _read(part, names), text))


def mentions(text: str, user: str, roles: Collection[str]) -> bool:
    """Whether a text mentions Sayso, rather than showing what a mention looks like."""
    own = re.compile(_own(user, roles))
    return any(own.fullmatch(token) for token in _tokens(text))


def begins_with_a_mention(text: str) -> bool:
    """Whether a text begins by mentioning somebody: then it is for them."""
    return bool(_SOMEBODY.match(text))


def bare(text: str) -> str:
    """Return the one line of code that a text consists of; the text as it is where it does not."""
    found = _ONE_LINE.fullmatch(text)
    line = next((group for group in found.groups() if group), "").strip() if found else ""
    return line or text


def _own(user: str, roles: Collection[str]) -> str:
    """Return the pattern of the tokens that are Sayso's own."""
    ours = [rf"@!?{re.escape(user)}", *(f"@&{re.escape(role)}" for role in sorted(roles))]
    return "|".join(ours)


def _tokens(text: str) -> Iterator[str]:
    return (part["token"] for part in _PART.finditer(text) if part["token"])


def _read(part: re.Match[str], names: Mapping[str, str]) -> str:
    token = part["token"]
    if token is None:
        return part[0]
    if token[0] in "@#":
        return _named(token, names)
    return _READERS.get(token[0], _emoji)(token)


def _named(token: str, names: Mapping[str, str]) -> str:
    """Return the name of what is mentioned, or its id, behind a sign that keeps it from being a command."""
    sign, number = token[0], token.lstrip("@#!&")
    forms = (token, token.replace("@!", "@"), re.sub("^@(?=[0-9])", "@!", token))
    known = (" ".join(names.get(f"<{form}>", "").split()) for form in forms)
    name = next((one.removeprefix(sign) for one in known if one.removeprefix(sign)), number)
    return f"{sign}{name[:_LONGEST_NAME]}"


def _command(token: str) -> str:
    return token.rpartition(":")[0]


def _time(token: str) -> str:
    seconds = token.split(":")[1]
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, ValueError, OSError):
        return seconds
    return f"{moment.replace(tzinfo=None).isoformat(sep=' ')} UTC"


def _emoji(token: str) -> str:
    return f":{token.split(':')[1]}:"


_READERS: Mapping[str, Callable[[str], str]] = {"/": _command, "t": _time, "h": str}
