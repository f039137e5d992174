"""Requests as rows: how they are read, and how their parts are written."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from pydantic import TypeAdapter

from adapters.storage import brakes
from adapters.storage.transactions import Row, Transaction, rows, time_of
from approvals.grants import Under
from approvals.models import LIVE, Request, Rule, State, Vote
from core import canonical
from core.errors import Refused
from core.transcript import AgentText

COLUMNS = (
    "request.*, plan.body, conversation.profile, standing_grant.request AS allowed_by FROM request"
    " JOIN plan ON plan.tenant = request.tenant AND plan.id = request.plan"
    " JOIN conversation ON conversation.id = request.conversation"
    " LEFT JOIN standing_grant ON standing_grant.id = request.under"
)
_ABOUT = TypeAdapter(AgentText)


def read(tenant: str, request: str) -> Transaction[Request | None]:
    """Return a request with its votes, or None where this tenant has none of that id."""
    found = yield from rows(
        f"SELECT {COLUMNS} WHERE request.id = :id AND request.tenant = :tenant",
        id=request, tenant=tenant,
    )  # fmt: skip
    if not found:
        return None
    votes = yield from rows(
        "SELECT * FROM vote WHERE request = :id ORDER BY at, principal",
        id=found[0]["allowed_by"] or request,
    )
    current = built(found[0], votes)
    if current.state in LIVE:
        return replace(current, brakes=(yield from brakes.held(tenant)))
    return current


def must_read(tenant: str, request: str) -> Transaction[Request]:
    """Return a request that has to be there."""
    found = yield from read(tenant, request)
    if found is None:
        raise Refused("There is no such request.")
    return found


def built(row: Row, votes: Iterable[Row]) -> Request:
    """Return the request that a row of `COLUMNS` and its votes describe."""
    return Request(
        id=row["id"],
        tenant=row["tenant"],
        conversation=row["conversation"],
        turn=row["turn"],
        requester=row["requester"],
        profile=row["profile"],
        plan_body=row["body"],
        plan_sha256=row["plan_sha256"],
        rule=_rule(row["rule"]),
        state=State(row["state"]),
        votes=tuple(map(_vote, votes)),
        about=_ABOUT.validate_json(row["about"]),
        card_body=row["card"],
        card_sha256=row["card_sha256"],
        times_asked=row["times_asked"],
        opened_at=time_of(row["opened_at"]),
        expires_at=time_of(row["expires_at"]),
        ended_by=row["ended_by"],
        reason=row["reason"],
        broken_by=row["broken_by"],
        broken_why=row["broken_why"],
        edited_at=time_of(row["edited_at"]) if row["edited_at"] else None,
        editors=tuple(json.loads(row["editors"])),
        became=row["became"],
        under=Under(grant=row["under"], request=row["allowed_by"]) if row["under"] else None,
    )


def _vote(row: Row) -> Vote:
    return Vote(
        principal=row["principal"],
        at=time_of(row["at"]),
        second_factor=row["code_step"] is not None,
    )


def about_text(about: AgentText) -> str:
    """Return the agent text as it is stored."""
    return canonical.encode(_ABOUT.dump_python(about, mode="json"))


def rule_text(rule: Rule) -> str:
    """Return a rule as it is stored."""
    return canonical.encode(
        {
            "name": rule.name,
            "quorum": rule.quorum,
            "requester_may_vote": rule.requester_may_vote,
            "expires_ms": int(rule.expires / timedelta(milliseconds=1)),
            **rule.extras(),
        }
    )


def _rule(text: str) -> Rule:
    values = json.loads(text)
    return Rule(
        name=values["name"],
        quorum=values["quorum"],
        requester_may_vote=values["requester_may_vote"],
        expires=timedelta(milliseconds=values["expires_ms"]),
        second_factor=values.get("second_factor", False),
    )
