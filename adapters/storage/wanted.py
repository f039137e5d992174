"""That somebody wants all that a step printed: what is posted then brings it."""

from datetime import datetime

from adapters.storage.entries import append
from adapters.storage.run_rows import must_read
from adapters.storage.transactions import SYSTEM, Transaction
from approvals import outputs
from approvals.models import Run
from core.artifacts import name_of


def show(now: datetime, run: Run, index: int, principal: str) -> Transaction[None]:
    """Append it to the conversation of the run; raise `Refused` where its tenant has no such run."""
    current = yield from must_read(run.tenant, run.id)
    text = outputs.wanted(current, index, principal)
    about = name_of(current.id, index)
    yield from append(now, current.conversation, "note", SYSTEM, text, about=about)
