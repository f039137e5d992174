"""The secrets that this process holds, or has held: in every usual form, ready to be searched for."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from threading import Lock
from urllib.parse import quote, quote_plus

from core import gaps

SHORTEST = 6
"""Secrets shorter than this are refused: masking them would mask half of every text."""
LONGEST = 16 * 1024
"""Characters that a secret has at most, where a text is cut before it is searched."""
_QUOTED = re.compile(r"%[0-9A-F]{2}")
ROTATIONS = 50
"""Values of one name that stay masked: where each reading gives another one, they would grow for ever."""


def unfit(value: str) -> str | None:
    """Say why a value cannot be a secret, in words that follow what it is called; None where it can."""
    if len(gaps.without(value)) < SHORTEST:
        return f"a secret needs at least {SHORTEST} characters, or it cannot be masked."
    if len(value) > LONGEST:
        return f"a secret has at most {LONGEST} characters, or it cannot be masked."
    # Half a character, as the environment gives bytes that are no text.
    if "\0" in value or any("\ud800" <= one <= "\udfff" for one in value):
        return "it holds characters that no program can be given."
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Everything that is known at one moment."""

    values: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    """What each value looks like, the longest first."""
    phrases: tuple[str, ...] = ()
    """Those of the forms that are more than one word."""
    pattern: re.Pattern[str] | None = None
    """Finds each form as it is."""
    solid: re.Pattern[str] | None = None
    """Finds each form in what is left of a text without its gaps; so whatever `pattern` finds."""

    @classmethod
    def of(cls, values: Iterable[str]) -> "Exact":
        """Return what finds these values."""
        known = tuple(dict.fromkeys(values))
        found = {form for value in known for form in _forms(value)}
        forms = tuple(sorted(found, key=len, reverse=True))
        return cls(
            values=known,
            forms=forms,
            phrases=tuple(form for form in forms if any(map(str.isspace, form))),
            pattern=_any_of(forms),
            solid=_any_of(filter(None, map(gaps.without, forms))),
        )

    def masked(self, text: str, mask: str) -> str:
        """Return a text with each value masked, also where line ends or colours interrupt it."""
        if self.pattern is None or self.solid is None:
            return text
        solid = gaps.without(text)
        if not self.solid.search(solid):
            return text
        masked = self.pattern.sub(mask, text)
        return masked if solid == text else gaps.across(masked, self.solid, mask)


class Known:
    """What is known by now. Any thread may teach it; whoever looks sees one whole moment."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.now = Exact.of(values)
        self._always = self.now.values
        self._named: Mapping[str, tuple[str, ...]] = {}
        self._lock = Lock()

    def learn(self, name: str, value: str) -> None:
        """Know the newest value of this name; of those before, the last few stay known."""
        if self._named.get(name, ())[-1:] == (value,):
            return
        with self._lock:
            before = (one for one in self._named.get(name, ()) if one != value)
            self._named = {**self._named, name: (*before, value)[-ROTATIONS:]}
            values = (*self._always, *(one for named in self._named.values() for one in named))
            self.now = Exact.of(values)


def _any_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds the longest of these that there is at a place; None where there are none."""
    # By their first characters, so that at each place few are tried.
    groups = (list(group) for _, group in groupby(sorted(set(forms)), key=lambda form: form[0]))
    longest_first = (sorted(group, key=len, reverse=True) for group in groups)
    found = "|".join(f"(?:{'|'.join(map(re.escape, group))})" for group in longest_first)
    return re.compile(found) if found else None


def _forms(secret: str) -> Iterator[str]:
    yield secret
    for quoted in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield quoted
        yield _QUOTED.sub(lambda found: found[0].lower(), quoted)
    for plain in (True, False):
        yield json.dumps(secret, ensure_ascii=plain)[1:-1]
    yield secret.encode().hex()
    # A base64 of something longer shows the secret at one of three alignments; the characters
    # that also encode its neighbours are left out.
    raw = secret.encode()
    for lead in range(3):
        encoded = base64.b64encode(b"\0" * lead + raw).decode().rstrip("=")
        inner = encoded[(lead * 4 + 2) // 3 : len(encoded) - (1 if (lead + len(raw)) % 3 else 0)]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")
