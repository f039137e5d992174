"""What one decision of the policy costs, beside a loop that looks one key up in a dict.

The rules, people and risks are those of a small team: ten lines of policy, four people. A promise is
about one decision; what a whole plan takes (its digest, who may vote) is printed without one.
"""

from collections.abc import Callable
from datetime import timedelta
from statistics import median
from time import process_time_ns

from approvals.models import Rule
from approvals.policy import Action, Allowed, Authority, Forbidden, Policy, PolicyRule
from core.principals import Directory, Identity, Person, Principal

TIMES, ROUNDS = 5_000, 9
PROMISE = "promise: at most 10 us"
LINES: tuple[tuple[str, str, str], ...] = (
    ("chat:ask", "*", "everyone"),
    ("tool:read", "runbook:*", "eng"),
    ("run:propose", "runbook:*", "eng"),
    ("plan:approve", "runbook:*", "sre"),
    ("plan:deny", "runbook:*", "eng"),
    ("plan:edit", "runbook:*", "eng"),
    ("run:stop", "*", "sre"),
    ("run:resolve", "*", "sre"),
    ("grant:propose", "runbook:*", "sre"),
    ("grant:revoke", "*", "sre"),
)
RULES = tuple(
    PolicyRule(id=str(n), effect="allow", action=a, resource=r, groups=frozenset({g}))
    for n, (a, r, g) in enumerate(LINES)
)
DENYING = PolicyRule(
    id="no", effect="deny", action="plan:*", resource="runbook:wipe", groups=frozenset({"sre"})
)
RISKS = {
    name: Rule(name=name, quorum=quorum, requester_may_vote=quorum < 2, expires=timedelta(hours=1))
    for name, quorum in (("low", 1), ("medium", 1), ("high", 2))
}
POLICY = Policy(rules=(*RULES, DENYING), risks=RISKS)
BOB = Principal(id="bob", tenant="acme", groups=frozenset({"eng", "sre"}))


def person(name: str, *groups: str) -> Person:
    account = Identity(platform="console", workspace="local", user=name)
    return Person(identities=frozenset({account}), groups=frozenset(groups))


AUTHORITY = Authority(
    directory=Directory(
        workspaces={("console", "local"): "acme"},
        people={
            "alice": person("alice", "eng"),
            "bob": person("bob", "eng", "sre"),
            "carol": person("carol", "sre", "leads"),
            "mallory": person("mallory"),
        },
    ),
    policy=POLICY,
)


def decided(action: Action, resource: str) -> Allowed | Forbidden:
    return POLICY.decide(BOB, action, resource)


def each_us(work: Callable[[], object]) -> float:
    """Return the CPU microseconds of one call: the median of some rounds of many."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = process_time_ns()
        for _ in range(TIMES):
            work()
        rounds.append((process_time_ns() - start) / TIMES / 1000)
    return median(rounds)


def main() -> None:
    known = {"bob": BOB}
    floor = each_us(lambda: known["bob"])
    works: dict[str, tuple[Callable[[], object], str]] = {
        "one look into a dict (the floor)": (lambda: known["bob"], ""),
        "decide: a line allows": (lambda: decided("plan:approve", "runbook:web"), PROMISE),
        "decide: a line denies": (lambda: decided("plan:approve", "runbook:wipe"), PROMISE),
        "decide: no line allows": (lambda: decided("plan:approve", "tool:x"), PROMISE),
        "may: one call": (lambda: POLICY.may(BOB, "plan:approve", ["runbook:web"]), PROMISE),
        "may_any: one call": (lambda: POLICY.may_any(BOB, "plan:deny", ["runbook:web"]), PROMISE),
        "strictest: two risks": (lambda: POLICY.strictest(("low", "high")), PROMISE),
        "reminder: two risks": (lambda: POLICY.reminder(("low", "high")), PROMISE),
        "holders: four people": (
            lambda: AUTHORITY.holders("acme", "plan:approve", ["runbook:web"]),
            "",
        ),
        "digest: all rules of a plan": (lambda: POLICY.digest(["runbook:web"], ["low"]), ""),
    }
    for name, (work, promise) in works.items():
        cost = each_us(work)
        print(f"{name:<44} {cost:8.2f} us CPU   {cost / floor:7.1f} x floor   {promise}")


if __name__ == "__main__":
    main()
