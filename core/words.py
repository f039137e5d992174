"""The words of phrases: how they are compared, and which words are never taken for a value."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

_SMALL_TALK = "please pls plz kindly the a an now just thanks hi hello hey"
_CONTRARY = (
    "not no nope nah never none neither nor nothing without except excluding but unless until "
    "instead dont donot doesnt didnt isnt arent wasnt cant cannot couldnt wont wouldnt shouldnt "
    "mustnt aint stop cancel abort avoid undo revert wait hold skip ignore nevermind why how what "
    "when who which whether did does do if would should might may maybe perhaps suppose"
)
POLITE = frozenset({*_SMALL_TALK.split(), "can you", "could you", "thank you"})
"""What may stand between the words of a phrase and changes nothing."""
NEGATIONS = frozenset(_CONTRARY.split())
"""Words that are never taken for a value: they say that something else is meant."""

_LONGEST_IN_PARTS = 100
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+")
_QUESTION = re.compile("[?\u037e\u061f\u203d]\\W*\\Z|\u00bf")
_APOSTROPHES = frozenset("'\u2018\u2019\u201b\u2032\u02bc`\u00b4")
_UNHEARD = frozenset({"Cf", "Cc", "Mn", "Zs", "Sk", "Lm"})

Word: TypeAlias = tuple[tuple[str, str | None], ...]
"""One word of a phrase, in parts: folded fixed text, or nothing and the name of a parameter."""


def fold(text: str) -> str:
    """Return lower case of the same length, in which no other letter turns into an ASCII one."""
    return text.lower() if text.isascii() else "".join(_lower(character) for character in text)


def negates(word: str) -> bool:
    """Say whether a word holds a negation or a question, whatever its apostrophes and its width."""
    bare = "".join(c for c in word if c not in _APOSTROPHES)
    plain = unicodedata.normalize("NFKC", bare).casefold()
    heard = "".join(c for c in plain if unicodedata.category(c) not in _UNHEARD)
    parts = re.findall(r"[^\W_]+", heard)
    asks = _QUESTION.search(word) or _QUESTION.search(plain)
    return bool(asks) or "".join(parts) in NEGATIONS or not NEGATIONS.isdisjoint(parts)


@lru_cache(maxsize=2048)
def words_of(phrase: str) -> tuple[Word, ...]:
    """Return the words of a phrase; `{{` and `}}` stand for a brace."""
    return tuple(
        tuple(("", m[1]) if m[1] else (fold(_unescaped(m[0])), None) for m in _PART.finditer(word))
        for word in phrase.split()
    )


def splits(word: Word, text: str, folded: str) -> Iterator[dict[str, str]]:
    """Yield what the placeholders of a word may stand for, never nothing at all."""
    if not word or not text:
        yield from () if word or text else ({},)
        return
    (fixed, name), rest = word[0], word[1:]
    if name is None:
        if folded.startswith(fixed):
            yield from splits(rest, text[len(fixed) :], folded[len(fixed) :])
        return
    whole = len(text) if not rest or len(text) > _LONGEST_IN_PARTS else 1
    for end in range(whole, len(text) + 1):
        for others in splits(rest, text[end:], folded[end:]):
            if others.get(name, text[:end]) == text[:end]:
                yield {**others, name: text[:end]}


def _unescaped(part: str) -> str:
    return part[0] if part in {"{{", "}}"} else part


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 and lower.isascii() == character.isascii() else character
