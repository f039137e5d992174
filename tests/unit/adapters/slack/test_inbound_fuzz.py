"""Whatever comes in is read; and why something is ignored repeats nothing of it."""

import copy
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.findings import Finding, Why
from adapters.slack.inbound import Act, Ignored, read
from adapters.slack.payload import items, of
from tests.slack_payloads import BOT, ONE_OF_EACH, Body

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["T0TEAM", "A0APP", "U0BOT", "<@U0BOT> stop", "\ud800", "x" * 5000])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
WHYS = set(get_args(Why))


def is_sound(found: Finding) -> bool:
    return not isinstance(found, Ignored) or found.why in WHYS


@given(st.dictionaries(st.text() | st.sampled_from(["type", "event", "command"]), JSON))
def test_whatever_comes_in_is_read(body: Body) -> None:
    ours = {**body, "api_app_id": "A0APP", "team_id": "T0TEAM"}
    assert is_sound(read(body, BOT))
    assert is_sound(read(ours, BOT))


def paths(value: object, before: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place inside a payload."""
    members: list[tuple[str | int, object]] = [*of(value).items(), *enumerate(items(value))]
    inside = [path for key, item in members for path in paths(item, (*before, key))]
    return [before, *inside] if before else inside


@settings(max_examples=600)
@given(st.data())
def test_a_payload_with_parts_missing_or_of_other_types_is_read(data: st.DataObject) -> None:
    body = copy.deepcopy(data.draw(st.sampled_from(ONE_OF_EACH)))
    for _ in range(data.draw(st.integers(1, 4))):
        damage(body, data)
    assert is_sound(read(body, BOT))
    assert is_sound(read(body, BOT, mentions_only=True))


def damage(body: Body, data: st.DataObject) -> None:
    """Remove one part of a payload, or put something else in its place."""
    *before, last = data.draw(st.sampled_from(paths(body)))
    part: object = body
    for key in before:
        part = part[key]  # type: ignore[index]
    if data.draw(st.booleans()):
        part[last] = data.draw(JSON)  # type: ignore[index]
    else:
        del part[last]  # type: ignore[attr-defined]


@given(st.sampled_from(ONE_OF_EACH), st.text(min_size=1))
def test_whoever_acts_is_always_somebody_of_some_workspace_in_ascii(body: Body, odd: str) -> None:
    changed = copy.deepcopy(body)
    event = changed.get("event")
    if isinstance(event, dict):
        event["user"] = odd
    else:
        changed["user"] = {"id": odd, "team_id": odd}
    found = read(changed, BOT)
    if isinstance(found, Act):
        who = found.event.identity
        assert who.user.isascii()
        assert who.workspace.isascii()
