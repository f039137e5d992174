"""Links laid over the file: the file wins, and exactly one person is behind an account, or nobody."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import ids
from core.errors import Refused
from core.links import Link, laid_over, read_code
from core.principals import Directory, Identity, Person
from core.standing import Active, NotActive, Unknown, Why

WORKSPACES = {
    ("slack", "T1"): "acme",
    ("discord", "G1"): "acme",
    ("discord", "G2"): "acme",
    ("console", "local"): "acme",
    ("slack", "T2"): "globex",
}
BOB = Identity(platform="slack", workspace="T1", user="U2")
ALSO_BOB = Identity(platform="discord", workspace="G1", user="500")
CAROL = Identity(platform="slack", workspace="T1", user="U3")
THEIRS = Identity(platform="slack", workspace="T2", user="U2")
NOBODYS = Identity(platform="slack", workspace="T9", user="U2")
LINK = Link(account=ALSO_BOB, principal="bob", rests_on=BOB)


def person(*identities: Identity, groups: tuple[str, ...] = ("ops",)) -> Person:
    return Person(identities=frozenset(identities), groups=frozenset(groups))


DIRECTORY = Directory(
    workspaces=WORKSPACES, people={"bob": person(BOB), "carol": person(CAROL, groups=())}
)


def test_a_linked_account_is_the_person_with_what_they_have_and_no_more() -> None:
    found = laid_over(DIRECTORY, "acme", [LINK])
    assert found.lost == ()
    assert found.directory.resolve(ALSO_BOB) == DIRECTORY.resolve(BOB)
    assert found.directory.accounts("bob", "discord", "G1") == (ALSO_BOB,)
    with pytest.raises(Refused):
        DIRECTORY.resolve(ALSO_BOB)


@pytest.mark.parametrize(
    ("people", "link"),
    [
        ({"carol": person(CAROL)}, LINK),
        ({"bob": person(replace(BOB, user="U9"))}, LINK),
        ({"bob": person(BOB), "rob": person(BOB)}, LINK),
        ({"bob": person(BOB), "carol": person(ALSO_BOB)}, LINK),
        ({"bob": person(BOB, ALSO_BOB)}, LINK),
        ({"bob": person(BOB, replace(ALSO_BOB, user="501"))}, LINK),
        ({"bob": person(BOB, THEIRS)}, replace(LINK, rests_on=THEIRS)),
        ({"bob": person(BOB)}, replace(LINK, account=THEIRS)),
        ({"bob": person(BOB)}, replace(LINK, account=NOBODYS)),
        ({"bob": person(BOB)}, replace(LINK, rests_on=CAROL)),
    ],
)
def test_c65_what_the_file_does_not_carry_is_lost(people: dict[str, Person], link: Link) -> None:
    directory = Directory(workspaces=WORKSPACES, people=people)
    found = laid_over(directory, "acme", [link])
    assert found.lost == (link,)
    assert found.directory == directory


def test_a_link_rests_on_no_link_and_no_two_are_in_one_workspace() -> None:
    second = Link(
        account=Identity(platform="console", workspace="local", user="bob"),
        principal="bob",
        rests_on=ALSO_BOB,
    )
    third = replace(LINK, account=replace(ALSO_BOB, user="502"))
    fourth = replace(LINK, principal="carol", rests_on=CAROL)
    assert laid_over(DIRECTORY, "acme", [LINK, second, third, fourth]).lost == (
        second,
        third,
        fourth,
    )


SOME = st.builds(
    Identity,
    platform=st.sampled_from(["slack", "discord", "console"]),
    workspace=st.sampled_from(["T1", "T2", "G1", "G2", "local"]),
    user=st.sampled_from(["1", "2", "3"]),
)
NAMES = st.sampled_from(["bob", "carol", "dave"])
SETS = st.sets(SOME, max_size=4).map(lambda some: person(*some))
PEOPLE = st.dictionaries(NAMES, SETS, max_size=3)
LINKS = st.lists(st.builds(Link, account=SOME, principal=NAMES, rests_on=SOME), max_size=8)


@given(PEOPLE, LINKS, st.sampled_from(["acme", "globex"]))
def test_c65_exactly_one_match_whatever_was_linked(
    people: dict[str, Person], links: list[Link], tenant: str
) -> None:
    file = Directory(workspaces=WORKSPACES, people=people)
    found = laid_over(file, tenant, links)
    linked = found.directory
    kept = [link for link in links if link not in found.lost]
    for account in {one for person in linked.people.values() for one in person.identities}:
        listed = file.behind(account)
        # Nobody whom the file names comes to be anybody else, and nobody comes to be two.
        assert linked.behind(account) == listed if listed else len(linked.behind(account)) == 1
    assert linked.people.keys() == people.keys()
    for name, person_ in linked.people.items():
        assert person_.groups == people[name].groups
        assert person_.identities - people[name].identities == person_.linked.keys()
        for account, under in person_.linked.items():
            assert Link(account=account, principal=name, rests_on=under) in kept
            assert under in people[name].identities
            where = (account.platform, account.workspace)
            assert WORKSPACES[where] == tenant
            assert len(linked.accounts(name, *where)) == 1


def test_a_group_of_a_linked_account_gives_nothing_and_its_end_takes_all() -> None:
    linked = laid_over(DIRECTORY, "acme", [LINK]).directory
    active = Active(groups=frozenset({"sre"}), unsure={"leads": "it hangs"})
    seen = linked.with_standings({ALSO_BOB: active, BOB: Active(groups=frozenset({"dba"}))})
    assert seen.resolve(ALSO_BOB).groups == {"ops", "dba"}
    assert seen.resolve(BOB).unsure == frozenset()
    ended = linked.with_standings({ALSO_BOB: NotActive(why=Why.DEACTIVATED)})
    assert "bob" in ended.absent
    unasked = linked.with_standings({ALSO_BOB: Unknown(why="it hangs")})
    assert "bob" in unasked.absent


@pytest.mark.parametrize("said", [{ALSO_BOB: Active()}, {}])
def test_a_link_is_nobodys_once_the_account_on_which_it_rests_is(
    said: dict[Identity, Active],
) -> None:
    linked = laid_over(DIRECTORY, "acme", [LINK]).directory
    gone = linked.with_standings({BOB: NotActive(why=Why.NOT_THERE), **said})
    with pytest.raises(Refused):
        gone.resolve(ALSO_BOB)


def test_a_code_is_read_however_it_is_typed() -> None:
    code = ids.code()
    for typed in (code, code.lower(), code.replace("-", "")):
        assert read_code(typed) == code.replace("-", "")
    assert read_code(f"`{code}`") == code.replace("-", "")


@pytest.mark.parametrize(
    "text", ["", "AAAAA", "AAAAA-BBBBI", "AAAAA--BBBBB", "AAAAA BBBBB", "AAAAA-BBBBB-C"]
)
def test_nothing_else_is_a_code(text: str) -> None:
    assert read_code(text) is None
