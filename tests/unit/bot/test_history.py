"""C79 and I10: what a turn knows of the turns before, however long a conversation goes on."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from adapters.storage.conversations import Conversations
from adapters.storage.entries import append
from adapters.storage.erasing import Erasing
from adapters.storage.transactions import rows
from bot.history import Cache, Cached
from core.conversations import History, Mark, Turn
from core.guardrails import Context, Guards
from core.limits import Limits, prompt_bytes
from core.outcomes import Reason
from core.past import NOTHING
from core.ports import Listener
from core.tools import Effect
from core.transcript import (
    Broken,
    Called,
    Compacted,
    Entry,
    Heard,
    Move,
    Noted,
    Say,
    Spoke,
    Stated,
    Stop,
    ToolCall,
    Use,
    Wire,
    whole,
)
from tests.bots import Bots
from tests.builders import CONVERSATION, TENANT, a_new_turn, a_proposal, a_tool
from tests.fakes.model import ScriptedModel
from tests.fakes.runner import exited
from tests.gates import APPEND, World, allow
from tests.scene import call, use
from tests.stores import Connect, Stores, said_in

TURNS = 500
LIMITS = Limits(prompt_bytes=32 * 1024)
LOOK = a_tool("look", effect=Effect.READ)


@pytest.fixture
def bots(stores: Stores) -> Bots:
    world = World(stores)
    world.tools += (LOOK,)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    world.within(LIMITS)
    return Bots(world)


@dataclass
class Scribe:
    """A model that looks, answers and proposes; it keeps every prompt, and sums up where it `sums`."""

    rng: random.Random
    sums: bool
    generative: bool = True
    seen: list[tuple[Entry, ...]] = field(default_factory=list[tuple[Entry, ...]])
    summaries: int = 0

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: object,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        del prompt, hear
        self.seen.append(tuple(entries))
        if conclude:
            self.summaries += 1
            return Say(text=f"Summary {self.summaries}." if self.sums else "")
        if isinstance(entries[-1], Heard):
            name = self.rng.choice(["look", "look", "look", "append-word"])
            why = {} if name == "look" else {"rationale": "It is needed."}
            word = f"w{len(self.seen)}"
            calls = [ToolCall(id=f"c{len(self.seen)}", tool=name, arguments={"word": word, **why})]
            return Use(calls=tuple(calls))
        return Say(text="Found " + "y" * self.rng.randrange(300))


def grows(before: tuple[Entry, ...], after: tuple[Entry, ...]) -> bool:
    return after[: len(before)] == before


@pytest.mark.parametrize("sums", [True, False], ids=["with words", "without"])
async def test_c79_a_thread_of_500_turns_stays_valid_and_under_the_limit(
    bots: Bots, *, sums: bool
) -> None:
    model = Scribe(random.Random(7), sums)  # noqa: S311 - a test that can be repeated
    bots.model = model  # type: ignore[assignment]  # a model like any other
    reasons = set[Reason]()
    for number in range(TURNS):
        if number % 5 == 0:
            bots.cache = Cache()  # another process answers
        answered = await bots.answer(await bots.receive(f"message {number}", CONVERSATION))
        reasons.add(answered.reason)
        if answered.request and number % 2:
            await bots.world.deny("bob", answered.request, "not now")
    assert reasons == {Reason.ANSWERED, Reason.PROPOSED}
    assert all(whole(seen) == seen for seen in model.seen)
    assert all(prompt_bytes(seen) <= LIMITS.kept_bytes for seen in model.seen)
    # I10: each prompt begins with the one before, except where a compaction begins another epoch.
    breaks = [
        (before, after)
        for before, after in pairwise(model.seen)
        if not grows(before[:-1] if is_asked_to_sum_up(before) else before, after)
    ]
    assert all(isinstance(after[0], Compacted) for _, after in breaks)
    assert 5 < len(breaks) < TURNS // 10
    assert model.summaries == len(breaks)
    last = model.seen[-1][0]
    assert isinstance(last, Compacted)
    assert bool(last.words) is sums
    assert last.turns > TURNS - 60
    assert last.waiting
    assert "alice: message" in last.text


async def test_c24_what_a_guardrail_stops_is_summed_up_by_nobody_and_stays_stopped(
    bots: Bots,
) -> None:
    def clean(context: Context) -> str | None:
        return "it holds a badword" if "BADWORD" in repr(context.entries) else None

    answers = [Say(text=f"{'y' * 6000} {word}") for word in ("BADWORD", "")]
    bots.model = ScriptedModel(*answers, generative=True)
    for number, _ in enumerate(answers):
        await bots.answer(await bots.receive(f"message {number}", CONVERSATION))
    bots.guards = Guards(context=(clean,))
    bots.model = ScriptedModel(generative=True)  # asked for nothing, not for a summary either
    for _ in range(2):
        answered = await bots.answer(await bots.receive("and now?", CONVERSATION))
        assert answered.reason is Reason.GUARDRAIL_CONTEXT
    bots.guards, bots.model = Guards(), Scribe(random.Random(7), sums=True)  # type: ignore[assignment]  # noqa: S311 - as above
    await bots.answer(await bots.receive("and now?", CONVERSATION))
    assert is_asked_to_sum_up(bots.model.seen[0])  # it was due all the time


def is_asked_to_sum_up(entries: Sequence[Entry]) -> bool:
    return isinstance(entries[-1], Noted) and entries[-1].text.startswith("The older part")


async def test_c79_what_was_only_typed_is_compacted_for_the_first_model_that_reads_it(
    bots: Bots,
) -> None:
    for number in range(40):
        bots.world.runner.endings["look", "0", f"w{number}"] = exited(output="x" * 500)
        bots.model = ScriptedModel()
        told = await bots.answer(await bots.receive(f"!look word=w{number}", CONVERSATION))
        assert told.text == "x" * 500
    bots.model = model = ScriptedModel(Say(text="ok"), generative=True)
    assert (await bots.answer(await bots.receive("hi", CONVERSATION))).reason is Reason.ANSWERED
    [seen] = model.seen
    assert isinstance(seen[0], Compacted)
    assert whole(seen) == seen
    ids = [call.id for entry in seen if isinstance(entry, Called) for call in entry.calls]
    assert len(set(ids)) == len(ids)


def looks(times: int) -> ScriptedModel:
    call = ToolCall(id="1", tool="look", arguments={"word": "a"})
    moves = [move for _ in range(times) for move in (use(call), Say(text="ok"))]
    return ScriptedModel(*moves, generative=True)


async def test_of_a_long_conversation_a_turn_reads_what_came_since_the_last_one(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, history = list[int](), Conversations.history

    async def counted(self: Conversations, turn: Turn, after: Mark) -> History:
        found = await history(self, turn, after)
        read.append(len(found.entries))
        return found

    monkeypatch.setattr(Conversations, "history", counted)
    bots.model = looks(6)
    for number in range(6):
        here = bots if number != 4 else Bots(bots.world, model=bots.model)  # another process
        await here.answer(await here.receive(f"message {number}", CONVERSATION))
    assert read == [2, 5, 4, 4, 19, 8]
    assert all(grows(one, next_one) for one, next_one in pairwise(bots.model.seen))


async def test_a_turn_that_only_passes_on_words_reads_none_of_it(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unread(*_: object) -> History:
        pytest.fail("nobody needs this")

    monkeypatch.setattr(Conversations, "history", unread)
    bots.model = model = ScriptedModel(Say(text="ok"))
    await bots.answer(await bots.receive("!look word=a", CONVERSATION))
    request = await bots.world.ask(a_proposal(APPEND.check({"word": "beta"}, {})))
    await bots.world.deny("bob", request, "not now")
    assert (await bots.answer(await bots.receive("hi", CONVERSATION))).text == "ok"
    [seen] = model.seen
    assert [type(entry) for entry in seen] == [Noted, Heard]


async def test_c77_what_was_erased_meanwhile_is_not_remembered(
    bots: Bots, connect: Connect
) -> None:
    bots.model = model = looks(2)
    await bots.answer(await bots.receive("my address is 1 High Street", CONVERSATION))
    await bots.answer(await bots.receive("and now", CONVERSATION))
    another = await connect()
    await Erasing(another).erase(CONVERSATION, account="root")
    bots.model = model = looks(1)
    await bots.answer(await bots.receive("hello", CONVERSATION))
    assert "High Street" not in str(model.seen)
    assert [type(one) for one in model.seen[0]] == [Stated, Heard]


async def test_a_compaction_that_was_not_stored_is_made_again(bots: Bots) -> None:
    """Its turn was stopped while the model summed up, so nobody was shown anything of it."""
    await grown(bots)
    received = await bots.receive("stop this", CONVERSATION)
    async with bots.thinking(received) as [answering]:
        await bots.stop("alice", CONVERSATION)
        assert (await answering).reason is Reason.STOPPED
    bots.model = model = ScriptedModel(Say(text="Sum."), Say(text="ok"), generative=True)
    assert (await bots.answer(await bots.receive("go on", CONVERSATION))).text == "ok"
    first = model.seen[-1][0]
    assert isinstance(first, Compacted)
    assert first.words == "Sum."


async def test_c2_what_it_takes_to_sum_up_counts_for_the_turn_and_is_kept(bots: Bots) -> None:
    await grown(bots)
    bots.world.within(replace(LIMITS, tokens=1000))
    summary = Say(text="Sum.", wire=Wire(input_tokens=700, output_tokens=200))
    bots.model = ScriptedModel(summary, Say(text="That is all."), generative=True)
    told = await bots.answer(await bots.receive("go on", CONVERSATION))
    assert told.reason is Reason.MAX_TOKENS
    assert "That is all." in told.text
    bots.model = ScriptedModel(Say(text="ok"), generative=True)
    told = await bots.answer(await bots.receive("and now?", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")


async def grown(bots: Bots) -> None:
    """Have a conversation become so long that its next turn begins with a compaction."""
    for number in range(2):
        bots.model = ScriptedModel(Say(text="x" * 6000), generative=True)
        await bots.answer(await bots.receive(f"message {number}", CONVERSATION))


UNUSABLE: dict[str, Any] = {
    "a number": Say(text=5),  # type: ignore[arg-type]
    "no text": Say(text=None),  # type: ignore[arg-type]
    "no wire": Say(text="Sum.", wire=None),  # type: ignore[arg-type]
    "half a character": Say(text="Sum.", wire=Wire(request="\ud800")),
    "no exact JSON": Say(text="Sum.", wire=Wire(options={"t": float("nan")})),
    "half of it": Broken(stop=Stop.TRUNCATED, text="Su"),
}


@pytest.mark.parametrize("summary", UNUSABLE.values(), ids=UNUSABLE)
async def test_c79_of_a_summary_that_cannot_be_used_nothing_is_and_lines_stand_alone(
    bots: Bots,
    summary: Any,  # noqa: ANN401 - that is the point
) -> None:
    await grown(bots)
    bots.model = model = ScriptedModel(summary, Say(text="ok"), generative=True)
    told = await bots.answer(await bots.receive("go on", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    first = model.seen[-1][0]
    assert isinstance(first, Compacted)
    assert first.words == ""
    assert "alice: message 0" in first.text


async def test_c78_a_summary_that_a_guardrail_stops_is_left_out(bots: Bots) -> None:
    bots.guards = Guards(context=(lambda given: "no" if "quagga" in repr(given) else None,))
    await grown(bots)
    bots.model = ScriptedModel(Say(text="They want quagga."), Say(text="ok"), generative=True)
    told = await bots.answer(await bots.receive("go on", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    bots.model = model = ScriptedModel(Say(text="fine"), generative=True)
    told = await bots.answer(await bots.receive("and now?", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "fine")
    assert isinstance(model.seen[0][0], Compacted)
    happened = "SELECT 1 FROM happening WHERE kind = 'guarded'"
    assert await bots.world.stores.database.transact(lambda _: rows(happened)) == []


async def test_c78_where_it_stops_the_lines_too_the_conversation_stays_as_it_was(
    bots: Bots,
) -> None:
    def guard(given: Context) -> str | None:
        return "no" if any(isinstance(one, Compacted) for one in given.entries) else None

    bots.guards = Guards(context=(guard,))
    await grown(bots)
    bots.model = model = ScriptedModel(Say(text="Sum."), Say(text="ok"), generative=True)
    told = await bots.answer(await bots.receive("go on", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    assert "x" * 6000 in repr(model.seen[-1])


async def reported(bots: Bots, *texts: str) -> None:
    """Have the conversation hold these reports."""
    for text in texts:
        await bots.world.stores.database.transact(
            partial(append, conversation=CONVERSATION, kind="report", author="sayso", text=text)
        )


async def test_c79_however_much_is_reported_the_next_message_is_answered(bots: Bots) -> None:
    await reported(bots, *(f"begin {n} {'x' * 30_000} end {n}" for n in range(10)))
    bots.model = model = ScriptedModel(Say(text="ok"), Say(text="fine"), generative=True)
    told = await bots.answer(await bots.receive("and now?", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    news = [one for one in model.seen[0] if isinstance(one, Noted)]
    assert "begin 9" in news[-1].text
    assert "end 9" in news[-1].text
    assert prompt_bytes(news) <= LIMITS.begun_bytes // 2
    told = await bots.answer(await bots.receive("and then?", CONVERSATION))
    assert told.text == "fine"
    assert grows(model.seen[0], model.seen[1])
    assert [one for one in model.seen[1] if isinstance(one, Noted)] == news


async def test_c79_nor_is_it_where_the_person_types_a_command_first(bots: Bots) -> None:
    await reported(bots, *("x" * 30_000 for _ in range(10)))
    bots.model = ScriptedModel()
    assert (await bots.answer(await bots.receive("!look word=a", CONVERSATION))).text
    bots.model = model = ScriptedModel(Say(text="ok"), generative=True)
    told = await bots.answer(await bots.receive("and now?", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    assert prompt_bytes(model.seen[-1]) <= LIMITS.begun_bytes


async def test_c79_one_run_that_prints_much_costs_no_message_and_people_read_all(
    bots: Bots,
) -> None:
    world = bots.world
    world.tools += (a_tool("wordy", risk="low", steps=9),)
    world.runner.endings["wordy",] = exited(output="line of output\n" * 2184)
    bots.model = ScriptedModel(use(call("wordy", rationale="because")), generative=True)
    asked = await bots.answer(await bots.receive("do it", CONVERSATION))
    assert asked.request is not None
    await bots.approve("bob", asked.request)
    bots.model = model = ScriptedModel(Say(text="ok"), generative=True)
    told = await bots.answer(await bots.receive("did it work?", CONVERSATION))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    assert prompt_bytes(model.seen[0]) <= LIMITS.begun_bytes
    [report] = await said_in(world.stores, CONVERSATION, "report")
    assert report.count("line of output") > 2184


def the_turn(conversation: str, tenant: str = TENANT) -> Turn:
    new = a_new_turn("t_7", conversation=conversation, tenant=tenant)
    return Turn(
        id=new.id,
        tenant=tenant,
        conversation=conversation,
        principal=new.principal,
        place=new.place,
        wish=new.wish,
    )


def cached(size: int, last: int = 1) -> Cached:
    past = NOTHING.then(Spoke(text="", content="x" * size))
    return Cached(past=past, mark=Mark(last=last))


def test_what_was_not_used_for_longest_is_forgotten_first() -> None:
    one = cached(1000)
    cache = Cache(most=3 * one.bytes)
    for name in ("a", "b", "c"):
        cache.keep(the_turn(name), one)
    cache.keep(the_turn("a"), replace(one, mark=Mark(last=2)))
    cache.keep(the_turn("d"), one)
    assert [cache.of(the_turn(name)).mark.last for name in "abcd"] == [2, 0, 1, 1]
    cache.keep(the_turn("e"), cached(9_000))
    assert [cache.of(the_turn(name)) for name in "acde"] == [Cached()] * 4
    cache.keep(the_turn("f"), one)
    assert cache.of(the_turn("f")) == one


def test_i14_what_is_remembered_is_one_tenants() -> None:
    cache = Cache()
    cache.keep(the_turn("c"), cached(10))
    assert cache.of(the_turn("c", "globex")) == Cached()
