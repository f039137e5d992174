"""C2, C20: what other people wrote holds no turn longer than its time, and ends none by its faults."""

import asyncio
import gc
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

import pytest
from pydantic import BaseModel, field_validator

from core import gateway
from core.context import Context, Source
from core.errors import SaysoError
from core.frame import Frame, classified
from core.guardrails import Guarding, Guards, Input
from core.limits import Limits
from core.outcomes import Reason, forced, incomplete
from core.redaction import Redactor
from core.trail import Stage, Staged
from core.transcript import Called, Form, Returned, Say
from core.waiting import beforehand, now, within
from tests.fakes.hanging import FAULTS, Fault, at_once, hangs, raises, stays
from tests.fakes.runner import exited, for_ever
from tests.scene import CALLER, LOOK, TOOLS, WRITE, Scene, an_access, call, untold, use

LATE = "Not run, or not to its end: the time of the turn was over."
SLOW = (
    "Whether this may be done was not found out in time, so it was not done. Ask again in a while; "
    "tell an operator where that does not help."
)
UNCHECKED = "It could not be checked whether this may be done, so it was not. Tell an operator."
OK = Say(text="ok")
Failing: TypeAlias = Callable[[BaseException], Fault]
STEP = use(call("look"), call("append-word", name="2", rationale="because"), call("none", name="3"))

never_ends = pytest.mark.parametrize("other", [hangs, stays])
fails = pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
begins = pytest.mark.parametrize("failing", [raises, at_once], ids=["awaited", "at once"])


def texts(returned: object) -> list[str]:
    assert isinstance(returned, Returned)
    return [one.text for one in returned.results]


# How it is waited for


async def test_c2_a_part_of_what_is_left_may_be_taken_before_and_no_more_than_was_wanted() -> None:
    began = now()
    assert began + 2 <= beforehand(2, began + 60) < began + 3
    assert began + 15 <= beforehand(20, began + 61) < began + 16


async def test_who_is_cancelled_cancels_what_they_wait_for() -> None:
    begun, cut = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        begun.set()
        try:
            await for_ever()
        finally:
            cut.set()

    task = asyncio.ensure_future(within(waits))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cut.is_set()


# Whether a call may be made


@never_ends
async def test_c2_a_check_that_does_not_end_is_cut_with_the_turn_and_each_call_is_answered(
    other: Fault,
) -> None:
    scene = Scene(generative=True, limits=Limits(seconds=1.6), access=an_access(authorize=other))
    begun = now()
    outcome, model = await scene.turn(STEP, Say(text="I found nothing."))
    assert now() - begun < 2.5  # a guard; it is 1.4 on an idle machine
    assert outcome.reason is Reason.MAX_SECONDS
    assert outcome.text == incomplete(Reason.MAX_SECONDS, "I found nothing.")
    assert (model.concluded, scene.runner.ran, scene.proposals.made) == ([False, True], [], [])
    assert [type(one) for one in outcome.entries[1:3]] == [Called, Returned]
    assert texts(outcome.entries[2]) == [LATE] * 3
    assert Staged(call="1", tool="look", stage=Stage.SCHEMA) in scene.happened


async def test_c2_of_a_typed_command_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "CHECK_SECONDS", 60)
    scene = Scene(limits=Limits(seconds=0.2), access=an_access(authorize=hangs))
    outcome, _ = await scene.turn(use(call("append-word")))
    assert (outcome.reason, outcome.text) == (Reason.MAX_SECONDS, forced(Reason.MAX_SECONDS))
    assert scene.proposals.made == []


@never_ends
@pytest.mark.parametrize("check", ["authorize", "count"])
async def test_c20_a_check_has_its_own_seconds_and_the_turn_goes_on(
    check: str, other: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "CHECK_SECONDS", 0.05)
    scene = Scene(generative=True, access=an_access(**{check: other}))
    begun = now()
    outcome, model = await scene.turn(use(call("look")), OK)
    assert now() - begun < 1.5  # a guard
    assert (model.told[0].text, scene.runner.ran) == (SLOW, [])
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, f"ok\n(not run: look: {SLOW})")


async def test_c20_what_leads_no_loop_has_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "CHECK_SECONDS", 0.01)
    error = await gateway.objection(hangs, WRITE.check({"word": "a"}, {}))
    assert isinstance(error, SaysoError)
    assert error.shown == SLOW


@fails
@begins
@pytest.mark.parametrize("check", ["authorize", "count"])
async def test_c20_a_check_that_raises_anything_refuses_its_call_alone(
    check: str, failing: Failing, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(generative=True, access=an_access(**{check: failing(error)}))
    outcome, model = await scene.turn(use(call("look")), OK)
    why = model.told[0].text
    late = isinstance(error, TimeoutError | asyncio.CancelledError)
    assert (why, scene.runner.ran) == (SLOW if late else UNCHECKED, [])
    assert outcome.reason is Reason.ANSWERED
    stage = Stage.AUTHORIZED if check == "authorize" else Stage.RATE
    assert Staged(call="1", tool="look", stage=stage, why=why) in scene.happened
    assert "4711" not in caplog.text
    assert [one.levelno for one in caplog.records] == [logging.ERROR]
    assert "look" in caplog.text


# What looks things up, guards and tells states


@never_ends
async def test_c2_a_look_that_does_not_end_is_left_behind_and_keeps_what_others_found(
    other: Fault,
) -> None:
    odd = replace(LOOK, name="odd", look=other)
    scene = Scene(generative=True, limits=Limits(seconds=0.8), tools=(*TOOLS, odd))
    scene.runner.endings["look",] = exited(output="found")
    begun = now()
    outcome, _ = await scene.turn(
        use(call("odd"), call("look", name="2")), Say(text="That is all.")
    )
    assert now() - begun < 1.6  # a guard
    assert outcome.reason is Reason.MAX_SECONDS
    assert texts(outcome.entries[2]) == [LATE, "found"]


@fails
@begins
async def test_a_look_that_raises_anything_is_evidence_and_stops_nothing(
    failing: Failing, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    odd = replace(LOOK, name="odd", look=failing(error))
    outcome, model = await Scene(generative=True, tools=(odd,)).turn(use(call("odd")), OK)
    assert outcome.reason is Reason.ANSWERED
    assert model.told[0].text == "odd failed. Calling it again does not help."
    assert "4711" not in caplog.text


@fails
async def test_c9_arguments_whose_check_raises_anything_are_refused_and_stop_nothing(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd(BaseModel):
        word: str

        @field_validator("word")
        @classmethod
        def _fails(cls, _: str) -> str:
            raise error

    odd = replace(LOOK, name="odd", look=hangs, parameters=Odd, defaults={})
    outcome, model = await Scene(generative=True, tools=(odd,)).turn(use(call("odd")), OK)
    assert outcome.reason is Reason.ANSWERED
    assert model.told[0].failed
    assert model.told[0].text.startswith("odd: ")
    assert "4711" not in caplog.text
    if not isinstance(error, ValueError):  # which pydantic takes for what is wrong with the value
        assert [record.levelno for record in caplog.records] == [logging.ERROR]
        assert not model.told[0].correctable


@fails
@begins
async def test_c78_a_guard_that_raises_anything_stops_what_it_guards(
    failing: Failing, error: BaseException
) -> None:
    guards = Guards(input=(failing(error),))
    outcome, _ = await Scene(generative=True, guards=guards).turn()
    assert outcome.reason is Reason.GUARDRAIL_INPUT


@fails
@begins
async def test_c76_a_state_and_a_classifier_that_raise_anything_cost_nothing(
    failing: Failing, error: BaseException
) -> None:
    board = Context(sources=(Source(name="board", state=failing(error)),), redactor=Redactor.of([]))
    assert [one.form for one in await board.news(CALLER, (), by=now() + 5)] == [Form.AWAY]
    assert await classified(failing(error), Frame(), "x", by=now() + 5) is None


@never_ends
async def test_c78_a_guard_that_does_not_end_stops_what_it_guards(other: Fault) -> None:
    guarding = Guarding(
        guards=Guards(input=(other,)),
        redactor=Redactor.of([]),
        trail=untold,
        turn="t_1",
        seconds=0.05,
    )
    begun = now()
    found = await guarding.check(Input(speaker="alice", text="x"))
    assert found is not None
    assert "could not be checked" in found.why
    assert now() - begun < 1.5  # a guard; it is 0.3 on an idle machine


async def test_c76_a_state_and_a_classifier_that_do_not_end_are_left_behind() -> None:
    board = Context(sources=(Source(name="board", state=stays),), redactor=Redactor.of([]))
    begun = now()
    assert [one.form for one in await board.news(CALLER, (), by=now() + 0.01)] == [Form.AWAY]
    assert await classified(stays, Frame(), "x", by=now() + 0.01) is None
    assert now() - begun < 1.5  # a guard; it is 0.4 on an idle machine


async def test_what_is_left_to_itself_does_not_vanish_in_the_middle(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def once_more() -> None:
        with suppress(asyncio.CancelledError):
            await for_ever()
        await for_ever()  # on what nobody else refers to

    with pytest.raises(TimeoutError):
        await within(once_more, now())
    gc.collect()
    await asyncio.sleep(0)
    assert caplog.messages == []
