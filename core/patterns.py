"""Guards that look for a regular expression, and what of each stage they look into."""

import asyncio
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from core.canonical import encode
from core.display import sound, strings
from core.guardrails import Context, Input, Output, Payload, Proposed
from core.transcript import Called, Entry, Returned, ToolCall

PIECE = 8 * 1024
"""Characters that are searched at once: for a pattern that tries over and over, time grows with more
than the length of the text, and nothing else goes on meanwhile."""
OVERLAP = PIECE // 2
"""Characters that a match may always have: such a one lies in one piece, wherever it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Stops whatever holds a match. A longer text is searched in pieces that overlap."""

    pattern: re.Pattern[str]
    reason: str

    async def __call__(self, payload: Payload) -> str | None:
        """Return the reason where one of the texts holds a match."""
        for text in texts(payload):
            for form in {text: None, _plain(text): None}:
                if await self._in(form):
                    return self.reason
        return None

    async def _in(self, text: str) -> bool:
        for start in range(0, max(1, len(text) - OVERLAP), PIECE - OVERLAP):
            if self.pattern.search(text, start, start + PIECE):
                return True
            await asyncio.sleep(0)  # others go on, and whoever waits may give up
        return False


def texts(payload: Payload) -> Iterator[str]:
    """Yield every text of a payload that a pattern is looked for in.

    Of an output that is what is posted: the results in it have been part of a context before.
    """
    match payload:
        case Input(text=text) | Output(text=text):
            yield text
        case Context(entries=entries):
            for entry in entries:
                yield from _of_entry(entry)
        case Proposed(calls=calls, about=about):
            for call in calls:
                yield f"{call.tool.name} {encode(call.arguments)}"
                yield from strings(call.arguments)
            yield from (about.rationale, about.limitations, about.alternatives)
        case _:
            assert_never(payload)


def _of_entry(entry: Entry) -> Iterator[str]:
    if isinstance(entry, Returned):
        yield from (result.text for result in entry.results)
        return
    yield entry.text
    if isinstance(entry, Called):
        for call in entry.calls:
            yield from _of_call(call)


def _of_call(call: ToolCall) -> Iterator[str]:
    yield f"{call.tool} {encode(call.arguments)}"
    yield from strings(call.arguments)


def _plain(text: str) -> str:
    """Return a text without characters that draw nothing and with the plain form of fancy ones."""
    if text.isascii():
        return text
    seen = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", sound(seen))
