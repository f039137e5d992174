"""What Sayso says of itself: what can be done with it, and by whom."""

from collections.abc import Iterator
from dataclasses import dataclass

from approvals.cards import names
from approvals.gate import Gate
from approvals.policy import Action, Authority
from core.events import Place
from core.principals import Identity, Principal
from core.tools import Effect, Tool, of_runbook

_MOST = 15
_HOW = (
    "Ask with /ask, by mentioning me or in a thread of mine: in words, or by name as below. I look "
    "around by myself. What would change something becomes a card that shows all of it, and runs "
    "once, after people with the authority approved it. /stop stops; in a thread, the word stop does. "
    "More words there, behind a !: requests, runs, grants, grant, edit, undo, output, handover, lift, "
    "pause, resume and break-glass."
)
_LOOKS: tuple[tuple[str, Action], ...] = (("look", "tool:read"),)
_CHANGES: tuple[tuple[str, Action], ...] = (
    ("ask for it", "run:propose"),
    ("approve it", "plan:approve"),
)
_NOTHING = "Nothing is set up that you may use here. Ask an operator: policy.rules in sayso.yml."


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcoming:
    """Tells newcomers, a channel or a person, what there is."""

    gate: Gate

    async def to_channel(self, place: Place) -> str:
        """Return what a channel is told when Sayso was brought into it."""
        authority = self.gate.acting.authority()
        tenant = authority.directory.workspaces.get((place.platform, place.workspace))
        if tenant is None:
            return "This workspace is nobody's here. An operator has to list it under `tenants`."
        here = [tool for tool in self.gate.toolbox() if tool.is_in(place)]
        lines = [self._for_all(authority, tenant, tool) for tool in here]
        return "\n".join(["Hello, I am Sayso.", _HOW, *_some(lines)])

    async def to_person(self, identity: Identity, place: Place | None = None) -> str:
        """Return what somebody may do, anywhere or in a channel; raise `Refused` for a stranger."""
        authority, principal = await self.gate.acting.admit(identity, "looks")
        if place and not authority.policy.may(principal, "chat:ask", [place.resource]):
            return _NOTHING
        lines = [*self._for_one(authority, principal, place)]
        return "\n".join([_HOW, *_some(lines)]) if lines else _NOTHING

    def _for_all(self, authority: Authority, tenant: str, tool: Tool) -> str:
        about = [of_runbook(tool.name)]
        if tool.effect is Effect.READ:
            askers = authority.holders(tenant, "tool:read", about)
            return f"{tool.name}: {tool.summary} Only looks. For {names(askers) or 'nobody'}."
        askers = authority.holders(tenant, "run:propose", about)
        approvers = authority.holders(tenant, "plan:approve", about)
        return (
            f"{tool.name}: {tool.summary} For {names(askers) or 'nobody'}; "
            f"approved by {names(approvers) or 'nobody'}."
        )

    def _for_one(
        self, authority: Authority, principal: Principal, place: Place | None
    ) -> Iterator[str]:
        for tool in self.gate.toolbox():
            if place and not tool.is_in(place):
                continue
            about = [of_runbook(tool.name)]
            can = [
                verb
                for verb, action in (_LOOKS if tool.effect is Effect.READ else _CHANGES)
                if authority.policy.may(principal, action, about)
            ]
            if can:
                yield f"{tool.name}: {tool.summary} You may {names(can)}."


def _some(lines: list[str]) -> list[str]:
    more = [f"And {len(lines) - _MOST} more: help tells all."] if len(lines) > _MOST else []
    return [*lines[:_MOST], *more]
