"""The instructions of a model: one text for everybody, of a version, with a part of each toolset (C89)."""

import re
from collections.abc import Iterable

from core.display import sound
from core.toolset import Toolset

_HEADING = re.compile(r"(?m)^#{1,2}(?=\s)")


def composed(base: str, toolsets: Iterable[Toolset]) -> str:
    """Return the instructions with the parts of the toolsets, in the order of their names.

    A part stands under its toolset's name and begins no section of its own. What it quotes from
    outside, it has to quote by `core.rendering`.
    """
    parts = (_part(one) for one in sorted(toolsets, key=lambda one: one.name) if one.prompt.strip())
    return "\n\n".join((base.strip(), *parts)) + "\n"


def _part(toolset: Toolset) -> str:
    text = _HEADING.sub("###", sound(toolset.prompt).strip())
    return f"## Toolset {toolset.name}\n\n{text}"
