"""How values from outside are shown so that nobody is fooled: ASCII only, and injective.

`json_text` has one reading: it parses back to the same value. Characters that chat platforms give
a meaning to (mentions, code fences, links) are escaped as well, so they have none on a card.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from core.canonical import Json

_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"})
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
"""Letters and marks that draw nothing, though their category says otherwise."""
_MARKS = frozenset({"Mn", "Me"})
_MOST_MARKS = 4
"""On one letter: more than any language needs are drawn over the lines above."""
_UNUSUAL = re.compile(r"[^\n\t -~]")
_KEPT = 4096
_MEANINGFUL = {ord(c): f"\\u{ord(c):04x}" for c in "`<>&@\x7f"}


def json_text(value: Json) -> str:
    """Return JSON in ASCII without any character that a platform could interpret."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).translate(_MEANINGFUL)


def hidden(text: str) -> str | None:
    """Name the first character that people cannot see or that moves others, or None."""
    return next((character_name(c) for c in text if _hides(c)), None)


def character_name(character: str) -> str:
    """Return a code point with its name, `U+202E RIGHT-TO-LEFT OVERRIDE`."""
    return f"U+{ord(character):04X} {unicodedata.name(character, _nameless(character))}"


def _nameless(character: str) -> str:
    control = unicodedata.category(character) == "Cc"
    return "a control character" if control else "a character without a name"


def odd_characters(value: Json) -> tuple[str, ...]:
    """Name every code point outside ASCII in a value, each once."""
    return tuple(sorted({character_name(c) for text in strings(value) for c in text if c > "\x7f"}))


def strings(value: Json) -> Iterator[str]:
    """Yield every text inside a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from strings(item)


def one_line(text: str, limit: int = 300) -> str:
    """Return prose as one visible line: hidden characters named, white space folded, length capped."""
    folded = " ".join(text.split())
    # Each character shows as one or more, so no others can be among the first `limit`.
    shown = "".join(_visible(c) for c in _unpiled(folded[: limit + 1]))
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def quoted(text: str, limit: int = 1500) -> tuple[str, ...]:
    """Return prose as lines to be quoted, each one visible, at most `limit` characters in all."""
    lines = tuple(one_line(line, limit) for line in text[:limit].splitlines() if line.strip())
    return (*lines, "…") if len(text) > limit else lines


def sound(text: str) -> str:
    """Return text that every store and encoding takes: lone surrogates and NUL become U+FFFD."""
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    )


def output(text: str) -> str:
    """Return a command's output with control characters shown; tabs and line ends stay."""
    if _UNUSUAL.search(text) is None:
        return text  # as most of it is, and millions of characters are drawn while somebody waits
    said = _unpiled(sound(text).replace("\r\n", "\n"))
    return _UNUSUAL.sub(lambda found: _visible(found[0]), said)


def _unpiled(text: str) -> str:
    """Return text in which the marks that pile up on a letter are spelled out, but for a few."""
    if text.isascii():
        return text
    done, piled = list[str](), 0
    for character in text:
        piled = piled + 1 if unicodedata.category(character) in _MARKS else 0
        done.append(_spelled(character) if piled > _MOST_MARKS else character)
    return "".join(done)


@lru_cache(_KEPT)
def _visible(character: str) -> str:
    return _spelled(character) if _hides(character) else character


def _spelled(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _hides(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or bool(_BLANK.match(character))
