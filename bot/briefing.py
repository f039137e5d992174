"""What a model that writes is told in a turn besides the conversation: instructions, tools, states."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from core.context import Context, Source
from core.entities import choices
from core.frame import ByName, Classifier, Frames, classified
from core.instructions import composed
from core.prompt import Prompt, Spellings
from core.redaction import Redactor
from core.task import Task
from core.toolbelt import Toolbelt
from core.tools import TASK, Caller, Toolbox
from core.transcript import Entry
from core.waiting import beforehand


def by_name(tools: Toolbox) -> Classifier:
    """Return the classifier that goes by what is named; it asks nothing outside."""
    return ByName(choices(tools))


def instructions() -> str:
    """Return the instructions as they came with this version."""
    return (files("core") / "instructions.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """Tells models what they are told, the same in every process."""

    system: str
    frames: Frames
    redactor: Redactor
    toolbelt: Toolbelt = field(default_factory=Toolbelt)
    classifier: Callable[[Toolbox], Classifier] = by_name
    seconds: float = 2.0
    """In which the classifier, and then all states, have to answer."""
    spellings: Spellings = field(default_factory=Spellings)

    def task(self) -> Task:
        """Return the task of one turn, of which nothing is known yet."""
        return Task(redactor=self.redactor)

    def prompt(self, tools: Toolbox) -> Prompt:
        """Return what stands before every conversation of whoever is offered these tools."""
        system = composed(self.system, self.toolbelt.parts(tools))
        return Prompt(system=system, tools=tools, spell=self.spellings)

    async def states(
        self,
        task: Task,
        text: str | None,
        tools: Toolbox,
        caller: Caller,
        visible: Sequence[Entry],
        *,
        end: float,
    ) -> tuple[Entry, ...]:
        """Take a message into its task, and return what is so now and is not `visible` yet.

        Where nobody said anything the task stays as it is.
        Nobody else is waited for longer than for a part of the time up to the `end` of the turn.
        """
        kept = await self.frames.known(caller.tenant, caller.conversation)
        topic = None
        if text is not None:
            by = beforehand(self.seconds, end)
            topic = await classified(self.classifier(tools), kept.frame, text, by=by)
        task.begin(kept, topic, text or "")
        own = Source(name=TASK, state=task.state)
        theirs = (Source(name=name, state=state) for name, state in self.toolbelt.states(tools))
        told = Context(sources=(own, *theirs), redactor=self.redactor)
        return await told.news(caller, visible, by=beforehand(self.seconds, end))
