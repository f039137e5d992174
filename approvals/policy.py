"""Who may do what, and how many must agree. Pure: every rule is a table of cases in a test.

Nothing is allowed unless a rule allows it, and one rule that denies beats all that allow.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from approvals.models import Rule
from approvals.windows import Window
from core.canonical import JsonObject, digest
from core.errors import Refused
from core.principals import Directory, Principal
from core.profiles import Profiles
from core.rates import UNHURRIED, RateRules

EVERYONE = "everyone"
Action: TypeAlias = Literal[
    "chat:ask",
    "tool:read",
    "run:propose",
    "plan:approve",
    "plan:break_glass",
    "plan:deny",
    "plan:edit",
    "run:stop",
    "run:resolve",
    "grant:propose",
    "grant:revoke",
    "tenant:pause",
]
_DECIDING: tuple[Action, ...] = (
    "run:propose", "plan:approve", "plan:deny", "plan:break_glass",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One line of the policy. `action` and `resource` may hold `*`."""

    id: str
    effect: Literal["allow", "deny"]
    action: str
    resource: str
    groups: frozenset[str]

    def concerns(self, action: str, resource: str) -> bool:
        """Whether this line is about that action on that resource."""
        return fnmatchcase(action, self.action) and fnmatchcase(resource, self.resource)

    def values(self) -> JsonObject:
        """Return what the line says, for a digest."""
        return {
            "effect": self.effect,
            "action": self.action,
            "resource": self.resource,
            "groups": sorted(self.groups),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Yes, because of this rule."""

    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """No: because of this rule, or because no rule allows it."""

    rule: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """After which part of its time a request is told to other groups. It gives nobody a right."""

    part: float
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Who may, and the rule of each risk class."""

    rules: tuple[PolicyRule, ...]
    risks: Mapping[str, Rule]
    reminders: Mapping[str, float] = field(default_factory=dict[str, float])
    """After which part of its time a request of a risk is brought to mind. It decides nothing."""
    escalations: Mapping[str, Escalation] = field(default_factory=dict[str, Escalation])
    """Who else is told of a request of a risk, and when. It decides nothing."""
    windows: tuple[Window, ...] = ()
    """When nothing is proposed or run. They decide nothing about who."""

    def decide(self, principal: Principal, action: Action, resource: str) -> Allowed | Forbidden:
        """Return the decision and the id of the line that made it."""
        groups = principal.groups | {EVERYONE}
        concerned = [rule for rule in self.rules if rule.concerns(action, resource)]
        for rule in concerned:
            if rule.effect == "deny" and rule.groups & (groups | principal.unsure):
                return Forbidden(rule=rule.id)
        allowing = [r for r in concerned if r.effect == "allow" and r.groups & groups]
        return Allowed(rule=allowing[0].id) if allowing else Forbidden(rule=None)

    def may(self, principal: Principal, action: Action, resources: Iterable[str]) -> bool:
        """Whether somebody may do this to every one of these; to none of them is no."""
        decisions = [self.decide(principal, action, resource) for resource in resources]
        return bool(decisions) and all(isinstance(d, Allowed) for d in decisions)

    def may_any(self, principal: Principal, action: Action, resources: Iterable[str]) -> bool:
        """Whether somebody may do this to at least one of these."""
        return any(self.may(principal, action, [resource]) for resource in resources)

    def strictest(self, risks: Iterable[str]) -> Rule:
        """Return one rule that is as strict as each of these; raise `Refused` for an unknown one."""
        rules = [self._rule(risk) for risk in dict.fromkeys(risks)]
        return Rule(
            name="+".join(rule.name for rule in rules),
            quorum=max(rule.quorum for rule in rules),
            requester_may_vote=all(rule.requester_may_vote for rule in rules),
            expires=min(rule.expires for rule in rules),
            second_factor=any(rule.second_factor for rule in rules),
        )

    def reminder(self, risks: Iterable[str]) -> float | None:
        """Return the earliest reminder of these, as a part of a request's time; None for none."""
        return min((self.reminders[r] for r in risks if r in self.reminders), default=None)

    def escalation(self, risks: Iterable[str]) -> Escalation | None:
        """Return the earliest escalation of these, which tells the groups of all of them; or None."""
        found = [self.escalations[r] for r in risks if r in self.escalations]
        groups = frozenset[str]().union(*(one.groups for one in found))
        return Escalation(part=min(one.part for one in found), groups=groups) if found else None

    def digest(self, resources: Iterable[str], risks: Iterable[str]) -> str:
        """Return the digest of every rule that decides a plan over these resources."""
        rule = self.strictest(risks)
        wanted = tuple(resources)
        lines = [
            line.values()
            for line in self.rules
            if any(line.concerns(action, resource) for action in _DECIDING for resource in wanted)
        ]
        return digest(
            {
                "policy": lines,
                "rule": {
                    "name": rule.name,
                    "quorum": rule.quorum,
                    "requester_may_vote": rule.requester_may_vote,
                    "expires_ms": int(rule.expires.total_seconds() * 1000),
                    **rule.extras(),
                },
            }
        )

    def _rule(self, risk: str) -> Rule:
        if risk not in self.risks:
            raise Refused(
                f"There is no rule for the risk {risk!a}. An operator has to add one to `approvals`."
            )
        return self.risks[risk]


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """People and rules as they are at one moment, read together."""

    directory: Directory
    policy: Policy
    profiles: Profiles = field(default_factory=Profiles)
    rates: RateRules = UNHURRIED
    linking: bool = False
    """Whether accounts count that people linked to themselves."""

    def holders(self, tenant: str, action: Action, resources: Iterable[str]) -> tuple[str, ...]:
        """Return who may do this to every one of these, by name.

        Rules know groups and nobody by name, so that people in the same ones are decided on once.
        """
        wanted = tuple(resources)
        people = self.directory.members(tenant)
        alike = {(p.groups, p.unsure): p for p in people}
        may = {groups: self.policy.may(p, action, wanted) for groups, p in alike.items()}
        return tuple(p.id for p in people if may[p.groups, p.unsure])
