"""T11, C80: a reminder comes back to its conversation once, in its owner's name, and approves nothing."""

import asyncio
import re
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from adapters.storage import jobs
from approvals.models import State
from bot.notify import wakes
from core.conversations import TURN
from core.deliveries import Text
from core.errors import Invalid, Unavailable
from core.guardrails import Guards, Input, Output
from core.redaction import Redactor
from core.reminders import DUE, ReminderState, job_of
from core.toolbelt import Toolbelt
from core.tools import OWN
from core.toolsets.reminders import RemindersConfig, toolset
from core.transcript import Entry, Heard, Noted, Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, TENANT, THREAD, a_caller, a_new_turn
from tests.fakes.chat import FakeChat
from tests.fakes.clock import START, FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.model import ScriptedModel
from tests.gates import EVE, SECRET, World, allow, without
from tests.jobs import soon
from tests.stores import (
    LEASE,
    OTHER_TENANT,
    Stores,
    facts_of,
    heard,
    hold_calls,
    jobs_of,
    log_of,
    said_in,
)

HOUR = timedelta(hours=1)
NOTE = (
    "A reminder of alice's, set 2026-03-01 09:30:00 UTC for 2026-03-01 11:30:00 UTC:\n"
    "> look at web again"
)


@pytest.fixture
async def bots(stores: Stores, clock: FrozenClock) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.rules += (
        allow("chat:ask", "dev", "*"),
        allow("chat:ask", "ops", "*"),
        allow("tool:read", "dev", "tool:*"),
        allow("tool:read", "ops", "tool:*"),
    )
    made = toolset(RemindersConfig(most=3), stores.reminders, clock, Redactor.of([SECRET]))
    bots = Bots(world, toolbelt=Toolbelt.of([made]))
    await hold_calls(stores)
    yield bots
    await bots.at_rest()


async def say(bots: Bots, text: str, person: str = "alice") -> str:
    """Have somebody say something in the first conversation; return the answer."""
    return (await bots.answer(await bots.receive(text, CONVERSATION, person=person))).text


async def set_one(bots: Bots, text: str = "!remind_me 2h look at web again") -> str:
    """Have alice set a reminder; return its id."""
    [name] = re.findall(r"n_[0-9a-f]{16}", await say(bots, text))
    return str(name)


async def all_due(bots: Bots) -> None:
    """Wait until every reminder that is due, and every turn, is over."""

    async def is_over() -> bool:
        waiting = [row["state"] for row in await jobs_of(bots.world.stores, DUE, TURN)]
        return not {"queued", "running"} & set(waiting)

    await soon(is_over)


async def due_turns(bots: Bots) -> None:
    """Have one process answer whatever waits."""
    async with bots.serving():

        async def is_over() -> bool:
            waiting = [row["state"] for row in await jobs_of(bots.world.stores, TURN)]
            return not {"queued", "running"} & set(waiting)

        await soon(is_over)


async def due(bots: Bots, clock: FrozenClock, *, after: timedelta = 2 * HOUR) -> None:
    """Let time pass and have one process serve what is due."""
    clock.pass_by(after)
    async with bots.serving():
        await all_due(bots)


async def held(bots: Bots, name: str) -> FakeHold:
    """Claim the job of a reminder, late enough, for a process that dies."""
    (job,) = await bots.world.stores.database.transact(
        lambda now: jobs.claim(now + 3 * HOUR, "dies", LEASE, [DUE], most=1, only=job_of(name))
    )
    return FakeHold(job)


async def notes(bots: Bots) -> list[str]:
    return await said_in(bots.world.stores, CONVERSATION, "note")


async def state(bots: Bots, name: str) -> ReminderState:
    found = await bots.world.stores.reminders.get(TENANT, name)
    assert found
    return found.state


# Setting, listing, cancelling


async def test_t11_a_typed_reminder_is_set_listed_and_cancelled(bots: Bots) -> None:
    assert await say(bots, "!reminders") == (
        "You have no reminders in this conversation. Set one with remind_me."
    )
    name = await set_one(bots)
    assert await say(bots, "!reminders") == f"{name} 2026-03-01 11:30:00 UTC: look at web again"
    assert await say(bots, f"!cancel_reminder {name}") == "Cancelled. It will not come back."
    assert name not in await say(bots, "!reminders")
    assert bots.model.seen == []


async def test_t11_a_model_sets_one_by_a_tool(bots: Bots) -> None:
    call = ToolCall(id="1", tool="remind_me", arguments={"when": "1h", "text": "look"})
    bots.model = ScriptedModel(Use(calls=(call,)), Say(text="I will."), generative=True)
    assert await say(bots, "look later") == "I will."
    assert "Reminder n_" in bots.model.told[0].text
    assert "Where something has to be looked at later" in bots.model.prompts[0].system


async def test_c48_a_turn_that_is_answered_again_sets_each_of_its_reminders_once(
    bots: Bots, clock: FrozenClock
) -> None:
    tool = bots.toolbelt.toolsets[0].tools[0]
    assert tool.look
    for call in ("1", "2"):
        for text in ("look at web", "look at db"):
            caller = a_caller(call=call)
            await tool.look({"when": "1h", "text": text}, caller)
        clock.pass_by(timedelta(minutes=5))
    listed = await bots.world.stores.reminders.pending(TENANT, "alice", CONVERSATION)
    assert sorted(one.text for one in listed) == ["look at db", "look at web"]
    assert {one.due for one in listed} == {START + HOUR}


@pytest.mark.parametrize(
    ("when", "due"),
    [
        ("90m", "2026-03-01 11:00:00 UTC"),
        ("2026-03-02T10:00:00+02:00", "2026-03-02 08:00:00 UTC"),
        ("2026-03-02T10:00Z", "2026-03-02 10:00:00 UTC"),
    ],
)
async def test_t11_the_time_is_kept_as_an_absolute_one(bots: Bots, when: str, due: str) -> None:
    assert (await say(bots, f"!remind_me {when} look")).endswith(f"is set for {due}.")


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("soon", "write a span from now such as 30m"),
        ("2026-03-02T10:00:00", "write a span from now such as 30m"),
        ("9999-12-31T23:59:59-23:00", "write a span from now such as 30m"),
        ("2026-03-01T09:00:00Z", "it has to be between 1m and 90d from now"),
        ("59s", "it has to be between 1m and 90d from now"),
        ("91d", "it has to be between 1m and 90d from now"),
    ],
)
async def test_t11_a_time_that_is_none_too_near_or_too_far_is_corrected(
    bots: Bots, when: str, said: str
) -> None:
    told = await say(bots, f"!remind_me {when} look")
    assert said in told
    assert when not in told
    assert await jobs_of(bots.world.stores, DUE) == []


async def test_t11_a_person_has_only_so_many(bots: Bots) -> None:
    for number in range(3):
        await set_one(bots, f"!remind_me 1h number {number}")
    assert await say(bots, "!remind_me 1h one more") == (
        "You have too many reminders pending. Cancel one first."
    )


async def test_i12_a_text_with_a_secret_is_not_kept(bots: Bots) -> None:
    call = ToolCall(id="1", tool="remind_me", arguments={"when": "1h", "text": f"use {SECRET}"})
    bots.model = ScriptedModel(Use(calls=(call,)), Say(text="No."), generative=True)
    await say(bots, "remember it")
    assert "looks like a secret" in bots.model.told[0].text
    assert await jobs_of(bots.world.stores, DUE) == []


async def test_t11_nobody_else_cancels_it_and_the_words_are_those_for_none(bots: Bots) -> None:
    name = await set_one(bots)
    foreign = await say(bots, f"!cancel_reminder {name}", "bob")
    assert foreign == await say(bots, "!cancel_reminder n_0000000000000000", "bob")
    assert foreign == "You have no such reminder pending. `reminders` shows yours."
    assert await state(bots, name) is ReminderState.PENDING


async def test_i14_another_tenant_neither_sees_nor_cancels_it(bots: Bots) -> None:
    name = await set_one(bots)
    theirs = await bots.receive(f"!cancel_reminder {name}", person=EVE)
    assert theirs.turn.tenant == OTHER_TENANT
    assert (await bots.answer(theirs)).text.startswith("You have no such reminder pending.")
    listed = await bots.answer(await bots.receive("!reminders", person=EVE))
    assert name not in listed.text
    assert await state(bots, name) is ReminderState.PENDING


async def test_who_may_not_use_the_tool_has_no_such_command(bots: Bots) -> None:
    bots.world.rules = without(bots.world.rules, "tool:read dev")
    bots.world.rules = without(bots.world.rules, "tool:read ops")
    bots.model = ScriptedModel(Say(text="What is that?"), generative=True)
    assert await say(bots, "!remind_me 1h look") == "What is that?"
    [prompt] = bots.model.prompts
    assert "Toolset reminders" not in prompt.system
    assert prompt.tools.names - OWN == {"append-word", "note", "wipe"}


# Every field of the configuration changes something

CHANGED: dict[str, RemindersConfig] = {
    "expose": RemindersConfig(expose=()),
    "most": RemindersConfig(most=1),
    "soonest": RemindersConfig(soonest=2 * HOUR),
    "furthest": RemindersConfig(furthest=timedelta(minutes=30)),
    "starts_turn": RemindersConfig(starts_turn=False),
}


async def behaviour(bots: Bots, clock: FrozenClock, config: RemindersConfig) -> list[str]:
    """Return what two reminders for an hour from now are answered with, and what comes of them."""
    writes = ScriptedModel(*[Say(text="Hm.")] * 9, generative=True)
    made = toolset(config, bots.world.stores.reminders, clock, Redactor.of([]))
    bots.toolbelt, bots.model = Toolbelt.of([made.exposed(config)]), writes
    told = [re.sub("n_[0-9a-f]+", "n_", await say(bots, "!remind_me 1h look")) for _ in range(2)]
    return [*told, str(wakes(writes, config))]


def test_c29_no_field_is_left_out() -> None:
    assert CHANGED.keys() == RemindersConfig.model_fields.keys()


@pytest.mark.parametrize("field", CHANGED)
async def test_c29_each_field_changes_something(bots: Bots, clock: FrozenClock, field: str) -> None:
    changed = await behaviour(bots, clock, CHANGED[field])
    for row in await bots.world.stores.reminders.pending(TENANT, "alice", CONVERSATION):
        await bots.world.stores.reminders.cancel(a_caller(), row.id)
    assert await behaviour(bots, clock, RemindersConfig()) != changed


def test_t11_without_a_model_that_writes_or_a_configuration_no_turn_is_started() -> None:
    writes, passes_on = ScriptedModel(generative=True), ScriptedModel()
    assert wakes(writes, RemindersConfig())
    assert not wakes(passes_on, RemindersConfig())
    assert not wakes(writes, None)


# When it is due


async def test_t11_it_comes_back_at_its_time_once_and_not_before(
    bots: Bots, clock: FrozenClock
) -> None:
    bots.wakes = False
    name = await set_one(bots)
    clock.pass_by(2 * HOUR - timedelta(seconds=1))
    assert not await bots.engine("early").run(f"due:{name}", asyncio.Event())
    await due(bots, clock, after=timedelta(seconds=1))
    assert await notes(bots) == [NOTE]
    await due(bots, clock)
    assert await notes(bots) == [NOTE]
    assert await state(bots, name) is ReminderState.TOLD
    assert len(await jobs_of(bots.world.stores, TURN)) == 4  # three of the fixture, one typed


async def test_t11_it_fires_once_after_a_restart_past_its_time(
    bots: Bots, clock: FrozenClock
) -> None:
    await set_one(bots)
    clock.pass_by(30 * HOUR)
    again = Bots(bots.world, model=ScriptedModel(Say(text="It is up."), generative=True))
    async with again.serving("after the restart"):
        await all_due(again)
    assert await notes(bots) == [NOTE]
    assert len(again.model.seen) == 1


async def test_t11_two_processes_tell_it_once_and_look_once(bots: Bots, clock: FrozenClock) -> None:
    for number in range(3):
        await set_one(bots, f"!remind_me 2h number {number}")
    bots.model = ScriptedModel(*[Say(text="Up.")] * 3, generative=True)
    clock.pass_by(2 * HOUR)
    async with bots.serving("one"), bots.serving("other"):
        await all_due(bots)
    assert sorted(each.split("> ")[1] for each in await notes(bots)) == [
        "number 0", "number 1", "number 2",
    ]  # fmt: skip
    assert len(bots.model.seen) == 3


async def test_t11_a_process_that_dies_before_the_note_is_continued(
    bots: Bots, clock: FrozenClock
) -> None:
    name = await set_one(bots)
    clock.pass_by(2 * HOUR)
    await held(bots, name)
    bots.model = ScriptedModel(Say(text="Up."), generative=True)
    bots.dead.add("dies")
    await bots.engine("next").notice()
    await due(bots, clock, after=timedelta())
    assert await notes(bots) == [NOTE]
    assert len(bots.model.seen) == 1
    assert await state(bots, name) is ReminderState.TOLD


async def test_t11_a_process_that_dies_after_the_turn_began_starts_no_second_one(
    bots: Bots, clock: FrozenClock
) -> None:
    name = await set_one(bots)
    clock.pass_by(2 * HOUR)
    hold = await held(bots, name)
    bots.model = ScriptedModel(Say(text="Up."), generative=True)
    await bots.notifying(hold)
    await due_turns(bots)
    await bots.notifying(hold)  # its end was not written, so it is begun again
    await due_turns(bots)
    assert await notes(bots) == [NOTE]
    assert len(bots.model.seen) == 1


async def test_t11_a_due_one_is_looked_at_in_the_name_of_its_owner_and_marked(
    bots: Bots, clock: FrozenClock
) -> None:
    await set_one(bots)
    bots.model = ScriptedModel(Say(text="It is up."), generative=True)
    await due(bots, clock)
    [seen] = bots.model.seen
    assert [one.text for one in seen if isinstance(one, Noted)][-1] == NOTE
    asked = seen[-1]
    assert isinstance(asked, Heard)
    assert asked.speaker == "alice"
    assert asked.text.startswith("(A reminder that was set 2026-03-01 09:30:00 UTC is due; nobody")
    assert asked.text.endswith("\n> look at web again")
    assert (await said_in(bots.world.stores, CONVERSATION, "answered"))[-1] == "It is up."
    [asked_by] = [t for t in await said_in(bots.world.stores, CONVERSATION, "asked") if "due" in t]
    assert asked_by == asked.text


async def test_t11_what_it_leads_to_waits_for_people_like_everything_else(
    bots: Bots, clock: FrozenClock
) -> None:
    await set_one(bots)
    call = ToolCall(id="1", tool="append-word", arguments={"word": "a", "rationale": "due"})
    bots.model = ScriptedModel(Use(calls=(call,)), generative=True)
    await due(bots, clock)
    [request] = await bots.world.requests()
    assert (request.state, request.requester, request.votes) == (State.OPEN, "alice", ())
    assert bots.world.effects() == []


async def test_t11_a_text_like_a_command_is_only_a_text(bots: Bots, clock: FrozenClock) -> None:
    await set_one(bots, "!remind_me 2h '!append-word alpha'")
    bots.model = ScriptedModel(Say(text="Shall I?"), generative=True)
    await due(bots, clock)
    assert await bots.world.requests() == []
    assert len(bots.model.seen) == 1


async def test_t11_the_turn_of_a_reminder_sets_no_other_one(bots: Bots, clock: FrozenClock) -> None:
    await set_one(bots)
    call = ToolCall(id="1", tool="remind_me", arguments={"when": "1h", "text": "again"})
    bots.model = ScriptedModel(Use(calls=(call,)), Say(text="Not yet up."), generative=True)
    await due(bots, clock)
    assert "A reminder started this turn" in bots.model.told[0].text
    assert len(await jobs_of(bots.world.stores, DUE)) == 1


async def test_t11_a_cancelled_one_never_comes(bots: Bots, clock: FrozenClock) -> None:
    name = await set_one(bots)
    await say(bots, f"!cancel_reminder {name}")
    await due(bots, clock)
    assert await notes(bots) == []


async def test_t11_a_job_that_comes_too_late_for_a_cancel_tells_nothing(bots: Bots) -> None:
    name = await set_one(bots)
    hold = await held(bots, name)
    await say(bots, f"!cancel_reminder {name}")
    await bots.notifying(hold)
    assert await notes(bots) == []


@pytest.mark.parametrize("gone", ["may not ask", "is unknown"])
async def test_t11_who_may_no_longer_ask_gets_neither_note_nor_turn(
    bots: Bots, clock: FrozenClock, gone: str
) -> None:
    name = await set_one(bots)
    if gone == "is unknown":
        del bots.world.groups["alice"]
    else:
        bots.world.groups["alice"] = {"guests"}
    await due(bots, clock)
    assert await notes(bots) == []
    assert await state(bots, name) is ReminderState.DROPPED
    assert "reminder.dropped" in [entry.kind for entry in await log_of(bots.world.stores)]


async def test_t11_a_file_that_cannot_be_read_just_now_loses_nothing(bots: Bots) -> None:
    name = await set_one(bots)
    hold = await held(bots, name)
    bots.world.unreadable = Invalid("sayso.yml:1: it is half written.")
    with pytest.raises(Unavailable, match="half written"):
        await bots.notifying(hold)
    bots.world.unreadable = None
    assert await state(bots, name) is ReminderState.PENDING


async def test_t11_where_too_much_waits_the_note_is_there_and_it_is_on_record(
    bots: Bots,
) -> None:
    name = await set_one(bots)
    hold = await held(bots, name)
    waiting = [await bots.receive(f"number {n}", CONVERSATION) for n in range(20)]
    await bots.notifying(hold)
    assert len(await notes(bots)) == 1
    [refused] = await bots.world.attempts()
    assert facts_of(refused)["principal"] == "alice"
    for one in waiting:
        await bots.world.stores.conversations.stop(one.turn, principal="alice")


async def test_t11_in_a_thread_the_note_is_posted_there(bots: Bots, clock: FrozenClock) -> None:
    chat = bots.chats["slack"] = FakeChat()
    bots.wakes = False
    await heard(bots.world.stores, a_new_turn("t_thread", opens="c_thread", place=THREAD))
    asked = await bots.receive("!remind_me 2h look at web again", "c_thread", place=THREAD)
    await bots.answer(asked)
    clock.pass_by(2 * HOUR)
    async with bots.serving():

        async def posted() -> bool:
            return Text(text=NOTE, is_note=True) in chat.messages

        await soon(posted)


async def test_t11_a_stop_of_everything_leaves_reminders_to_their_owner(bots: Bots) -> None:
    name = await set_one(bots)
    await bots.stop("alice", CONVERSATION, everything=True)
    assert await state(bots, name) is ReminderState.PENDING


@pytest.mark.parametrize("task", ["", "restart the web"])
async def test_c13_one_that_is_due_leaves_the_task_as_it_is(
    bots: Bots, clock: FrozenClock, task: str
) -> None:
    if task:
        bots.model = ScriptedModel(Say(text="ok"), generative=True)
        await say(bots, task)
    await set_one(bots)
    bots.model = ScriptedModel(Say(text="It is up."), generative=True)
    await due(bots, clock)
    known = await bots.world.stores.frames.known(TENANT, CONVERSATION)
    assert known.frame.intent == task


# Answered again after a crash


async def test_p15_one_that_is_over_is_not_said_to_be_set(bots: Bots, clock: FrozenClock) -> None:
    remind, _, cancel = (tool.look for tool in bots.toolbelt.toolsets[0].tools)
    assert remind
    assert cancel
    asked = {"when": "2h", "text": "look"}, a_caller()
    name = (await remind(*asked)).split()[1]
    await cancel({"id": name}, a_caller())
    assert await remind(*asked) == (
        f"Reminder {name} was set for 2026-03-01 11:30:00 UTC in this turn and is cancelled now, so it "
        "is not set again. Change its text or its time to set another one."
    )
    other = {"when": "1h", "text": "look"}, a_caller()
    name = (await remind(*other)).split()[1]
    bots.wakes = False
    await due(bots, clock)
    assert f"Reminder {name} was set for" in (said := await remind(*other))
    assert "and is told now" in said


async def test_p15_a_cancel_that_is_answered_again_says_that_it_is_cancelled(bots: Bots) -> None:
    name = await set_one(bots)
    for _ in range(2):
        assert await say(bots, f"!cancel_reminder {name}") == "Cancelled. It will not come back."
    log = [entry.kind for entry in await log_of(bots.world.stores)]
    assert log.count("reminder.cancelled") == 1
    assert (await say(bots, f"!cancel_reminder {name}", "bob")).startswith("You have no such")


async def test_p15_one_that_was_told_is_not_cancelled_any_more(
    bots: Bots, clock: FrozenClock
) -> None:
    name = await set_one(bots)
    bots.wakes = False
    await due(bots, clock)
    assert (await say(bots, f"!cancel_reminder {name}")).startswith("You have no such reminder")


# Words that may not be said


def is_rude(given: Input | Output) -> str | None:
    return "it is rude" if "quagga" in given.text else None


async def test_c78_what_a_model_may_not_say_it_sets_as_no_reminder(bots: Bots) -> None:
    bots.guards = Guards(output=(is_rude,))
    call = ToolCall(id="1", tool="remind_me", arguments={"when": "1h", "text": "say quagga"})
    bots.model = ScriptedModel(Use(calls=(call,)), generative=True)
    assert (await say(bots, "and later?")).startswith("Not answered: it is rude.")
    assert (await say(bots, "!remind_me 1h 'say quagga'")).startswith("Not answered: it is rude.")
    assert await jobs_of(bots.world.stores, DUE) == []


KEPT_BACK = (
    "A reminder of alice's, set 2026-03-01 09:30:00 UTC for 2026-03-01 11:30:00 UTC, is due. Its text "
    "was kept back by a guardrail: it is rude."
)


@pytest.mark.parametrize(
    "guards", [Guards(input=(is_rude,)), Guards(output=(is_rude,))], ids=["input", "output"]
)
async def test_c78_what_may_not_be_said_when_it_is_due_is_neither_posted_nor_told_a_model(
    bots: Bots, clock: FrozenClock, guards: Guards
) -> None:
    name = await set_one(bots, "!remind_me 2h 'say quagga'")
    bots.guards = guards
    await due(bots, clock)
    assert await notes(bots) == [KEPT_BACK]
    assert await state(bots, name) is ReminderState.TOLD
    bots.model = ScriptedModel(Say(text="ok"), generative=True)
    assert await say(bots, "and?") == "ok"
    assert KEPT_BACK in [one.text for one in bots.model.seen[0] if isinstance(one, Noted)]
    told = [one for one in bots.model.seen[0] if not _is_of_the_command(one)]
    assert "quagga" not in repr(told)


def _is_of_the_command(entry: Entry) -> bool:
    """Whether it was told where the reminder was set, when it might still be said."""
    return isinstance(entry, Noted | Heard) and "remind_me" in entry.text


async def test_i12_what_is_a_secret_when_it_is_due_is_masked(
    bots: Bots, clock: FrozenClock
) -> None:
    made = toolset(RemindersConfig(), bots.world.stores.reminders, clock, Redactor.of([]))
    bots.toolbelt = Toolbelt.of([made])
    remind = made.tools[0].look
    assert remind
    await remind({"when": "2h", "text": f"use {SECRET}"}, a_caller())
    bots.model = ScriptedModel(Say(text="ok"), generative=True)
    await due(bots, clock)
    assert [each.split("> ")[1] for each in await notes(bots)] == ["use [redacted]"]
    assert SECRET not in repr(bots.model.seen)
    assert isinstance(asked := bots.model.seen[0][-1], Heard)
    assert asked.text.endswith("\n> use [redacted]")
