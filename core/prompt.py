"""What stands before every conversation with a model: its instructions and what it may call.

The same bytes for everybody who is given the same tools, so that a provider can keep them (C75);
nothing in it names a person, a place or a time.
"""

from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from functools import cached_property

from core.canonical import encode, sha256
from core.declarations import Declaration, declarations
from core.tools import Toolbox


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Instructions and tools; `sha256` names both in the record of each call."""

    system: str = ""
    tools: Toolbox = field(default_factory=lambda: Toolbox(()))

    @cached_property
    def declared(self) -> tuple[Declaration, ...]:
        """Return what is declared to a model, in order."""
        return declarations(self.tools)

    @cached_property
    def text(self) -> str:
        """Return all that a model is told before the conversation, as canonical text."""
        return encode({"system": self.system, "tools": [asdict(one) for one in self.declared]})

    @cached_property
    def sha256(self) -> str:
        """Return the digest of the text."""
        return sha256(self.text)

    @cached_property
    def bytes(self) -> int:
        """Return the size of the text."""
        return len(self.text.encode())


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts that were used last, so that what a prompt says is spelled out once for them all."""

    most: int = 64
    _made: OrderedDict[tuple[object, ...], Prompt] = field(default_factory=OrderedDict)

    def of(self, tools: Toolbox, system: str = "") -> Prompt:
        """Return the prompt of these very tools."""
        key = (system, *map(id, tools))  # they live as long as the prompt that holds them
        found = self._made.pop(key, None) or Prompt(system=system, tools=tools)
        self._made[key] = found
        if len(self._made) > self.most:
            self._made.popitem(last=False)
        return found
