"""Who is behind an identity: exactly one person of one tenant, or nobody."""

import pytest

from core.errors import Refused
from core.principals import Directory, Identity, Person, Principal

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
    assert refusal.value.shown == f"{told} On {identity.platform} your name is {identity.user}."
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
