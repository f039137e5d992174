"""An answer is shown while it is written: now and then, without its secrets, and never in its way."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from adapters.storage.transactions import rows
from bot.drafting import MORE, MOST, TEMPO, Drafting, Writing
from core.conversations import Closing, TurnEnd
from core.deliveries import POST, Text, draft_of
from core.errors import Refused, Unavailable
from core.events import OPENS, Place
from core.guardrails import Guards
from core.outcomes import Reason
from core.ports import Listener
from core.redaction import MASK, Redactor
from core.transcript import Move, Say
from tests.bots import Bots
from tests.builders import TENANT, THREAD, a_new_turn
from tests.fakes.chat import FakeChat
from tests.fakes.hold import FakeHold
from tests.fakes.model import Aloud, ScriptedModel
from tests.fakes.runner import for_ever
from tests.fakes.timer import FakeTimer
from tests.gates import SECRET, World, allow
from tests.jobs import soon
from tests.stores import Stores, answering, heard, jobs_of, lose

HERE = "c_thread"
DOWN = Unavailable("Slack is out of reach.")


@dataclass
class Stage:
    """A turn in a thread whose answer is written, in a process whose seconds pass as a test says."""

    stores: Stores
    turn: Closing
    hold: FakeHold
    chat: FakeChat = field(default_factory=FakeChat)
    timer: FakeTimer = field(default_factory=FakeTimer)
    at: list[float] = field(default_factory=list[float])
    writing: Writing | None = None

    def drafting(self) -> Drafting:
        return Drafting(
            drafts=self.stores.drafts,
            deliveries=self.stores.deliveries,
            chats={"slack": self.chat, "console": self.chat},
            redactor=Redactor.of([SECRET]),
            timer=self.timer,
        )

    @asynccontextmanager
    async def showing(self, drafting: Drafting | None = None) -> AsyncGenerator[Listener]:
        """Give what hears the model."""
        async with (drafting or self.drafting()).showing(self.turn.turn, self.hold) as writing:
            assert writing is not None
            self.writing = writing
            yield writing.anew()

    async def pass_by(self, seconds: float) -> None:
        """Let time pass, and let everything happen that happens meanwhile."""
        until = self.timer.time + seconds
        await self.settled()
        while self.timer.wake_next(until):
            before = len(self.chat.drafts)
            await self.settled()
            self.at += [self.timer.time] * (len(self.chat.drafts) - before)

    async def settled(self) -> None:
        """Let happen whatever happens unless time passes, something is said, or a call arrives."""
        for _ in range(200):
            drawing = self.writing.drawing if self.writing else None
            asleep = any(not one.done() for one in self.timer.sleepers)
            if drawing is None or drawing.done() or asleep or self.chat.hanging:
                return
            await asyncio.sleep(
                0.001
            )  # it waits for the database, or for somebody to say something


@pytest.fixture
async def stage(stores: Stores) -> Stage:
    return await staged(stores, THREAD)


async def staged(stores: Stores, place: Place) -> Stage:
    """Return a turn that is being answered in a place."""
    await heard(stores, a_new_turn("t_thread", opens=HERE, place=place))
    end = TurnEnd(reason=Reason.ANSWERED, text="It is there.")
    turn = await answering(stores, a_new_turn("t_1a", place=place), end)
    return Stage(stores, turn, FakeHold(turn.job))


async def kept(stores: Stores) -> list[str]:
    """Return the messages of the drafts that are kept."""
    found = await stores.database.transact(lambda _: rows("SELECT message FROM draft"))
    return [row["message"] for row in found]


# How often


async def test_within_a_second_nothing_is_shown(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("It is there. ")
        await stage.pass_by(0.99)
    assert (stage.chat.drafts, stage.chat.tries) == ([], 0)
    assert await kept(stage.stores) == []


async def test_what_is_said_is_shown_in_one_message_and_grows(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("It is ")
        await stage.pass_by(1)
        hear("over there, ")
        await stage.pass_by(2)
        hear("I think.\n")
        await stage.pass_by(2)
    assert stage.chat.drafts == ["It is", "It is over there,", "It is over there, I think."]
    assert stage.chat.messages == [Text(text="It is over there, I think.")]
    assert await kept(stage.stores) == ["m1"]


async def test_a_thousand_pieces_are_a_few_edits(stage: Stage) -> None:
    async with stage.showing() as hear:
        for number in range(1000):
            hear(f"w{number} ")
            await stage.pass_by(0.02)
        await stage.pass_by(3)
    assert 9 <= len(stage.chat.drafts) <= 11
    assert stage.chat.drafts[-1].endswith(" w999")
    gaps = [after - before for before, after in zip(stage.at, stage.at[1:], strict=False)]
    assert min(gaps) >= 2 - 1e-9


async def test_all_answers_together_are_edited_thirty_times_a_minute(stage: Stage) -> None:
    drafting = stage.drafting()
    assert {drafting.slot("slack", 0.0) for _ in range(30)} == {0.0}
    assert {drafting.slot("discord", 0.0) for _ in range(31)} == {0.0}
    assert drafting.slot("slack", 5.0) == 60.0
    assert drafting.slot("slack", 61.0) == 61.0


async def test_where_nothing_new_can_be_shown_nothing_is_sent(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("It is ")
        await stage.pass_by(1)
        for piece in ("th", "", "er"):
            hear(piece)
            await stage.pass_by(4)
    assert stage.chat.drafts == ["It is"]


async def test_a_very_long_answer_is_shown_in_part_and_that_there_is_more(stage: Stage) -> None:
    async with stage.showing() as hear:
        for _ in range(40):
            hear("word " * 100)
        await stage.pass_by(1)
        [shown] = stage.chat.drafts
        hear("word " * 100)
        await stage.pass_by(10)
    assert shown.endswith(f"word{MORE}")
    assert MOST - 10 < len(shown) <= MOST + len(MORE)
    assert len(stage.chat.drafts) == 1


# What


async def test_no_secret_is_shown_whole_or_in_part_whatever_the_pieces(stage: Stage) -> None:
    async with stage.showing() as hear:
        for character in f"It is {SECRET}, and more. ":
            hear(character)
            await stage.pass_by(2)
    assert stage.chat.drafts[-1] == f"It is {MASK}, and more."
    assert all(SECRET[:2] not in text.replace(MASK, "") for text in stage.chat.drafts)


async def test_an_answer_that_begins_anew_replaces_what_was_said_before(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("Let me look. ")
        await stage.pass_by(1)
        assert stage.writing is not None
        again = stage.writing.anew()
        hear("Too late. ")
        await stage.pass_by(4)
        again("It is there. ")
        await stage.pass_by(2)
    assert stage.chat.drafts == ["Let me look.", "It is there."]
    assert stage.chat.messages == [Text(text="It is there.")]


async def test_half_a_sign_harms_nothing(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("Oh \ud83d")
        await stage.pass_by(1)
        hear("\ude00 yes ")
        await stage.pass_by(2)
    assert stage.chat.drafts == ["Oh", "Oh \U0001f600 yes"]


# Where


@pytest.mark.parametrize("where", ["terminal", "no thread", "no platform"])
async def test_where_nobody_could_see_it_nothing_is_made_of_it(stage: Stage, where: str) -> None:
    places = {
        "terminal": Place(platform="console", workspace="local", channel="console", thread="a:1"),
        "no thread": replace(THREAD, thread=None),
        "no platform": replace(THREAD, platform="discord"),
    }
    turn = replace(stage.turn.turn, place=places[where])
    async with stage.drafting().showing(turn, stage.hold) as writing:
        assert writing is None


async def test_a_thread_that_is_yet_to_be_opened_is_waited_for(stores: Stores) -> None:
    stage = await staged(stores, replace(THREAD, thread=f"{OPENS}9.9"))
    async with stage.showing() as hear:
        hear("It is ")
        await stage.pass_by(3)
        assert stage.chat.tries == 0
        await stores.deliveries.opened(TENANT, stage.turn.turn.conversation, "17.9")
        await stage.pass_by(2)
    [(place, message)] = stage.chat.shown.values()
    assert (place.thread, message) == ("17.9", Text(text="It is"))


# When not


async def test_a_process_that_may_have_lost_the_turn_shows_nothing(stage: Stage) -> None:
    async with stage.showing() as hear:
        stage.hold.is_lost = True
        hear("It is ")
        await stage.pass_by(5)
    assert stage.chat.tries == 0


async def test_a_turn_that_somebody_else_has_is_not_shown(stage: Stage) -> None:
    await lose(stage.stores, stage.turn.job, "taken")
    async with stage.showing() as hear:
        hear("It is ")
        await stage.pass_by(5)
    assert stage.chat.tries == 0


async def test_once_it_is_over_nothing_more_is_shown(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("It is ")
    hear("there. ")
    await stage.pass_by(10)
    assert stage.chat.tries == 0


async def test_its_end_waits_for_what_is_under_way(stage: Stage) -> None:
    stage.chat.gate = asyncio.Event()

    async def ends() -> None:
        async with stage.showing() as hear:
            hear("It is ")
            await stage.pass_by(1)

    ending = asyncio.create_task(ends())
    for _ in range(100):
        await asyncio.sleep(0)
    await soon(lambda: _is(stage.chat.hanging == 1))
    assert not ending.done()
    stage.chat.gate.set()
    await ending
    assert stage.chat.drafts == ["It is"]
    assert await kept(stage.stores) == ["m1"]


async def _is(what: bool) -> bool:  # noqa: FBT001 - it is what it is
    return what


# What fails


@pytest.mark.parametrize("error", [Refused("The channel is archived."), ValueError("a fault")])
async def test_a_platform_that_refuses_is_not_asked_again(
    stage: Stage, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    stage.chat.fails.append(error)  # type: ignore[arg-type]  # a fault of the platform's own
    async with stage.showing() as hear:
        hear("It is ")
        await stage.pass_by(1)
        hear("there. ")
        await stage.pass_by(60)
    assert (stage.chat.drafts, stage.chat.tries) == ([], 1)
    assert "draft of t_1a" in caplog.text


async def test_what_failed_is_tried_again_later_and_looked_for(stage: Stage) -> None:
    stage.chat.fail([DOWN])
    async with stage.showing() as hear:
        hear("It is ")
        await stage.pass_by(10)
        assert stage.chat.tries == 1
        await stage.pass_by(4)
    assert (stage.chat.drafts, stage.chat.begun) == (["It is"], [False, True])


async def test_a_call_that_hangs_is_given_up(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.chat.gate = asyncio.Event()
    hurried = {"slack": replace(TEMPO, patience=0.05)}
    drafting = replace(stage.drafting(), tempos=hurried)
    async with stage.showing(drafting) as hear:
        hear("It is ")
        await stage.pass_by(1)
    assert (stage.chat.drafts, stage.chat.tries) == ([], 1)
    assert "slack did not answer." in caplog.text


async def test_a_draft_of_before_is_gone_on_with(stage: Stage) -> None:
    async with stage.showing() as hear:
        hear("It ")
        await stage.pass_by(1)
    async with stage.showing() as hear:
        hear("Well, ")
        await stage.pass_by(1)
    assert stage.chat.messages == [Text(text="Well,")]


async def test_a_draft_of_which_nobody_was_told_is_looked_for_by_whoever_comes_next(
    stage: Stage,
) -> None:
    await stage.stores.drafts.begin(stage.turn.turn, stage.turn.job)
    async with stage.showing() as hear:
        hear("Well, ")
        await stage.pass_by(1)
    assert stage.chat.begun == [True]


# With the turn around it


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    """Return processes in which nothing waits for a second to pass by itself."""
    world = World(stores)
    world.rules += (allow("chat:ask", "dev", "*"),)
    bots = Bots(world, chats={"slack": FakeChat()}, timer=FakeTimer())
    yield bots
    await bots.at_rest()


def says(bots: Bots, *pieces: str, then: str | None = None) -> Aloud:
    """Return what says pieces, each shown before the next, and hangs in the end unless told what then."""

    async def speaks(hear: Listener) -> Move:
        assert isinstance(bots.timer, FakeTimer)
        chat = bots.chats["slack"]
        assert isinstance(chat, FakeChat)
        for piece in pieces:
            hear(piece)
            before = len(chat.drafts)

            async def is_shown(before: int = before) -> bool:
                assert isinstance(bots.timer, FakeTimer)
                bots.timer.wake_next(bots.timer.time + 1)
                return len(chat.drafts) > before

            await soon(is_shown)
        if then is None:
            await for_ever()
        return Say(text=then or "")

    return Aloud(speaks)


async def delivered(bots: Bots) -> None:
    async with bots.serving():

        async def is_over() -> bool:
            found = await jobs_of(bots.world.stores, POST)
            return not {"queued", "running"} & {row["state"] for row in found}

        await soon(is_over)


async def test_an_answer_takes_the_place_of_its_draft(bots: Bots) -> None:
    bots.model = ScriptedModel(says(bots, "It ", "is ", then="It is there."), generative=True)
    received = await bots.receive("where?", place=THREAD)
    await bots.answer(received)
    await delivered(bots)
    chat = bots.chats["slack"]
    assert isinstance(chat, FakeChat)
    assert chat.drafts == ["It", "It is"]
    assert chat.messages == [Text(text="It is there.", turn=received.turn.id)]
    assert await kept(bots.world.stores) == []


async def test_of_an_answer_that_is_stopped_that_takes_the_place(bots: Bots) -> None:
    bots.model = ScriptedModel(says(bots, "It "), generative=True)
    received = await bots.receive("where?", place=THREAD)
    answering = asyncio.create_task(bots.answer(received))
    chat = bots.chats["slack"]
    assert isinstance(chat, FakeChat)
    await soon(lambda: _is(chat.drafts == ["It"]))
    await bots.stop("alice", received.turn.conversation)
    await answering
    await delivered(bots)
    [message] = chat.messages
    assert isinstance(message, Text)
    assert message.text.startswith("Stopped")


async def test_an_answer_that_a_guardrail_is_to_see_is_never_drafted(bots: Bots) -> None:
    bots.guards = Guards(output=(lambda _: None,))

    async def speaks(hear: Listener) -> Move:
        hear("It is there. ")
        return Say(text="It is there.")

    bots.model = ScriptedModel(Aloud(speaks), generative=True)
    await bots.answer(await bots.receive("where?", place=THREAD))
    assert bots.model.heard == [False]
    await delivered(bots)


async def test_nothing_is_kept_of_a_turn_that_shows_no_draft(bots: Bots) -> None:
    bots.model = ScriptedModel(Say(text="It is there."), generative=True)
    received = await bots.receive("where?", place=THREAD)
    await bots.answer(received)
    assert await kept(bots.world.stores) == []
    entry = await bots.world.stores.deliveries.entry(TENANT, received.turn.conversation, 2)
    assert entry is not None
    assert entry.drafted is None
    assert draft_of(received.turn.id).startswith("draft:")
    await delivered(bots)
