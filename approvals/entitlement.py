"""Who may do what to one request. Pure: values in, a sentence or a set of names out."""

from collections.abc import Sequence

from approvals.cards import names
from approvals.models import Request, Rule, State
from approvals.policy import Authority
from approvals.proposals import Proposal
from core.conversations import Turn
from core.events import Place
from core.principals import Principal
from core.tools import of_runbook

_NOT_ALONE = "What runs again and again without a card takes all the votes of its rule."


def resources(request: Request) -> tuple[str, ...]:
    """Return what a request is about, as the policy names it.

    Where its plan was altered or erased nobody can tell: it is for whoever may do it to everything.
    """
    return tuple(map(of_runbook, request.plan.tools if request.is_intact else ("*",)))


def requesters(one: Proposal | Request) -> tuple[str, ...]:
    """Return who counts as having asked for it: who did, and everybody who has edited it."""
    return tuple(dict.fromkeys((one.requester, *one.editors)))


def may_propose(
    authority: Authority, tenant: str, requester: str, profile: str, tools: Sequence[str]
) -> bool:
    """Whether somebody, as they are now, may ask for every one of these through a profile (C68)."""
    person, scope = authority.directory.find(tenant, requester), authority.profiles.named(profile)
    if person is None or scope is None or not all(map(scope.allows, tools)):
        return False
    return authority.policy.may(person, "run:propose", map(of_runbook, tools))


def not_proposed(authority: Authority, proposal: Proposal, asker: str) -> str | None:
    """Say which of its requesters may not ask for all of it, to the one who does; None where all may."""
    tools = [checked.tool.name for checked in proposal.calls]
    asked = (proposal.profile, tools)
    barred = [
        name
        for name in requesters(proposal)
        if not may_propose(authority, proposal.tenant, name, *asked)
    ]
    if asker in barred:
        return f"Not proposed: you may not ask for this.{doubt(authority, asker)}"
    if barred:
        unsure = doubt(authority, barred[0])
        return f"Not proposed: {names(barred)} may no longer ask for this.{unsure}"
    return None


def may_see(authority: Authority, principal: Principal, request: Request) -> bool:
    """Whether somebody may know of it: who asked, and who may decide, edit or stop any of its calls."""
    if principal.id in requesters(request):
        return True
    about = resources(request)
    return any(
        authority.policy.may_any(principal, action, about)
        for action in ("plan:approve", "plan:deny", "plan:break_glass", "plan:edit", "run:stop")
    )


def may_stop(authority: Authority, principal: Principal, request: Request) -> bool:
    """Whether somebody may stop it: who asked, always; and whoever has the right for all of it."""
    own = principal.id in requesters(request)
    return own or authority.policy.may(principal, "run:stop", resources(request))


def may_chat(authority: Authority, principal: Principal, place: Place) -> bool:
    """Whether somebody may ask Sayso there, and so knows what is going on there.

    Never in a workspace of another tenant, into which a shared channel may bring them (I14).
    """
    if authority.directory.workspaces.get((place.platform, place.workspace)) != principal.tenant:
        return False
    return authority.policy.may(principal, "chat:ask", [place.resource])


def may_stop_turn(authority: Authority, principal: Principal, turn: Turn) -> bool:
    """Whether somebody may stop an answer: who asked, always; and whoever may stop things there."""
    own = principal.id == turn.principal
    return own or authority.policy.may(principal, "run:stop", [turn.place.resource])


def may_pause(authority: Authority, principal: Principal) -> bool:
    """Whether somebody may hold back all that would run in their tenant, and let it go on.

    Where no line of the policy speaks of that, it is for whoever may stop everything.
    """
    about = f"tenant:{principal.tenant}"
    if any(rule.concerns("tenant:pause", about) for rule in authority.policy.rules):
        return authority.policy.may(principal, "tenant:pause", [about])
    return authority.policy.may(principal, "run:stop", ["*"])


def pausers(authority: Authority, tenant: str) -> tuple[str, ...]:
    """Return who may do that, by name."""
    people = authority.directory.members(tenant)
    return tuple(person.id for person in people if may_pause(authority, person))


def voters(rule: Rule, asked: tuple[str, ...], holders: Sequence[str]) -> tuple[str, ...]:
    """Return whose yes counts among those who may approve what these people asked for."""
    return tuple(name for name in holders if rule.requester_may_vote or name not in asked)


def yet_to_vote(authority: Authority, request: Request) -> tuple[str, ...]:
    """Return whose yes would count now and is not there yet."""
    holders = authority.holders(request.tenant, "plan:approve", resources(request))
    allowed = voters(request.rule, requesters(request), holders)
    return tuple(name for name in allowed if name not in request.voters)


def not_a_voter(authority: Authority, principal: Principal, request: Request) -> str | None:
    """Say why this person's yes would not count, and whose would; None where it counts."""
    holders = authority.holders(request.tenant, "plan:approve", resources(request))
    allowed = voters(request.rule, requesters(request), holders)
    if principal.id in allowed:
        return None
    whose = f"{names(allowed)} may" if allowed else "nobody may right now"
    if principal.id in holders:
        did = "asked for" if principal.id == request.requester else "edited"
        return f"You {did} this, so somebody else has to approve it: {whose}."
    return f"You may not approve this; {whose}.{doubt(authority, principal.id)}"


def not_an_editor(authority: Authority, principal: Principal, request: Request) -> str | None:
    """Say why somebody may not edit a request, and who may; None where they may.

    Whoever asked for it may, as long as they may ask for it at all; anybody else needs `plan:edit`.
    """
    holders = authority.holders(request.tenant, "plan:edit", resources(request))
    if principal.id in {request.requester, *holders}:
        return None
    whose = names(tuple(dict.fromkeys((request.requester, *holders))))
    return f"You may not edit this; {whose} may.{doubt(authority, principal.id)}"


def breakers(authority: Authority, request: Request) -> tuple[str, ...]:
    """Return who may let it run alone: the requester only where the rule lets them vote."""
    holders = authority.holders(request.tenant, "plan:break_glass", resources(request))
    return voters(request.rule, requesters(request), holders)


def may_break(authority: Authority, proposal: Proposal) -> bool:
    """Whether whoever proposes or edits may break the glass, so that it can be done in a freeze too."""
    asker = proposal.edited_by or proposal.requester
    person = authority.directory.find(proposal.tenant, asker)
    about = [checked.tool.resource for checked in proposal.calls]
    return person is not None and authority.policy.may(person, "plan:break_glass", about)


def not_a_breaker(authority: Authority, principal: Principal, request: Request) -> str | None:
    """Say why this person may not let it run alone, and who may; None where they may."""
    if request.plan.standing:
        return _NOT_ALONE
    allowed = breakers(authority, request)
    if principal.id in allowed:
        return None
    whose = f"{names(allowed)} may" if allowed else "nobody may right now"
    may = f"You may not break the glass for this (plan:break_glass); {whose}."
    return f"{may}{doubt(authority, principal.id)}"


def not_again(authority: Authority, request: Request) -> str:
    """Say why somebody may not ask for something once more, and who may."""
    holders = authority.holders(request.tenant, "plan:approve", resources(request))
    whose = f"{names(holders)} may" if holders else "nobody may right now"
    if request.state is State.DENIED:
        return f"This was denied, so only who may approve it may ask for it again: {whose}."
    return f"Somebody else asked for this, so only they and who may approve it may again: {whose}."


def doubt(authority: Authority, person: str) -> str:
    """Return the sentence, behind a blank, of what could not be asked about somebody; else nothing."""
    found = authority.directory.doubts.get(person)
    return f" {found}." if found else ""


def lost(authority: Authority, request: Request) -> str | None:
    """Say who provably no longer holds the authority that this request rests on, or None."""
    right, without = _without(authority, request)
    gone = [name for name in without if name not in authority.directory.doubts]
    absent = authority.directory.absent
    because = names([absent[name].why for name in gone if name in absent])
    so = f"{because}, so " if because else ""
    return f"{so}{names(gone)} may no longer {right}" if gone else None


def unchecked(authority: Authority, request: Request) -> str | None:
    """Say of whom it could not be asked whether they still hold that authority, or None."""
    right, without = _without(authority, request)
    doubts = {name: authority.directory.doubts.get(name) for name in without}
    who = [name for name in without if doubts[name]]
    why = next(filter(None, doubts.values()), None)
    return f"whether {names(who)} may still {right} could not be checked: {why}" if who else None


def _without(authority: Authority, request: Request) -> tuple[str, list[str]]:
    """Return a right that this request rests on, and of whose it is those that do not hold it."""
    asked, through = requesters(request), (request.profile, request.plan.tools)
    barred = [one for one in asked if not may_propose(authority, request.tenant, one, *through)]
    if barred:
        return "ask for it", barred
    holders = authority.holders(request.tenant, "plan:approve", resources(request))
    gone = set(request.voters) - set(voters(request.rule, asked, holders))
    if request.broken_by:
        if request.broken_by not in breakers(authority, request):
            return "break the glass for it", [request.broken_by]
        gone.discard(request.broken_by)
    return "approve it", sorted(gone)
