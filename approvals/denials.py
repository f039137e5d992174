"""What a denial refuses: an effect, however it is worded the next time."""

import unicodedata

from approvals.models import Denial
from core.canonical import Json, JsonObject, digest
from core.display import one_line
from core.errors import Refused


def effect(tool: str, arguments: JsonObject) -> str:
    """Return the fingerprint of what a call would do: other spacing, order or form is no other effect."""
    return digest({"tool": tool, "arguments": {name: _plain(v) for name, v in arguments.items()}})


def refused(denial: Denial) -> Refused:
    """Return what is said where somebody asks for it again; the log has no reason that a person gave."""
    what = f"Not proposed: {denial.by} denied {denial.tool} with these arguments here"
    why = f" ({one_line(denial.reason)})" if denial.reason else ""
    return Refused(
        f"{what}{why}. It stays refused in this conversation until somebody who may approve it asks "
        "again.",
        logged=f"{what}.",
    )


def _plain(value: Json) -> Json:
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKC", value).split())
    return value
