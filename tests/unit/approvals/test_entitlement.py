"""Who may see, ask for and agree to one request."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from approvals import entitlement
from approvals.fresh_cards import Shown, card_for
from approvals.models import Request, Rule, State, Vote
from approvals.policy import Authority, Policy, PolicyRule
from core.canonical import sha256
from core.cards import encode
from core.principals import Directory, Identity, Person, Principal
from core.profiles import DEFAULT, Profile, Profiles
from core.transcript import AgentText
from tests.builders import PLACE, TENANT, a_checked, a_plan, a_rule, a_tool, a_turn

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PEOPLE = {
    "alice": ("dev", "ops"),
    "bob": ("ops",),
    "carol": ("ops",),
    "dave": (),
    "erin": ("deniers",),
    "frank": ("stoppers",),
    "gina": ("half",),
    "hugo": ("half-stoppers",),
    "ines": ("hosts",),
}
RULES = (
    ("run:propose", "runbook:*", "dev"),
    ("plan:approve", "runbook:*", "ops"),
    ("plan:deny", "runbook:*", "deniers"),
    ("run:stop", "runbook:*", "stoppers"),
    ("plan:approve", "runbook:first", "half"),
    ("run:stop", "runbook:first", "half-stoppers"),
    ("chat:ask", "channel:console/local/terminal", "dev"),
    ("run:stop", "channel:console/local/terminal", "hosts"),
)


SCOPES = {"all": None, "one": frozenset({"first"}), "none": frozenset[str]()}


def authority(**groups: Sequence[str]) -> Authority:
    """Everybody of `PEOPLE`, except that somebody named here is in other groups."""
    people = {
        name: Person(
            identities=frozenset({Identity(platform="console", workspace="local", user=name)}),
            groups=frozenset(member_of),
        )
        for name, member_of in {**PEOPLE, **groups}.items()
    }
    return Authority(
        directory=Directory(workspaces={("console", "local"): TENANT}, people=people),
        policy=Policy(
            rules=tuple(
                PolicyRule(
                    id=str(number),
                    effect="allow",
                    action=action,
                    resource=resource,
                    groups=frozenset({group}),
                )
                for number, (action, resource, group) in enumerate(RULES)
            ),
            risks={},
        ),
    )


def principal(name: str) -> Principal:
    found = authority().directory.find(TENANT, name)
    assert found is not None
    return found


def request(*, rule: Rule | None = None, votes: Sequence[str] = ()) -> Request:
    calls = (a_checked(tool=a_tool("first")), a_checked(tool=a_tool("second")))
    plan, rule = a_plan(*calls), rule or a_rule()
    shown = Shown(
        requester="alice",
        checked=calls,
        about=AgentText(),
        rule=rule,
        approvers=(),
        previews=(),
    )
    return Request(
        id="a" * 32,
        tenant=TENANT,
        conversation="c_1",
        turn="t_1",
        requester="alice",
        plan_body=plan.canonical,
        plan_sha256=sha256(plan.canonical),
        rule=rule,
        state=State.OPEN,
        votes=tuple(Vote(principal=name, at=NOW) for name in votes),
        about=AgentText(),
        card_body=encode(card_for(plan, shown, "a" * 32, NOW)),
        card_sha256=sha256(encode(card_for(plan, shown, "a" * 32, NOW))),
        times_asked=1,
        opened_at=NOW,
        expires_at=NOW + rule.expires,
        ended_by=None,
        reason="",
    )


def test_a_request_is_about_every_tool_of_its_plan() -> None:
    assert entitlement.resources(request()) == ("runbook:first", "runbook:second")


@pytest.mark.parametrize(
    ("name", "sees"),
    [
        ("alice", True),
        ("bob", True),
        ("erin", True),
        ("frank", True),
        ("gina", True),
        ("dave", False),
    ],
)
def test_only_who_asked_or_may_decide_or_stop_something_of_it_sees_a_request(
    name: str,
    sees: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert entitlement.may_see(authority(), principal(name), request()) is sees


@pytest.mark.parametrize(("name", "asks"), [("alice", True), ("bob", False), ("ines", False)])
def test_only_who_may_ask_in_a_channel_knows_what_is_going_on_there(
    name: str,
    asks: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert entitlement.may_chat(authority(), principal(name), PLACE) is asks
    elsewhere = replace(PLACE, channel="elsewhere")
    assert not entitlement.may_chat(authority(), principal(name), elsewhere)
    assert not entitlement.may_chat(authority(), replace(principal(name), tenant="t-other"), PLACE)


@pytest.mark.parametrize(
    ("name", "stops"),
    [("bob", True), ("ines", True), ("alice", False), ("frank", False), ("hugo", False)],
)
def test_only_who_asked_and_who_has_run_stop_in_the_channel_may_stop_an_answer(
    name: str,
    stops: bool,  # noqa: FBT001 - a column of the table
) -> None:
    turn = a_turn(principal="bob")
    assert entitlement.may_stop_turn(authority(), principal(name), turn) is stops
    elsewhere = replace(turn, place=replace(PLACE, channel="elsewhere"))
    assert entitlement.may_stop_turn(authority(), principal(name), elsewhere) is (name == "bob")


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("alice", True),
        ("bob", False),
        ("dave", False),
        ("erin", False),
        ("frank", True),
        ("gina", False),
        ("hugo", False),
    ],
)
def test_p03_only_who_asked_and_who_has_run_stop_for_all_of_it_may_stop(
    name: str,
    stops: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert entitlement.may_stop(authority(), principal(name), request()) is stops


def test_p03_the_requester_may_stop_it_after_losing_every_group() -> None:
    assert entitlement.may_stop(authority(alice=()), principal("alice"), request())


def test_the_requester_still_sees_it_after_losing_every_group() -> None:
    assert entitlement.may_see(authority(alice=()), replace(principal("alice")), request())


def test_only_somebody_who_is_there_and_may_propose_every_call_may_ask() -> None:
    both = ["first", "second"]
    assert entitlement.may_propose(authority(), TENANT, "alice", DEFAULT, both)
    assert not entitlement.may_propose(authority(), TENANT, "bob", DEFAULT, both)
    assert not entitlement.may_propose(authority(), TENANT, "nobody", DEFAULT, both)
    assert not entitlement.may_propose(authority(), "globex", "alice", DEFAULT, both)


def test_c68_the_agent_holds_no_more_than_its_profile_whatever_the_requester_may() -> None:
    profiles = Profiles(
        known={name: Profile(name=name, tools=tools) for name, tools in SCOPES.items()}
    )
    here = replace(authority(), profiles=profiles)

    def may(profile: str, *tools: str) -> bool:
        return entitlement.may_propose(here, TENANT, "alice", profile, tools)

    assert may("all", "first", "second")
    assert may("one", "first")
    assert not may("one", "first", "second")
    assert not may("none", "first")
    assert not may("gone", "first")
    asked = replace(request(), profile="none")
    assert entitlement.lost(here, asked) == "alice may no longer ask for it"


def test_the_requesters_own_yes_counts_only_where_the_rule_says_so() -> None:
    holders = ("alice", "bob")
    assert entitlement.voters(a_rule(), ("alice",), holders) == ("bob",)
    assert entitlement.voters(a_rule(), ("alice", "bob"), holders) == ()
    assert entitlement.voters(a_rule(requester_may_vote=True), ("alice",), holders) == holders


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bob", None),
        ("carol", None),
        (
            "alice",
            "You asked for this, so somebody else has to approve it: bob and carol may.",
        ),
        ("dave", "You may not approve this; bob and carol may."),
        ("gina", "You may not approve this; bob and carol may."),
    ],
)
def test_who_may_not_vote_is_told_why_and_who_may(name: str, reason: str | None) -> None:
    assert entitlement.not_a_voter(authority(), principal(name), request()) == reason


def test_who_may_not_vote_is_told_when_nobody_may() -> None:
    lonely = authority(bob=(), carol=())
    assert entitlement.not_a_voter(lonely, principal("alice"), request()) == (
        "You asked for this, so somebody else has to approve it: nobody may right now."
    )
    assert entitlement.not_a_voter(lonely, principal("dave"), request()) == (
        "You may not approve this; nobody may right now."
    )


def test_who_is_yet_to_vote_may_vote_now_and_has_not() -> None:
    assert entitlement.yet_to_vote(authority(), request()) == ("bob", "carol")
    assert entitlement.yet_to_vote(authority(), request(votes=("bob",))) == ("carol",)
    assert entitlement.yet_to_vote(authority(carol=()), request(votes=("bob",))) == ()
    own = request(rule=a_rule(requester_may_vote=True))
    assert entitlement.yet_to_vote(authority(), own) == ("alice", "bob", "carol")


def test_an_entitled_requester_may_vote_where_the_rule_says_so() -> None:
    own = request(rule=a_rule(requester_may_vote=True))
    assert entitlement.not_a_voter(authority(), principal("alice"), own) is None


@pytest.mark.parametrize(
    ("groups", "lost"),
    [
        ({}, None),
        ({"alice": ("ops",)}, "alice may no longer ask for it"),
        ({"bob": ()}, "bob may no longer approve it"),
        ({"bob": (), "carol": ("half",)}, "bob and carol may no longer approve it"),
        ({"dave": ("ops",)}, None),
    ],
)
def test_p32_whoever_lost_the_authority_that_it_rests_on_is_named(
    groups: dict[str, Sequence[str]], lost: str | None
) -> None:
    voted = request(votes=("bob", "carol"))
    assert entitlement.lost(authority(**groups), voted) == lost


def test_the_requesters_vote_counts_as_lost_where_the_rule_forbids_it() -> None:
    assert entitlement.lost(authority(), request(votes=("alice",))) == (
        "alice may no longer approve it"
    )
