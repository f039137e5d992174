"""I10, P-05: whatever happens in fifty turns, what a model is sent only ever grows at its end."""

import asyncio
import random
import re
from collections.abc import Sequence

import pytest

from adapters.storage.transactions import rows
from approvals.models import Request
from core.conversations import Received
from core.outcomes import Reason
from core.ports import Listener
from core.tools import ABSORB, Effect
from core.transcript import (
    Called,
    Entry,
    Heard,
    Move,
    Noted,
    Pause,
    Returned,
    Say,
    Spoke,
    Stated,
    ToolCall,
    Use,
    Wire,
    whole,
)
from tests.bots import Bots
from tests.builders import CONVERSATION, TENANT, a_tool
from tests.fakes.model import ScriptedModel
from tests.fakes.runner import for_ever
from tests.gates import World, allow
from tests.jobs import soon
from tests.stores import Stores

TURNS = 50
LOOK = a_tool("look", effect=Effect.READ)


class Chatty:
    """A model that does anything; it checks that it is sent what it was sent before, and more."""

    generative = True

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.hangs = False
        self.before: tuple[Entry, ...] = ()
        self.made = 0

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: object,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        del prompt, conclude, hear
        given = tuple(entries)
        if given[: len(self.before)] != self.before or whole(given) != given:
            # No `AssertionError`: the loop would take that for an outage.
            pytest.fail(f"what was sent before has changed: {self.before} -> {given}")
        self.before = given
        if self.hangs and isinstance(given[-1], Returned | Noted):
            await for_ever()
        mine = self._mail(given[-1])
        if mine and self.rng.random() < 0.7:
            return Use(calls=(ToolCall(id=f"m{len(given)}", tool=ABSORB, arguments={"ids": mine}),))
        kind = "read" if self.hangs else self.rng.choice(["read", "write", "both", "say", "ask"])
        if kind == "say":
            return Say(text=f"Said {len(given)}.")
        return Use(calls=tuple(self._calls(kind)), text="I go on.")

    @staticmethod
    def _mail(last: Entry) -> list[str]:
        told = last.text if isinstance(last, Noted) else ""
        return re.findall(r"(?m)^(\S+), from alice, can be taken in", told)

    def _calls(self, kind: str) -> list[ToolCall]:
        names = {
            "read": ["look", "look"],
            "write": [self.rng.choice(["append-word", "note", "wipe"])],
            "both": ["look", "note"],
            "ask": ["ask_user"],
        }[kind]
        return [self._call(name) for name in names]

    def _call(self, name: str) -> ToolCall:
        self.made += 1
        why = {"rationale": "It is needed."} if name in {"append-word", "note", "wipe"} else {}
        arguments = (
            {"question": "Which one?"} if name == "ask_user" else {"word": f"w{self.made}", **why}
        )
        return ToolCall(id=f"c{self.made}", tool=name, arguments=arguments)


@pytest.fixture
def bots(stores: Stores) -> Bots:
    world = World(stores)
    world.tools += (LOOK,)
    world.rules += (
        allow("chat:ask", "dev", "*"),
        allow("tool:read", "dev"),
    )
    return Bots(world)


def mail(bots: Bots, rng: random.Random) -> None:
    """Have a message arrive during some of the looks."""

    async def arrives() -> None:
        if rng.random() < 0.5:
            await bots.receive("and one more thing", CONVERSATION)

    bots.world.runner.meanwhile["look",] = arrives


async def answered(bots: Bots) -> None:
    """Have everything answered that waits."""
    conversations = bots.world.stores.conversations
    while waiting := await conversations.waiting(TENANT, CONVERSATION):
        await bots.answer(Received(turn=waiting[0].turn, ahead=0))


async def decided(bots: Bots, rng: random.Random, request: Request) -> None:
    """Have people approve it, deny it, or leave it."""
    choice = rng.choice(["approve", "deny", "leave"])
    if choice == "deny":
        await bots.world.deny("bob", request, "not now")
    if choice == "approve":
        for voter in ("bob", "carol")[: request.rule.quorum]:
            await bots.approve(voter, request)


async def stopped(bots: Bots, model: Chatty, text: str) -> Reason:
    """Ask, and stop it once the model has looked and thinks about that."""
    model.hangs = True
    received = await bots.receive(text, CONVERSATION)
    answering = asyncio.create_task(bots.answer(received))
    calls = model.made

    async def thinks() -> bool:
        return model.made > calls and isinstance(model.before[-1], Returned | Noted)

    await soon(thinks)
    await bots.stop("alice", CONVERSATION)
    model.hangs = False
    return (await answering).reason


@pytest.mark.parametrize("seed", range(3))
async def test_i10_the_request_of_each_turn_starts_with_that_of_the_one_before(
    bots: Bots, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a test that can be repeated
    model, reasons = Chatty(rng), set[Reason]()
    mail(bots, rng)
    for number in range(TURNS):
        # Each turn is answered by another process: nothing is known but what was stored.
        here = Bots(bots.world, model=model)  # type: ignore[arg-type]  # a model like any other
        await answered(here)
        if number % 9 == 4:
            reasons.add(await stopped(here, model, f"message {number}"))
            continue
        turn = await here.answer(await here.receive(f"message {number}", CONVERSATION))
        reasons.add(turn.reason)
        if turn.request:
            await decided(here, rng, turn.request)
    assert {Reason.ANSWERED, Reason.PROPOSED, Reason.STOPPED, Reason.ASKED} <= reasons
    assert not {Reason.MODEL_UNAVAILABLE, Reason.ERROR} & reasons
    taken_in = await bots.world.stores.database.transact(
        lambda _: rows("SELECT id FROM turn WHERE absorbed_by IS NOT NULL")
    )
    assert taken_in
    kinds = {type(entry) for entry in model.before}
    assert kinds == {Heard, Called, Returned, Spoke, Noted, Stated}
    told = " ".join(entry.text for entry in model.before if isinstance(entry, Noted))
    assert "Denied by bob: not now." in told
    assert "succeeded" in told
    assert "Stopped." in told


async def test_i10_a_stop_takes_back_no_pause_that_the_model_was_sent_again(bots: Bots) -> None:
    begun = asyncio.Event()

    async def thinks(_: Sequence[Entry]) -> Move:
        begun.set()
        await for_ever()
        raise AssertionError

    pause = Pause(wire=Wire(content='[{"type":"thinking"}]'))
    bots.model = ScriptedModel(pause, thinks, generative=True)
    answering = asyncio.ensure_future(bots.answer(await bots.receive("x", CONVERSATION)))
    await begun.wait()
    sent = bots.model.seen[-1]
    await bots.stop("alice", CONVERSATION)
    assert (await answering).reason is Reason.STOPPED
    bots.model = ScriptedModel(Say(text="ok"), generative=True)
    await bots.answer(await bots.receive("and now?", CONVERSATION))
    [seen] = bots.model.seen
    assert seen[: len(sent)] == sent
