"""A model that makes exactly the moves that a test wrote down."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from core.ports import Listener
from core.prompt import Prompt
from core.transcript import Entry, Move, Result, Returned, Say


@dataclass(frozen=True, slots=True)
class Aloud:
    """A move that is heard piece by piece before it is made."""

    makes: Callable[[Listener], Awaitable[Move]]


Scripted: TypeAlias = Move | Exception | Aloud | Callable[[Sequence[Entry]], Awaitable[Move]]


def in_pieces(*pieces: str) -> Aloud:
    """Return what says all of this, one piece after another."""

    async def says(hear: Listener) -> Move:
        for piece in pieces:
            hear(piece)
            await asyncio.sleep(0)
        return Say(text="".join(pieces))

    return Aloud(says)


class ScriptedModel:
    """Implements `core.ports.Model`: a move, an error to raise, or a function of what it has seen."""

    def __init__(self, *script: Scripted, generative: bool = False) -> None:
        self.generative = generative
        self._left = list(script)
        self.seen: list[tuple[Entry, ...]] = []
        """The entries that each of its moves was asked with."""
        self.prompts: list[Prompt] = []
        """What stood before the entries each time."""
        self.concluded: list[bool] = []
        """Whether each of its moves was asked for as the last one."""
        self.heard: list[bool] = []
        """Whether anybody heard what it said each time."""

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        """See the port."""
        self.prompts.append(prompt)
        self.seen.append(tuple(entries))
        self.concluded.append(conclude)
        self.heard.append(hear is not None)
        if not self._left:
            # No `Exception`: the loop would take that for an outage.
            pytest.fail("the model was asked for more moves than the test wrote down")
        scripted = self._left.pop(0)
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, Aloud):
            return await scripted.makes(hear or _nobody)
        return await scripted(entries) if callable(scripted) else scripted

    def then(self, *script: Scripted) -> None:
        """Play this next; whatever was not played before is forgotten."""
        self._left = list(script)

    @property
    def told(self) -> tuple[Result, ...]:
        """Return the results that came back last."""
        last = self.seen[-1][-1]
        assert isinstance(last, Returned)
        return last.results


def _nobody(_: str) -> None:
    """Hear nothing."""
