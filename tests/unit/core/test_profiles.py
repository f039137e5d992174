"""C21, C87: which profile a conversation gets, who may choose one, and what it lets the agent use."""

from dataclasses import replace

import pytest

from core.errors import Refused
from core.profiles import DEFAULT, Profile, Profiles
from tests.builders import PLACE, THREAD

PROFILES = Profiles(
    known={
        DEFAULT: Profile(name=DEFAULT),
        "wide": Profile(name="wide", choosers=frozenset({"eng"})),
        "narrow": Profile(name="narrow", tools=frozenset({"look"}), choosers=frozenset({"eng", "ops"})),
        "none": Profile(name="none", tools=frozenset()),
    },
    of_tenant={"acme": "narrow"},
    of_channel={THREAD.resource: "none"},
)  # fmt: skip


def test_the_channel_wins_over_the_tenant_and_that_over_the_default() -> None:
    assert PROFILES.of("acme", THREAD).name == "none"
    assert PROFILES.of("acme", replace(THREAD, thread="99")).name == "none"
    assert PROFILES.of("acme", PLACE).name == "narrow"
    assert PROFILES.of("globex", PLACE).name == DEFAULT


def test_c21_no_list_allows_everything_and_an_empty_one_nothing() -> None:
    allowed = {n: p.allows("look") for n, p in PROFILES.known.items()}
    assert allowed == {DEFAULT: True, "wide": True, "narrow": True, "none": False}
    assert not PROFILES.known["narrow"].allows("restart-web")


def test_somebody_of_a_group_that_may_chooses_it() -> None:
    assert PROFILES.chosen("narrow", frozenset({"ops"})).name == "narrow"


@pytest.mark.parametrize(
    ("name", "groups", "said"),
    [
        ("wide", {"ops"}, "You may choose narrow."),
        ("nothing", {"eng"}, "You may choose narrow, wide."),
        (DEFAULT, {"eng"}, "You may choose narrow, wide."),
        ("wide", set[str](), "Leave --profile out."),
    ],
)
def test_one_that_is_not_there_reads_like_one_that_is_not_for_them(
    name: str, groups: set[str], said: str
) -> None:
    with pytest.raises(Refused) as told:
        PROFILES.chosen(name, frozenset(groups))
    assert told.value.shown == f"There is no profile of that name that you may choose. {said}"


def test_one_that_is_gone_is_none() -> None:
    assert PROFILES.named("gone") is None
    assert Profiles().named(DEFAULT) == Profile(name=DEFAULT)
