"""C4, C88: every end of a turn, with all that it leaves: what is posted, kept for a model, and on record."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pytest

from core.canonical import Json
from core.conversations import Received, Turn
from core.errors import Unavailable
from core.limits import Limits
from core.outcomes import Reason
from core.tools import ABSORB, Effect
from core.trail import Finished
from core.transcript import Broken, Say, Stop, ToolCall, Use, Wire
from tests.bots import Bots
from tests.builders import CONVERSATION, a_tool
from tests.fakes.guards import FakeGuards
from tests.fakes.model import Scripted, ScriptedModel
from tests.fakes.runner import for_ever
from tests.gates import SECRET, World, allow
from tests.stores import Stores, closing, facts_of, happened_in, log_of

Plays: TypeAlias = Callable[[Bots], Awaitable[Received]]
DOWN = Unavailable("no route to 10.0.0.7")


def use(tool: str, word: str = "alpha", **about: str) -> Use:
    call = ToolCall(id=f"{tool}-{word}", tool=tool, arguments={"word": word, **about})
    return Use(calls=(call,))


LOOKS, WRITES = use("look"), use("append-word", rationale="because")
ASKS = Use(calls=(ToolCall(id="q", tool="ask_user", arguments={"question": "Which one?"}),))
OK = Say(text="ok")


def said(
    *script: Scripted,
    limits: Limits | None = None,
    text: str = "hello",
    says: dict[str, list[object]] | None = None,
) -> Plays:
    """Return a turn in which a model that writes plays this."""

    async def played(bots: Bots) -> Received:
        bots.world.within(limits or Limits(seconds=10))
        bots.guards = FakeGuards(says or {}).guards
        bots.model = ScriptedModel(*script, generative=True)
        received = await bots.receive(text, CONVERSATION)
        await bots.answer(received)
        return received

    return played


async def hangs(_: object) -> Say:
    await for_ever()
    raise AssertionError


async def stopped_while_it_waits(bots: Bots) -> Received:
    received = await bots.receive("hello", CONVERSATION)
    await bots.stop("alice", CONVERSATION, everything=True)
    return received


async def stopped_while_the_model_thinks(bots: Bots) -> Received:
    received = await bots.receive("hello", CONVERSATION)
    async with bots.thinking(received):
        await bots.stop("alice", CONVERSATION)
    return received


async def stopped_where_its_process_is_gone(bots: Bots) -> Received:
    received = await bots.receive("hello", CONVERSATION)
    await closing(Stores(bots.world.stores.database, owner="dies"), received.turn)
    await bots.world.stores.conversations.stop(received.turn, principal="alice")
    bots.dead.add("dies")
    async with bots.serving():
        await bots.ended(received)
    return received


async def failed_in_a_way_that_nobody_foresaw(bots: Bots) -> Received:
    received = await bots.receive("hello", CONVERSATION)
    bots.world.unreadable = ValueError("4711")
    async with bots.serving():
        await bots.ended(received)
    return received


async def could_not_be_looked_at(bots: Bots) -> Received:
    bots.world.unreadable = None
    received = await bots.receive("hello", CONVERSATION)
    bots.world.unreadable = Unavailable("sayso.yml cannot be read just now.")
    await bots.answer(received)
    return received


async def taken_in(bots: Bots) -> Received:
    """Have a second message answered together with the first; return the second."""
    later = list[Received]()

    async def arrives() -> None:
        if not later:
            later.append(await bots.receive("and beta", CONVERSATION))

    async def absorbs(_: object) -> Use:
        named: list[Json] = [later[0].turn.id]
        return Use(calls=(ToolCall(id="2", tool=ABSORB, arguments={"ids": named}),))

    bots.world.runner.meanwhile["look",] = arrives
    bots.model = ScriptedModel(LOOKS, absorbs, Say(text="Both."), generative=True)
    await bots.answer(await bots.receive("look", CONVERSATION))
    return later[0]


@dataclass(frozen=True, kw_only=True)
class Row:
    """How a turn ends, and what that leaves."""

    plays: Plays
    reason: Reason
    text: str
    """What the turn says."""
    kinds: str
    """What the transcript got."""
    posted: tuple[str, ...] = field(default=("asked", "answered"))
    """The kinds of what people read."""


ROWS = {
    "an answer": Row(plays=said(OK), reason=Reason.ANSWERED, text="ok", kinds="stated heard spoke"),
    "a question": Row(
        plays=said(ASKS),
        reason=Reason.ASKED,
        text="Which one?",
        kinds="stated heard called returned",
    ),
    "a plan": Row(
        plays=said(WRITES),
        reason=Reason.PROPOSED,
        text="",
        kinds="stated heard called returned",
        posted=("asked", "card"),
    ),
    "a refusal": Row(
        plays=said(Broken(stop=Stop.REFUSED)),
        reason=Reason.REFUSED_BY_MODEL,
        text=(
            "The model declined to answer this. Nothing was changed; put it in other "
            "words, or type the command yourself."
        ),
        kinds="stated heard",
    ),
    "too many turns": Row(
        plays=said(LOOKS, DOWN, limits=Limits(turns=1)),
        reason=Reason.MAX_TURNS,
        text="I stopped: this took more steps than one turn may have. Ask for less at once.",
        kinds="stated heard called returned noted",
    ),
    "too many turns, with closing words": Row(
        plays=said(LOOKS, OK, limits=Limits(turns=1)),
        reason=Reason.MAX_TURNS,
        text="(incomplete: this took more steps than one turn may have)\nok",
        kinds="stated heard called returned noted spoke",
    ),
    "too many calls": Row(
        plays=said(
            Use(calls=(*LOOKS.calls, *use("look", "b").calls)), DOWN, limits=Limits(tool_calls=1)
        ),
        reason=Reason.MAX_TOOL_CALLS,
        text="I stopped: this needs more tool calls than one turn may make. Ask for less at once.",
        kinds="stated heard called returned noted",
    ),
    "too many tokens": Row(
        plays=said(replace(LOOKS, wire=Wire(output_tokens=1)), limits=Limits(tokens=1)),
        reason=Reason.MAX_TOKENS,
        text="I stopped: this took more of the model than one turn may use. Ask for less at once.",
        kinds="stated heard called returned",
    ),
    "too much time": Row(
        plays=said(hangs, hangs, limits=Limits(seconds=0.4)),
        reason=Reason.MAX_SECONDS,
        text="I stopped: this took longer than one turn may take. Nothing was changed.",
        kinds="stated heard noted",
    ),
    "the same call again": Row(
        plays=said(LOOKS, LOOKS, LOOKS),
        reason=Reason.REPEATED_CALL,
        text=(
            "I stopped: the model kept asking for what it had been answered or "
            "refused. Nothing was changed; ask in other words."
        ),
        kinds="stated heard called returned called returned called returned",
    ),
    "a message that was cut": Row(
        plays=said(Broken(stop=Stop.TRUNCATED)),
        reason=Reason.TRUNCATED,
        text=(
            "The model's message was cut off, so nothing of it was used. Nothing was "
            "changed; ask for less at once."
        ),
        kinds="stated heard",
    ),
    "too much for the model": Row(
        plays=said(Broken(stop=Stop.CONTEXT_EXCEEDED)),
        reason=Reason.CONTEXT_EXCEEDED,
        text=(
            "This is more than the model can take in at once. Nothing was changed; "
            "start a new conversation, or ask for less at once."
        ),
        kinds="stated heard",
    ),
    "no model": Row(
        plays=said(DOWN),
        reason=Reason.MODEL_UNAVAILABLE,
        text="The model did not answer. Nothing was changed; try again in a while.",
        kinds="stated heard",
    ),
    "a message that a guardrail stops": Row(
        plays=said(says={"input": ["no"]}),
        reason=Reason.GUARDRAIL_INPUT,
        text="Not answered: no. Nothing was changed; ask in other words.",
        kinds="noted",
    ),
    "a prompt that a guardrail stops": Row(
        plays=said(says={"context": ["no"]}),
        reason=Reason.GUARDRAIL_CONTEXT,
        text=(
            "Not answered: no. Nothing was changed; start a new conversation, "
            "because this one holds what stopped it."
        ),
        kinds="stated heard",
    ),
    "a plan that a guardrail stops": Row(
        plays=said(WRITES, says={"tool": ["no"]}),
        reason=Reason.GUARDRAIL_TOOL,
        text="Not proposed: no. Nobody was asked and nothing was changed; ask for something else.",
        kinds="stated heard called returned",
    ),
    "an answer that a guardrail stops": Row(
        plays=said(OK, says={"output": ["no"]}),
        reason=Reason.GUARDRAIL_OUTPUT,
        text="Not answered: no. Nothing was changed; ask for something else.",
        kinds="stated heard noted",
    ),
    "a move of no kind": Row(
        plays=said(Broken(stop=Stop.UNKNOWN)),
        reason=Reason.ERROR,
        text=(
            "The model's message could not be used. Nothing was changed; ask again, "
            "in other words if it happens twice."
        ),
        kinds="stated heard",
    ),
    "a secret": Row(
        plays=said(text=f"append {SECRET}"),
        reason=Reason.ANSWERED,
        text=(
            "Your message holds what looks like a secret, so I read no further and "
            "kept it masked. Let a runbook name the secret (`secrets:`), and change "
            "one that was really used."
        ),
        kinds="noted",
    ),
    "a command that nothing can be made of": Row(
        plays=said(text="!look nonsense=1"),
        reason=Reason.ANSWERED,
        text=(
            "look: there is no argument `nonsense`; a value with a = goes in quotes. "
            "Write it like this: look word=TEXT [file=TEXT] loud=true|false"
        ),
        kinds="heard noted",
    ),
    "stopped while it waits": Row(
        plays=stopped_while_it_waits,
        reason=Reason.STOPPED,
        text="Stopped. Nothing was changed.",
        kinds="noted",
    ),
    "stopped while the model thinks": Row(
        plays=stopped_while_the_model_thinks,
        reason=Reason.STOPPED,
        text="Stopped. Nothing was changed.",
        kinds="heard noted",
    ),
    "stopped where its process is gone": Row(
        plays=stopped_where_its_process_is_gone,
        reason=Reason.STOPPED,
        text="Stopped. Nothing was changed.",
        kinds="noted",
    ),
    "a failure that nobody foresaw": Row(
        plays=failed_in_a_way_that_nobody_foresaw,
        reason=Reason.ERROR,
        text=(
            "I could not answer this: something failed that nobody foresaw. Nothing "
            "was changed; an operator finds it in the log."
        ),
        kinds="noted",
    ),
    "people and rules that cannot be read": Row(
        plays=could_not_be_looked_at,
        reason=Reason.ERROR,
        text="sayso.yml cannot be read just now.",
        kinds="noted",
    ),
}


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.tools += (a_tool("look", effect=Effect.READ),)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def kept(bots: Bots) -> list[str]:
    """Return the kinds of a conversation's transcript."""
    export = await bots.world.stores.records.export(CONVERSATION)
    assert export is not None
    return [type(one).__name__.lower() for one in export.transcript]


async def on_record(bots: Bots, turn: Turn, **more: Json) -> None:
    """Fail unless a turn ended once, for its reason, in what happened in it and in the audit log."""
    happened = await happened_in(bots.world.stores, turn.id)
    finished = [one for one in happened if isinstance(one, Finished)]
    assert finished == [Finished(reason=str(turn.reason))]
    ended = [facts_of(e) for e in await log_of(bots.world.stores) if e.kind == "turn.ended"]
    mine = [facts for facts in ended if facts["turn"] == turn.id]
    assert mine == [{"principal": "alice", "turn": turn.id, "reason": turn.reason, **more}]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_c4_c88_every_end_leaves_its_text_its_entries_and_its_record(
    bots: Bots, row: Row
) -> None:
    records = bots.world.stores.records
    before, read = await kept(bots), await records.said(CONVERSATION)
    turn = await bots.turn(await row.plays(bots))
    assert (turn.reason, turn.text) == (row.reason, row.text)
    assert " ".join((await kept(bots))[len(before) :]) == row.kinds
    posted = (await records.said(CONVERSATION))[len(read) :]
    assert tuple(one.kind for one in posted) == row.posted
    shown = [one.text for one in posted if one.kind == "answered"]
    assert shown == ([row.text] if row.text else [])
    await on_record(bots, turn)


async def test_c15_c88_what_another_turn_answered_says_nothing_and_is_on_record_by_itself(
    bots: Bots,
) -> None:
    turn = await bots.turn(await taken_in(bots))
    assert (turn.reason, turn.text) == (
        Reason.ANSWERED,
        "Answered together with the message before.",
    )
    assert (await kept(bots)).count("heard") == 3
    posted = await bots.world.stores.records.said(CONVERSATION)
    assert [one.text for one in posted[-3:]] == ["look", "and beta", "Both."]
    await on_record(bots, turn, absorbed_by=turn.absorbed_by)


def test_c4_the_table_has_every_reason() -> None:
    assert {row.reason for row in ROWS.values()} == set(Reason)
