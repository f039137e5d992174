"""Channels as an operator writes them: which places are in them, and which texts are none."""

import pytest
from pydantic import TypeAdapter, ValidationError

from core.channels import Channels, fits
from core.events import Place

OPS = Place(platform="slack", workspace="T0TEAM", channel="C0OPS", thread="1.2")


@pytest.mark.parametrize(
    ("channel", "is_in"),
    [
        ("slack/T0TEAM/C0OPS", True),
        ("slack/T0TEAM/*", True),
        ("slack/*/*", True),
        ("*/*/C0OPS", True),
        ("*/*/*", True),
        ("slack/T0TEAM/C0OTHER", False),
        ("slack/T0OTHER/C0OPS", False),
        ("discord/*/*", False),
        ("slack/T0TEAM/c0ops", False),
    ],
)
def test_a_place_is_in_a_channel_where_every_part_is_its_own(channel: str, *, is_in: bool) -> None:
    assert fits(channel, OPS) is is_in


@pytest.mark.parametrize(
    "channel", ["", "slack", "slack/T0TEAM", "slack//C0OPS", "a/b/c/d", "slack/T0*/C0OPS", "s/*/C*"]
)
def test_what_is_no_channel_is_refused_with_how_to_write_one(channel: str) -> None:
    with pytest.raises(ValidationError, match="platform/workspace/channel"):
        TypeAdapter(Channels).validate_python([channel])


def test_a_channel_is_kept_as_it_was_written() -> None:
    written = ("slack/T0TEAM/C0OPS", "*/*/*")
    assert TypeAdapter(Channels).validate_python(written) == written
