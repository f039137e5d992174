"""The secrets that this process holds, or has held: in every usual form, ready to be searched for."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from threading import Lock
from urllib.parse import quote

SHORTEST = 6
"""Secrets shorter than this are refused: masking them would mask half of every text."""
LONGEST = 16 * 1024
"""Characters that a secret has at most, where a text is cut before it is searched."""
ROTATIONS = 50
"""Values of one name that stay masked: where each reading gives another one, they would grow for ever."""


def unfit(value: str) -> str | None:
    """Say why a value cannot be a secret, in words that follow what it is called; None where it can."""
    if len(value) < SHORTEST:
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
    pattern: re.Pattern[str] | None = None
    """Finds each value in each of its forms, the longest that fits."""
    phrases: tuple[str, ...] = ()
    """Those of the forms that are more than one word."""

    @classmethod
    def of(cls, values: Iterable[str]) -> "Exact":
        """Return what finds these values."""
        known = tuple(dict.fromkeys(values))
        forms = sorted({form for value in known for form in _forms(value)})
        return cls(
            values=known,
            pattern=re.compile("|".join(_by_first(forms))) if forms else None,
            phrases=tuple(form for form in forms if any(map(str.isspace, form))),
        )


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


def _by_first(forms: Iterable[str]) -> Iterator[str]:
    """Yield patterns that begin with different characters: a place in a text is tried for one of them."""
    for _, group in groupby(forms, key=lambda form: form[0]):
        longest_first = sorted(group, key=len, reverse=True)
        yield f"(?:{'|'.join(map(re.escape, longest_first))})"


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    # A base64 of something longer shows the secret at one of three alignments; the characters
    # that also encode its neighbours are left out.
    raw = secret.encode()
    for lead in range(3):
        encoded = base64.b64encode(b"\0" * lead + raw).decode().rstrip("=")
        inner = encoded[(lead * 4 + 2) // 3 : len(encoded) - (1 if (lead + len(raw)) % 3 else 0)]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")
