"""The message that shows where a run is: appended when it begins, drawn anew when it has ended."""

from datetime import datetime, timedelta

from adapters.storage.entries import append_later, redraw
from adapters.storage.transactions import Transaction, changed, rows, text_of
from approvals.models import Run
from approvals.progress import began
from core.deliveries import post_of

SOON = timedelta(seconds=2)
"""After which a run is shown. Of one that is over sooner, its card and its report tell all."""


def begin(now: datetime, run: Run) -> Transaction[None]:
    """Have a run be shown in its thread, if it takes long enough."""
    yield from append_later(now, run.conversation, "progress", began(run), about=run.id, delay=SOON)


def end(now: datetime, run: Run) -> Transaction[None]:
    """Have it show how the run ended; where nobody has begun to post it, nobody ever will.

    Whoever runs it is to draw its end, since only there it is known when the last edit of what it
    printed has arrived. Whoever took it from a dead process only says so.
    """
    shown = yield from rows(
        "SELECT seq FROM entry WHERE kind = 'progress' AND about = :run"
        " AND conversation = :conversation",
        run=run.id, conversation=run.conversation,
    )  # fmt: skip
    if not shown or (yield from _withdrawn(now, post_of(run.conversation, shown[0]["seq"]))):
        return
    holder = yield from rows(
        "SELECT owner FROM job JOIN run ON run.job = job.id"
        " WHERE run.id = :run AND job.state = 'running' AND job.fence = run.fence",
        run=run.id,
    )
    by = holder[0]["owner"] if holder else None
    yield from redraw(now, run.conversation, run.id, what="run", by=by)


def _withdrawn(now: datetime, job: str) -> Transaction[bool]:
    """End a job that nobody ever claimed; False where somebody did, and so may have begun it."""
    return changed(
        "UPDATE job SET state = 'cancelled', ended_at = coalesce(ended_at, :now)"
        " WHERE id = :id AND fence = 0 AND state IN ('queued', 'cancelled') RETURNING id",
        now=text_of(now), id=job,
    )  # fmt: skip
