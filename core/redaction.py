"""Keeps secrets out of everything that is stored, shown or sent to a model.

Two nets: the exact values that this process holds (and their usual encodings), and anchored
patterns of well-known credentials. Every pattern is linear on hostile input (possessive quantifiers).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core import gaps
from core.canonical import Json
from core.exact_values import LONGEST, Known

MASK = "[redacted]"
_REACH = 4096

_KNOWN = re.compile(
    r"""
      \b(?: sk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{20,}+
      | xox[abeoprs]-[A-Za-z0-9-]{10,}+ | xapp-[A-Za-z0-9-]{20,}+
      | [MNO][A-Za-z0-9_-]{23,27}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}+
      | gh[pousr]_[A-Za-z0-9]{36,}+ | github_pat_[A-Za-z0-9_]{40,}+
      | A(?:KIA|SIA)[A-Z0-9]{16}\b
      | [Bb](?i:earer|asic)\s{1,4}+[A-Za-z0-9._~+/=-]{8,}+ )
    | https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]++
    | -----BEGIN[ ](?:[A-Z0-9]{1,16}[ ]){0,3}?PRIVATE[ ]KEY-----(?:\s{1,4}+[A-Za-z0-9+/=:,.-]{1,128}+)*+
    | (?<=://)[^\s/:@]{1,64}+:[^\s/@]{1,128}+(?=@)
    """,
    re.VERBOSE,
)
"""Each begins with characters that are easily told to be others, so that most places cost little."""
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{5,}+(?P<rest>\.eyJ[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]++)?+")
"""Its first part also where nothing of the rest follows: that is not read again from each `eyJ` in it."""
_NAMED = re.compile(
    r"""(?i)((?:password|passwd|secret|token|api[_-]?key|private[_-]?key)[\w.-]{0,20}+
        ["']?\s{0,4}+[:=]\s{0,4}+["']?) ([^\s"',;]{6,}+)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Masks secrets in text and, deeply, in values. What it learns it masks wherever it is in use."""

    known: Known

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Redactor":
        """Return one that knows these exact values, each also in base64 and quoted for a URL."""
        return cls(Known(secrets))

    @property
    def values(self) -> tuple[str, ...]:
        """Return the exact values that it knows by now."""
        return self.known.now.values

    @property
    def forms(self) -> tuple[str, ...]:
        """Return what these values look like in each usual encoding, the longest first."""
        return self.known.now.forms

    @property
    def reach(self) -> int:
        """Return how many characters behind a place may tell whether it is within a secret."""
        return max(_REACH, *(len(form) for form in self.forms[:1]), 0)

    def learn(self, name: str, value: str) -> None:
        """Mask the value that the secret of this name has now, and go on masking those it had."""
        self.known.learn(name, value)

    def text(self, text: str) -> str:
        """Return the text with every known secret and every well-known credential masked."""
        masked = self.known.now.masked(text, MASK)
        # Those that go on behind a token, such as `Bearer`, before the token by itself.
        masked = _KNOWN.sub(MASK, masked)
        masked = _JWT.sub(lambda found: MASK if found["rest"] else found[0], masked)
        return _NAMED.sub(rf"\1{MASK}", masked)

    def so_far(self, text: str) -> str:
        """Return the beginning of a text that is still being written, masked.

        It ends where a word does, and before whatever may be the beginning of a secret.
        """
        at = _words_end(text, len(text))
        while begun := self._begun(text[:at]):
            at = _words_end(text, at - begun)
        return self.text(text[:at])

    def _begun(self, text: str) -> int:
        """Return how much of the end of a text may be the beginning of a secret that goes on."""
        begun = (
            length
            for phrase in self.known.now.phrases
            for length in range(1, len(phrase))
            if phrase[length - 1].isspace() and text.endswith(phrase[:length])
        )
        return max(gaps.begun(text, self.forms, least=1), max(begun, default=0))

    def head(self, text: str, most: int) -> tuple[str, bool]:
        """Return a text masked, and whether that is all of it.

        Of one that is much longer than `most` characters only about as many are looked at: nothing
        shows of a secret that lies where it is cut.
        """
        piece = text[: 2 * most + LONGEST]  # masked it is shorter
        masked = self.text(piece)
        is_all = len(piece) == len(text)
        return (masked if is_all else masked[:-LONGEST]), is_all

    def value(self, value: Json) -> Json:
        """Return the value with every text inside it masked, keys and nested ones too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self.value(item) for item in value]
        return value


def _words_end(text: str, at: int) -> int:
    """Return where the last white space before a place ends: a word behind it may go on."""
    return next((end for end in range(at, 0, -1) if text[end - 1].isspace()), 0)
