"""How a request and a run are told to people. Pure; software writes all of it but the quoted part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from approvals import switches
from approvals.models import (
    LIVE,
    Request,
    Rule,
    Run,
    State,
)
from core.cards import Button, Card, Fact
from core.display import json_text, odd_characters, one_line, output, quoted
from core.durations import words
from core.plans import Call, Plan, RunStep
from core.tools import Checked
from core.transcript import AgentText

STOPPED = " stopped it"
LOST = " may no longer ask for it"
"""How two reasons end, behind somebody's name: no new card would help."""
ALTERED = "its stored plan is not the one that was shown"
IN_WORDS = "What was shown is not there any more, so ask for it in words."
"""What to do where a request was altered or erased: nobody could ask again for what it held."""
_APPROVERS = "May approve"
_EDITED = "Since then the message that asked for it was edited; the plan was not."
_ASKED_AGAIN = frozenset({State.EXPIRED, State.REVOKED, State.DENIED})
_COUNTLESS = 10**9
_MEMORY = 4 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a card says besides the plan itself."""

    requester: str
    checked: tuple[Checked, ...]
    about: AgentText
    rule: Rule
    approvers: tuple[str, ...]
    """Who may vote now, as the policy says: the requester is left out where the rule says so."""
    previews: tuple[str, ...]
    denied_by: str | None = None
    """Who denied it before it was asked for again, if anybody did."""


def card_for(
    plan: Plan, shown: Shown, request: str, expires_at: datetime, *, room: int = _COUNTLESS
) -> Card:
    """Return the card of a plan. `room` is how many characters of plan the platform can show.

    A plan that does not fit has no Approve button, only one to review all of it.
    """
    lines = tuple(_plan_lines(plan))
    fits = sum(len(line) + 1 for line in lines) <= room
    approve = Button(label="Approve", verb="approve", request=request)
    review = Button(label="Review full plan", verb="review", request=request)
    return Card(
        title=f"Approve to run: {', '.join(plan.tools)}",
        plan=lines if fits else (f"{len(plan.calls)} calls; the full plan does not fit here",),
        facts=tuple(_facts(plan, shown, expires_at)),
        warnings=tuple(_warnings(plan, shown)),
        estimate="not estimated",
        preview=tuple(line for text in shown.previews for line in _printed(text)),
        unchecked=tuple(_unchecked(shown.about)),
        buttons=(
            approve if fits else review,
            Button(label="Deny", verb="deny", request=request),
        ),
    )


def _printed(text: str) -> list[str]:
    return output(text).expandtabs(4).splitlines()


def _plan_lines(plan: Plan) -> Iterator[str]:
    index = count()  # as the run counts its steps, over all calls
    for call in plan.calls:
        yield f"{call.tool} {json_text(call.arguments)}"
        yield from (f"  {next(index)}. {_step_line(step)}" for step in call.steps)
        if call.verify:
            yield f"  to verify an unknown step: {_step_line(call.verify)}"


def _step_line(step: RunStep) -> str:
    secrets = f", secrets {json_text(list(step.secrets))}" if step.secrets else ""
    limit = words(timedelta(milliseconds=step.timeout_ms))
    memory = "" if step.memory_bytes == _MEMORY else f", {step.memory_bytes} bytes of memory"
    network = ", with the network" if step.network else ""
    return f"run {json_text(list(step.argv))}, at most {limit}{memory}{secrets}{network}"


def _facts(plan: Plan, shown: Shown, expires_at: datetime) -> Iterator[Fact]:
    differing = dict.fromkeys(text for checked in shown.checked for text in _differing(checked))
    filled = dict.fromkeys(f"{c.tool.name} {name}" for c in shown.checked for name in c.filled)
    yield Fact(label="Differs from defaults", text="; ".join(differing) or "nothing")
    if filled:
        yield Fact(label="Filled in by default", text="; ".join(filled))
    yield Fact(label="Where", text=f"folder {json_text(plan.folder)}, sandbox {plan.sandbox}")
    watched = [_watched(call) for call in plan.calls if call.fingerprints]
    if watched:
        yield Fact(label="Depends on", text="; ".join(watched))
    if plan.locks:
        yield Fact(label="Waits for", text=f"other runs that hold {_listed(plan.locks)}")
    yield Fact(label="Asked by", text=shown.requester)
    if shown.denied_by:
        yield Fact(label="Denied before", text=f"by {shown.denied_by}")
    counts = shown.requester in shown.approvers
    yield Fact(label="Risk", text=f"{shown.rule.name}: {rule_in_words(shown.rule, counts=counts)}")
    yield Fact(label=_APPROVERS, text=", ".join(shown.approvers) or "nobody")
    yield Fact(label="Until", text=at(expires_at))
    yield Fact(label="Plan", text=f"{plan.id} sha256 {plan.sha256}")


def _differing(checked: Checked) -> Iterator[str]:
    defaults = checked.tool.defaults
    for name, value in checked.arguments.items():
        if name in defaults and defaults[name] != value:
            yield f"{checked.tool.name} {name} is {json_text(value)}, not {json_text(defaults[name])}"


def _watched(call: Call) -> str:
    return ", ".join(
        f"{json_text(f.file)} ({f.sha256[:12] if f.sha256 else 'missing'})"
        for f in call.fingerprints
    )


def _listed(locks: Sequence[str]) -> str:
    return ", ".join(json_text(lock) for lock in locks)


def _warnings(plan: Plan, shown: Shown) -> Iterator[str]:
    if plan.sandbox == "none":
        yield "No sandbox: this runs with all the rights of Sayso's own account."
    for call in plan.calls:
        for name in odd_characters(call.arguments):
            yield f"{call.tool}: an argument contains {name}."
    if len(shown.approvers) < shown.rule.quorum:
        people = "person" if len(shown.approvers) == 1 else "people"
        who = f"Only {len(shown.approvers)} {people}" if shown.approvers else "Nobody"
        yield f"{who} may approve this now; {shown.rule.quorum} must."


def _unchecked(about: AgentText) -> Iterator[str]:
    for label, text in (
        ("why", about.rationale),
        ("limits", about.limitations),
        ("instead", about.alternatives),
    ):
        yield from (f"{label}: {line}" for line in quoted(text))


def rule_in_words(rule: Rule, votes: int = 0, *, counts: bool = True) -> str:
    """Return `1 of 2 votes, not the requester`; whether the requester `counts` the policy says too."""
    may = ", the requester may vote" if counts else ""
    who = may if rule.requester_may_vote else ", not the requester"
    return f"{votes} of {rule.quorum} vote{'s' if rule.quorum > 1 else ''}{who}"


def _counts(request: Request) -> bool:
    """Whether the requester was among those who may approve, when the card was made."""
    approvers = (fact.text for fact in request.card.facts if fact.label == _APPROVERS)
    return any(request.requester in text.split(", ") for text in approvers)


def status(request: Request) -> str:
    """Say where a request is and who brought it there, in one line."""
    voters, votes = names(request.voters), len(request.votes)
    agreed = f" ({voters})" if voters else ""
    denied = f": {_sentence(request.reason)}" if request.reason else ", no reason given."
    expired = f"with {votes} of {request.rule.quorum} vote{'s' if request.rule.quorum > 1 else ''}"
    return {
        State.OPEN: f"Open: {rule_in_words(request.rule, votes, counts=_counts(request))}{agreed}.",
        State.GRANTED: f"Approved by {voters}; waiting to run.",
        State.SPENT: f"Approved by {voters}.",
        State.DENIED: f"Denied by {request.ended_by}{denied}",
        State.EXPIRED: f"Expired at {at(request.expires_at)} {expired}. {_after(request)}",
        State.REVOKED: f"Revoked: {one_line(request.reason)}. {_after(request)}",
        State.SUPERSEDED: f"Superseded: {request.ended_by} asked again, so there is a newer card.",
    }[request.state]


def _sentence(text: str) -> str:
    """Return what somebody wrote as the end of a sentence."""
    line = one_line(text)
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _after(request: Request) -> str:
    """Say what to do about a request that ended without anybody's no."""
    if not request.is_intact:
        return IN_WORDS
    reason = request.reason
    if request.state is State.EXPIRED:
        return "Ask again to get a new card."
    if reason.endswith(STOPPED):
        return "Ask again if it is still wanted."
    if reason in switches.OFF or reason.endswith(LOST):
        return "Asking again helps once that is changed."
    return "Ask again to see it as it is now."


def drawn(request: Request, run: Run | None) -> tuple[Card, str]:
    """Return a request's card as it is to be shown now, and in one line what has become of it."""
    told = status(request)
    if request.edited_at:
        told = f"{told} {_EDITED}"
    if run:
        told = f"{told} Run {run.id}: {run.state.value}."
    buttons: tuple[Button, ...] = ()
    if request.state in LIVE:
        buttons = request.card.buttons
    elif request.state in _ASKED_AGAIN and request.is_intact:
        buttons = (Button(label="Ask again", verb="again", request=request.id),)
    return replace(request.card, buttons=buttons), told


def reminder(request: Request, approvers: Sequence[str]) -> str:
    """Bring an open request to mind, and whose votes it waits for."""
    return (
        f"Still waiting: {rule_in_words(request.rule, len(request.votes), counts=_counts(request))}, until "
        f"{at(request.expires_at)}. May approve: {names(approvers) or 'nobody'}."
    )


def too_late(request: Request) -> str:
    """Tell somebody who comes after the end what became of a request."""
    decided = request.state in {State.GRANTED, State.SPENT, State.DENIED}
    return f"Already decided. {status(request)}" if decided else status(request)


def names(people: Sequence[str]) -> str:
    """Return `bob, carol and dave`."""
    *first, last = people or [""]
    return f"{', '.join(first)} and {last}" if first else last


def at(time: datetime) -> str:
    """Return a time for people who read plain text: UTC to the second."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
