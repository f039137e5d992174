"""What stands before every conversation with a model: its instructions and what it may call.

The same bytes for everybody who is given the same tools, so that a provider can keep them (C75);
nothing in it names a person, a place or a time.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property

from core.canonical import encode, sha256
from core.declarations import Declaration, declarations
from core.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelled:
    """What a prompt says, spelled out."""

    declared: tuple[Declaration, ...]
    """What is declared to a model, in order."""
    text: str
    """All that a model is told before the conversation, as canonical text."""
    sha256: str
    bytes: int


def spell(system: str, tools: Toolbox) -> Spelled:
    """Spell out what a prompt says."""
    declared = declarations(tools)
    text = encode({"system": system, "tools": [asdict(one) for one in declared]})
    return Spelled(declared=declared, text=text, sha256=sha256(text), bytes=len(text.encode()))


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Instructions and tools; the digest of what they say names both in the record of each call."""

    system: str = ""
    tools: Toolbox = field(default_factory=lambda: Toolbox(()))
    spell: Callable[[str, Toolbox], Spelled] = field(default=spell, compare=False, repr=False)

    @cached_property
    def says(self) -> Spelled:
        """Return what it says."""
        return self.spell(self.system, self.tools)


@dataclass(frozen=True, slots=True)
class Spellings:
    """What the prompts that were used last say, so that each is spelled out once for all turns.

    Tools that say the same may do something else for each turn, so no tool is kept.
    """

    most: int = 64
    _made: OrderedDict[tuple[object, ...], Spelled] = field(default_factory=OrderedDict)

    def __call__(self, system: str, tools: Toolbox) -> Spelled:
        """Return what a prompt says."""
        key = (system, *((t.name, t.summary, t.effect, t.parameters) for t in tools))
        found = self._made.pop(key, None) or spell(system, tools)
        self._made[key] = found
        if len(self._made) > self.most:
            self._made.popitem(last=False)
        return found
