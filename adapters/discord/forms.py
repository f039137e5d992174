"""The form that asks why somebody denies. Pure."""

from core.canonical import JsonObject
from core.display import one_line

REASON = "reason"
_LONGEST_REASON = 300
"""What the gate keeps of a reason."""
_LABEL, _INPUT, _PARAGRAPH = 18, 4, 2


def deny(request: str) -> JsonObject:
    """Return the form for a request; with what comes back, Deny is pressed."""
    return {
        "custom_id": f"sayso:deny:{request}",
        "title": "Deny",
        "components": [
            {
                "type": _LABEL,
                "label": "Why?",
                "description": one_line("The agent and everybody here will read it.", 100),
                "component": {
                    "type": _INPUT,
                    "custom_id": REASON,
                    "style": _PARAGRAPH,
                    "required": False,
                    "max_length": _LONGEST_REASON,
                },
            }
        ],
    }
