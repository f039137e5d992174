"""What a thread is called. Pure."""

import unicodedata

from core.display import hidden

LONGEST = 100
"""Discord takes no longer name."""
NAMELESS = "Sayso"


def thread_name(asked: str) -> str:
    """Return what was asked as the name of its thread: one line, as long as Discord takes it."""
    seen = "".join(_visible(character) for character in asked)
    return _cut(" ".join(seen.split())) or NAMELESS


def _visible(character: str) -> str:
    """Return a character that everybody sees, or room in its place."""
    is_room = unicodedata.category(character)[0] == "Z" or hidden(character)
    return " " if is_room else character


def _cut(name: str) -> str:
    if _length(name) <= LONGEST:
        return name
    while _length(name) >= LONGEST:
        name = name[:-1]
    return f"{name.rstrip()}…"


def _length(name: str) -> int:
    """Return how many characters these are in UTF-16: never fewer than in any other count."""
    return len(name) + sum(character > "\uffff" for character in name)
