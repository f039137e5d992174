"""The slash commands that Discord is told of are those that are read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.declared import COMMANDS, differs, payload
from adapters.discord.findings import Ignored
from adapters.discord.inbound import read
from tests.discord_seen import SAYSO, slash

Registered = list[dict[str, object]]


def registered() -> Registered:
    """What Discord answers: with ids and defaults of its own, in an order of its own, less what is usual."""
    answer: Registered = []
    for number, one in enumerate(reversed(COMMANDS)):
        field = one.option
        option: dict[str, object] = {
            "type": 3,
            "name": field.name,
            "description": field.description,
        }
        required = {"required": True} if field.is_required else {}
        answer.append(
            {
                "name": one.name,
                "type": 1,
                "description": one.description,
                "integration_types": [0],
                "default_member_permissions": None,
                "id": f"77{number}",
                "application_id": "900",
                "version": "88",
                "name_localizations": None,
                "description_localizations": None,
                "dm_permission": True,
                "contexts": [1, 0],
                "options": [{**option, **required}],
            }
        )
    return answer


def test_each_declared_command_is_read_and_no_other() -> None:
    assert [one.name for one in COMMANDS] == ["ask", "stop", "sayso"]
    for one in COMMANDS:
        assert not isinstance(read(slash(one.name, "help"), SAYSO), Ignored)
    assert isinstance(read(slash("help", "help"), SAYSO), Ignored)


def test_the_commands_are_within_what_discord_takes() -> None:
    for one in COMMANDS:
        for name in (one.name, one.option.name):
            assert re.fullmatch(r"[a-z]{1,32}", name)
        for text in (one.description, one.option.description):
            assert 1 <= len(text) <= 100


def test_only_what_has_to_be_said_is_required_and_they_work_in_servers_and_with_sayso() -> None:
    assert [one.option.is_required for one in COMMANDS] == [True, False, True]
    for one in payload():
        assert (one["type"], one["contexts"], one["integration_types"]) == (1, [0, 1], [0])


def test_what_discord_adds_leaves_out_or_sorts_makes_no_difference() -> None:
    assert not differs(payload(), registered())
    assert not differs(payload(), list(payload()))


def different(**other: object) -> Registered:
    answer = registered()
    answer[0].update(other)
    return answer


WORDS = COMMANDS[-1].option
FIELD = {"type": 3, "name": WORDS.name, "description": WORDS.description, "required": True}


def test_the_same_field_is_no_difference() -> None:
    assert not differs(payload(), different(options=[FIELD]))


@pytest.mark.parametrize(
    "answer",
    [
        [],
        registered()[:2],
        [*registered(), {"name": "dance", "type": 1, "description": "x"}],
        [*registered(), registered()[0]],
        different(description="other words"),
        different(options=[]),
        different(options=[{"type": 3, "name": "words", "description": "other"}]),
        different(options=[{**FIELD, "required": False}]),
        different(options=[{**FIELD, "type": 4}]),
        different(options=[{**FIELD, "name": "word"}]),
        different(contexts=[0]),
        different(contexts=None),
        different(integration_types=[0, 1]),
        different(default_member_permissions="8"),
        different(nsfw=True),
        different(type=2),
        None,
        {"message": "401: Unauthorized"},
    ],
)
def test_whatever_people_would_notice_is_a_difference(answer: object) -> None:
    assert differs(payload(), answer)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "options", "contexts", "type", "required"]), inner, max_size=4
        )
    ),
)


@given(JSON)
def test_whatever_discord_answers_is_compared(answer: object) -> None:
    assert differs(payload(), answer)
