"""C14, C15, C79, P-05: two processes, stops, lost claims, messages that arrive meanwhile, compactions."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress

import pytest

from adapters.storage.transactions import rows
from bot.history import Cache
from core.conversations import Received
from core.errors import Refused
from core.limits import Limits
from core.ports import Listener
from core.tools import ABSORB, Effect
from core.transcript import Entry, Heard, Move, Noted, Say, ToolCall, Use, whole
from tests.bots import Bots
from tests.builders import CONVERSATION, TENANT, a_tool
from tests.gates import World, allow
from tests.jobs import soon
from tests.stores import Stores

LIMITS = Limits(prompt_bytes=28 * 1024, seconds=5)
LOSE = (
    "UPDATE job SET fence = fence + 1, state = 'queued', owner = NULL"
    " WHERE kind = 'turn' AND state = 'running' RETURNING id"
)


class Restless:
    """A model that looks, writes, takes messages in and answers, as the dice say."""

    generative = True

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.made = 0

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: object,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        del prompt, hear
        if whole(entries) != tuple(entries):
            pytest.fail("calls and results do not belong together")
        await asyncio.sleep(self.dice.random() * 0.004)
        if conclude:
            return Say(text="All of it.")
        if isinstance(entries[-1], Heard) or self.dice.random() < 0.3:
            return Use(calls=(self._call(entries),))
        return Say(text="Done. " + "y" * self.dice.randrange(600))

    def _call(self, entries: Sequence[Entry]) -> ToolCall:
        self.made += 1
        name = self.dice.choice(["look", "look", "note", ABSORB])
        if name == ABSORB:
            told = [one.text for one in entries if isinstance(one, Noted)]
            ids = [w for text in told for w in text.replace(",", " ").split() if w[:2] == "t_"]
            return ToolCall(
                id=f"c{self.made}", tool=name, arguments={"ids": [*(ids or ["t_none"])[-3:]]}
            )
        why = {"rationale": "It is needed."} if name == "note" else {}
        return ToolCall(id=f"c{self.made}", tool=name, arguments={"word": f"w{self.made}", **why})


@pytest.mark.parametrize("seed", range(4))
async def test_each_message_ends_once_and_the_transcript_stays_whole(
    stores: Stores, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a test that can be repeated
    world = World(stores)
    world.tools += (a_tool("look", effect=Effect.READ),)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    world.within(LIMITS)
    bots = Bots(world, model=Restless(dice))  # type: ignore[arg-type]  # a model like any other
    other = Bots(world, model=bots.model, cache=Cache())
    received = list[Received]()
    async with bots.serving("one"), other.serving("two"):
        for number in range(60):
            with suppress(Refused):  # too many wait
                text = f"message {number} " + "x" * dice.randrange(400)
                received.append(await bots.receive(text, CONVERSATION))
            await asyncio.sleep(dice.random() * 0.02)
            chance = dice.random()
            if chance < 0.12:
                await bots.stop("alice", CONVERSATION)
            elif chance < 0.2:
                await stores.database.transact(lambda _: rows(LOSE))

        async def is_over() -> bool:
            return not await stores.conversations.waiting(TENANT, CONVERSATION)

        await soon(is_over)
    told = await stores.database.transact(
        lambda _: rows(
            "SELECT about, count(*) AS times FROM entry WHERE kind = 'asked' GROUP BY about"
        )
    )
    times = {row["about"]: row["times"] for row in told}
    assert {times[one.turn.id] for one in received} == {1}
    history = await stores.conversations.history(received[0].turn)
    assert whole(history.entries) == history.entries
