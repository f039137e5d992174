"""Checks a receipt with nothing but the file: each fault is one sentence that names what does not hold."""

from datetime import timedelta
from itertools import pairwise

from approvals import entitlement
from approvals.models import Rule
from approvals.receipts import telling
from approvals.receipts.document import MADE, Read, Receipt, read
from approvals.receipts.telling import BROKEN, Telling, ToldStep, facts_of
from core import audit, canonical, plans
from core.audit import GENESIS
from core.errors import Refused
from core.plans import HttpStep, Plan
from core.signatures import is_signed


def check(text: str, *, key: str | None = None, head: str | None = None) -> Receipt:
    """Return a receipt in which everything holds; raise `Refused` with what does not.

    `key` is the public key that must have signed it, `head` the hash that its head must have.
    """
    found = read(text)
    receipt = found.receipt
    plan = _plan(receipt)
    _check_request(receipt, plan)
    _check_entries(receipt)
    _check_story(receipt, plan)
    _check_head(found)
    _must(
        is_signed(found.signed, public=receipt.key, signature=receipt.signature),
        "The signature is not that of this receipt: something in it was changed, or its key.",
    )
    _must(
        key is None or key.lower() == receipt.key,
        "It holds together, but another key signed it than the one that you demand.",
    )
    _must(
        head is None or head.lower() == receipt.head.hash,
        "It holds together, but its head is not the one that you noted.",
    )
    return receipt


def _plan(receipt: Receipt) -> Plan:
    shown = receipt.plan
    _must(
        canonical.sha256(shown.body) == shown.sha256,
        "The plan's bytes do not have the hash that people approved.",
    )
    try:
        plan = plans.read(shown.body)
    except Refused as error:
        raise Refused("The plan in this receipt is no plan that this version knows.") from error
    _must(plan.id == shown.id, "The plan's short id is not that of its hash.")
    _must(
        [call.tool for call in plan.calls for _ in call.steps] == [s.tool for s in receipt.steps],
        "The steps that ran are not the steps of the plan, one for one and in order.",
    )
    _must(bool(receipt.steps), "The plan has no steps, so nothing can have run.")
    _must(
        [step.index for step in receipt.steps] == list(range(len(receipt.steps))),
        "The steps are not numbered one after another.",
    )
    return plan


def _check_request(receipt: Receipt, plan: Plan) -> None:
    request, rule = receipt.request, receipt.request.rule
    _must(rule.rules_sha256 == plan.rules, "The digest of the rules is not the one in the plan.")
    _must(
        rule.name == "+".join(dict.fromkeys(call.risk for call in plan.calls)),
        "The rule is not that of the plan's risks.",
    )
    lives = audit.time_of(request.expires_at) - audit.time_of(request.opened_at)
    expires = timedelta(milliseconds=rule.expires_ms)
    _must(lives == expires, "The request did not live for as long as its rule says.")
    people = [vote.principal for vote in receipt.votes]
    _must(len(set(people)) == len(people), "Somebody's vote is counted twice.")
    counted = entitlement.voters(
        Rule(
            name=rule.name,
            quorum=rule.quorum,
            requester_may_vote=rule.requester_may_vote,
            expires=expires,
        ),
        (request.requester, *request.editors),
        people,
    )
    _must(
        list(counted) == people,
        "The requester voted, or somebody who edited it, which the rule does not allow.",
    )
    coded = all(vote.second_factor for vote in receipt.votes)
    _must(coded or not rule.second_factor, "A yes came without the code that the rule demands.")
    broken = [str(facts_of(one).get("principal")) for one in receipt.audit if one.kind == BROKEN]
    _must(
        len(people) >= rule.quorum or any(name in people for name in broken),
        "Fewer people agreed than the rule demands.",
    )


def _check_entries(receipt: Receipt) -> None:
    """Check each entry by itself, and each two that are neighbours in the log."""
    entries = (*receipt.audit, receipt.head)
    for entry in entries:
        _must(
            entry.tenant == receipt.request.tenant and entry.kind in telling.KINDS,
            f"Audit entry {entry.seq} is of another tenant, or of a kind that no receipt holds.",
        )
        why = audit.fault(entry, entry.seq, entry.prev)
        _must(why is None, f"Audit entry {entry.seq} does not hold: {why}.")
        _must(_is_moment(entry.at), f"Audit entry {entry.seq} has no proper time.")
    _must(
        entries[0].seq >= 1 and (entries[0].seq > 1 or entries[0].prev == GENESIS),
        "The first audit entry is not where a log begins.",
    )
    for before, after in pairwise(entries):
        _must(before.seq < after.seq, f"Audit entry {after.seq} is not in its order.")
        _must(
            before.seq + 1 < after.seq or after.prev == before.hash,
            f"Audit entry {after.seq} does not follow from the one before it.",
        )
        _must(
            before.at <= after.at,
            f"Audit entry {after.seq} is older than the one before it: a clock was set back, or "
            "its time is not true.",
        )


def _check_story(receipt: Receipt, plan: Plan) -> None:
    """Check that the entries tell the same as the rest of the receipt."""
    told = Telling(
        request=receipt.request,
        plan_sha256=plan.sha256,
        run=receipt.run,
        steps=[
            ToldStep(on_failure=step.on_failure, is_codeless=isinstance(step, HttpStep))
            for call in plan.calls
            for step in call.steps
        ],
    )
    for entry in receipt.audit:
        told.hear(entry)
    request, run = receipt.request, receipt.run
    _must(
        sorted(told.votes.items()) == sorted((vote.principal, vote.at) for vote in receipt.votes)
        and told.coded == {vote.principal for vote in receipt.votes if vote.second_factor},
        "The votes are not those that the audit entries tell.",
    )
    _must(
        (told.card_sha256, told.times_asked) == (request.card_sha256, request.times_asked),
        "The card, or how often it was asked for, is not what the audit entries tell.",
    )
    _must(
        (told.state, told.started_at, told.ended_at) == (run.state, run.started_at, run.ended_at),
        "The run's state or its times are not what the audit entries tell.",
    )
    for step, heard in zip(receipt.steps, told.steps, strict=True):
        _must(
            (step.state, step.exit_code, step.output_sha256, step.started_at, step.ended_at)
            == (
                heard.state,
                heard.exit_code,
                heard.output_sha256,
                heard.started_at,
                heard.ended_at,
            ),
            f"Step {step.index} did not go as the audit entries tell.",
        )


def _check_head(found: Read) -> None:
    head, receipt = found.receipt.head, found.receipt
    facts = facts_of(head)
    _must(
        head.kind == MADE
        and (facts.get("request"), facts.get("run")) == (receipt.request.id, receipt.run.id),
        "The head is not the entry that was made for this receipt.",
    )
    _must(
        facts.get("receipt_sha256") == found.sealed,
        "Something in this receipt is not as it was sealed in its head.",
    )


def _is_moment(text: str) -> bool:
    try:
        audit.time_of(text)
    except ValueError:
        return False
    return True


def _must(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise Refused(otherwise)
