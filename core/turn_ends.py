"""How turns end that nobody brings to their end, and what a model is to know of those. Pure."""

from dataclasses import replace

from core.conversations import Turn, TurnEnd
from core.outcomes import UNFORESEEN, Reason, forced
from core.transcript import Entry, Heard, Noted, Spoke
from core.wishes import Masked, Words

STOPPED = TurnEnd(reason=Reason.STOPPED, text=forced(Reason.STOPPED))
GIVEN_UP = TurnEnd(reason=Reason.ERROR, text=UNFORESEEN)
"""The end of what failed, or killed its process, too often to be answered again."""


def stopped(given: TurnEnd) -> TurnEnd:
    """Return the end of a turn that was stopped, with all that it did and nothing that it said last."""
    did = given.entries
    while did and _says(did[-1]):
        did = did[:-1]
    entries = (*did, Noted(text=STOPPED.text)) if did else ()
    return replace(
        STOPPED,
        killed=given.killed,
        entries=entries,
        absorbed=given.absorbed,
        frame=given.frame,
    )


def _says(entry: Entry) -> bool:
    """Whether these are words, which nobody was shown then. What a pause left has none, and was sent."""
    return isinstance(entry, Spoke) and bool(entry.text)


def told(turn: Turn, given: TurnEnd) -> tuple[Entry, ...]:
    """Return what the transcript goes on with; of a turn that appended nothing, that it was there.

    Words that nobody looked at passed no guardrail, so no prompt repeats them.
    """
    if given.entries:
        return given.entries
    came = given.text or given.reason
    if isinstance(turn.wish, Words | Masked):
        return (Noted(text=f"A message from {turn.principal} was not looked at. {came}"),)
    return (Heard(speaker=turn.principal, text=turn.wish.shown), Noted(text=came))
