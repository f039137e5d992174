"""A window in which somebody changes the arguments of one call, as any platform can draw it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One argument: what it is now, spelled as it would be typed, and how else it may be spelled."""

    name: str
    value: str
    hint: str = ""
    """What is expected, in a few words of software and of whoever wrote the runbook."""
    choices: tuple[str, ...] = ()
    """All that may be chosen; none where something is typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What can be changed in a window. Only the id of the request travels through the platform."""

    request: str
    tool: str
    plan: str
    """The short name of the plan as it is."""
    fields: tuple[Field, ...]
    in_words: tuple[str, ...] = ()
    """The names of the arguments that no window shows."""
