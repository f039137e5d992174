"""What a command prints: its head and tail, as far as people may see it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from core import display, gaps
from core.exact_values import SHORTEST
from core.redaction import MASK, Redactor
from core.sizes import OUTPUT

_KEPT = 16 * 1024  # bytes of output that are shown from either end
_MARK = 32
"""Bytes at either end that make room for the words which say how much was left out."""
_SPARE = 4096
"""Kept beyond what is shown, because a secret that was cut in two there is not recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """Makes output fit for people: secrets masked, control characters visible."""

    redactor: Redactor

    def clean(self, output: bytearray) -> str:
        """Return what was printed as people may see it."""
        return self.cleaned(output.decode("utf-8", "replace"))

    def cleaned(self, text: str) -> str:
        """Return the same of what is text already."""
        # Twice: making control characters visible changes a secret that holds some, and it turns
        # the line ends of a terminal into those that a secret of several lines has.
        return self.redactor.text(display.output(self.redactor.text(text)))

    def tail(self, output: "Output") -> tuple[str, ...]:
        """Return whole lines, without those at the end that begin a secret of several lines."""
        text = output.whole_lines(self.clean)
        begun = (
            length
            for secret in self.redactor.values
            for form in (secret, display.output(secret))
            for length in range(1, len(form))
            if form[length - 1] == "\n" and text.endswith(form[:length])
        )
        wrapped = gaps.begun(text, self.redactor.forms, least=SHORTEST)
        end = len(text) - max(wrapped, max(begun, default=0))
        return tuple(text[: text.rfind("\n", 0, end) + 1].splitlines())

    def without_stump(self, text: str) -> str:
        """Mask the beginning of a secret at the very end: killing a command may cut what it prints."""
        stumps = (
            length
            for secret in self.redactor.values
            for length in range(SHORTEST, len(secret))
            if text.endswith(secret[:length])
        )
        longest = max(stumps, default=0)
        return f"{text[:-longest]}{MASK}" if longest else text

    def spare(self) -> int:
        """Return how many bytes a secret may take that is cut in two, as it is shown."""
        # A byte of a secret takes up to six characters (\u001b) by the time that it is shown.
        longest = max((len(value.encode()) for value in self.redactor.values), default=0)
        return max(_SPARE, 6 * longest)


@dataclass(slots=True, kw_only=True)
class Output:
    """What a command prints: its head and tail, and how much there was."""

    spare: int
    most: int = OUTPUT
    """How many bytes it may be, before whoever prints is ended."""
    more: Callable[[], None]
    """Is called whenever there is more of it."""
    total: int = 0
    everything: bytearray = field(default_factory=bytearray)
    """Not masked, so it never leaves this process."""
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    async def listen(self, reader: asyncio.StreamReader, pipe: asyncio.ReadTransport) -> None:
        """Take what comes until everybody has closed the pipe, or it was too much."""
        try:
            while not self.is_too_much and (data := await reader.read(65536)):
                self.take(data)
        finally:
            pipe.close()

    def take(self, data: bytes) -> None:
        """Take what comes next."""
        keep = _KEPT + self.spare
        self.total += len(data)
        self.everything += data
        self.head += data[: keep - len(self.head)]
        self.tail += data
        del self.tail[:-keep]
        self.more()

    @property
    def is_too_much(self) -> bool:
        """Whether it is more than it may be."""
        return self.total > self.most

    @property
    def is_cut(self) -> bool:
        """Whether there was more than is shown."""
        return self.total > 2 * _KEPT

    def shown(self, clean: Callable[[bytearray], str]) -> str:
        """Return what people may see; a secret that was cut in two is never in it."""
        if not self.is_cut:
            return clean(self.head[: self.total - len(self.tail)] + self.tail)
        # Masking comes first. What it missed because of the cut ends within the spare characters.
        head = clean(self.head)[: -self.spare - _MARK]
        tail = clean(self.tail)[self.spare + _MARK :]
        return f"{head}\n[{self.total - 2 * (_KEPT - _MARK)} bytes left out]\n{tail}"

    def whole_lines(self, clean: Callable[[bytearray], str]) -> str:
        """Return the last lines so far that people may see: a secret within a line is whole there."""
        text = clean(self.tail[: self.tail.rfind(b"\n") + 1])
        # As in `shown`; and what a line lost in front is no line any more.
        return text[self.spare :].partition("\n")[2] if self.total > len(self.tail) else text
