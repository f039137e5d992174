"""Who may, and how many must agree: each rule as a table of cases."""

from dataclasses import replace
from datetime import timedelta
from typing import Literal

import pytest

from approvals.models import Rule
from approvals.policy import Action, Allowed, Authority, Forbidden, Policy, PolicyRule
from core.errors import Refused
from core.principals import Directory, Identity, Person, Principal

HOUR = timedelta(hours=1)
RISKS = {
    "low": Rule(name="low", quorum=1, requester_may_vote=True, expires=24 * HOUR),
    "medium": Rule(name="medium", quorum=1, requester_may_vote=False, expires=8 * HOUR),
    "high": Rule(name="high", quorum=2, requester_may_vote=False, expires=4 * HOUR),
    "slow": Rule(name="slow", quorum=3, requester_may_vote=True, expires=72 * HOUR),
}


def rule(
    name: str,
    effect: Literal["allow", "deny"] = "allow",
    action: str = "plan:approve",
    resource: str = "*",
    *groups: str,
) -> PolicyRule:
    return PolicyRule(
        id=name,
        effect=effect,
        action=action,
        resource=resource,
        groups=frozenset(groups or ("everyone",)),
    )


def policy(*rules: PolicyRule) -> Policy:
    return Policy(rules=rules, risks=RISKS)


def person(*groups: str) -> Principal:
    return Principal(id="alice", tenant="acme", groups=frozenset(groups))


RULES = (
    rule("ops", "allow", "plan:*", "runbook:*", "ops"),
    rule("nobody-prod", "deny", "plan:approve", "runbook:prod-*", "everyone"),
    rule("web", "allow", "run:propose", "runbook:restart-web", "everyone"),
    rule("later", "allow", "run:propose", "runbook:*", "everyone"),
    rule("case", "allow", "tool:read", "runbook:Logs", "everyone"),
)


@pytest.mark.parametrize(
    ("groups", "action", "resource", "decision"),
    [
        (("ops",), "plan:approve", "runbook:x", Allowed(rule="ops")),
        (("ops",), "plan:deny", "runbook:prod-x", Allowed(rule="ops")),
        (("ops",), "plan:approve", "runbook:prod-x", Forbidden(rule="nobody-prod")),
        ((), "plan:approve", "runbook:x", Forbidden(rule=None)),
        (("dev",), "plan:approve", "runbook:x", Forbidden(rule=None)),
        ((), "run:propose", "runbook:restart-web", Allowed(rule="web")),
        ((), "run:propose", "runbook:other", Allowed(rule="later")),
        ((), "tool:read", "runbook:Logs", Allowed(rule="case")),
        ((), "tool:read", "runbook:logs", Forbidden(rule=None)),
        (("ops",), "run:stop", "runbook:x", Forbidden(rule=None)),
        (("ops",), "plan:approve", "channel:x", Forbidden(rule=None)),
    ],
)
def test_the_decision_names_the_line_that_made_it(
    groups: tuple[str, ...], action: Action, resource: str, decision: Allowed | Forbidden
) -> None:
    assert policy(*RULES).decide(person(*groups), action, resource) == decision


def test_without_rules_nobody_may_do_anything() -> None:
    assert policy().decide(person("ops"), "plan:approve", "runbook:x") == Forbidden(rule=None)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_line_that_denies_beats_all_that_allow_wherever_it_stands(position: int) -> None:
    rules = [rule("a"), rule("b")]
    rules.insert(position, rule("no", "deny"))
    assert policy(*rules).decide(person(), "plan:approve", "x") == Forbidden(rule="no")


def test_p36_a_group_that_could_not_be_asked_allows_nothing_and_still_denies() -> None:
    unsure = replace(person(), groups=frozenset[str](), unsure=frozenset({"ops"}))
    allowing = replace(rule("ops"), groups=frozenset({"ops"}))
    denying = replace(allowing, id="no", effect="deny")
    assert policy(allowing).decide(unsure, "plan:approve", "x") == Forbidden(rule=None)
    both = policy(rule("everybody"), denying)
    assert both.decide(unsure, "plan:approve", "x") == Forbidden(rule="no")


def test_p36_who_is_in_the_same_groups_and_in_doubt_is_decided_on_apart() -> None:
    here = {
        name: frozenset({Identity(platform="slack", workspace="T", user=name)})
        for name in ("alice", "bob", "carol", "dan")
    }
    sre, ops = frozenset({"sre"}), frozenset({"ops"})
    people = {
        "alice": Person(identities=here["alice"], groups=sre, unsure=ops),
        "bob": Person(identities=here["bob"], groups=sre),
        "carol": Person(identities=here["carol"], groups=ops),
        "dan": Person(identities=here["dan"], groups=sre),
    }
    directory = Directory(workspaces={("slack", "T"): "acme"}, people=people)
    rules = policy(rule("sre", "allow", "plan:*", "*", "sre"), rule("no", "deny", "*", "*", "ops"))
    authority = Authority(directory=directory, policy=rules)
    assert authority.holders("acme", "plan:approve", ["x"]) == ("bob", "dan")


def test_a_line_for_no_group_concerns_nobody() -> None:
    empty = replace(rule("empty"), groups=frozenset())
    assert policy(empty).decide(person("ops"), "plan:approve", "x") == Forbidden(rule=None)


def test_somebody_may_do_something_to_several_only_if_to_each_and_to_none_is_no() -> None:
    rules = policy(rule("a", "allow", "plan:approve", "runbook:a"))
    assert rules.may(person(), "plan:approve", ["runbook:a"])
    assert not rules.may(person(), "plan:approve", ["runbook:a", "runbook:b"])
    assert not rules.may(person(), "plan:approve", [])
    assert rules.may_any(person(), "plan:approve", ["runbook:b", "runbook:a"])
    assert not rules.may_any(person(), "plan:approve", ["runbook:b"])
    assert not rules.may_any(person(), "plan:approve", [])


@pytest.mark.parametrize(
    ("risks", "strictest"),
    [
        (("low",), RISKS["low"]),
        (("high", "high"), RISKS["high"]),
        (
            ("low", "high"),
            Rule(name="low+high", quorum=2, requester_may_vote=False, expires=4 * HOUR),
        ),
        (
            ("medium", "slow"),
            Rule(name="medium+slow", quorum=3, requester_may_vote=False, expires=8 * HOUR),
        ),
        (
            ("low", "slow"),
            Rule(name="low+slow", quorum=3, requester_may_vote=True, expires=24 * HOUR),
        ),
    ],
)
def test_the_strictest_of_several_is_as_strict_as_each_in_every_respect(
    risks: tuple[str, ...], strictest: Rule
) -> None:
    assert policy().strictest(risks) == strictest


def test_a_risk_without_a_rule_is_refused_and_the_operator_told_where_to_add_one() -> None:
    with pytest.raises(Refused) as refused:
        policy().strictest(["low", "nuclear\u202e"])
    assert refused.value.shown == (
        "There is no rule for the risk 'nuclear\\u202e'. An operator has to add one to `approvals`."
    )


DECIDING = policy(
    rule("propose", "allow", "run:propose", "runbook:a", "dev"),
    rule("approve", "allow", "plan:approve", "runbook:*", "ops"),
    rule("deny", "allow", "plan:*", "*", "lead"),
    rule("other", "allow", "plan:approve", "runbook:b", "ops"),
    rule("read", "allow", "tool:read", "runbook:a", "ops"),
    rule("stop", "allow", "run:stop", "*", "ops"),
)


def changed(index: int, **to: object) -> Policy:
    rules = list(DECIDING.rules)
    rules[index] = replace(rules[index], **to)  # type: ignore[arg-type]  # the table's columns
    return replace(DECIDING, rules=tuple(rules))


@pytest.mark.parametrize(
    "other",
    [
        changed(0, groups=frozenset({"dev", "guests"})),
        changed(0, effect="deny"),
        changed(1, action="plan:deny"),
        changed(1, resource="runbook:a"),
        changed(2, groups=frozenset({"nobody"})),
        changed(3, resource="runbook:?"),
        changed(5, action="*"),
        replace(DECIDING, rules=DECIDING.rules[1:]),
        replace(DECIDING, rules=(*DECIDING.rules, rule("new", "deny", "plan:deny", "runbook:a"))),
        replace(DECIDING, risks={"low": replace(RISKS["low"], quorum=2)}),
        replace(DECIDING, risks={"low": replace(RISKS["low"], requester_may_vote=False)}),
        replace(DECIDING, risks={"low": replace(RISKS["low"], expires=HOUR)}),
        replace(DECIDING, risks={"low": replace(RISKS["low"], name="lower")}),
    ],
)
def test_the_digest_changes_with_every_rule_that_decides(other: Policy) -> None:
    assert other.digest(["runbook:a"], ["low"]) != DECIDING.digest(["runbook:a"], ["low"])


@pytest.mark.parametrize(
    "other",
    [
        changed(0, id="renamed"),
        changed(3, groups=frozenset({"everyone"})),
        changed(4, groups=frozenset({"everyone"})),
        changed(5, effect="deny"),
        replace(DECIDING, rules=(*DECIDING.rules, rule("n", "deny", "plan:deny", "runbook:c"))),
        replace(DECIDING, risks={"low": RISKS["low"]}),
    ],
)
def test_the_digest_stays_when_only_other_rules_change(other: Policy) -> None:
    assert other.digest(["runbook:a"], ["low"]) == DECIDING.digest(["runbook:a"], ["low"])


def test_the_digest_covers_the_rules_of_every_call_of_a_plan() -> None:
    both = ["runbook:a", "runbook:b"]
    other = changed(3, groups=frozenset({"everyone"}))
    assert other.digest(both, ["low"]) != DECIDING.digest(both, ["low"])


def test_holders_are_those_of_the_tenant_who_may_do_it_to_every_one() -> None:
    def known(workspace: str, name: str, *groups: str) -> Person:
        identity = Identity(platform="console", workspace=workspace, user=name)
        return Person(identities=frozenset({identity}), groups=frozenset(groups))

    directory = Directory(
        workspaces={("console", "w1"): "acme", ("console", "w2"): "globex"},
        people={
            "zoe": known("w1", "zoe", "ops"),
            "bob": known("w1", "bob", "ops", "lead"),
            "dave": known("w1", "dave", "lead"),
            "eve": known("w2", "eve", "ops"),
        },
    )
    rules = policy(
        rule("a", "allow", "plan:approve", "runbook:a", "ops"),
        rule("b", "allow", "plan:approve", "runbook:b", "lead"),
    )
    authority = Authority(directory=directory, policy=rules)
    assert authority.holders("acme", "plan:approve", ["runbook:a"]) == ("bob", "zoe")
    assert authority.holders("acme", "plan:approve", iter(["runbook:a", "runbook:b"])) == ("bob",)
    assert authority.holders("globex", "plan:approve", ["runbook:a"]) == ("eve",)
    assert authority.holders("nowhere", "plan:approve", ["runbook:a"]) == ()


def test_the_earliest_reminder_of_several_risks_counts() -> None:
    reminding = replace(policy(), reminders={"low": 0.5, "medium": 0.25})
    assert reminding.reminder(["low", "medium", "high"]) == 0.25
    assert reminding.reminder(["low", "high"]) == 0.5
    assert reminding.reminder(["high"]) is None
