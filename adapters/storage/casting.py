"""One yes: its row, the code that came with it, and its entry in the audit log."""

from datetime import datetime

from adapters.storage import factors
from adapters.storage.transactions import Transaction, changed, log, text_of
from approvals.factors import WANTED, RightCode
from approvals.models import Request
from core.canonical import JsonObject
from core.errors import Refused


def cast(now: datetime, request: str, principal: str, held: RightCode | None) -> Transaction[bool]:
    """Keep a yes, once; return whether it was not there yet."""
    is_new = yield from changed(
        "INSERT INTO vote (request, principal, at, code_step)"
        " VALUES (:request, :principal, :at, :step) ON CONFLICT DO NOTHING RETURNING request",
        request=request, principal=principal, at=text_of(now), step=held.step if held else None,
    )  # fmt: skip
    return is_new


def noted(
    now: datetime, voted: Request, principal: str, held: RightCode | None
) -> Transaction[None]:
    """Use up the code of a vote, and note the vote; raise `Refused` where its rule demands a code."""
    yield from prove(now, voted, principal, held, WANTED)
    extra: JsonObject = {"second_factor": True} if held else {}
    yield from log(now, voted.tenant, "vote.cast", principal, request=voted.id, **extra)


def prove(
    now: datetime, about: Request, principal: str, held: RightCode | None, wanted: str
) -> Transaction[None]:
    """Use up the code of what somebody decides; raise `Refused` where its rule demands one that is not there."""
    if held:
        yield from factors.take(now, about.tenant, principal, held)
    elif about.rule.second_factor:
        raise Refused(wanted)
