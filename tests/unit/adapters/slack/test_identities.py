"""P-17: whoever speaks is a user of their own workspace, whatever workspace the event came by."""

from collections.abc import Mapping

import pytest

from adapters.slack.inbound import Act, HomeOpened, Ignored, read
from core.principals import Directory, Identity, Person
from tests.slack_payloads import (
    BOT,
    Body,
    changed,
    event,
    joined,
    mention,
    native_stop,
    opened,
    posted,
    reply,
    slash,
)

ENTERPRISE = [{"enterprise_id": "E0ORG", "team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": True}]
OURS = [{"enterprise_id": None, "team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": True}]


def who(body: Body) -> Identity:
    found = read(body, BOT)
    assert isinstance(found, Act | HomeOpened), found
    return found.identity if isinstance(found, HomeOpened) else found.event.identity


def slack(team: str, user: str = "U0ALICE") -> Identity:
    return Identity(platform="slack", workspace=team, user=user)


def shared(inner: Mapping[str, object], **top: object) -> Body:
    """An event of a channel that is shared with another organisation."""
    return event(inner, **{"is_ext_shared_channel": True, **top})


def hello(**inner: object) -> dict[str, object]:
    return posted("<@U0BOT> go", **inner)


def test_at_home_everybody_is_of_the_workspace_in_which_sayso_is_installed() -> None:
    assert who(mention("<@U0BOT> go")) == slack("T0TEAM")
    assert who(mention("<@U0BOT> go", team=None)) == slack("T0TEAM")
    assert who(slash("/ask", "health")) == slack("T0TEAM")
    assert who(opened("home")) == slack("T0TEAM")


@pytest.mark.parametrize(
    "inner",
    [
        {"user_team": "T0OTHER", "source_team": "T0OTHER", "team": "T0TEAM"},
        {"team": "T0OTHER"},
        {"user_team": "T0OTHER", "team": "T0OTHER"},
    ],
)
def test_somebody_of_another_workspace_stays_of_theirs(inner: Mapping[str, object]) -> None:
    assert who(shared(hello(**inner))) == slack("T0OTHER")
    assert who(reply("and worker", **inner)) == slack("T0OTHER")


def test_the_team_at_the_top_may_be_that_of_whoever_shares_the_channel() -> None:
    top: dict[str, object] = {"team_id": "T0OTHER", "authorizations": OURS}
    assert who(shared(hello(team="T0OTHER"), **top)) == slack("T0OTHER")
    assert who(shared(hello(team="T0TEAM"), **top)) == slack("T0TEAM")


def test_what_comes_for_another_installation_is_not_ours() -> None:
    other = [{"team_id": "T0OTHER", "user_id": "U0BOT2", "is_bot": True}]
    assert isinstance(read(shared(hello(), authorizations=other), BOT), Ignored)


def test_the_same_user_id_in_two_workspaces_is_two_people() -> None:
    home, away = who(shared(hello(team="T0TEAM"))), who(shared(hello(team="T0OTHER")))
    assert home.user == away.user
    assert home != away


@pytest.mark.parametrize(
    "body",
    [
        shared(hello(team=None)),
        {**joined("U0BOT"), "is_ext_shared_channel": True},
        {**native_stop(), "is_ext_shared_channel": True},
    ],
)
def test_in_a_shared_channel_whoever_cannot_be_told_is_nobody(body: Body) -> None:
    found = who(body)
    assert found == slack("")
    people = {"alice": Person(identities=frozenset({slack("T0TEAM"), found}), groups=frozenset())}
    directory = Directory(workspaces={("slack", "T0TEAM"): "acme"}, people=people)
    with pytest.raises(Exception, match="does not know you"):
        directory.resolve(found)


def test_an_edit_is_by_whoever_wrote_the_message() -> None:
    body = changed(hello(team="T0OTHER"), posted("<@U0BOT> stay", team="T0OTHER"))
    assert who({**body, "is_ext_shared_channel": True}) == slack("T0OTHER")


def test_in_an_enterprise_ids_begin_differently_and_stay_as_they_are() -> None:
    assert who(mention("<@U0BOT> go", user="W0ALICE")) == slack("T0TEAM", "W0ALICE")
    assert who(slash("/ask", "health", user_id="W0ALICE")) == slack("T0TEAM", "W0ALICE")


def test_our_own_enterprise_is_home_and_another_is_not() -> None:
    ours = shared(hello(user="W0ALICE", user_team="E0ORG"), authorizations=ENTERPRISE)
    assert who(ours) == slack("T0TEAM", "W0ALICE")
    theirs = shared(
        hello(user="W0ALICE", user_team="E0OTHER"),
        authorizations=ENTERPRISE,
        enterprise_id="E0OTHER",
    )
    assert who(theirs) == slack("E0OTHER", "W0ALICE")


def test_without_an_enterprise_no_enterprise_is_home() -> None:
    assert who(shared(hello(user_team="E0ORG"))) == slack("E0ORG")
