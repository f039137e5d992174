"""What a denial refuses: an effect, however it is worded the next time."""

import unicodedata

from core.canonical import Json, JsonObject, digest


def effect(tool: str, arguments: JsonObject) -> str:
    """Return the fingerprint of what a call would do: other spacing, order or form is no other effect."""
    return digest({"tool": tool, "arguments": {name: _plain(v) for name, v in arguments.items()}})


def _plain(value: Json) -> Json:
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKC", value).split())
    return value
