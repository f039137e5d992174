"""The team of the golden files: alice asks, bob and carol decide, mallory may nothing but chat."""

from dataclasses import replace

from approvals.policy import Authority, Policy, PolicyRule
from core.principals import Directory, Identity, Person
from core.standing import NotActive, Standing, Unknown, Why
from tests.builders import TENANT, a_rule

GROUPS = {"alice": ("eng",), "bob": ("eng", "sre"), "carol": ("sre",), "mallory": ()}
RULES = (
    ("run:propose", "eng"),
    ("plan:approve", "sre"),
    ("plan:deny", "eng"),
    ("plan:edit", "sre"),
    ("plan:break_glass", "sre"),
    ("run:resolve", "sre"),
    ("run:stop", "sre"),
)


def _on_slack(name: str) -> Identity:
    return Identity(platform="slack", workspace="T1", user=f"U0{name.upper()}")


AUTHORITY = Authority(
    directory=Directory(
        workspaces={("slack", "T1"): TENANT},
        people={
            name: Person(identities=frozenset({_on_slack(name)}), groups=frozenset(groups))
            for name, groups in GROUPS.items()
        },
    ),
    policy=Policy(
        rules=tuple(
            PolicyRule(id=a, effect="allow", action=a, resource="runbook:*", groups=frozenset({g}))
            for a, g in RULES
        ),
        risks={"medium": a_rule()},
    ),
)


def without(authority: Authority, *names: str) -> Authority:
    """Return the same where these people have no group any more."""
    people = {
        name: replace(person, groups=frozenset[str]()) if name in names else person
        for name, person in authority.directory.people.items()
    }
    return replace(authority, directory=replace(authority.directory, people=people))


def doubtful(authority: Authority) -> Authority:
    """Return the same where Slack cannot be asked about bob, and carol's account was deactivated."""
    says: dict[Identity, Standing] = {
        _on_slack("bob"): Unknown(why="Slack did not answer"),
        _on_slack("carol"): NotActive(why=Why.DEACTIVATED),
    }
    return replace(authority, directory=authority.directory.with_standings(says))
