"""P-20: what is asked at set times waits for people, one plan at a time, and is never approved by itself."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from adapters.jobs.kinds import Kind
from adapters.jobs.queue import TableQueue
from adapters.jobs.table import TableEngine
from adapters.leftovers import nothing
from adapters.storage import jobs, turns
from adapters.storage.conversations import Conversations
from adapters.storage.transactions import Row, rows, text_of
from approvals.models import State
from bot import settings
from bot.schedule import TICK, Schedule, Scheduling, schedules_of
from core.conversations import TURN, NewTurn, Received
from core.errors import Invalid, Unavailable
from core.jobs import Job, Replay
from core.transcript import ToolCall, Use
from tests.bots import Bots
from tests.builders import PLACE, TENANT
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.model import ScriptedModel
from tests.gates import World, allow
from tests.jobs import PATIENCE, QUICK, soon
from tests.stores import Stores, facts_of, jobs_of, log_of, said_in

MINUTE = timedelta(minutes=1)
THRICE = Schedule(
    name="thrice",
    cron="*/20 * * * *",
    zone=UTC,
    tenant=TENANT,
    person="alice",
    place=PLACE,
    text="append alpha",
)
"""At 09:40, 10:00 and so on; the clock of the tests starts at 09:30, and a card lives for an hour."""
SKIPPED = "schedule thrice: Skipped, because what it asked for last still waits."


@dataclass
class Timetable:
    """A process that serves schedules; its time stands still until a test moves it."""

    bots: Bots
    clock: FrozenClock
    schedules: list[Schedule] = field(default_factory=lambda: [THRICE])
    unreadable: Invalid | None = None
    """What reading the configuration raises, where it does."""

    def read(self) -> list[Schedule]:
        if self.unreadable:
            raise self.unreadable
        return self.schedules

    @property
    def scheduling(self) -> Scheduling:
        return Scheduling(
            schedules=self.read,
            inbox=self.bots.inbox,
            store=self.bots.world.stores.requests,
            queue=TableQueue(self.bots.world.stores.database),
            clock=self.clock,
        )

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        kinds = {
            TICK: Kind(handler=self.scheduling, clean=nothing, settle=jobs.settle_safe),
            TURN: Kind(handler=self.bots.answering, clean=nothing, settle=turns.settle),
        }
        engine = TableEngine(
            self.bots.world.stores.database,
            kinds,
            owner="server",
            is_dead=self.bots.dead.__contains__,
            pace=QUICK,
        )
        await self.scheduling.begin()
        stop = asyncio.Event()
        task = asyncio.create_task(engine.serve(stop))
        yield
        stop.set()
        await asyncio.wait_for(task, PATIENCE)

    async def passes(self, *, minutes: int) -> None:
        """Let time pass, and wait until whatever was due is over."""
        self.clock.pass_by(minutes * MINUTE)

        async def is_over() -> bool:
            due = await self._rows(
                "SELECT 1 FROM job WHERE kind IN ('tick', 'turn') AND (state = 'running'"
                " OR state = 'queued' AND run_at <= :now)",
                now=text_of(self.clock.now()),
            )
            return not due

        await soon(is_over)

    async def ticks(self, state: str) -> list[str]:
        """Return the times of the ticks in a state, in order."""
        found = await self._rows(
            "SELECT payload FROM job WHERE kind = 'tick' AND state = :state ORDER BY run_at",
            state=state,
        )
        return [json.loads(row["payload"])["time"][11:16] for row in found]

    async def states(self) -> list[State]:
        """Return the states of what the schedule asked for, oldest first."""
        return [request.state for request in reversed(await self.bots.world.requests())]

    async def skipped(self) -> int:
        """Count the times that were skipped, as the log tells."""
        return sum(facts_of(e)["why"] == SKIPPED for e in await self.bots.world.attempts())

    async def _rows(self, sql: str, **values: str) -> list[Row]:
        return await self.bots.world.stores.database.transact(lambda _: rows(sql, **values))


@pytest.fixture
async def timetable(stores: Stores, clock: FrozenClock) -> AsyncGenerator[Timetable]:
    world = World(stores)
    world.rules += (allow("chat:ask", "dev", "*"),)
    call = ToolCall(id="1", tool="append-word", arguments={"word": "alpha"})
    bots = Bots(world, model=ScriptedModel(*[Use(calls=(call,))] * 9))
    yield Timetable(bots, clock)
    await bots.at_rest()


async def test_it_asks_at_its_time_and_not_before(timetable: Timetable) -> None:
    async with timetable.serving():
        await timetable.passes(minutes=9)
        assert (await timetable.ticks("queued"), await timetable.states()) == (["09:40"], [])
        await timetable.passes(minutes=1)
        assert await timetable.ticks("queued") == ["10:00"]
    [request] = await timetable.bots.world.requests()
    assert (request.requester, request.votes, request.state) == ("alice", (), State.OPEN)
    assert timetable.bots.world.effects() == []


async def test_p20_while_a_plan_waits_later_times_are_skipped_and_that_is_on_record(
    timetable: Timetable,
) -> None:
    async with timetable.serving():
        for minutes in (10, 20, 20):
            await timetable.passes(minutes=minutes)
        assert (await timetable.states(), await timetable.skipped()) == ([State.OPEN], 2)
        assert await timetable.ticks("queued") == ["10:40"]


@pytest.mark.parametrize("end", ["denied", "expired", "spent"])
async def test_p20_once_its_plan_has_ended_it_asks_again_and_never_approves(
    timetable: Timetable, end: str
) -> None:
    world = timetable.bots.world
    async with timetable.serving():
        await timetable.passes(minutes=10)
        [request] = await world.requests()
        if end == "denied":
            await world.deny("bob", request)
        if end == "spent":
            await world.approve("bob", request)
            await world.spend(await world.now(request))
        await timetable.passes(minutes=60 if end == "expired" else 20)
        assert await timetable.states() == [State(end), State.OPEN]
    assert await timetable.skipped() == 0
    assert world.effects() == []


async def test_the_conversation_and_the_log_name_the_schedule(timetable: Timetable) -> None:
    stores = timetable.bots.world.stores
    async with timetable.serving():
        await timetable.passes(minutes=10)
    [request] = await timetable.bots.world.requests()
    assert await said_in(stores, request.conversation, "asked") == [
        "(schedule thrice) append alpha"
    ]
    facts = [facts_of(e) for e in await log_of(stores) if e.kind == "turn.received"]
    assert facts[-1]["schedule"] == "thrice"


async def test_each_schedule_has_a_plan_of_its_own(timetable: Timetable) -> None:
    timetable.schedules.append(replace(THRICE, name="other"))
    async with timetable.serving():
        await timetable.passes(minutes=10)
        assert await timetable.states() == [State.OPEN, State.OPEN]


async def test_what_became_due_while_nothing_served_is_asked_for_once(
    timetable: Timetable,
) -> None:
    await timetable.scheduling.begin()
    timetable.clock.pass_by(5 * 60 * MINUTE)
    async with timetable.serving():
        await timetable.passes(minutes=0)
        assert await timetable.states() == [State.OPEN]
        assert await timetable.ticks("done") == ["09:40"]
        assert await timetable.ticks("queued") == ["14:40"]


async def test_i9_a_tick_that_is_begun_twice_asks_once(timetable: Timetable) -> None:
    job = Job(
        id="tick", kind=TICK, tenant=TENANT, replay=Replay.SAFE, lane=None, fence=1, attempt=1,
        payload={"schedule": "thrice", "time": "2026-03-01T09:40:00+00:00"},
    )  # fmt: skip
    timetable.clock.pass_by(10 * MINUTE)
    for _ in range(2):
        await timetable.scheduling(FakeHold(job))
    assert len(await timetable.bots.world.stores.conversations.waiting(TENANT, None)) == 1
    assert await timetable.ticks("queued") == ["10:00"]
    assert await timetable.skipped() == 0


@pytest.mark.parametrize(
    "now", [[], [replace(THRICE, cron="7 * * * *")]], ids=["gone", "other times"]
)
async def test_a_time_that_a_schedule_no_longer_has_is_dropped(
    timetable: Timetable, now: list[Schedule]
) -> None:
    await timetable.scheduling.begin()
    timetable.schedules = now
    async with timetable.serving():
        await timetable.passes(minutes=10)
        assert await timetable.states() == []
        assert await timetable.ticks("queued") == (["10:07"] if now else [])


async def test_whoever_may_not_ask_any_more_is_not_asked_for_and_that_is_on_record(
    timetable: Timetable,
) -> None:
    world = timetable.bots.world
    world.rules = tuple(rule for rule in world.rules if rule.action != "chat:ask")
    timetable.schedules.append(replace(THRICE, name="ghost", person="nobody"))
    async with timetable.serving():
        await timetable.passes(minutes=10)
    why = sorted(str(facts_of(entry)["why"]) for entry in await timetable.bots.world.attempts())
    assert why == [
        "schedule ghost: Sayso does not know you any more, so this was not looked at.",
        "schedule thrice: You may not ask Sayso here (chat:ask).",
    ]


# Whatever becomes of one time, there is a next one


async def is_put_back(timetable: Timetable) -> bool:
    return any(row["tries"] for row in await jobs_of(timetable.bots.world.stores, TICK))


async def test_a_time_at_which_the_configuration_cannot_be_read_is_asked_for_as_soon_as_it_can(
    timetable: Timetable,
) -> None:
    async with timetable.serving():
        timetable.unreadable = Invalid("sayso.yml: line 3: half saved")
        timetable.clock.pass_by(10 * MINUTE)
        await soon(partial(is_put_back, timetable))
        assert (await timetable.ticks("queued"), await timetable.states()) == (["09:40"], [])
        timetable.unreadable = None
        await timetable.passes(minutes=1)
        assert await timetable.states() == [State.OPEN]
        assert (await timetable.ticks("done"), await timetable.ticks("queued")) == (
            ["09:40"],
            ["10:00"],
        )


async def test_a_configuration_that_cannot_be_read_is_told_to_whoever_keeps_it_going(
    timetable: Timetable,
) -> None:
    timetable.unreadable = Invalid("sayso.yml: line 3: half saved")
    with pytest.raises(Unavailable, match="half saved"):
        await timetable.scheduling.begin()
    assert await timetable.ticks("queued") == []


@pytest.mark.parametrize(
    "error", [Unavailable("The database is busy."), ValueError("nobody foresaw this")]
)
async def test_a_time_that_goes_wrong_does_not_end_its_schedule(
    timetable: Timetable, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    receive, failures = Conversations.receive, list[str]()

    async def moody(self: Conversations, new: NewTurn) -> Received:
        if not failures:
            failures.append(new.id)
            raise error
        return await receive(self, new)

    monkeypatch.setattr(Conversations, "receive", moody)
    async with timetable.serving():
        timetable.clock.pass_by(10 * MINUTE)

        async def is_next() -> bool:
            return "10:00" in await timetable.ticks("queued")

        await soon(is_next)
        assert len(failures) == 1
        await timetable.passes(minutes=20)
        assert await timetable.states() == [State.OPEN]
        assert await timetable.ticks("queued") == ["10:20"]
        is_tried_again = isinstance(error, Unavailable)
        assert (await timetable.ticks("failed") == []) is is_tried_again


async def test_a_clock_that_steps_back_asks_once_and_goes_on(
    timetable: Timetable, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive = Conversations.receive

    async def steps_back(self: Conversations, new: NewTurn) -> Received:
        received = await receive(self, new)
        timetable.clock.pass_by(-timedelta(seconds=1))
        return received

    async with timetable.serving():
        with monkeypatch.context() as patched:
            patched.setattr(Conversations, "receive", steps_back)
            await timetable.passes(minutes=10)
        assert await timetable.ticks("queued") == ["10:00"]
        await timetable.passes(minutes=1)
        assert (await timetable.states(), await timetable.skipped()) == ([State.OPEN], 0)
        await timetable.passes(minutes=20)
        assert await timetable.ticks("queued") == ["10:20"]


async def test_what_was_added_or_changed_while_it_serves_is_taken_up_once(
    timetable: Timetable,
) -> None:
    async with timetable.serving():
        for _ in range(3):
            await timetable.scheduling.begin()
        assert await timetable.ticks("queued") == ["09:40"]
        timetable.schedules = [replace(THRICE, cron="5 * * * *"), replace(THRICE, name="new")]
        for _ in range(3):
            await timetable.scheduling.begin()
        assert sorted(await timetable.ticks("queued")) == ["09:40", "09:40", "10:05"]
        await timetable.passes(minutes=10)
        assert await timetable.states() == [State.OPEN]  # of the new one alone
        assert await timetable.ticks("queued") == ["10:00", "10:05"]
        await timetable.passes(minutes=25)
        assert await timetable.states() == [State.OPEN, State.OPEN]


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2026-03-28T12:00+00:00", "2026-03-29T01:00+00:00"),  # 02:30 does not exist that day
        ("2026-10-24T12:00+00:00", "2026-10-25T00:30+00:00"),  # and here it does twice
        ("2026-10-25T00:30+00:00", "2026-10-26T01:30+00:00"),
    ],
)
def test_a_time_is_one_moment_a_day_also_when_clocks_change(now: str, then: str) -> None:
    nightly = replace(THRICE, cron="30 2 * * *", zone=ZoneInfo("Europe/Berlin"))
    found = nightly.after(datetime.fromisoformat(now))
    assert found == datetime.fromisoformat(then)
    assert nightly.strikes(datetime.fromisoformat(then))
    assert not nightly.strikes(datetime.fromisoformat(then) + MINUTE)


CONFIGURED = """\
tenants: {acme: {console: true}}
people: {alice: {console: [alice]}}
schedules:
  nightly: {cron: "0 3 * * 1-5", timezone: Europe/Berlin, ask: append alpha, as: alice}
"""


def read(folder: Path, text: str) -> settings.Settings:
    file = folder / "sayso.yml"
    file.write_text(text, "utf-8")
    return settings.read(file)


def test_the_file_says_when_who_and_what(tmp_path: Path) -> None:
    [found] = schedules_of(read(tmp_path, CONFIGURED))
    assert (found.name, found.cron, found.zone) == (
        "nightly", "0 3 * * 1-5", ZoneInfo("Europe/Berlin"),
    )  # fmt: skip
    assert (found.tenant, found.person, found.text) == ("acme", "alice", "append alpha")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0 3 * * 1-5", "0 25 * * *", "schedules.nightly.cron: write five fields as cron does"),
        ("0 3 * * 1-5", "0 0 31 2 *", "schedules.nightly.cron: write five fields as cron does"),
        (
            "Europe/Berlin",
            "Europe/Nowhere",
            "schedules.nightly.timezone: this machine knows no such",
        ),
        ("as: alice", "as: bob", "schedules: nightly: `as` names nobody under `people`"),
        ("as: alice", "as: alice, tenant: x", "schedules: nightly: `tenant` has to name one of"),
        (
            "acme: {console: true}",
            "acme: {}, other: {}",
            "schedules: nightly: `tenant` has to name",
        ),
        ("ask: append alpha", 'ask: ""', "schedules.nightly.ask: "),
    ],
)
def test_a_schedule_that_cannot_work_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(Invalid) as caught:
        read(tmp_path, CONFIGURED.replace(old, new))
    assert said in caught.value.shown


def test_no_variable_adds_a_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_SCHEDULES__X__AS", "alice")
    with pytest.raises(Invalid, match=r"set in sayso\.yml alone"):
        read(tmp_path, CONFIGURED)
