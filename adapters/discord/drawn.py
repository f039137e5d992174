"""A message as Discord takes it. Pure values: an SDK's objects are made of them elsewhere."""

from dataclasses import dataclass

from core.canonical import JsonObject

V2 = 1 << 15
"""The flag of a message that is made of components: it has no `content`, and that cannot be undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One message: words, or components of version 2, never both."""

    content: str = ""
    """At most 2,000 characters, in Discord's Markdown."""
    components: tuple[JsonObject, ...] = ()
    """As Discord's REST interface takes them: at most 40 of all kinds, 4,000 characters in all."""
    below: tuple[JsonObject, ...] = ()
    """Rows of buttons below `content`: at most five."""
    document: str | None = None
    """All of it as a file, where it is too long to be shown."""
    mentions: tuple[str, ...] = ()
    """The user ids that Sayso itself brings it to the mind of; nobody else is ever pinged."""
