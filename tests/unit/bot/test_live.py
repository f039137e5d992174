"""C61: what a run prints is shown by a few edits of one message, which are never in its way."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from adapters.storage.transactions import rows
from approvals import progress
from approvals.models import Request, Run, RunState
from bot.live import Live, Showing, Tempo
from core.deliveries import EDIT, POST, Message, Progress, Text
from core.errors import Refused, SaysoError, Unavailable
from core.events import Place
from tests.bots import Bots
from tests.builders import TENANT, THREAD, a_new_request, a_new_turn, a_proposal
from tests.fakes.chat import FakeChat
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.runner import for_ever
from tests.fakes.timer import FakeTimer
from tests.gates import APPEND, World
from tests.jobs import soon
from tests.stores import (
    FAILED,
    OWNER,
    Stores,
    claimed,
    granted,
    heard,
    jobs_of,
    notice,
    said_in,
)

HERE = "c_thread"
DOWN = Unavailable("Slack is out of reach.")


@dataclass
class Chatty(FakeChat):
    """A chat that notes when each edit arrived."""

    timer: FakeTimer = field(default_factory=FakeTimer)
    at: list[float] = field(default_factory=list[float])

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        await super().edit(place, posted, message)
        self.at.append(self.timer.time)

    @property
    def frames(self) -> list[Progress]:
        """Return every frame that was drawn, in order."""
        return [message for _, _, message in self.edits if isinstance(message, Progress)]


@dataclass
class Stage:
    """A run in a thread, shown by a process whose seconds pass as a test says."""

    stores: Stores
    chat: Chatty
    run: Run
    hold: FakeHold
    tempo: Tempo = field(default_factory=Tempo)
    drawing: "asyncio.Task[None] | None" = None

    @property
    def timer(self) -> FakeTimer:
        return self.chat.timer

    @asynccontextmanager
    async def showing(self, live: Live | None = None) -> AsyncGenerator[Showing]:
        async with (live or self.live()).showing(self.run, self.hold) as shown:
            self.drawing = shown.drawing
            yield shown

    def live(self) -> Live:
        return Live(
            deliveries=self.stores.deliveries,
            runs=self.stores.runs,
            chats={"slack": self.chat, "console": self.chat},
            tempo=self.tempo,
            timer=self.timer,
        )

    async def post(self) -> None:
        """Have the message be there: the first frame is what was posted."""
        posted = await self.chat.post(THREAD, progress.shown(self.run), key="k")
        await self.stores.deliveries.posted(TENANT, HERE, 3, posted)

    async def pass_by(self, seconds: float) -> None:
        """Let time pass, and let everything happen that happens meanwhile."""
        until = self.timer.time + seconds
        await self.settled()
        while self.timer.wake_next(until):
            await self.settled()

    async def settled(self) -> None:
        """Wait until nothing happens unless time passes, or an edit arrives."""
        for _ in range(20):
            await asyncio.sleep(0)

        async def is_so() -> bool:
            over = self.drawing is None or self.drawing.done()
            asleep = any(not one.done() for one in self.timer.sleepers)
            return over or asleep or bool(self.chat.hanging)

        await soon(is_so)


@pytest.fixture
async def stage(stores: Stores) -> Stage:
    return await staged(stores, THREAD)


async def staged(stores: Stores, place: Place) -> Stage:
    """Return a run that was asked for in a place, and whose message is there."""
    await heard(stores, a_new_turn("t_thread", opens=HERE, place=place))
    request = await granted(stores, a_new_request(conversation=HERE))
    hold = FakeHold(await claimed(stores, request))
    spent = await stores.requests.spend(request, job=hold.job, run="r_1")
    assert spent is not None
    assert await stores.runs.begin_step(spent.run, 0)
    run = await stores.runs.run(TENANT, "r_1")
    assert run is not None
    stage = Stage(stores, Chatty(), run, hold)
    await stage.post()
    return stage


def says(shown: Showing, *lines: str) -> None:
    shown.hear(lambda: lines)


async def test_a_terminal_shows_a_run_no_longer_once_this_process_is_through_with_it(
    stores: Stores,
) -> None:
    stage = await staged(
        stores, Place(platform="console", workspace="local", channel="console", thread="other:1")
    )
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(2)
        [frame] = stage.chat.frames
        assert frame.buttons != ()
    assert [one.buttons for one in stage.chat.frames[1:]] == [()]


async def test_it_is_told_which_try_a_step_is_at_until_the_next_step(stage: Stage) -> None:
    async with stage.showing() as shown:
        shown.tries(1, 3)
        says(shown, "no")
        await stage.pass_by(2)
        shown.tries(2, 3)
        await stage.pass_by(2)
        shown.moved()
        await stage.pass_by(2)
    tries = [frame.status.partition("running. ")[2][:10] for frame in stage.chat.frames]
    assert tries == ["Try 1 of 3", "Try 2 of 3", "It has run"]
    assert [frame.tail for frame in stage.chat.frames] == [("no",), (), ()]


# How often


@pytest.mark.parametrize("already", [0.0, 5.0], ids=["at its begin", "later"])
async def test_c61_a_hundred_lines_within_a_second_are_one_edit(
    stage: Stage, already: float
) -> None:
    async with stage.showing() as shown:
        await stage.pass_by(1.0 + already)
        before = len(stage.chat.edits)
        for number in range(100):
            says(shown, f"line {number}")
            await stage.pass_by(0.0099)
        assert len(stage.chat.edits) - before == 1
        await stage.pass_by(1)
    assert stage.chat.frames[-1].tail == ("line 99",)


async def test_c61_a_hundred_lines_over_ten_seconds_are_at_most_eleven_edits(stage: Stage) -> None:
    async with stage.showing() as shown:
        await stage.pass_by(1)
        for number in range(100):
            says(shown, f"line {number}")
            await stage.pass_by(0.1)
        await stage.pass_by(0.5)
    assert 10 <= len(stage.chat.edits) <= 11
    assert stage.chat.frames[-1].tail == ("line 99",)
    gaps = [after - before for before, after in zip(stage.chat.at, stage.chat.at[1:], strict=False)]
    assert min(gaps) >= 1 - 1e-9


async def test_c61_no_minute_has_more_than_fifty_edits_and_the_newest_lines_are_shown_after_it(
    stage: Stage,
) -> None:
    async with stage.showing() as shown:
        for number in range(400):
            says(shown, f"line {number}")
            await stage.pass_by(0.5)
    at = stage.chat.at
    most = max(sum(a <= b < a + 60 - 1e-9 for b in at) for a in at)
    assert most == stage.tempo.most < 50
    assert len(at) > 144
    assert int(stage.chat.frames[-1].tail[0].removeprefix("line ")) > 390


async def test_a_run_that_prints_nothing_tells_now_and_then_for_how_long_it_runs(
    stage: Stage,
) -> None:
    async with stage.showing():
        await stage.pass_by(35)
    told = [
        frame.status.removeprefix("Step 1 of 1, append-word: running. ")
        for frame in stage.chat.frames
    ]
    assert told == ["It has run for 11s.", "It has run for 21s.", "It has run for 31s."]


async def test_lines_put_off_what_tells_for_how_long_it_runs(stage: Stage) -> None:
    async with stage.showing() as shown:
        await stage.pass_by(8)
        says(shown, "one")
        await stage.pass_by(9)
        assert stage.chat.at == [8]
        await stage.pass_by(2)
    assert stage.chat.at == [8, 18]
    assert stage.chat.frames[-1].tail == ("one",)
    assert stage.chat.frames[-1].status.endswith("It has run for 18s.")


async def test_what_a_step_printed_is_not_shown_under_the_next(stage: Stage) -> None:
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(2)
        shown.moved()
        await stage.pass_by(2)
    assert [frame.tail for frame in stage.chat.frames] == [("one",), ()]


async def test_how_far_a_step_says_to_be_stays_until_the_next_one_begins(stage: Stage) -> None:
    async with stage.showing() as shown:
        says(shown, "one", "sayso: 40% copying")
        await stage.pass_by(2)
        says(shown, "two", "three")
        await stage.pass_by(2)
        shown.moved()
        await stage.pass_by(2)
    copying = "[########............] 40% copying"
    told = [(frame.bar, frame.tail) for frame in stage.chat.frames]
    assert told == [(copying, ("one",)), (copying, ("two", "three")), ("", ())]


async def test_c61_a_hundred_percentages_within_a_second_are_one_edit(stage: Stage) -> None:
    async with stage.showing() as shown:
        await stage.pass_by(2)
        for number in range(101):
            says(shown, f"sayso: {number}%")
        await stage.pass_by(1)
    assert [frame.bar for frame in stage.chat.frames] == ["[####################] 100%"]


async def test_how_long_such_runs_take_is_told_beside_the_time(stage: Stage) -> None:
    async with stage.live().showing(stage.run, stage.hold, usual="about 20 s") as shown:
        stage.drawing = shown.drawing
        await stage.pass_by(12)
    assert stage.chat.frames[-1].status.endswith(
        "It has run for 11s; such runs usually take about 20 s."
    )


# Where


async def test_it_can_be_stopped_there_while_it_runs(stage: Stage) -> None:
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(2)
    [(place, posted, frame)] = stage.chat.edits
    assert isinstance(frame, Progress)
    assert (place, posted) == (THREAD, "m1")
    assert [(one.verb, one.request) for one in frame.buttons] == [("stop", stage.run.request)]


async def test_before_it_is_posted_nothing_is_edited_and_then_what_came_meanwhile_is_shown(
    stage: Stage,
) -> None:
    await stage.stores.database.transact(lambda _: rows("DELETE FROM posted"))
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(5)
        assert stage.chat.edits == []
        await stage.post()
        await stage.pass_by(1)
    assert [frame.tail for frame in stage.chat.frames] == [("one",)]


@pytest.mark.parametrize("where", ["platform", "thread"])
async def test_where_nobody_posts_nothing_is_looked_for_any_more(
    stage: Stage, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    live = stage.live()
    if where == "platform":
        live = replace(live, chats={})
    else:
        stage.run = replace(stage.run, id="r_none")
    async with stage.showing(live) as shown:
        says(shown, "one")
        await stage.pass_by(2)
        assert stage.drawing is not None
        assert stage.drawing.done()
    assert (stage.chat.edits, caplog.text) == ([], "")


# When not


async def test_a_process_that_may_have_lost_the_run_edits_nothing(stage: Stage) -> None:
    async with stage.showing() as shown:
        stage.hold.is_lost = True
        says(shown, "one")
        await stage.pass_by(5)
    assert stage.chat.tries == 1  # the post


async def test_a_run_that_somebody_else_ended_is_not_edited(stage: Stage) -> None:
    await notice(stage.stores, OWNER)
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(5)
    assert stage.chat.edits == []


async def test_after_it_is_over_nothing_more_is_edited(stage: Stage) -> None:
    async with stage.showing() as shown:
        says(shown, "one")
        shown.over()
        says(shown, "two")
        shown.moved()
        await stage.pass_by(60)
    assert stage.chat.edits == []


# Platforms that fail


async def test_an_edit_that_fails_is_dropped_with_a_word_and_later_the_newest_is_shown(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.chat.fail([DOWN])
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(2)
        says(shown, "two")
        await stage.pass_by(8)
        assert stage.chat.edits == []
        assert caplog.text.count(f"progress of r_1: {DOWN.shown}") == 1
        await stage.pass_by(2)
    assert [frame.tail for frame in stage.chat.frames] == [("two",)]


async def test_lines_whose_edit_failed_are_shown_later_though_no_more_come(stage: Stage) -> None:
    stage.chat.fail([DOWN])
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(12)
    assert stage.chat.at == [11]


@pytest.mark.parametrize("error", [Refused("The channel is archived."), ValueError("a fault")])
async def test_a_platform_that_refuses_is_not_asked_again_and_the_run_goes_on(
    stage: Stage, caplog: pytest.LogCaptureFixture, error: SaysoError
) -> None:
    stage.chat.fail([error])
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(2)
        says(shown, "two")
        await stage.pass_by(30)
    assert (stage.chat.tries, stage.chat.edits) == (2, [])
    assert "progress of r_1" in caplog.text


async def test_a_platform_that_does_not_answer_is_given_up_after_a_while(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.tempo = Tempo(patience=0.02)
    stage.chat.gate = asyncio.Event()
    async with stage.showing() as shown:
        says(shown, "one")
        await stage.pass_by(2)

        async def is_given_up() -> bool:
            return "slack did not answer" in caplog.text

        await soon(is_given_up)
        assert stage.chat.hanging == 0
    assert stage.chat.edits == []


# The last frame


@pytest.mark.parametrize("missing", ["message", "run"])
async def test_where_a_run_is_not_shown_its_end_is_not_drawn(stage: Stage, missing: str) -> None:
    bots = Bots(World(stage.stores), chats={"slack": stage.chat})
    if missing == "message":
        await stage.stores.database.transact(lambda _: rows("DELETE FROM posted"))
    payload = {"conversation": HERE, "run": "r_none" if missing == "run" else "r_1"}
    await bots.delivering.edit(FakeHold(replace(stage.hold.job, payload=payload)))
    assert stage.chat.tries == 1  # the post


async def test_the_end_is_drawn_only_after_the_edit_that_is_still_under_way(
    stage: Stage,
) -> None:
    bots = Bots(World(stage.stores), chats={"slack": stage.chat}, timer=stage.timer)
    async with stage.showing(bots.live) as shown:
        arrives = stage.chat.gate = asyncio.Event()
        says(shown, "one")
        await stage.pass_by(2)
        assert stage.chat.hanging == 1
        stage.chat.gate = None
        shown.over()
    # It is left at once, though the edit has not arrived.
    assert stage.chat.hanging == 1
    ended = await stage.stores.runs.end_step(stage.run, 0, FAILED)
    await stage.stores.database.transact(
        lambda _: rows("UPDATE job SET owner = NULL, state = 'done' WHERE kind <> :edit", edit=EDIT)
    )
    [*_, last] = await jobs_of(stage.stores, EDIT)
    job = replace(stage.hold.job, payload={"conversation": HERE, "run": "r_1"}, id=last["id"])
    drawing = asyncio.create_task(bots.delivering.edit(FakeHold(job)))
    for _ in range(50):
        await asyncio.sleep(0.001)
    assert stage.chat.edits == []
    arrives.set()
    await drawing
    assert [frame.tail for frame in stage.chat.frames] == [("one",), ()]
    assert stage.chat.frames[-1] == progress.shown(ended)
    assert stage.chat.frames[-1].buttons == ()


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    """Begin a thread in which nothing was said to anybody yet; its platform is edited at once."""
    await heard(stores, a_new_turn("t_thread", opens=HERE, place=THREAD))
    world = World(stores)
    world.groups |= {"frank": {"stoppers"}}
    bots = Bots(world, chats={"slack": FakeChat()}, tempo=Tempo(interval=0.01, most=10_000))
    yield bots
    await bots.at_rest()


def chat_of(bots: Bots) -> FakeChat:
    chat = bots.chats["slack"]
    assert isinstance(chat, FakeChat)
    return chat


def frames_of(bots: Bots) -> list[Progress]:
    """Return where each message that shows a run is now."""
    return [one for one in chat_of(bots).messages if isinstance(one, Progress)]


@asynccontextmanager
async def hanging(bots: Bots, clock: FrozenClock) -> AsyncGenerator[Request]:
    """Serve a run that hangs in its step and is shown in its thread."""
    bots.world.runner.meanwhile["append-word",] = for_ever
    call = APPEND.check({"word": "alpha"}, {})
    request = await bots.world.ask(a_proposal(call, conversation=HERE, turn="t_thread"))
    await bots.world.approve("bob", request)
    async with bots.serving():

        async def begun() -> bool:
            return bool(bots.world.effects())

        await soon(begun)
        clock.pass_by(timedelta(seconds=2))

        async def is_shown() -> bool:
            return bool(frames_of(bots))

        await soon(is_shown)
        yield request


async def quiet(bots: Bots) -> None:
    """Wait until nothing is left to be delivered."""

    async def is_so() -> bool:
        left = await jobs_of(bots.world.stores, POST, EDIT)
        return not {"queued", "running"} & {row["state"] for row in left}

    await soon(is_so)


async def printing(bots: Bots, *lines: str) -> None:
    """Have the step print, and wait until that is shown."""
    bots.world.runner.printed(*lines)

    async def is_shown() -> bool:
        return [frame.tail for frame in frames_of(bots)] == [lines]

    await soon(is_shown)


async def test_what_a_step_prints_is_shown_while_it_runs_and_its_end_when_it_has_ended(
    bots: Bots, clock: FrozenClock
) -> None:
    async with hanging(bots, clock) as request:
        await printing(bots, "one", "two")
        await printing(bots, "three")
        run = await bots.run_of(request)
        assert run is not None
        [shown] = frames_of(bots)
        assert [one.verb for one in shown.buttons] == ["stop"]
        await bots.stop("alice", HERE)
        await quiet(bots)
    ended = await bots.run_of(request)
    assert ended is not None
    assert (ended.state, frames_of(bots)) == (RunState.UNKNOWN, [progress.shown(ended)])
    # What was cut leaves its last lines to whoever has to find out whether it happened.
    assert "three" in "".join(await said_in(bots.world.stores, HERE, "report"))


async def test_p03c_a_stop_waits_for_no_edit_and_the_end_is_drawn_behind_it(
    bots: Bots, clock: FrozenClock
) -> None:
    chat = chat_of(bots)
    async with hanging(bots, clock) as request:
        chat.gate = asyncio.Event()
        bots.world.runner.printed("one")

        async def hangs() -> bool:
            return chat.hanging == 1

        await soon(hangs)
        stopped = await bots.stop("alice", HERE)
        assert [run.state for run in stopped.runs] == [RunState.UNKNOWN]
        assert [frame.tail for frame in frames_of(bots)] == [()]
        chat.gate.set()
        await quiet(bots)
    ended = await bots.run_of(request)
    assert ended is not None
    assert frames_of(bots) == [progress.shown(ended)]
    assert frames_of(bots)[0].buttons == ()


async def test_a_run_whose_process_died_is_shown_as_unknown_by_whoever_notices(
    bots: Bots, clock: FrozenClock
) -> None:
    async with hanging(bots, clock) as request:
        await printing(bots, "one")

        async def is_taken() -> bool:
            # The process was only paused, so it is not gone when another one takes the run from it,
            # unless it prolonged its lease first.
            clock.pass_by(timedelta(seconds=100))
            await notice(bots.world.stores)
            run = await bots.run_of(request)
            return run is not None and run.state is RunState.UNKNOWN

        await soon(is_taken)
        await quiet(bots)
        ended = await bots.run_of(request)
        assert ended is not None
        assert frames_of(bots) == [progress.shown(ended)]


async def test_a_run_that_is_over_in_no_time_is_told_by_its_report_alone(
    bots: Bots, clock: FrozenClock
) -> None:
    call = APPEND.check({"word": "alpha"}, {})
    request = await bots.world.ask(a_proposal(call, conversation=HERE, turn="t_thread"))
    await bots.approve("bob", request)
    clock.pass_by(timedelta(seconds=10))
    async with bots.serving():
        await quiet(bots)
    assert frames_of(bots) == []
    assert isinstance(chat_of(bots).messages[-1], Text)
