"""The task that a conversation is about: what for, which things, which plans wait, and when that ends.

A message continues the task or changes the subject, and software says which of both in so many words.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, assert_never, cast

from core.display import one_line
from core.entities import Choices, Entity, named
from core.waiting import within

LONGEST_INTENT = 200
"""Characters."""
MOST_ENTITIES = 64
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One task. Empty where a conversation has none yet."""

    intent: str = ""
    entities: frozenset[Entity] = frozenset()
    since: int = 0
    """The last entry of the conversation before the task began; the plans after it are its own."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no task yet."""
        return not self.intent and not self.entities


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is kept of a conversation's task, and what is to be read from elsewhere."""

    frame: Frame
    pending: tuple[str, ...] = ()
    """The requests of the task that wait for people now. They are read, never kept twice."""
    here: int = 0
    """The last entry of the conversation now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """A message goes on with the task, and may name more of it."""

    entities: frozenset[Entity] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivot:
    """A message is about something else."""

    entities: frozenset[Entity] = frozenset()


Topic: TypeAlias = Continue | Pivot


class Classifier(Protocol):
    """Says whether a message goes on with a task. It may fail or be slow: then the task goes on."""

    async def __call__(self, frame: Frame, text: str, /) -> Topic:
        """Return which of both."""
        ...


class Frames(Protocol):
    """Where frames are kept. They are written where turns end, in that transaction."""

    async def known(self, tenant: str, conversation: str) -> Known:
        """Return the task of a conversation; for one of another tenant, an empty one."""
        ...


@dataclass(frozen=True, slots=True)
class ByName:
    """A `Classifier` that goes by what is named: another one of a kind is another subject."""

    known: Choices

    async def __call__(self, frame: Frame, text: str) -> Topic:
        """Return `Pivot` where, of some kind, a message names others than the frame and none of its own."""
        found = named(text, self.known)
        return (
            Pivot(entities=found) if _differs(frame.entities, found) else Continue(entities=found)
        )


def _differs(before: frozenset[Entity], found: frozenset[Entity]) -> bool:
    kinds = {one.kind for one in before} & {one.kind for one in found}
    same = {one.kind for one in before & found}
    return bool(kinds - same)


async def classified(classifier: Classifier, frame: Frame, text: str, *, by: float) -> Topic | None:
    """Return what a classifier says by then; None where it says nothing.

    A first message has no subject to change.
    """
    try:
        topic = cast("object", await within(lambda: classifier(frame, text), by))
    except Exception as error:  # noqa: BLE001 - an outage keeps the frame, whatever it looks like
        _log.warning("the classifier failed: %s", type(error).__name__)
        return None
    if not isinstance(topic, Continue | Pivot) or not _are_sound(topic.entities):
        _log.warning("the classifier says what is no topic: %s", type(topic).__name__)
        return None
    return Continue(entities=topic.entities) if frame.is_empty else topic


def _are_sound(entities: object) -> bool:
    """Whether these are entities, each in a line that can be kept and told."""
    if not isinstance(entities, frozenset):
        return False
    found = cast("frozenset[object]", entities)
    return all(
        isinstance(one, Entity) and _is_line(one.kind) and _is_line(one.value) for one in found
    )


def _is_line(text: object) -> bool:
    return isinstance(text, str) and text == one_line(text)


def after(frame: Frame, topic: Topic | None, text: str, here: int) -> Frame:
    """Return the frame as it is after a message: kept where nobody could say what that is about.

    To change the subject drops intent, entities and plans from the frame. The requests themselves
    stay open: people may still decide them.
    """
    match topic:
        case None:
            return frame
        case Pivot():
            return _capped(Frame(intent=intent_of(text), entities=topic.entities, since=here))
        case Continue():
            intent = frame.intent or intent_of(text)
            return _capped(replace(frame, intent=intent, entities=frame.entities | topic.entities))
        case _:
            assert_never(topic)


def intent_of(text: str) -> str:
    """Return what somebody wants, as one line."""
    return one_line(text, LONGEST_INTENT)


def lines(frame: Frame, topic: Topic | None, pending: Sequence[str]) -> str:
    """Return a frame as the state that a model is told; nothing for an empty one."""
    if frame.is_empty:
        return ""
    changed = "changed" if isinstance(topic, Pivot) else "no change"
    return "\n".join(
        (
            f"topic: {changed}",
            f"intent: {frame.intent}",
            *(f"{one.kind}: {one.value}" for one in sorted(frame.entities)),
            *(f"waits for approval: request {one}" for one in pending),
        )
    )


def _capped(frame: Frame) -> Frame:
    return replace(frame, entities=frozenset(sorted(frame.entities)[:MOST_ENTITIES]))
