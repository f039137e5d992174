"""What a turn has appended and used so far."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from core.calls import Names
from core.fitting import SHORT_BYTES, cut
from core.limits import Limits, prompt_bytes
from core.outcomes import Outcome, Reason
from core.transcript import Entry, Heard, Noted, Spoke, Wire


@dataclass(slots=True, kw_only=True)
class Progress:
    """The growing part of a transcript behind its fixed part, with the size of both."""

    limits: Limits
    history: tuple[Entry, ...]
    bytes: int
    """Of everything that the model is given."""
    names: Names
    entries: tuple[Entry, ...] = ()
    tokens: int = 0
    calls: int = 0
    """Those that count: a call that only repeats another does not."""
    seen: set[str] = field(default_factory=set[str])
    """Marks of the calls that were answered."""
    watch: Callable[[tuple[Entry, ...]], None]
    """Is shown the entries whenever they have changed: whoever cuts the turn keeps the last ones."""
    refusals: int = 0
    """How often what it proposed was refused."""
    corrected: set[str] = field(default_factory=set[str])
    """Marks of the calls that were made again and answered with a note."""
    _said: tuple[int, tuple[Entry, ...]] | None = None
    """Where the words begin that whoever asked is shown, and what stands there if nobody is."""
    _again: int = 0
    _sent: int = 0
    """How many of the entries a model was given: those are not taken back."""

    def hear(self, *entries: Entry) -> None:
        """Begin the turn with this instead of what it began with; no model was given anything yet."""
        self.bytes += prompt_bytes(entries) - prompt_bytes(self.entries)
        self.entries = entries
        self._show()

    @property
    def prompt(self) -> tuple[Entry, ...]:
        """Return what the model would be given now."""
        return (*self.history, *self.entries)

    @property
    def room(self) -> int:
        """Return the bytes that what is kept of a step or an answer may have."""
        return self.limits.room(self.bytes)

    def outcome(self, reason: Reason, text: str, request: str | None = None) -> Outcome:
        """Return how the turn ends, with all that it has appended."""
        return Outcome(reason=reason, text=text, request=request, entries=self.entries)

    def give(self) -> tuple[Entry, ...]:
        """Return what the model is given now."""
        self._sent = len(self.entries)
        self._show()
        return self.prompt

    def append(self, *entries: Entry) -> None:
        """Append to the transcript; raise `Refused` where an entry has no canonical form."""
        self.bytes += prompt_bytes(entries)
        self.entries += entries
        self._show()

    def say(self, *entries: Entry, unseen: tuple[Entry, ...] = ()) -> None:
        """Append what ends the turn with words; `unseen` stands for it where nobody is shown them."""
        self._said = (len(self.entries), unseen)
        self.append(*entries)

    def use(self, wire: Wire) -> None:
        """Count what a message took."""
        self._again = wire.tokens
        self.tokens += self._again

    def affords(self, tokens: int) -> bool:
        """Return whether one more message can stay within so many tokens.

        It will read at least what the last one read and wrote, so that much is certain beforehand.
        """
        return self.tokens + self._again <= tokens

    def settle(self) -> None:
        """Take back what a model that paused had sent, where it was not given that again."""
        settled = self._settled
        self.bytes -= prompt_bytes(self.entries[len(settled) :])
        self.entries = settled
        self._show()

    def unsay(self, note: Noted) -> None:
        """Put a note in the place of words that nobody was shown."""
        begin, unseen = self._said or (len(self.entries), ())
        self.bytes -= prompt_bytes(self.entries[begin:])
        self.entries = self.entries[:begin]
        self.append(*unseen, note)

    def unheard(self) -> None:
        """Keep only the beginning of a large message that no model was given: the next one may fit."""
        if self._sent == 0:
            self.entries = tuple(
                replace(entry, text=cut(entry.text, SHORT_BYTES))
                for entry in self.entries
                if isinstance(entry, Heard)
            )
            self._show()

    @property
    def _settled(self) -> tuple[Entry, ...]:
        """Return the entries without what a model that paused had sent and was not given again."""
        kept = len(self.entries)
        while kept > self._sent and _paused(self.entries[kept - 1]):
            kept -= 1
        return self.entries[:kept]

    def _show(self) -> None:
        self.watch(self._settled)


def _paused(entry: Entry) -> bool:
    return isinstance(entry, Spoke) and not entry.text
