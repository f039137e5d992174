"""Channels as an operator writes them: `platform/workspace/channel`, with `*` for any of the three."""

from typing import Annotated

from pydantic import AfterValidator, Field

from core.events import Place

_PARTS = 3


def _is_channel(channel: str) -> str:
    parts = channel.split("/")
    if len(parts) != _PARTS or not all(parts) or any("*" in p and p != "*" for p in parts):
        raise ValueError("write a channel as platform/workspace/channel; * stands for a whole part")
    return channel


Channels = Annotated[
    tuple[
        Annotated[
            str,
            AfterValidator(_is_channel),
            Field(json_schema_extra={"pattern": r"^(\*|[^/*]+)/(\*|[^/*]+)/(\*|[^/*]+)$"}),
        ],
        ...,
    ],
    Field(strict=False),
]
"""Some channels; with none among them, there is no limit."""


def fits(channel: str, place: Place) -> bool:
    """Whether a place is in such a channel, whatever the thread."""
    there = (place.platform, place.workspace, place.channel)
    return all(part in {"*", one} for part, one in zip(channel.split("/"), there, strict=True))
