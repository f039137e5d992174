"""Forms: why somebody denies, and a code with which they approve."""

from adapters.discord import words
from core.canonical import JsonObject
from core.display import one_line

DENY, REASON = "sayso:deny", "reason"
APPROVE, CODE = "sayso:approve_code", "code"
LABEL, INPUT = 18, 4
_SHORT, _PARAGRAPH = 1, 2
_LONGEST_REASON = 300
"""What the gate keeps of a reason."""
_LONGEST_LINE = 300
_LONGEST_CODE = 20
"""Six digits, and the blanks that apps put between them."""


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


def code(request: str) -> JsonObject:
    """Return the form that asks for a code of somebody's second factor; to submit it is a yes."""
    return {
        "title": "Approve",
        "custom_id": f"{APPROVE}:{request}",
        "components": [
            {"type": 10, "content": f"Request {words.literal(one_line(request, 64))}"},
            {
                "type": LABEL,
                "label": "Code of your second factor",
                "description": "Six digits that your app shows now. Each counts once, if it is newer "
                "than the request.",
                "component": {
                    "type": INPUT,
                    "custom_id": CODE,
                    "style": _SHORT,
                    "required": True,
                    "max_length": _LONGEST_CODE,
                },
            },
        ],
    }
