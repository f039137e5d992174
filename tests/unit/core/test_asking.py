"""The wall clock holds for any model, and whatever one returns or raises ends its turn by name."""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.agent import Agent
from core.errors import Refused, SaysoError, Unavailable
from core.limits import Limits
from core.outcomes import Outcome, Reason, forced
from core.ports import Listener
from core.prompt import Prompt
from core.redaction import Redactor
from core.transcript import (
    Broken,
    Called,
    Entry,
    Move,
    Result,
    Returned,
    Say,
    Spoke,
    ToolCall,
    Use,
    Wire,
)
from tests.fakes.model import ScriptedModel
from tests.fakes.runner import FakeRunner, exited, for_ever
from tests.scene import HEARD, Proposals, Scene, a_session, call, use

APPENDS = use(call("append-word", rationale="because"))
NOTHING: Any = None
LATE = Say(text="late")


@dataclass
class Stubborn:
    """A model that does something of its own when it is cancelled."""

    when_cut: Callable[[], Awaitable[Move]]
    generative: bool = True
    asked: list[bool] = field(default_factory=list[bool])
    cut: int = 0

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        del entries, prompt, hear
        self.asked.append(conclude)
        try:
            await for_ever()
        except asyncio.CancelledError:
            self.cut += 1
            return await self.when_cut()
        raise AssertionError


async def raises_unavailable() -> Move:
    raise Unavailable("gone")


async def answers_late() -> Move:
    return LATE


async def proposes_late() -> Move:
    return APPENDS


async def goes_on_for_long() -> Move:
    await asyncio.sleep(1)
    raise ValueError("4711")


async def turn(model: Stubborn | ScriptedModel, *, pauses: Sequence[float] = (0, 0)) -> Outcome:
    agent = Agent(
        runner=FakeRunner(),
        redactor=Redactor.of([]),
        pauses=pauses,
    )
    session = a_session(Limits(seconds=0.4))
    proposals = Proposals()
    outcome = await agent.turn(HEARD, model=model, session=session, propose=proposals)
    assert proposals.made == []
    return outcome


@pytest.mark.parametrize(
    "when_cut", [raises_unavailable, answers_late, proposes_late, goes_on_for_long]
)
async def test_c2_no_model_gets_more_time_by_what_it_does_when_it_is_cut(
    when_cut: Callable[[], Awaitable[Move]], caplog: pytest.LogCaptureFixture
) -> None:
    model, begun = Stubborn(when_cut), asyncio.get_running_loop().time()
    outcome = await turn(model)
    assert asyncio.get_running_loop().time() - begun < 0.9  # a guard; it is 0.5 on an idle machine
    assert (outcome.reason, outcome.text) == (Reason.MAX_SECONDS, forced(Reason.MAX_SECONDS))
    assert model.cut == len(model.asked)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left)
    del left  # asyncio tells of what nobody took once nobody has the task any more
    gc.collect()
    assert "4711" not in caplog.text  # what it raised later is nobody's any more


async def test_c2_a_pause_that_ends_after_the_turn_is_followed_by_no_try() -> None:
    model = ScriptedModel(Unavailable("x"), generative=False)
    assert (await turn(model, pauses=(60,))).reason is Reason.MAX_SECONDS
    assert len(model.seen) == 1


async def test_c2_no_model_is_asked_once_the_time_is_over() -> None:
    proposals = Proposals(slow=0.4, refusal=Refused("No."))
    scene = Scene(limits=Limits(seconds=0.3), proposals=proposals)
    outcome, asked = await scene.turn(APPENDS)
    assert (outcome.reason, len(asked.seen)) == (Reason.MAX_SECONDS, 1)


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit, KeyboardInterrupt])
async def test_a_model_that_ends_itself_or_would_end_the_process_is_an_outage(
    error: type[BaseException],
) -> None:
    async def ends(_: Sequence[Entry]) -> Move:
        raise error

    outcome, _ = await Scene(generative=True).turn(ends)
    assert outcome.reason is Reason.MODEL_UNAVAILABLE


async def test_a_turn_that_is_cut_cuts_its_model_call() -> None:
    model = Stubborn(answers_late)
    task = asyncio.ensure_future(turn(model))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.cut == 1


JUNK: dict[str, Any] = {
    "a text": "hello",
    "nothing": NOTHING,
    "a reason": Reason.PROPOSED,
    "an answer without a text": Say(text=NOTHING),
    "blocks of another type": Say(text="ok", wire=Wire(content=NOTHING)),
    "a message without a wire": Say(text="ok", wire=NOTHING),
    "no such stop": Broken(stop="bogus"),  # type: ignore[arg-type]
    "a call without an id": Use(calls=(ToolCall(id=NOTHING, tool="look", arguments={}),)),
    "a call without a tool": Use(calls=(ToolCall(id="1", tool=NOTHING, arguments={}),)),
    "arguments in a list": Use(calls=(ToolCall(id="1", tool="look", arguments=[1]),)),  # type: ignore[arg-type]
    "calls that are none": Use(calls=NOTHING),
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
async def test_a_message_of_a_wrong_type_ends_the_turn_with_what_came_before(
    junk: Any,  # noqa: ANN401 - that is the point
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def returns(_: Sequence[Entry]) -> Move:
        moved: Move = junk
        return moved

    outcome, _ = await Scene(generative=True).turn(use(call("look")), returns)
    assert (outcome.reason, outcome.text) == (Reason.ERROR, forced(Reason.ERROR))
    assert tuple(map(type, outcome.entries)) == (type(HEARD), Called, Returned)
    assert len(caplog.records) <= 1


async def test_a_fault_of_the_gate_ends_the_turn_and_keeps_what_ran(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Deep(Proposals):
        async def __call__(self, *_: object) -> str:
            raise RecursionError("4711")

    scene = Scene(generative=True, proposals=Deep())
    scene.runner.endings["look",] = exited(output="three words")
    outcome, _ = await scene.turn(
        use(call("look"), call("append-word", name="2", rationale="because"))
    )
    assert outcome.reason is Reason.ERROR
    stopped = Result(call="2", text="Not run to its end: it was stopped.", failed=True)
    assert outcome.entries[-1] == Returned(results=(Result(call="1", text="three words"), stopped))
    [record] = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.ERROR, "turn t_1: RecursionError")


async def test_a_stop_during_reads_shows_what_ran() -> None:
    scene, shown = Scene(generative=True), list[tuple[Entry, ...]]()
    scene.runner.endings["look", "0", "b"] = exited(output="found")
    scene.runner.meanwhile["look", "0", "alpha"] = for_ever
    agent = Agent(runner=scene.runner, redactor=scene.redactor)
    session = replace(a_session(scene.limits), watch=shown.append)
    step = use(call("look"), call("look", "b", name="2"))
    task = asyncio.ensure_future(
        agent.turn(
            HEARD,
            model=ScriptedModel(step, generative=True),
            session=session,
            propose=scene.proposals,
        )
    )
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stopped = Result(call="1", text="Not run to its end: it was stopped.", failed=True)
    assert shown[-1] == (
        HEARD,
        Called(calls=step.calls),
        Returned(results=(stopped, Result(call="2", text="found"))),
    )


# Secrets

SECRET = "hunter2hunter2"


async def test_i12_no_secret_is_kept_wherever_a_model_puts_it() -> None:
    async def fails() -> None:
        raise SaysoError(f"The key {SECRET} is refused.")

    scene = Scene(generative=True)
    scene.runner.endings["look", "0", "b"] = exited(output=SECRET)
    scene.runner.meanwhile["look", "0", "c"] = fails
    faulty = ToolCall(id="5", tool="look", arguments={}, fault=f"No JSON near {SECRET}")
    outcome, asked = await scene.turn(
        use(call("look", name=SECRET), call(f"look.{SECRET}", name="2")),
        use(call("look", "b", name="3", **{SECRET: 1}), call("look", "b", name="4"), faulty),
        use(call("look", "c", name="6")),
        Say(
            text="ok", suggestions=(f"say {SECRET}",), wire=Wire(content='["hunter2\\u0068unter2"]')
        ),
    )
    assert outcome.reason is Reason.ANSWERED
    assert SECRET not in repr((outcome, asked.seen, scene.runner.step_ids))
    assert outcome.suggestions == ("say [redacted]",)
    assert outcome.entries[-1] == Spoke(text="ok")


async def test_i12_what_people_see_beside_a_plan_is_masked() -> None:
    scene = Scene(generative=True)
    scene.runner.endings["look",] = exited(output=SECRET)
    both = use(call("look"), call("append-word", name="2", rationale=f"It is {SECRET}"))
    outcome, _ = await scene.turn(both)
    assert (outcome.text, scene.proposals.seen) == ("[redacted]", ["[redacted]"])
    assert scene.proposals.made[0][1].rationale == "It is [redacted]"
