"""The form that asks why somebody denies."""

from adapters.discord import words
from core.canonical import JsonObject
from core.display import one_line

DENY, REASON = "sayso:deny", "reason"
LABEL, INPUT = 18, 4
_PARAGRAPH = 2
_LONGEST_REASON = 300
"""What the gate keeps of a reason."""
_LONGEST_LINE = 300


def deny(request: str, what: str = "") -> JsonObject:
    """Return the form that asks why somebody denies; `what` says what that is, in a line."""
    asked = words.bold(words.literal(one_line(what, _LONGEST_LINE)))
    about = f"{asked}\nRequest {words.literal(one_line(request, 64))}".strip()
    return {
        "title": "Deny",
        "custom_id": f"{DENY}:{request}",
        "components": [
            {"type": 10, "content": about},
            {
                "type": LABEL,
                "label": "Why?",
                "description": "The agent and everybody here will read it.",
                "component": {
                    "type": INPUT,
                    "custom_id": REASON,
                    "style": _PARAGRAPH,
                    "required": False,
                    "max_length": _LONGEST_REASON,
                },
            },
        ],
    }
