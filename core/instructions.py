"""The instructions of a model: one text for everybody, of a version, with a part of each toolset (C89)."""

import re
from collections.abc import Iterable

from core.display import sound

_HEADING = re.compile(r"(?m)^#{1,2}(?=\s)")


def composed(base: str, parts: Iterable[tuple[str, str]]) -> str:
    """Return the instructions with what each toolset says (name, text), in the order of the names.

    A part stands under its toolset's name and begins no section of its own. What it quotes from
    outside, it has to quote by `core.rendering`.
    """
    said = (_part(name, text) for name, text in sorted(parts) if text.strip())
    return "\n\n".join((base.strip(), *said)) + "\n"


def _part(name: str, text: str) -> str:
    return f"## Toolset {name}\n\n{_HEADING.sub('###', sound(text).strip())}"
