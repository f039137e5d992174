"""What a conversation's turns before left, with what each turn has to know of it."""

from dataclasses import dataclass, replace

from core.calls import ids_of
from core.limits import prompt_bytes
from core.transcript import Called, Entry, joined, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Entries and what follows from them, so that whoever adds to it looks at what is new alone."""

    entries: tuple[Entry, ...] = ()
    bytes: int = 0
    """Of the entries in a prompt."""
    ids: frozenset[str] | None = frozenset()
    """Of all calls; None where the turns before were not read."""
    is_whole: bool = True
    """Whether every call has its result."""

    def then(self, *entries: Entry) -> "Past":
        """Return this with entries behind; raise `Refused` where one has no canonical form."""
        last = self.entries[-1] if self.entries else None
        ids = self.ids
        return replace(
            self,
            entries=self.entries + entries,
            bytes=self.bytes + prompt_bytes(entries),
            ids=None if ids is None else ids | ids_of(entries),
            is_whole=self.is_whole and joined(last, entries),
        )

    @property
    def sent(self) -> tuple[Entry, ...]:
        """Return what a model is given of it; raise `Refused` where that is no transcript."""
        if self.is_whole and not (self.entries and isinstance(self.entries[-1], Called)):
            return self.entries
        return whole(self.entries)


NOTHING = Past()
UNREAD = Past(ids=None)
"""For whoever needs nothing of what was before."""
