"""What a turn has appended and used so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.calls import ids_of
from core.limits import prompt_bytes
from core.transcript import Entry, Spoke, Wire


@dataclass(slots=True, kw_only=True)
class Progress:
    """The growing part of a transcript behind its fixed part, with the size of both."""

    history: tuple[Entry, ...]
    bytes: int
    """Of everything that the model is given."""
    entries: tuple[Entry, ...] = ()
    taken: frozenset[str] = frozenset()
    """The ids of all calls of the conversation."""
    tokens: int = 0
    calls: int = 0
    """Those that count: a call that only repeats another does not."""
    seen: set[str] = field(default_factory=set[str])
    """Marks of the calls that were answered."""
    watch: Callable[[tuple[Entry, ...]], None]
    """Is shown the entries whenever they have changed: whoever cuts the turn keeps the last ones."""
    corrected: set[str] = field(default_factory=set[str])
    """Marks of the calls that were made again and answered with a note."""
    _again: int = 0

    @property
    def given(self) -> tuple[Entry, ...]:
        """Return what the model is given next."""
        return (*self.history, *self.entries)

    def append(self, *entries: Entry) -> None:
        """Append to the transcript; raise `Refused` where an entry has no canonical form."""
        self.bytes += prompt_bytes(entries, ())
        self.entries += entries
        self.taken |= ids_of(entries)
        self.watch(self.entries)

    def use(self, wire: Wire) -> None:
        """Count what a message took."""
        self._again = wire.input_tokens + wire.output_tokens
        self.tokens += self._again

    def affords(self, tokens: int) -> bool:
        """Return whether one more message can stay within so many tokens.

        It will read at least what the last one read and wrote, so that much is certain beforehand.
        """
        return self.tokens + self._again <= tokens

    def settle(self) -> None:
        """Take back what a model that paused had sent and will not be asked to go on with."""
        kept: Sequence[Entry] = self.entries
        while kept and isinstance(last := kept[-1], Spoke) and not last.text:
            kept = kept[:-1]
            self.bytes -= prompt_bytes((last,), ())
        self.entries = tuple(kept)
        self.watch(self.entries)
