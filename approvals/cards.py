"""How a request and a run are told to people. Pure; software writes all of it but the quoted part."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from approvals import edits, switches
from approvals.models import LIVE, Request, Rule, Run, State
from core.cards import Button, Card
from core.display import one_line
from core.durations import words

STOPPED = " stopped it"
LOST = " may no longer ask for it"
"""How two reasons end, behind somebody's name: no new card would help."""
ALTERED = "its stored plan is not the one that was shown"
IN_WORDS = "What was shown is not there any more, so ask for it in words."
"""What to do where a request was altered or erased: nobody could ask again for what it held."""
APPROVERS = "May approve"
_EDITED = "Since then the message that asked for it was edited; the plan was not."
_ASKED_AGAIN = frozenset({State.EXPIRED, State.REVOKED, State.DENIED})


def rule_in_words(rule: Rule, votes: int = 0, *, counts: bool = True) -> str:
    """Return `1 of 2 votes, not the requester`; whether the requester `counts` the policy says too."""
    may = ", the requester may vote" if counts else ""
    who = may if rule.requester_may_vote else ", not the requester"
    factor = ", each with a second factor" if rule.second_factor else ""
    return f"{votes} of {rule.quorum} vote{'s' if rule.quorum > 1 else ''}{who}{factor}"


def _counts(request: Request) -> bool:
    """Whether the requester was among those who may approve, when the card was made."""
    approvers = (fact.text for fact in request.card.facts if fact.label == APPROVERS)
    return any(request.requester in text.split(", ") for text in approvers)


def status(request: Request) -> str:
    """Say where a request is and who brought it there, in one line."""
    voters, votes = names(request.voters), len(request.votes)
    if request.under:
        voters = f"{voters} in standing grant {request.under.grant}"
    agreed = f" ({voters})" if voters else ""
    denied = f": {_sentence(request.reason)}" if request.reason else ", no reason given."
    expired = f"with {votes} of {request.rule.quorum} vote{'s' if request.rule.quorum > 1 else ''}"
    glass = _glass(request.broken_by, request.broken_why)
    held = f"{glass}{_held(request)}"
    then = "begin" if asks_to_grant(request) else "run"
    return {
        State.OPEN: f"Open: {rule_in_words(request.rule, votes, counts=_counts(request))}{agreed}.{held}",
        State.GRANTED: f"Approved by {voters}; waiting to {then}.{held}",
        State.SPENT: f"Approved by {voters}.{glass}",
        State.DENIED: f"Denied by {request.ended_by}{denied}",
        State.EXPIRED: f"Expired at {at(request.expires_at)} {expired}. {_after(request)}",
        State.REVOKED: f"Revoked: {one_line(request.reason)}. {_after(request)}",
        State.SUPERSEDED: f"Superseded: {request.ended_by} {_why(request)}.",
    }[request.state]


def _why(request: Request) -> str:
    if request.became is None:
        return "asked again, so there is a newer card"
    return f"edited it, so no vote for it counts; what waits now is {request.became}"


def asks_to_grant(request: Request) -> bool:
    """Whether a request asks for a standing grant: to ask again for it is to propose it again."""
    return request.is_intact and request.plan.standing is not None


def _held(request: Request) -> str:
    """Say what holds it back, behind a blank; else nothing."""
    risks = [call.risk for call in request.plan.calls] if request.is_intact else ["*"]
    why = [
        brake.why
        for brake in request.brakes
        if brake.holds(risks) and (brake.is_pause or not request.broken_by)
    ]
    return f" Held back: {'; '.join(why)}." if why else ""


def _glass(by: str | None, why: str) -> str:
    """Say who let it run alone and why, behind a blank; else nothing."""
    return f" Glass broken by {by}: {one_line(why)}." if by else ""


def glass(request: Request) -> str:
    """Tell everybody who might have been asked that one person alone let it run."""
    about = ", ".join(request.plan.tools)
    alone = " alone" if len(request.votes) < request.rule.quorum else ""
    return (
        f"Glass broken: {request.broken_by}{alone} lets {about} run, with {len(request.votes)} of "
        f"{request.rule.quorum} vote{'s' if request.rule.quorum > 1 else ''}: "
        f"{one_line(request.broken_why)}. Deny or stop it if that is wrong."
    )


def expired(request: Request) -> str:
    """Tell whoever asked, and a model, that nobody decided it in time."""
    votes, quorum = len(request.votes), request.rule.quorum
    agreed = request.broken_by or votes >= quorum
    began = "It was approved and could not run within" if agreed else "Nobody decided it in"
    return (
        f"{began} {words(request.rule.expires)}: expired with {votes} of {quorum} "
        f"vote{'s' if quorum > 1 else ''}, and not run. That is no denial. Press Ask again to get a "
        "new card."
    )


def handed_over(request: Request, by: str, to: str) -> str:
    """Ask somebody to decide a request."""
    about = ", ".join(request.plan.tools)
    return f"{by} asks {to} to decide {about}: {rule_in_words(request.rule, len(request.votes))}."


def escalation(request: Request, told: Sequence[str], approvers: Sequence[str]) -> str:
    """Tell others that a request still waits, and whose votes it waits for: telling gives no right."""
    return (
        f"Still nobody decided it, so {names(told)} should know. It waits until "
        f"{at(request.expires_at)}; may approve: {names(approvers) or 'nobody'}."
    )


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
        buttons = edits.with_button(request)
    elif request.state in _ASKED_AGAIN and request.is_intact and not asks_to_grant(request):
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
