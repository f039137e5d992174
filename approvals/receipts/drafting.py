"""Makes a receipt out of what the tables and the audit log hold."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from approvals.models import Request, Run, Step, Vote
from approvals.receipts import telling
from approvals.receipts.document import SCHEMA, asked_digest, digest_of, text_of
from core import audit, canonical
from core.audit import Entry
from core.canonical import Json, JsonObject
from core.events import Place
from core.signatures import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Everything about one run, read at one moment. `entries` are those that concern it, in order."""

    request: Request
    place: Place
    run: Run
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A receipt before its entry is in the audit log."""

    values: JsonObject

    @property
    def sha256(self) -> str:
        """Return the digest that the entry has to hold."""
        return digest_of(self.values)

    def signed(self, head: Entry, key: Key) -> str:
        """Return the text of the file, with the entry that was made for it."""
        values = {**self.values, "head": asdict(head)}
        return text_of({**values, "signature": key.sign(canonical.encode(values))})


def concerns(entry: Entry, request: Request, run: Run) -> bool:
    """Whether an entry tells about this request and its run; never one of another tenant (I14)."""
    if entry.tenant != request.tenant or entry.kind not in telling.KINDS:
        return False
    facts = telling.facts_of(entry)
    if entry.kind == telling.REFUSED:
        return facts.get("given_sha256") == canonical.sha256(request.id)
    return request.id == facts.get("request") or run.id == facts.get("run")


def draft(story: Story, public: str) -> Draft:
    """Return what is to be sealed and signed with the key that has this public part."""
    request, run = story.request, story.run
    values: dict[str, Json] = {
        "schema": SCHEMA,
        "plan": {"id": run.plan, "sha256": request.plan_sha256, "body": request.plan_body},
        "request": _asked(request, story.place),
        "votes": [_vote(vote) for vote in request.votes],
        "run": {
            "id": run.id,
            "state": run.state,
            "started_at": audit.moment(run.started_at),
            "ended_at": _moment(run.ended_at),
        },
        "steps": [_step(step) for step in run.steps],
        "audit": _entries(story.entries),
        "key": public,
    }
    return Draft(values=values)


def noted(request: Request, place: Place) -> str:
    """Return the digest of what is asked, and where: noted in the audit log when a request is opened."""
    return asked_digest(_asked(request, place))


def _asked(request: Request, place: Place) -> JsonObject:
    rule = request.rule
    return {
        "id": request.id,
        "tenant": request.tenant,
        "conversation": request.conversation,
        "place": asdict(place),
        "requester": request.requester,
        "rule": {
            "name": rule.name,
            "quorum": rule.quorum,
            "requester_may_vote": rule.requester_may_vote,
            "expires_ms": int(rule.expires / timedelta(milliseconds=1)),
            "rules_sha256": request.plan.rules,
            **rule.extras(),
        },
        "card_sha256": request.card_sha256,
        "times_asked": request.times_asked,
        "opened_at": audit.moment(request.opened_at),
        "expires_at": audit.moment(request.expires_at),
        **({"editors": [*request.editors]} if request.editors else {}),
    }


def _vote(vote: Vote) -> JsonObject:
    coded: JsonObject = {"second_factor": True} if vote.second_factor else {}
    return {"principal": vote.principal, "at": audit.moment(vote.at), **coded}


def _step(step: Step) -> JsonObject:
    return {
        "index": step.index,
        "tool": step.tool,
        "state": step.state,
        "exit_code": step.exit_code,
        "started_at": _moment(step.started_at),
        "ended_at": _moment(step.ended_at),
        "output_sha256": canonical.sha256(step.output),
    }


def _moment(time: datetime | None) -> str | None:
    return audit.moment(time) if time else None


def _entries(entries: Sequence[Entry]) -> list[Json]:
    return [asdict(entry) for entry in entries]
