"""The toolset `memory`: what a conversation remembers beyond what its model was sent (C77)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from pydantic import Field

from core.canonical import JsonObject
from core.counts import Count
from core.display import one_line
from core.durations import Duration
from core.errors import Incorrect
from core.memories import Kind, Memories, NewMemory, Trust, owned
from core.memory_search import label, ranked, shown, words
from core.params import Param
from core.redaction import MASK, Redactor
from core.tools import Caller, Tool
from core.toolset import Channel, Exposure, Toolset
from core.toolsets.own import own_tool

NAME = "memory"
REMEMBER, RECALL, FORGET = "remember", "recall", "forget"
MOST_BYTES = 1024
"""Of one memory."""
MOST_EPISODES = 200
"""How far back software's own records are searched."""
MOST_STATED = 10
"""How many of the newest memories a model is told of without asking."""

_NO_MEMORY = {
    Trust.PERSON: (
        "No memory of that id is here now: it was forgotten already, its time is over, or there never "
        "was one in this conversation. `recall` names those that there are."
    ),
    Trust.MODEL: (
        "No memory of that id that you kept is here now: it was forgotten already, its time is over, or "
        "there never was one in this conversation. `recall` names those that there are; what a person "
        "kept, only a person forgets, with !forget."
    ),
}
"""They hold too where a turn is answered again that forgot it before its process died."""


class MemoryConfig(Exposure):
    """How long and how much is remembered."""

    toolset: ClassVar[str] = NAME
    serves: ClassVar[tuple[Channel, ...]] = (Channel.TOOL, Channel.CONTEXT, Channel.COMMAND)

    retention: Duration = timedelta(days=30)
    """After this it is forgotten."""
    most: Count = Field(default=200, ge=1, le=1000)
    """In one conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deeds:
    """What the tools and the commands do."""

    config: MemoryConfig
    memories: Memories
    redactor: Redactor
    trust: Trust
    """Whose words are kept: of the model that calls, or of the person who types."""

    async def remember(self, arguments: JsonObject, caller: Caller) -> str:
        given = str(arguments["text"])
        text = self.redactor.text(given)
        if len(text.encode()) > MOST_BYTES:
            raise Incorrect(
                f"{REMEMBER}: `text`: it has more than {MOST_BYTES} bytes. Keep what matters of it."
            )
        new = NewMemory(
            caller=caller,
            kind=Kind(str(arguments.get("kind", Kind.SEMANTIC))),
            trust=self.trust,
            source=self._source(caller),
            text=text,
        )
        config = self.config
        kept = await self.memories.keep(new, retention=config.retention, most=config.most)
        masked = f" What looked like a secret was kept as {MASK}." if text != given else ""
        return f"Kept as {kept.id} until {kept.expires_at:%Y-%m-%d}.{masked}"

    async def recall(self, arguments: JsonObject, caller: Caller) -> str:
        wanted = words(str(arguments["query"]))
        if not wanted:
            raise Incorrect(f"{RECALL}: `query`: write words to look for. Call it again with some.")
        here = caller.tenant, caller.conversation
        retention = self.config.retention
        kept = await self.memories.kept(*here)
        noted = await self.memories.episodes(*here, retention=retention, most=MOST_EPISODES)
        return shown(ranked(owned([*kept, *noted], *here), wanted))

    async def forget(self, arguments: JsonObject, caller: Caller) -> str:
        forgotten = await self.memories.forget(
            caller,
            str(arguments["id"]),
            # What a person had remembered is not for a model to remove: it may have been talked into that.
            trust=None if self.trust is Trust.PERSON else self.trust,
        )
        if forgotten:
            return "Forgotten."
        # The same words for a foreign one and for one that never was (I14).
        raise Incorrect(_NO_MEMORY[self.trust])

    async def state(self, caller: Caller) -> str:
        here = caller.tenant, caller.conversation
        newest = owned(await self.memories.kept(*here), *here)[:MOST_STATED]
        return "\n".join(f"{label(one)}: {one_line(one.text)}" for one in newest)

    def _source(self, caller: Caller) -> str:
        if self.trust is Trust.PERSON:
            return caller.principal
        return f"{caller.turn}/{caller.call}"


def toolset(config: MemoryConfig, memories: Memories, redactor: Redactor) -> Toolset:
    """Return what it offers, on all channels that it serves."""
    by_model, by_person = (
        _Deeds(config=config, memories=memories, redactor=redactor, trust=trust)
        for trust in (Trust.MODEL, Trust.PERSON)
    )
    return Toolset(
        name=NAME,
        tools=_tools(by_model),
        state=by_model.state,
        commands=_commands(by_person),
    )


_TEXT = Param(
    type="string",
    min_length=1,
    max_length=MOST_BYTES,
    may_start_with="-@",
    description="What to remember.",
)
_ID = Param(type="string", min_length=1, max_length=40, description="As it was kept or recalled.")
_QUERY = Param(
    type="string",
    min_length=1,
    max_length=200,
    may_start_with="-@",
    description="Words to look for.",
)
_KIND = Param(
    type="string",
    min_length=1,
    max_length=40,
    enum=(Kind.SEMANTIC.value, Kind.PROCEDURAL.value),
    description="What is so, or how something is done.",
)


def _tools(deeds: _Deeds) -> tuple[Tool, ...]:
    return (
        own_tool(
            REMEMBER,
            "Keep one fact or one way of doing something for later turns of this conversation.",
            {"kind": _KIND, "text": _TEXT},
            deeds.remember,
        ),
        _recall(deeds),
        own_tool(
            FORGET, "Remove a memory that you kept in this conversation.", {"id": _ID}, deeds.forget
        ),
    )


def _commands(deeds: _Deeds) -> tuple[Tool, ...]:
    return (
        own_tool(
            REMEMBER, "Keep a fact for later in this conversation.", {"text": _TEXT}, deeds.remember
        ),
        _recall(deeds),
        own_tool(FORGET, "Remove a memory of this conversation.", {"id": _ID}, deeds.forget),
    )


def _recall(deeds: _Deeds) -> Tool:
    about = "Look for words in what this conversation remembers, and in what happened in its turns."
    return own_tool(RECALL, about, {"query": _QUERY}, deeds.recall)
