"""The words that the pages of both platforms tell people to write in a thread."""

import re

from core import chat_commands
from core.chat_commands import Heard

_ID = "0" * 32
_WITH = {
    "undo": "undo r_0123456789abcdef",
    "break-glass": f"break-glass {_ID} why",
    "handover": f"handover {_ID} bob",
    "output": "output r_0123456789abcdef 0",
}
"""Words that mean something only with what belongs to them."""
_ALONE = {
    "help", "requests", "runs", "approve", "deny", "again", "edit", "grant", "grants", "revoke",
    "pause", "resume", "lift", "links",
}  # fmt: skip


def all_mean_something(page: str, heard: Heard) -> None:
    """Check that a page tells every word, and none that is not one."""
    told = set(re.findall(r"`!([\w-]+)", page)) - {"restart-service"}
    assert told == _ALONE | _WITH.keys()
    assert all(chat_commands.read(f"!{_WITH.get(word, word)}", heard) for word in told)
