"""Who is behind an identity: exactly one person of one tenant, or nobody."""

import pytest

from core.errors import Refused, SaysoError, Unavailable
from core.principals import Directory, Identity, Person, Principal
from core.standing import Active, NotActive, Standing, Unknown, Why, together

ON_CONSOLE = Identity(platform="console", workspace="local", user="alice")
ON_SLACK = Identity(platform="slack", workspace="T1", user="U1")
OF_GLOBEX = Identity(platform="slack", workspace="T2", user="U1")
SHARED = Identity(platform="slack", workspace="T1", user="U7")
NOBODYS_WORKSPACE = Identity(platform="slack", workspace="T9", user="U1")


def person(*identities: Identity, groups: tuple[str, ...] = ()) -> Person:
    return Person(identities=frozenset(identities), groups=frozenset(groups))


DIRECTORY = Directory(
    workspaces={("console", "local"): "acme", ("slack", "T1"): "acme", ("slack", "T2"): "globex"},
    people={
        "zoe": person(OF_GLOBEX, groups=("ops",)),
        "alice": person(ON_CONSOLE, ON_SLACK, groups=("dev", "ops")),
        "bob": person(SHARED),
        "bobby": person(SHARED),
        "carol": person(NOBODYS_WORKSPACE),
        "dave": person(),
    },
)
ALICE = Principal(id="alice", tenant="acme", groups=frozenset({"dev", "ops"}))


@pytest.mark.parametrize("identity", [ON_CONSOLE, ON_SLACK])
def test_every_identity_of_a_person_is_the_same_principal(identity: Identity) -> None:
    assert DIRECTORY.resolve(identity) == ALICE


def test_the_same_user_id_in_another_workspace_is_another_person() -> None:
    assert DIRECTORY.resolve(OF_GLOBEX).id == "zoe"
    assert DIRECTORY.resolve(OF_GLOBEX).tenant == "globex"


@pytest.mark.parametrize(
    "identity",
    [
        SHARED,
        NOBODYS_WORKSPACE,
        Identity(platform="slack", workspace="T1", user="U99"),
        Identity(platform="slack", workspace="T1", user="alice"),
        Identity(platform="discord", workspace="T1", user="U1"),
        Identity(platform="slack", workspace="t1", user="U1"),
        Identity(platform="", workspace="", user=""),
    ],
)
def test_p09_none_and_more_than_one_match_are_refused_in_the_same_words(
    identity: Identity,
) -> None:
    with pytest.raises(Refused) as refusal:
        DIRECTORY.resolve(identity)
    told = "Sayso does not know you here. Ask an operator to list you under `people`."
    assert (
        refusal.value.shown
        == f"{told} On {identity.platform.capitalize()} your name is {identity.user}."
    )
    assert refusal.value.logged == told


@pytest.mark.parametrize(
    ("tenant", "name", "found"),
    [
        ("acme", "alice", ALICE),
        ("globex", "alice", None),
        ("globex", "zoe", Principal(id="zoe", tenant="globex", groups=frozenset({"ops"}))),
        ("acme", "zoe", None),
        ("acme", "carol", None),
        ("acme", "dave", None),
        ("acme", "nobody", None),
    ],
)
def test_i14_somebody_is_found_only_in_a_tenant_that_they_have_an_identity_in(
    tenant: str, name: str, found: Principal | None
) -> None:
    assert DIRECTORY.find(tenant, name) == found


def test_the_members_of_a_tenant_are_listed_by_name() -> None:
    assert [member.id for member in DIRECTORY.members("acme")] == ["alice", "bob", "bobby"]
    assert [member.id for member in DIRECTORY.members("globex")] == ["zoe"]
    assert DIRECTORY.members("nowhere") == ()


DEACTIVATED = NotActive(why=Why.DEACTIVATED)
NOT_THERE = NotActive(why=Why.NOT_THERE)
UNKNOWN = Unknown(why="it could not be reached")


def test_who_was_not_asked_about_stays_as_listed() -> None:
    assert DIRECTORY.with_standings({}) == DIRECTORY
    elsewhere = DIRECTORY.with_standings({OF_GLOBEX: DEACTIVATED})
    assert elsewhere.find("acme", "alice") == ALICE


def test_groups_of_a_platform_come_on_top_of_those_of_the_file() -> None:
    sre = Active(groups=frozenset({"sre"}), unsure={"ops": "?", "dba": "it is down"})
    directory = DIRECTORY.with_standings({ON_SLACK: sre})
    alice = Principal(
        id="alice",
        tenant="acme",
        groups=frozenset({"dev", "ops", "sre"}),
        unsure=frozenset({"dba"}),
    )
    assert directory.resolve(ON_CONSOLE) == directory.find("acme", "alice") == alice
    assert directory.doubts == {
        "alice": "Slack could not be asked just now who is in dba: it is down"
    }


@pytest.mark.parametrize("identity", [ON_CONSOLE, ON_SLACK])
@pytest.mark.parametrize(
    ("standing", "kind", "shown"),
    [
        (
            DEACTIVATED,
            Refused,
            "Nothing was done: the Slack account of alice was deactivated, so it counts for nothing "
            "here. Ask an operator to correct who is listed under `people`, if that is wrong.",
        ),
        (
            UNKNOWN,
            Unavailable,
            "Nothing was done. Slack could not be asked about alice just now: it could not be "
            "reached. Try again in a minute.",
        ),
    ],
)
def test_p36_who_is_gone_on_a_platform_or_cannot_be_asked_about_is_gone_everywhere(
    identity: Identity, standing: Standing, kind: type[SaysoError], shown: str
) -> None:
    directory = DIRECTORY.with_standings({ON_SLACK: standing})
    with pytest.raises(kind) as error:
        directory.resolve(identity)
    assert error.value.shown == shown
    assert directory.find("acme", "alice") is None
    assert [member.id for member in directory.members("acme")] == ["bob", "bobby"]
    assert "alice" in directory.listed("acme")
    assert directory.find("globex", "zoe") is not None


@pytest.mark.parametrize("why", [Why.NOT_THERE, Why.PENDING])
def test_an_account_that_is_not_there_is_nobodys_and_takes_nothing_from_the_others(
    why: Why,
) -> None:
    directory = DIRECTORY.with_standings({ON_SLACK: NotActive(why=why)})
    assert directory.resolve(ON_CONSOLE) == ALICE
    with pytest.raises(Refused) as refusal:
        directory.resolve(ON_SLACK)
    assert refusal.value.logged.startswith("Sayso does not know you here.")


def test_whose_only_account_is_not_there_is_absent() -> None:
    directory = DIRECTORY.with_standings({OF_GLOBEX: NOT_THERE})
    assert directory.find("globex", "zoe") is None
    with pytest.raises(Refused) as refusal:
        directory.resolve(OF_GLOBEX)
    assert "the Slack account of zoe is not known in that workspace" in refusal.value.shown


@pytest.mark.parametrize(
    ("told", "standing"),
    [
        ([], NOT_THERE),
        ([NOT_THERE, NOT_THERE], NOT_THERE),
        ([Active(), NOT_THERE], Active()),
        ([Active(), NotActive(why=Why.PENDING)], Active()),
        ([NotActive(why=Why.PENDING), NOT_THERE], NotActive(why=Why.PENDING)),
        ([Active(), NotActive(why=Why.TIMED_OUT)], NotActive(why=Why.TIMED_OUT)),
        ([Active(), UNKNOWN], UNKNOWN),
        ([UNKNOWN, DEACTIVATED, Active()], DEACTIVATED),
        ([NotActive(why=Why.BOT), NOT_THERE], NotActive(why=Why.BOT)),
        (
            [Active(groups=frozenset({"a"}), unsure={"b": "x", "c": "y"}),
             Active(groups=frozenset({"b"}), unsure={"a": "z"})],
            Active(groups=frozenset({"a", "b"}), unsure={"c": "y"}),
        ),
    ],
)  # fmt: skip
def test_what_several_accounts_of_one_person_come_to(
    told: list[Standing], standing: Standing
) -> None:
    assert together(told) == standing
