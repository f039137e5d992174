"""Who can show something at a place."""

import pytest

from core.deliveries import reader_of
from core.events import Place

READERS: dict[tuple[str, str | None], str | None] = {
    ("console", "boot/ns/1/2:3"): "boot/ns/1/2",
    ("console", None): None,
    ("console", "nobody"): None,
    ("slack", "17.1:2"): None,
}


@pytest.mark.parametrize(("platform", "thread"), READERS)
def test_a_terminal_has_one_reader_and_a_platform_has_any(
    platform: str, thread: str | None
) -> None:
    place = Place(platform=platform, workspace="w", channel="c", thread=thread)
    assert reader_of(place) == READERS[platform, thread]
