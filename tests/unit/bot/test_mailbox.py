"""C15, T13, P-14: what is said while a turn runs is answered in it or by itself, exactly once."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.storage.transactions import rows
from core.conversations import Received, Turn
from core.errors import Unavailable
from core.events import Ask
from core.outcomes import Reason
from core.ports import Listener
from core.roster import Freshness
from core.standing import Why
from core.tools import ABSORB, Effect
from core.trail import Guarded
from core.transcript import Called, Entry, Heard, Move, Noted, Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, TENANT, a_new_turn, a_tool
from tests.fakes.clock import FrozenClock
from tests.fakes.guards import FakeGuards
from tests.fakes.model import Scripted, ScriptedModel
from tests.fakes.roster import FakeRoster
from tests.fakes.runner import for_ever
from tests.gates import BOB_ON_SLACK, SECRET, World, allow, who
from tests.stores import Stores, happened_in, log_of, notice, said_in

LOOK = a_tool("look", effect=Effect.READ)
TOGETHER = "Answered together with the message before."
_LINE = re.compile(r"^(\S+), from (\w+), (can be taken in|has a turn of its own): ", re.MULTILINE)


@pytest.fixture
def bots(stores: Stores) -> Bots:
    world = World(stores)
    world.tools += (LOOK,)
    world.groups["bob"].add("dev")
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    return Bots(world)


def announced(entries: Sequence[Entry]) -> list[tuple[str, str, str]]:
    """Return id, speaker and what may be done of all that a model was told of."""
    return [
        found
        for entry in entries
        if isinstance(entry, Noted)
        for found in _LINE.findall(entry.text)
    ]


def heard(entries: Sequence[Entry]) -> list[str]:
    return [entry.text for entry in entries if isinstance(entry, Heard)]


def step(*calls: ToolCall) -> Use:
    return Use(calls=calls)


def a_call(tool: str, word: str, **more: str) -> ToolCall:
    return ToolCall(id=f"{tool}-{word}", tool=tool, arguments={"word": word, **more})


def taking(*ids: str, name: str = "absorb-1") -> ToolCall:
    return ToolCall(id=name, tool=ABSORB, arguments={"ids": list(ids)})


async def takes_all(entries: Sequence[Entry]) -> Move:
    """Take in whatever may be."""
    return step(taking(*(one for one, _, may in announced(entries) if may == "can be taken in")))


NOTE = a_call("note", "alpha", rationale="It is needed.")


@dataclass
class Thread:
    """A conversation in which messages arrive while the first turn looks at something."""

    bots: Bots
    meanwhile: Sequence[tuple[str, str]] = (("alice", "wait, do beta instead"),)
    arrived: list[Received] = field(default_factory=list[Received])

    async def answered(self, *script: Scripted) -> Turn:
        """Ask, have the others arrive during the first look, and return the turn as it ended."""
        self.bots.model = ScriptedModel(step(a_call("look", "alpha")), *script, generative=True)
        self.bots.world.runner.meanwhile["look", "0", "alpha"] = self.arrive
        first = await self.bots.receive("look at alpha", CONVERSATION)
        await self.bots.answer(first)
        return await self.bots.turn(first)

    async def arrive(self) -> None:
        for person, text in self.meanwhile[len(self.arrived) :]:
            self.arrived.append(await self.bots.receive(text, CONVERSATION, person=person))

    async def others(self) -> list[Turn]:
        return [await self.bots.turn(one) for one in self.arrived]

    async def rest(self, *script: Scripted) -> list[Turn]:
        """Have what waits be answered by turns of their own; return how each ended."""
        self.bots.model = ScriptedModel(*script, generative=True)
        async with self.bots.serving():
            for one in self.arrived:
                await self.bots.ended(one)
        return await self.others()


async def test_c15_what_is_taken_in_ends_with_the_turn_and_is_answered_once(bots: Bots) -> None:
    thread = Thread(bots)
    turn = await thread.answered(takes_all, Say(text="Looked, and did beta."))
    (other,) = await thread.others()
    assert (turn.reason, turn.text) == (Reason.ANSWERED, "Looked, and did beta.")
    assert (other.reason, other.text) == (Reason.ANSWERED, TOGETHER)
    assert other.absorbed_by == turn.id
    assert await bots.job(thread.arrived[0]) == "done"
    stores = bots.world.stores
    assert (await said_in(stores, CONVERSATION, "asked"))[1:] == [
        "look at alpha",
        "wait, do beta instead",
    ]
    assert (await said_in(stores, CONVERSATION, "answered")) == ["Looked, and did beta."]
    ended = [e.body for e in await log_of(stores) if e.kind == "turn.ended" and other.id in e.body]
    assert len(ended) == 1
    assert turn.id in ended[0]
    assert heard(bots.model.seen[-1])[-2:] == ["look at alpha", "wait, do beta instead"]
    await bots.at_rest()


async def test_c15_what_is_not_taken_in_is_answered_by_a_turn_of_its_own(bots: Bots) -> None:
    thread = Thread(bots)
    turn = await thread.answered(Say(text="Looked."))
    (other,) = await thread.others()
    assert (turn.text, other.reason) == ("Looked.", None)
    (other,) = await thread.rest(Say(text="Beta it is."))
    assert (other.reason, other.text, other.absorbed_by) == (Reason.ANSWERED, "Beta it is.", None)
    assert heard(bots.model.seen[0])[-1:] == ["wait, do beta instead"]


async def test_c78_of_what_a_guardrail_stops_nothing_is_told_and_its_own_turn_says_why(
    bots: Bots,
) -> None:
    guards = FakeGuards(says={"input": [None, "It names a customer.", "It names a customer."]})
    bots.guards = guards.guards
    thread = Thread(bots)
    turn = await thread.answered(Say(text="Looked."))
    assert (turn.reason, turn.text) == (Reason.ANSWERED, "Looked.")
    assert announced(bots.model.seen[-1]) == []
    assert "beta" not in repr(bots.model.seen)
    (other,) = await thread.rest()
    assert (other.reason, other.absorbed_by) == (Reason.GUARDRAIL_INPUT, None)
    stopped = Guarded(stage="input", why="It names a customer")
    times = [(await happened_in(bots.world.stores, one.id)).count(stopped) for one in (turn, other)]
    assert times == [0, 1]


async def test_c15_a_finished_answer_is_posted_whatever_arrives_while_it_is_written(
    bots: Bots,
) -> None:
    thread = Thread(bots)

    async def writes(entries: Sequence[Entry]) -> Move:
        thread.meanwhile = (*thread.meanwhile, ("alice", "and gamma"))
        await thread.arrive()
        return Say(text=f"Told of {len(announced(entries))}.")

    turn = await thread.answered(takes_all, writes)
    assert turn.text == "Told of 1."
    assert [one.reason for one in await thread.others()] == [Reason.ANSWERED, None]
    own = (await thread.rest(Say(text="Gamma it is.")))[1]
    assert own.text == "Gamma it is."


async def test_t13_another_persons_words_are_told_and_never_taken_in(bots: Bots) -> None:
    thread = Thread(bots, [("bob", "me too"), ("alice", "wait")])

    async def takes_bobs(entries: Sequence[Entry]) -> Move:
        assert [who for _, who, _ in announced(entries)] == ["bob", "alice"]
        return step(taking(*(one for one, _, _ in announced(entries))))

    await thread.answered(takes_bobs, Say(text="done"))
    bobs, alices = await thread.others()
    assert (bobs.reason, alices.absorbed_by is None) == (None, False)
    assert "me too" not in heard(bots.model.seen[-1])
    (bobs, _) = await thread.rest(Say(text="Yours too."))
    assert (bobs.text, bobs.principal) == ("Yours too.", "bob")


@pytest.mark.parametrize("text", [f"my password is {SECRET}", "!note beta", "!nonsense", "stop"])
async def test_t13_what_is_no_words_to_the_agent_is_neither_told_nor_taken_in(
    bots: Bots, text: str
) -> None:
    thread = Thread(bots, [("alice", text)])
    await thread.answered(Say(text="done"))
    assert announced(bots.model.seen[-1]) == []
    (other,) = await thread.others()
    assert other.reason is None


async def test_t13_plans_wishes_and_schedules_stay_turns_of_their_own(bots: Bots) -> None:
    denied = await bots.world.propose()
    await bots.world.deny("bob", denied)
    thread = Thread(bots, [])

    async def arrive() -> None:
        ask = Ask(identity=who("bob"), place=PLACE, text="", conversation=CONVERSATION)
        thread.arrived.append(await bots.inbox.ask_again(ask, denied.id))
        thread.arrived.append(await bots.inbox.ask_plan(ask, denied.plan))
        new = replace(
            a_new_turn("t_daily", "the daily look", conversation=CONVERSATION), schedule="daily"
        )
        thread.arrived.append(await bots.world.stores.conversations.receive(new))

    thread.arrive = arrive  # type: ignore[method-assign]  # what arrives is no text
    await thread.answered(Say(text="done"))
    assert announced(bots.model.seen[-1]) == []
    assert [one.reason for one in await thread.others()] == [None] * 3


async def test_t13_who_may_no_longer_chat_is_not_told_of(bots: Bots) -> None:
    thread = Thread(bots, [("bob", "me too")])
    arrive = thread.arrive

    async def arrive_and_leave() -> None:
        await arrive()
        bots.world.groups["bob"].discard("dev")

    thread.arrive = arrive_and_leave  # type: ignore[method-assign]  # and something else happens
    await thread.answered(Say(text="done"))
    assert announced(bots.model.seen[-1]) == []
    del bots.world.groups["bob"]
    (bobs,) = await thread.rest()
    assert bobs.text == "Sayso does not know you any more, so this was not looked at."


async def test_p36_the_words_of_who_is_gone_on_their_platform_are_not_told_of(
    bots: Bots, clock: FrozenClock
) -> None:
    thread = Thread(bots, [("bob", "me too")])
    arrive = thread.arrive

    async def arrive_and_leave() -> None:
        await arrive()
        slack = FakeRoster(clock=clock, gone={"U2": Why.DEACTIVATED})
        bots.world.rosters["slack"] = slack
        await slack.standings([BOB_ON_SLACK], Freshness.NOW)

    thread.arrive = arrive_and_leave  # type: ignore[method-assign]  # and something else happens
    await thread.answered(Say(text="done"))
    assert announced(bots.model.seen[-1]) == []


async def test_i14_what_is_said_elsewhere_is_not_told_of(bots: Bots) -> None:
    async def elsewhere() -> None:
        await bots.receive("somewhere else")

    bots.model = ScriptedModel(step(a_call("look", "alpha")), Say(text="done"), generative=True)
    bots.world.runner.meanwhile["look",] = elsewhere
    await bots.answer(await bots.receive("look at alpha", CONVERSATION))
    assert announced(bots.model.seen[-1]) == []


async def test_c15_with_a_plan_what_was_taken_in_before_ends_in_the_same_transaction(
    bots: Bots,
) -> None:
    thread = Thread(bots)
    turn = await thread.answered(takes_all, step(NOTE))
    (other,) = await thread.others()
    assert turn.reason is Reason.PROPOSED
    assert (other.reason, other.absorbed_by, other.request) == (Reason.ANSWERED, turn.id, None)


async def test_c15_a_question_ends_what_was_taken_in_too(bots: Bots) -> None:
    thread = Thread(bots)
    asks = ToolCall(id="q", tool="ask_user", arguments={"question": "Beta or alpha?"})
    turn = await thread.answered(takes_all, step(asks))
    (other,) = await thread.others()
    assert (turn.reason, other.absorbed_by) == (Reason.ASKED, turn.id)


async def test_c15_what_is_taken_in_beside_a_plan_was_not_read_so_it_stays_by_itself(
    bots: Bots,
) -> None:
    thread = Thread(bots)

    async def takes_and_proposes(entries: Sequence[Entry]) -> Move:
        (one,) = announced(entries)
        return step(taking(one[0]), NOTE)

    turn = await thread.answered(takes_and_proposes)
    (other,) = await thread.others()
    assert (turn.reason, other.reason) == (Reason.PROPOSED, None)


async def test_c15_a_turn_that_ends_by_a_limit_ends_nothing_else(bots: Bots) -> None:
    thread = Thread(bots)
    looks = [step(a_call("look", f"w{number}")) for number in range(6)]
    turn = await thread.answered(takes_all, *looks, Say(text="as far as I came"))
    (other,) = await thread.others()
    assert (turn.reason, other.reason) == (Reason.MAX_TURNS, None)
    (other,) = await thread.rest(Say(text="Beta it is."))
    assert other.text == "Beta it is."
    # What was heard twice is explained, and nothing of it was taken back.
    known = bots.model.seen[0]
    assert heard(known).count("wait, do beta instead") == 2
    assert any("not answered with this turn" in e.text for e in known if isinstance(e, Noted))


@pytest.mark.parametrize("failure", [Unavailable("down"), ValueError("no")])
async def test_c15_a_model_that_fails_ends_nothing_else(bots: Bots, failure: Exception) -> None:
    thread = Thread(bots)
    turn = await thread.answered(takes_all, failure)
    (other,) = await thread.others()
    assert (turn.reason, other.reason) == (Reason.MODEL_UNAVAILABLE, None)


async def stopping(bots: Bots, thread: Thread, *script: Scripted, everything: bool) -> Turn:
    """Have somebody stop the conversation while the model thinks after the script."""
    thinks = asyncio.Event()

    async def hangs(_: Sequence[Entry]) -> Move:
        thinks.set()
        await for_ever()
        raise AssertionError

    answering = asyncio.create_task(thread.answered(*script, hangs))
    await asyncio.wait_for(thinks.wait(), 10)
    stopped = await bots.stop("alice", CONVERSATION, everything=everything)
    assert len(stopped.kept) == (0 if everything else 1)
    return await answering


@pytest.mark.parametrize("script", [(), (takes_all,)], ids=["told", "taken in"])
async def test_c15_a_stop_keeps_what_waits_at_each_point(
    bots: Bots, script: Sequence[Scripted]
) -> None:
    thread = Thread(bots)
    turn = await stopping(bots, thread, *script, everything=False)
    (other,) = await thread.others()
    assert (turn.reason, other.reason) == (Reason.STOPPED, None)
    (other,) = await thread.rest(Say(text="Beta it is."))
    assert (other.text, other.absorbed_by) == ("Beta it is.", None)


@pytest.mark.parametrize("script", [(), (takes_all,)], ids=["told", "taken in"])
async def test_c15_a_stop_of_everything_takes_what_waits_too(
    bots: Bots, script: Sequence[Scripted]
) -> None:
    thread = Thread(bots)
    turn = await stopping(bots, thread, *script, everything=True)
    (other,) = await thread.others()
    assert [turn.reason, other.reason] == [Reason.STOPPED] * 2
    assert other.absorbed_by is None


async def test_c15_a_message_that_is_stopped_after_it_was_taken_in_is_not_answered_too(
    bots: Bots,
) -> None:
    thread = Thread(bots)

    async def is_stopped_meanwhile(_: Sequence[Entry]) -> Move:
        (other,) = await thread.others()
        await bots.world.stores.conversations.stop(other, principal="alice")
        return Say(text="Both.")

    turn = await thread.answered(takes_all, is_stopped_meanwhile)
    (other,) = await thread.others()
    assert (turn.text, other.reason, other.absorbed_by) == ("Both.", Reason.STOPPED, None)
    asked = await said_in(bots.world.stores, CONVERSATION, "asked")
    assert asked.count("wait, do beta instead") == 1


async def test_c15_a_message_that_is_gone_before_it_is_taken_in_is_not(bots: Bots) -> None:
    thread = Thread(bots)

    async def is_gone(entries: Sequence[Entry]) -> Move:
        (other,) = await thread.others()
        await bots.world.stores.conversations.stop(other, principal="alice")
        return await takes_all(entries)

    await thread.answered(is_gone, Say(text="Only the first."))
    assert heard(bots.model.seen[-1])[-1:] == ["look at alpha"]
    assert "none of these" in bots.model.told[0].text


async def dies(bots: Bots, thread: Thread, *script: Scripted) -> Received:
    """Have the process die while the model thinks after the script; return the message."""
    thinks = asyncio.Event()

    async def hangs(_: Sequence[Entry]) -> Move:
        thinks.set()
        await for_ever()
        raise AssertionError

    # It may claim its turn once more before it is gone for good.
    answering = asyncio.create_task(thread.answered(*script, *[hangs] * 9))
    await asyncio.wait_for(thinks.wait(), 10)
    first = (await bots.world.stores.conversations.waiting(TENANT, CONVERSATION))[0].turn
    await notice(bots.world.stores, "a")
    answering.cancel()
    await asyncio.wait([answering])
    return Received(turn=first, ahead=0)


@pytest.mark.parametrize("again", [True, False], ids=["taken in again", "left"])
async def test_c15_a_process_that_dies_with_what_it_took_in_ends_nothing(
    bots: Bots, *, again: bool
) -> None:
    thread = Thread(bots)
    first = await dies(bots, thread, takes_all)
    (other,) = await thread.others()
    assert other.reason is None
    takes: tuple[Scripted, ...] = (takes_all,) if again else ()
    own: tuple[Scripted, ...] = () if again else (Say(text="Beta it is."),)
    script = (step(a_call("look", "gamma")), *takes, Say(text="Looked again."), *own)
    (other,) = await thread.rest(*script)
    turn = await bots.turn(first)
    assert turn.text == "Looked again."
    assert (other.absorbed_by == turn.id) is again
    assert other.text == (TOGETHER if again else "Beta it is.")
    assert heard(bots.model.seen[-1]).count("wait, do beta instead") == 1
    await bots.at_rest()


async def test_c15_a_lost_claim_ends_neither_its_turn_nor_what_it_took_in(bots: Bots) -> None:
    thread = Thread(bots)

    async def is_lost(_: Sequence[Entry]) -> Move:
        await notice(bots.world.stores, "a")
        return Say(text="Too late.")

    # Whoever waits for the answer has it answered once more, by what it can claim now.
    turn = await thread.answered(takes_all, is_lost, Say(text="First."))
    (other,) = await thread.rest(Say(text="Second."))
    assert (turn.text, other.text, other.absorbed_by) == ("First.", "Second.", None)
    assert "Too late." not in await said_in(bots.world.stores, CONVERSATION, "answered")


async def test_c15_a_model_that_writes_nothing_is_told_nothing(bots: Bots) -> None:
    bots.model = ScriptedModel(step(a_call("look", "alpha")), Say(text="done"))
    thread = Thread(bots)
    bots.world.runner.meanwhile["look",] = thread.arrive
    await bots.answer(await bots.receive("look at alpha", CONVERSATION))
    assert announced(bots.model.seen[-1]) == []


async def test_c15_a_model_that_writes_nothing_has_no_tool_to_take_anything_in(bots: Bots) -> None:
    bots.model = ScriptedModel(step(taking("t_1")), Say(text="done"))
    await bots.answer(await bots.receive("look at alpha", CONVERSATION))
    assert bots.model.told[0].text.startswith("There is no such tool here.")


async def test_c15_a_typed_command_is_told_nothing_and_nobody_types_absorb(bots: Bots) -> None:
    bots.model = ScriptedModel(Say(text="no such command"), generative=True)
    thread = Thread(bots)
    bots.world.runner.meanwhile["look",] = thread.arrive
    turn = await bots.answer(await bots.receive("!look alpha", CONVERSATION))
    assert turn.reason is Reason.ANSWERED
    (other,) = await thread.others()
    assert other.reason is None
    await bots.world.stores.conversations.stop(other, principal="alice")
    answered = await bots.answer(await bots.receive(f"!absorb {other.id}", CONVERSATION))
    assert answered.text == "no such command"


class Sociable:
    """A model that looks, takes in some of what it is told of, and says how much it heard."""

    generative = True

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.answers: list[list[str]] = []
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
        await asyncio.sleep(0)
        last = max(i for i, entry in enumerate(entries) if isinstance(entry, Heard))
        since = sum(isinstance(entry, Called) for entry in entries[last:])
        mine = [one for one, _, may in announced(entries[last:]) if may == "can be taken in"]
        self.made += 1
        if mine and self.rng.random() < 0.5:
            return step(taking(*mine, name=f"absorb-{self.made}"))
        if since < 2:
            return step(
                ToolCall(id=f"look-{self.made}", tool="look", arguments={"word": f"w{self.made}"})
            )
        return Say(text=f"Answered {self.made}.")


@pytest.mark.parametrize("seed", range(3))
async def test_c14_twenty_messages_of_two_people_are_each_answered_once_in_order(
    bots: Bots, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a test that can be repeated
    bots.model = Sociable(rng)  # type: ignore[assignment]  # a model like any other
    people = [rng.choice(["alice", "bob"]) for _ in range(20)]

    async def say(number: int) -> Received:
        return await bots.receive(f"message {number}", CONVERSATION, person=people[number])

    async with bots.serving("one"), bots.serving("two"):
        received = await asyncio.gather(*map(say, range(20)))
        for one in received:
            await bots.ended(one)
    turns = [await bots.turn(one) for one in received]
    assert {turn.reason for turn in turns} == {Reason.ANSWERED}
    by_id = {turn.id: turn for turn in turns}
    own = [turn for turn in turns if not turn.absorbed_by]
    assert 0 < len(own) < len(turns)
    for turn in turns:
        if turn.absorbed_by:
            assert by_id[turn.absorbed_by].principal == turn.principal
            assert by_id[turn.absorbed_by].absorbed_by is None
    stores = bots.world.stores
    asked = Counter((await said_in(stores, CONVERSATION, "asked"))[1:])
    assert asked == Counter(f"message {number}" for number in range(20))
    assert len(await said_in(stores, CONVERSATION, "answered")) == len(own)
    await transcript_is_in_order(stores, turns)
    await bots.at_rest()


async def transcript_is_in_order(stores: Stores, turns: Sequence[Turn]) -> None:
    """Check that a model heard each message once, and those of turns of their own in order of arrival."""
    probe = await stores.conversations.receive(a_new_turn("t_probe", conversation=CONVERSATION))
    known = heard((await stores.conversations.history(probe.turn)).entries)[1:]
    await stores.conversations.stop(probe.turn, principal="alice")
    assert sorted(known) == sorted(turn.wish.shown for turn in turns)
    arrived = await stores.database.transact(
        lambda _: rows(
            "SELECT turn.id FROM turn JOIN job ON job.id = 'turn:' || turn.id"
            " WHERE absorbed_by IS NULL AND turn.id <> 't_probe' ORDER BY job.seq"
        )
    )
    own = {turn.id: turn.wish.shown for turn in turns if not turn.absorbed_by}
    in_order = [own[row["id"]] for row in arrived if row["id"] in own]
    assert [text for text in known if text in in_order] == in_order
