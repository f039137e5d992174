"""Whatever the rules are, a decision is made, nothing is allowed by default, and a no wins."""

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Literal, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.policy import EVERYONE, Action, Allowed, Forbidden, Policy, PolicyRule
from core.principals import Principal

ACTIONS: tuple[Action, ...] = get_args(Action)
ASKED = st.sampled_from(["plan:approve", "plan:approve", "run:propose", "chat:ask"])
RESOURCES = st.sampled_from(["runbook:web", "runbook:db", "tool:x", ""])
EFFECTS: tuple[Literal["allow", "deny"], ...] = ("allow", "deny")
GROUPS = st.frozensets(st.sampled_from(["ops", "dev", EVERYONE]), min_size=1, max_size=2)
HELD = st.sampled_from([frozenset[str](), frozenset({"ops"}), frozenset({"dev"})])
ABOUT = st.sampled_from(["*", "plan:*", "plan:approve", "?lan:approve", "PLAN:*", "run:propose"])
ON = st.sampled_from(["*", "runbook:*", "runbook:web", "runbook:[!w]*", "runbook:[", "Runbook:*"])
NOISE = st.text(alphabet="*?[]!-:aW\u202e\n", max_size=6)


def lines(
    about: st.SearchStrategy[str], on: st.SearchStrategy[str]
) -> st.SearchStrategy[tuple[PolicyRule, ...]]:
    """Return policies of some lines, each named after its place."""
    line = st.builds(
        PolicyRule,
        id=st.just(""),
        effect=st.sampled_from(EFFECTS),
        action=about,
        resource=on,
        groups=GROUPS,
    )
    return st.lists(line, max_size=5).map(
        lambda found: tuple(replace(each, id=str(n)) for n, each in enumerate(found))
    )


RULES = lines(ABOUT, ON)
PEOPLE = st.builds(
    Principal,
    id=st.just("alice"),
    tenant=st.just("acme"),
    groups=HELD,
    unsure=HELD,
)


def policy(rules: tuple[PolicyRule, ...]) -> Policy:
    return Policy(rules=rules, risks={})


def matches(rule: PolicyRule, effect: str, action: str, resource: str, groups: set[str]) -> bool:
    """Return whether a line says this, told without a word of the code that decides."""
    about = fnmatchcase(action, rule.action) and fnmatchcase(resource, rule.resource)
    return about and rule.effect == effect and not groups.isdisjoint(rule.groups)


@settings(max_examples=500)
@given(RULES, PEOPLE, ASKED, RESOURCES)
def test_every_question_has_an_answer_that_names_the_line_behind_it(
    rules: tuple[PolicyRule, ...], who: Principal, action: Action, resource: str
) -> None:
    certain = {*who.groups, EVERYONE}
    against = [r.id for r in rules if matches(r, "deny", action, resource, certain | who.unsure)]
    for_it = [r.id for r in rules if matches(r, "allow", action, resource, certain)]
    decision = policy(rules).decide(who, action, resource)
    if against:
        assert decision == Forbidden(rule=against[0])
    elif for_it:
        assert decision == Allowed(rule=for_it[0])
    else:
        assert decision == Forbidden(rule=None)
    assert policy(rules).may(who, action, [resource]) is isinstance(decision, Allowed)


@given(RULES, PEOPLE, ASKED, RESOURCES, st.data())
def test_the_order_of_the_lines_changes_no_answer(
    rules: tuple[PolicyRule, ...],
    who: Principal,
    action: Action,
    resource: str,
    data: st.DataObject,
) -> None:
    mixed = tuple(data.draw(st.permutations(rules)))
    one, other = (policy(r).decide(who, action, resource) for r in (rules, mixed))
    assert type(one) is type(other)


@given(RULES, PEOPLE, ASKED, RESOURCES)
def test_one_more_line_that_denies_takes_and_never_gives(
    rules: tuple[PolicyRule, ...], who: Principal, action: Action, resource: str
) -> None:
    denying = PolicyRule(
        id="no", effect="deny", action="*", resource="*", groups=frozenset({EVERYONE})
    )
    for place in range(len(rules) + 1):
        more = (*rules[:place], denying, *rules[place:])
        assert isinstance(policy(more).decide(who, action, resource), Forbidden)


@given(lines(ABOUT | NOISE, ON | NOISE), PEOPLE, st.sampled_from(ACTIONS), NOISE | st.text())
def test_whatever_the_lines_and_the_question_hold_there_is_an_answer(
    rules: tuple[PolicyRule, ...], who: Principal, action: Action, resource: str
) -> None:
    decision = policy(rules).decide(who, action, resource)
    assert decision.rule is None or decision.rule in {rule.id for rule in rules}
    assert isinstance(decision, Forbidden) or decision.rule is not None
    assert policy(()).decide(who, action, resource) == Forbidden(rule=None)
