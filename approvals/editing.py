"""Editing: somebody gives a plan that waits other arguments, and it becomes another request."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from approvals import cards, denials, edit_forms, edits, entitlement
from approvals.gate import Gate
from approvals.models import Denial, Request, State
from approvals.policy import Authority
from approvals.proposals import Proposal
from core.errors import Incorrect, Refused, SaysoError
from core.events import BeginEdit, Edit
from core.forms import Form
from core.guardrails import Guarding, Guards, Proposed
from core.principals import Principal
from core.tools import Checked, Toolbox
from core.trail import Happening


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing:
    """Makes a new request out of an open one. Nothing of the old one is kept but who asked for it."""

    gate: Gate
    guards: Guards = field(default_factory=Guards)

    async def edit(self, edit: Edit) -> Request:
        """Supersede a request with one of other arguments, which nobody has voted for; return that.

        Whoever edits it counts as a requester of it from then on. Raises with the reason, on
        record, where it may not be or somebody was faster: then the old one is as it was.
        """
        authority, principal, request = await self._seen(edit)
        try:
            return await self._edited(authority, principal, request, edit)
        except SaysoError as error:
            await self._note(principal, request, error)
            raise

    async def form(self, begin: BeginEdit) -> Form | str:
        """Return the window in which somebody may edit a request, or how to do it in words."""
        _, _, request = await self._seen(begin)
        found = edit_forms.form(request, self.gate.toolbox(), self.gate.redactor)
        return found or edit_forms.in_words(request)

    async def _seen(self, edit: Edit | BeginEdit) -> tuple[Authority, Principal, Request]:
        """Return who edits, and an open request that they may edit; raise `Refused`, on record, else."""
        gate = self.gate
        await gate.acting.admit(edit.identity, "edits")
        authority, principal, request = await gate.seen(edit.identity, edit.request)
        if request.state is not State.OPEN:
            logged = f"Too late: it is {request.state.value}."
            await gate.acting.refuse(principal, request.id, cards.too_late(request), logged=logged)
        reason = entitlement.not_an_editor(authority, principal, request)
        if reason:
            await gate.acting.refuse(principal, request.id, reason)
        return authority, principal, request

    async def _edited(
        self, authority: Authority, principal: Principal, request: Request, edit: Edit
    ) -> Request:
        gate = self.gate
        off = gate.switches.obstacle()
        if off:
            raise Refused(f"Not edited: {off}.")
        calls = _read(request, gate.toolbox(), edit)
        await self._must_pass(authority, principal, request, calls)
        proposal = _proposal(request, calls, principal.id)
        await gate.holding.must_not_hold(authority, proposal)
        now, frozen = await gate.preparing.prepared(proposal)
        new = await gate.preparing.drafted(proposal, frozen, now, was=request.plan)
        became = await gate.store.edit(new)
        if isinstance(became, Denial):
            raise denials.refused(became)
        if became.id != new.id:
            raise Refused(cards.too_late(became), logged=f"Too late: it is {became.state.value}.")
        return became

    async def _must_pass(
        self,
        authority: Authority,
        principal: Principal,
        request: Request,
        calls: Sequence[Checked],
    ) -> None:
        """Do what else is done with the calls of a model: rates of the tools, and the guardrails."""
        rates = [rate for one in calls if (rate := authority.rates.of(one.tool.name))]
        lacking = await self.gate.acting.rates.take(principal.tenant, principal.id, rates)
        if lacking:
            raise Refused(lacking[0].refusal("Not edited: you may do this"))
        guarding = Guarding(
            guards=self.guards,
            redactor=self.gate.redactor,
            trail=_nowhere,
            turn=f"edit of {request.id}",
        )
        violation = await guarding.screen(Proposed(calls=tuple(calls), about=request.about))
        if violation:
            raise Refused(f"Not edited: {violation.why}. Nothing was changed; edit it otherwise.")

    async def _note(self, principal: Principal, request: Request, error: SaysoError) -> None:
        await self.gate.store.attempt_refused(
            principal.tenant,
            principal=principal.id,
            request=request.id,
            why=self.gate.redactor.text(error.logged),
        )


def _read(request: Request, toolbox: Toolbox, edit: Edit) -> tuple[Checked, ...]:
    """Return the calls with the new values; what can be corrected is told to a person, not a model."""
    try:
        return edits.edited(request.plan, toolbox, edit)
    except Incorrect as error:
        shown, logged = _to_a_person(error.shown), _to_a_person(error.logged)
        raise Incorrect(shown, logged=logged, argument=error.argument) from error


def _to_a_person(text: str) -> str:
    return text.replace("Call it again with that corrected.", "Correct that, and edit it again.")


def _proposal(request: Request, calls: tuple[Checked, ...], editor: str) -> Proposal:
    return Proposal(
        tenant=request.tenant,
        conversation=request.conversation,
        turn=request.turn,
        requester=request.requester,
        profile=request.profile,
        calls=calls,
        about=request.about,
        supersedes=request.id,
        editors=tuple(dict.fromkeys((*request.editors, editor))),
        edited_by=editor,
    )


async def _nowhere(_: Sequence[Happening]) -> None:
    """Keep nothing: what stops an edit is on record as an attempt."""
