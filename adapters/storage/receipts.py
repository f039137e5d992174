"""Makes receipts. Implements `approvals.store.Receipts`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage import log_rows, request_rows, run_rows
from adapters.storage.entries import place_of
from adapters.storage.transactions import SYSTEM, Database, Transaction, log, rows
from approvals.models import Request, Run, RunState
from approvals.receipts import MADE, Issued, Story, check, concerns, draft
from core import audit, canonical
from core.audit import Broken, Entry, Intact
from core.cards import encode
from core.erasing import CARD
from core.errors import Refused
from core.signatures import Key

UNKNOWN = "There is no such run. `sayso runs` names them."
RUNNING = "That run has not ended, so there is no receipt of it yet. Wait for it, or stop it."
ERASED = (
    "What that run did was erased, so there is no receipt of it. The audit log still tells when it "
    "ran, and digests of what was erased."
)
BROKEN = (
    "The audit log does not hold from entry {} on, so no receipt can rest on it. Look at: "
    "sayso audit verify"
)
UNDER_GRANT = (
    "That run was under standing grant {}, and there is no receipt of such a run: people approved "
    "the grant, not the run. The audit log holds who approved it, and each of its uses."
)
_ERASED = encode(CARD)


@dataclass(frozen=True, slots=True)
class Receipts:
    """One database's receipts."""

    database: Database

    async def issue(self, run: str, *, key: Key, account: str, since: Intact) -> Issued:
        """See the port."""
        return await self.database.transact(lambda now: _issue(now, run, key, account, since))


def _issue(now: datetime, name: str, key: Key, account: str, since: Intact) -> Transaction[Issued]:
    story = yield from _story(name)
    before = yield from _holding(since)
    drafted = draft(story, key.public)
    head = yield from log(
        now, story.request.tenant, MADE, SYSTEM, account=account, request=story.request.id,
        run=story.run.id, receipt_sha256=drafted.sha256,
    )  # fmt: skip
    if head.prev != before.head:
        raise Refused(BROKEN.format(since.entries))
    text = drafted.signed(head, key)
    try:
        receipt = check(text, key=key.public)
    except Refused as error:
        raise Refused(
            f"There is no receipt of that run, since it would not hold. {error.shown}"
        ) from error
    return Issued(receipt=receipt, text=text)


def _story(name: str) -> Transaction[Story]:
    """Return all that there is about a run that has ended; raise `Refused` where it has no receipt."""
    found = yield from rows(
        "SELECT run.tenant, conversation.* FROM run"
        " JOIN conversation ON conversation.id = run.conversation WHERE run.id = :id",
        id=name,
    )
    if not found:
        raise Refused(UNKNOWN)
    run = yield from run_rows.must_read(found[0]["tenant"], name)
    request = yield from request_rows.must_read(run.tenant, run.request)
    if run.state is RunState.RUNNING:
        raise Refused(RUNNING)
    if request.under:
        raise Refused(UNDER_GRANT.format(request.under.grant))
    if request.card_body == _ERASED:
        raise Refused(ERASED)
    entries = yield from _entries(request, run)
    return Story(request=request, place=place_of(found[0]), run=run, entries=entries)


def _entries(request: Request, run: Run) -> Transaction[tuple[Entry, ...]]:
    given = canonical.sha256(request.id)
    found = yield from log_rows.naming(request.tenant, request.id, run.id, given)
    return tuple(entry for entry in found if concerns(entry, request, run))


def _holding(since: Intact) -> Transaction[Intact]:
    """Check what came after what was found intact; raise `Refused` where it does not hold."""
    verdict = audit.verify((yield from log_rows.since(since.entries)), since=since)
    if isinstance(verdict, Broken):
        raise Refused(BROKEN.format(verdict.first_bad))
    return verdict
