"""What somebody did on Discord, as Discord delivers it and before anybody says what it means.

Ids are snowflakes as decimal strings. Nothing here is an object of an SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A channel, a thread in one, or a direct message."""

    guild: str | None
    """None in a direct message."""
    channel: str
    """Where it was written or pressed: the thread itself, inside of one."""
    parent: str | None = None
    """The channel of the thread; None outside of threads."""
    is_ours: bool = False
    """Whether it is a thread that Sayso opened."""
    is_new: bool = False
    """Whether Sayso opened the thread just now, so that it may not be written down yet whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """An account as Discord says it is."""

    user: str
    is_software: bool = False
    """Whether it is a bot, a webhook or Discord itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A message. What others may see of it, and nothing that Discord drew."""

    id: str
    author: Who
    where: Where
    text: str
    """As it was typed, with mentions as Discord writes them. Empty where Discord keeps it from us."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """What to call whatever is mentioned in it, by how Discord writes the mention: `<@1>` -> `ann`."""
    answers: str | None = None
    """Whose message it replies to."""
    is_plain: bool = True
    """Whether a person wrote it, or a reply: not that somebody joined, pinned or began a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A message that was written before has other words now."""

    now: Written
    edited: str | None
    """When a person changed it; None where only Discord did, as for a preview of a link."""
    before: str | None = None
    """What it said before, as it was typed, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A message is gone. Discord says whose it was only where we saw it."""

    id: str
    where: Where
    author: Who | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command, with what was typed into its one field."""

    interaction: str
    name: str
    text: str
    by: Who
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A button. `custom_id` is whatever came back, not yet believed."""

    interaction: str
    custom_id: str
    by: Who
    where: Where
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """A form. `custom_id` is whatever came back, not yet believed; fields by their own."""

    interaction: str
    custom_id: str
    by: Who
    where: Where
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Sayso was brought into a server."""

    guild: str
    channel: str
    """Where newcomers are greeted there, or the first channel in which Sayso may write."""
    by: Who
    """Who brought it, where Discord says so; the owner otherwise."""


Seen: TypeAlias = Written | Rewritten | Removed | Command | Pressed | Submitted | Added
