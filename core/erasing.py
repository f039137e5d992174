"""What is left of a conversation whose content was removed, and the port that removes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from core.cards import Card

ERASED = "erased"
"""What stands where content was, for whoever looks."""

CARD = Card(
    title="Erased", plan=(), facts=(), warnings=(), estimate="none", preview=(), unchecked=(),
    buttons=(),
)  # fmt: skip
"""What stands where a card was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was removed: how many rows of each table held content, and one digest of all of it."""

    conversation: str
    removed: Mapping[str, int]
    sha256: str


class Erasing(Protocol):
    """Where conversations can be erased."""

    async def erase(self, conversation: str, *, account: str) -> Erased:
        """Remove what was said and done in a conversation, and note digests of it in the audit log.

        `account` is that of the operator. Raises `Refused` for an unknown conversation and while
        something of it is live or unknown, and `Unavailable` where the content is gone from every
        table, but its bytes may still lie in the file: then erase it again. A second time removes
        what was added since, if anything.
        """
        ...
