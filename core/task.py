"""The task of one turn, and the tool by which a model says itself what it is about (C13)."""

from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.canonical import JsonObject
from core.display import sound
from core.entities import Entity
from core.frame import Continue, Frame, Known, Pivot, Topic, after, intent_of, lines
from core.redaction import Redactor
from core.tools import TASK, Caller, Tool, answering

_SUMMARY = (
    "Say what the task is, where the state `task` does not: `continue` keeps what it names and "
    "what waits for approval, `pivot` begins another one."
)


class TaskArguments(BaseModel):
    """What a model says about the task."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, title=TASK)

    intent: str = Field(min_length=1, max_length=1000)
    topic: Literal["continue", "pivot"]


@dataclass(slots=True, kw_only=True)
class Task:
    """What one turn knows of its task. `frame` is what is kept when the turn ends."""

    redactor: Redactor
    frame: Frame | None = None
    """None where nothing is to be kept, since no model that writes was asked."""
    topic: Topic | None = None
    _known: Known = field(default_factory=lambda: Known(frame=Frame()))
    _text: str = ""

    def begin(self, known: Known, topic: Topic | None, text: str) -> None:
        """Take in a message, and whether it goes on with the task that was known."""
        self._known, self._text = known, text
        self._set(topic)

    async def state(self, caller: Caller) -> str:
        """Return the task as a model is told it."""
        del caller
        frame = self.frame or Frame()
        own = frame.since == self._known.frame.since
        return lines(frame, self.topic, self._known.pending if own else ())

    @property
    def tool(self) -> Tool:
        """Return what a model calls to say that software is wrong about it."""
        return answering(TASK, _SUMMARY, TaskArguments, self._told)

    def _set(self, topic: Topic | None) -> None:
        self.topic = topic
        self.frame = after(self._known.frame, topic, self._text, self._known.here)

    async def _told(self, arguments: JsonObject, caller: Caller) -> str:
        named = self.topic.entities if self.topic else frozenset[Entity]()
        kind = Pivot if arguments["topic"] == "pivot" else Continue
        self._set(kind(entities=named))
        intent = intent_of(self.redactor.text(sound(str(arguments["intent"]))))
        self.frame = replace(self.frame or Frame(), intent=intent)
        return f"Noted. The task is now:\n{await self.state(caller)}"
