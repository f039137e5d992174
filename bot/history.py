"""What is known of a conversation where a turn begins: read once, and kept short enough."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from approvals.models import Request
from approvals.store import ApprovalStore
from core.asking import Asking
from core.compaction import Compaction
from core.conversations import START, Conversations, Mark, Turn
from core.guardrails import Context, Guarding
from core.limits import Limits
from core.news import fitted
from core.past import NOTHING, UNREAD, Past
from core.redaction import Redactor
from core.trail import Happening
from core.transcript import Entry, Noted

_MOST_BYTES = 64 * 1024 * 1024
_ENTRY_BYTES = 256
"""What an entry takes in memory besides its text, roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cached:
    """What this process has read of a conversation, and up to where."""

    past: Past = NOTHING
    mark: Mark = START

    @property
    def bytes(self) -> int:
        """Return about how much memory it takes."""
        return self.past.bytes + _ENTRY_BYTES * len(self.past.entries)


@dataclass(slots=True, kw_only=True)
class Cache:
    """What was read last of the conversations that were read last, in so many bytes.

    Only ever a shorter way to what the database says: each use asks it what came since, and whether
    it is still the same epoch.
    """

    most: int = _MOST_BYTES
    _cached: OrderedDict[tuple[str, str], Cached] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def of(self, turn: Turn) -> Cached:
        """Return what is remembered of the conversation of a turn."""
        return self._cached.get((turn.tenant, turn.conversation), Cached())

    def keep(self, turn: Turn, known: Cached) -> None:
        """Remember this instead, and forget what was not used for longest."""
        key = (turn.tenant, turn.conversation)
        self._forget(key)
        self._cached[key] = known
        self._bytes += known.bytes
        while self._bytes > self.most:
            self._forget(next(iter(self._cached)))

    def _forget(self, key: tuple[str, str]) -> None:
        gone = self._cached.pop(key, None)
        self._bytes -= gone.bytes if gone else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a turn begins with."""

    past: Past
    fresh: tuple[Entry, ...]
    """The end of it, which is not stored yet: the turn appends it before everything else."""
    tokens: int = 0
    """That it took to find this out."""

    def then(self, *entries: Entry) -> "Recalled":
        """Return this with entries behind that are not stored yet."""
        return replace(self, past=self.past.then(*entries), fresh=(*self.fresh, *entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    """Finds what a model is to know when it is asked."""

    conversations: Conversations
    requests: ApprovalStore
    redactor: Redactor
    cache: Cache = field(default_factory=Cache)

    async def recall(
        self, turn: Turn, asking: Asking, guarding: Guarding, limits: Limits, *, end: float
    ) -> Recalled:
        """Return the turns before and the news; a conversation that has grown too large begins anew.

        One whose context a guardrail stops is left as it is, and so stays stopped.
        """
        if not asking.model.generative:
            news = fitted(await self.conversations.news(turn), limits.begun_bytes // 2)
            return Recalled(past=UNREAD.then(*news), fresh=news)
        compaction = Compaction(limits=limits, redactor=self.redactor)
        past, told = await self._read(turn)
        # With what is left of a conversation that is shortened, a turn can always begin.
        news = fitted(told, compaction.most(asking.prompt) // 2)
        whole = past.then(*news)
        is_due = compaction.is_due(whole, asking.prompt)
        if not is_due or await guarding.check(Context(entries=whole.sent)):
            return Recalled(past=whole, fresh=news)
        waiting = await self.requests.live(turn.tenant, turn.conversation)
        lines = [_line(request) for request in waiting]
        summary = await compaction.summary(past, asking, end=end)
        # What a guardrail would stop in every later turn is not even stored.
        checking = replace(guarding, trail=_nowhere)
        for words in dict.fromkeys((summary.words, "")):
            short = compaction.shortened(past, asking.prompt, lines, words)
            if not await checking.check(Context(entries=short)):
                begun = Recalled(past=NOTHING, fresh=(), tokens=summary.tokens)
                return begun.then(*short, *news)
        return Recalled(past=whole, fresh=news, tokens=summary.tokens)

    async def _read(self, turn: Turn) -> tuple[Past, tuple[Noted, ...]]:
        """Return what is stored, of which only what is new since the last time is read."""
        known = self.cache.of(turn)
        history = await self.conversations.history(turn, known.mark)
        before = known.past if history.mark.epoch == known.mark.epoch else NOTHING
        past = before.then(*history.entries)
        self.cache.keep(turn, Cached(past=past, mark=history.mark))
        return past, history.news


async def _nowhere(_: Sequence[Happening]) -> None:
    """Keep nothing: what is checked here stops no turn."""


def _line(request: Request) -> str:
    """Return a request in a line."""
    return f"{', '.join(dict.fromkeys(call.tool for call in request.plan.calls))} asked by {request.requester}"
