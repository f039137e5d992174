"""What a model that writes is told in a turn besides the conversation: instructions, tools, states."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from core.context import Context, Source
from core.conversations import History
from core.entities import choices
from core.frame import ByName, Classifier, Frames, classified
from core.instructions import composed
from core.prompt import Prompt
from core.redaction import Redactor
from core.task import NAME, Task
from core.tools import Caller, Toolbox
from core.toolset import Toolset
from core.transcript import Entry


def by_name(tools: Toolbox) -> Classifier:
    """Return the classifier that goes by what is named; it asks nothing outside."""
    return ByName(choices(tools))


def instructions(toolsets: Sequence[Toolset] = ()) -> str:
    """Return the instructions as they came with this version, with the parts of the toolsets."""
    return composed((files("core") / "instructions.md").read_text(encoding="utf-8"), toolsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a model is told before a message."""

    prompt: Prompt
    news: tuple[Entry, ...]
    """What happened since the turn before, then what is so now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """Tells models what they are told, the same in every process."""

    system: str
    frames: Frames
    redactor: Redactor
    toolsets: tuple[Toolset, ...] = ()
    classifier: Callable[[Toolbox], Classifier] = by_name
    seconds: float = 2.0
    """In which the classifier, and each state, has to answer."""

    def __post_init__(self) -> None:
        self._context(self.task())  # a name that two states have is refused at start

    def task(self) -> Task:
        """Return the task of one turn, of which nothing is known yet."""
        return Task(redactor=self.redactor)

    async def brief(
        self, task: Task, text: str, tools: Toolbox, caller: Caller, known: History
    ) -> Brief:
        """Take a message into its task, and return what a model is told before it."""
        kept = await self.frames.known(caller.tenant, caller.conversation)
        topic = await classified(self.classifier(tools), kept.frame, text, seconds=self.seconds)
        task.begin(kept, topic, text)
        states = await self._context(task).news(caller, known.entries)
        return Brief(prompt=Prompt(system=self.system, tools=tools), news=(*known.news, *states))

    def _context(self, task: Task) -> Context:
        own = Source(name=NAME, state=task.state)
        theirs = (Source(name=one.name, state=one.state) for one in self.toolsets if one.state)
        return Context(sources=(own, *theirs), redactor=self.redactor, seconds=self.seconds)
