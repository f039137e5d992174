"""Guardrails: what each stage is given, what stops a turn there, and what is left of it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import pytest

from core.errors import Refused, Unavailable
from core.guardrails import (
    UNCHECKED,
    Context,
    Guarding,
    Guards,
    Input,
    Output,
    Payload,
    Proposed,
    results_of,
)
from core.limits import Limits
from core.outcomes import Outcome, Reason
from core.redaction import Redactor
from core.trail import Guarded, Happening
from core.transcript import (
    AgentText,
    Called,
    Entry,
    Heard,
    Noted,
    Pause,
    Result,
    Returned,
    Say,
    Spoke,
    ToolCall,
    Wire,
)
from tests.fakes.guards import FakeGuards
from tests.fakes.model import Scripted
from tests.fakes.runner import exited, for_ever
from tests.scene import HEARD, LOOK, TOOLS, WRITE, Scene, call, untold, use

LOOKS = use(call("look"))
APPENDS = use(call("append-word", rationale="because"))
SAID = Say(text="The answer is 4711.", wire=Wire(content="[4711]"))
Check: TypeAlias = Callable[[Input], object]
MESSAGE = Input(speaker="alice", text="hello")
SCRIPTS: dict[str, tuple[Scripted, ...]] = {
    "input": (),
    "context": (),
    "tool": (APPENDS,),
    "output": (SAID,),
}
"""What a model does until the guard of a stage says no."""


def guarded(
    says: dict[str, list[object]], limits: Limits | None = None
) -> tuple[Scene, FakeGuards]:
    """Return a turn of a model that writes, with guards that say this."""
    fake = FakeGuards(says)
    return Scene(generative=True, limits=limits or Limits(seconds=10), guards=fake.guards), fake


def guarding(*checks: Check, seconds: float = 10.0) -> Guarding:
    """Return what asks these guards about a message."""
    return Guarding(
        guards=Guards(input=checks),  # type: ignore[arg-type]
        redactor=Redactor.of(["hunter2hunter2"]),
        trail=untold,
        turn="t_1",
        seconds=seconds,
    )


def results(outcome: Outcome) -> list[str]:
    return [one.text for one in results_of(outcome.entries)]


# What each stage is given


async def test_c78_each_stage_is_given_what_it_is_about() -> None:
    scene, fake = guarded({})
    scene.history = (Heard(speaker="bob", text="before"), Spoke(text="yes"))
    scene.runner.endings["look",] = exited(output="three words")
    step = use(
        call("look"),
        call("append-word", name="2", rationale="because it is hunter2hunter2"),
    )
    outcome, _ = await scene.turn(step)
    assert outcome.reason is Reason.PROPOSED
    said, context, plan, posted = fake.seen
    assert said == Input(speaker="alice", text="append alpha")
    assert context == Context(entries=(*scene.history, HEARD))
    assert plan == Proposed(
        calls=(WRITE.check({"word": "alpha"}, {}),),
        about=AgentText(rationale="because it is [redacted]"),
    )
    found = Result(call="1", text="three words")
    assert posted == Output(text="three words", results=(found,))


async def test_c78_an_output_is_what_is_posted_with_all_results_of_the_turn_and_no_others() -> None:
    scene, fake = guarded({})
    old = Returned(results=(Result(call="0", text="old"),))
    scene.history = (HEARD, Called(calls=(call("look", name="0"),)), old)
    scene.runner.endings["look", "0", "alpha"] = exited(output="one")
    scene.runner.endings["look", "0", "b"] = exited(output="two")
    last = Say(text="It is hunter2hunter2.", suggestions=("look",))
    await scene.turn(LOOKS, use(call("look", "b", name="2")), last)
    assert fake.seen[-1] == Output(
        text="It is [redacted].\nlook",
        results=(Result(call="1", text="one"), Result(call="2", text="two")),
    )


async def test_c78_results_of_steps_before_belong_to_what_is_posted_with_a_card() -> None:
    scene, fake = guarded({})
    both = use(call("look", "b", name="2"), call("append-word", name="3", rationale="because"))
    await scene.turn(LOOKS, both)
    posted = fake.seen[-1]
    assert isinstance(posted, Output)
    assert [one.call for one in posted.results] == ["1", "2"]


async def test_c12_a_question_is_no_output_and_is_redacted_all_the_same() -> None:
    scene, fake = guarded({"output": ["no"]})
    asks = ToolCall(id="1", tool="ask_user", arguments={"question": "Is it hunter2hunter2?"})
    outcome, _ = await scene.turn(use(asks))
    assert (outcome.reason, outcome.text) == (Reason.ASKED, "Is it [redacted]?")
    assert "output" not in fake.stages


async def test_c78_who_writes_nothing_of_its_own_is_given_no_context_but_is_guarded_else() -> None:
    fake = FakeGuards()
    await Scene(guards=fake.guards).turn(use(call("look")), Say(text="It looked."))
    assert fake.stages == ["input", "output"]
    fake.seen.clear()
    await Scene(guards=fake.guards).turn(use(call("append-word")))
    assert fake.stages == ["input", "tool"]


# What is left of a turn that a guardrail stopped


async def test_c78_a_message_that_is_stopped_reaches_no_model_and_no_later_prompt() -> None:
    scene, _ = guarded({"input": ["no names of customers."]})
    outcome, asked = await scene.turn()
    assert asked.seen == []
    assert outcome.entries == (
        Noted(text="A person's message was kept back by a guardrail: no names of customers."),
    )
    assert outcome.text.startswith("Not answered: no names of customers. Nothing was changed;")


async def test_c78_what_ran_before_a_context_is_stopped_stays_recorded() -> None:
    scene, _ = guarded({"context": [None, "no"]})
    scene.runner.endings["look",] = exited(output="three words")
    outcome, asked = await scene.turn(LOOKS)
    assert outcome.reason is Reason.GUARDRAIL_CONTEXT
    assert (len(asked.seen), len(scene.runner.ran)) == (1, 1)
    assert results(outcome) == ["three words"]


async def test_c78_a_pause_that_was_not_sent_back_is_not_kept_where_a_context_is_stopped() -> None:
    scene, _ = guarded({"context": [None, "no"]})
    outcome, _ = await scene.turn(Pause(wire=Wire(content="[half]")))
    assert outcome.entries == (HEARD,)


async def test_c78_nobody_is_asked_about_a_plan_that_is_stopped_and_the_reads_stay() -> None:
    scene, _ = guarded({"tool": ["not on a Friday"]})
    scene.runner.endings["look",] = exited(output="three words")
    step = use(call("look"), call("append-word", name="2", rationale="because"))
    outcome, asked = await scene.turn(step)
    assert (outcome.reason, outcome.request) == (Reason.GUARDRAIL_TOOL, None)
    assert (scene.proposals.made, len(asked.seen)) == ([], 1)
    assert results(outcome) == ["three words", outcome.text]
    assert outcome.text.startswith("Not proposed: not on a Friday. Nobody was asked")


async def test_c78_no_card_is_posted_beside_a_text_that_may_not_be() -> None:
    scene, _ = guarded({"output": ["no"]})
    step = use(call("look"), call("append-word", name="2", rationale="because"))
    outcome, _ = await scene.turn(step)
    assert (outcome.reason, scene.proposals.made) == (Reason.GUARDRAIL_OUTPUT, [])
    assert [one.failed for one in results_of(outcome.entries)] == [False, True]


async def test_c78_an_answer_that_is_stopped_is_posted_nowhere_and_in_no_later_prompt() -> None:
    scene, _ = guarded({"output": ["no numbers"]})
    outcome, _ = await scene.turn(SAID)
    assert "4711" not in repr(outcome)
    assert outcome.suggestions == ()
    assert outcome.entries == (
        HEARD,
        Noted(text="An answer, which nobody saw, was kept back by a guardrail: no numbers."),
    )


async def test_c78_what_was_sent_back_is_kept_where_the_answer_is_stopped() -> None:
    scene, _ = guarded({"output": ["no"]})
    outcome, asked = await scene.turn(Pause(wire=Wire(content="[half]")), SAID)
    assert outcome.entries[:-1] == asked.seen[-1]


async def test_c4_c78_a_conclusion_passes_the_output_check() -> None:
    scene, fake = guarded({}, Limits(turns=1))
    outcome, _ = await scene.turn(LOOKS, SAID)
    assert outcome.reason is Reason.MAX_TURNS
    assert fake.stages == ["input", "context", "context", "output"]
    assert isinstance(fake.seen[-1], Output)
    assert (fake.seen[-1].text, len(fake.seen[-1].results)) == (SAID.text, 1)


async def test_c4_c78_a_conclusion_that_is_stopped_is_not_posted() -> None:
    scene, _ = guarded({"output": ["no"]}, Limits(turns=1))
    outcome, asked = await scene.turn(LOOKS, SAID)
    assert outcome.reason is Reason.GUARDRAIL_OUTPUT
    assert "4711" not in repr(outcome)
    assert "incomplete" not in outcome.text
    assert outcome.entries[:-1] == asked.seen[-1]


async def test_c78_no_conclusion_is_asked_for_with_a_context_that_is_stopped() -> None:
    scene, _ = guarded({"context": [None, "no"]}, Limits(turns=1))
    outcome, asked = await scene.turn(LOOKS)
    assert outcome.reason is Reason.GUARDRAIL_CONTEXT
    assert asked.concluded == [False]
    assert tuple(map(type, outcome.entries)) == (Heard, Called, Returned)


@pytest.mark.parametrize("stage", SCRIPTS)
async def test_c77_c78_a_violation_is_kept_at_once_with_stage_and_reason(stage: str) -> None:
    scene, _ = guarded({stage: ["It is hunter2hunter2."]})
    outcome, _ = await scene.turn(*SCRIPTS[stage])
    assert outcome.reason == f"guardrail:{stage}"
    violations = [one for one in scene.happened if isinstance(one, Guarded)]
    assert violations == [Guarded(stage=stage, why="It is [redacted]")]
    assert "It is [redacted]." in outcome.text


async def test_where_a_violation_cannot_be_kept_nothing_is_posted_or_proposed_either() -> None:
    async def down(_: Sequence[Happening]) -> None:
        raise Unavailable("The disk is full.")

    for stage, script in SCRIPTS.items():
        scene, _ = guarded({stage: ["no"]})
        scene.trail = down
        outcome, _ = await scene.turn(*script)
        assert (outcome.reason, outcome.text) == (Reason.ERROR, "The disk is full.")
        assert (scene.proposals.made, "4711" in repr(outcome)) == ([], False)


async def test_whoever_cuts_a_turn_while_its_message_is_checked_keeps_none_of_it() -> None:
    async def hangs(_: Payload) -> None:
        begun.set()
        await for_ever()

    begun, kept = asyncio.Event(), list[tuple[Entry, ...]]()
    scene = Scene(guards=Guards(input=(hangs,)), watch=kept.append)
    turn = asyncio.create_task(scene.turn())
    await begun.wait()
    turn.cancel()
    await asyncio.wait({turn})
    assert kept[-1] == (UNCHECKED,)


# What lets something pass


async def test_c78_only_none_passes() -> None:
    assert await guarding(lambda _: None).check(MESSAGE) is None
    assert await guarding().check(MESSAGE) is None

    async def passes(_: Input) -> None: ...

    assert await guarding(passes, passes).check(MESSAGE) is None


@pytest.mark.parametrize("said", [True, False, 0, "", " \n", ".", [], object], ids=repr)
@pytest.mark.parametrize("later", [False, True])
async def test_c78_anything_else_stops_also_what_is_no_reason(said: object, later: bool) -> None:  # noqa: FBT001 - a column
    async def says_later(_: Input) -> object:
        return said

    def says(_: Input) -> object:
        return said

    found = await guarding(lambda _: None, says_later if later else says).check(MESSAGE)
    assert found is not None
    assert found.text == (
        "Not answered: one of the guardrails stopped this and gave no reason. Nothing was changed; "
        "ask in other words."
    )


async def test_c78_a_reason_is_one_visible_line() -> None:
    found = await guarding(lambda _: "no\n\u202ename.").check(MESSAGE)
    assert found is not None
    assert found.why == "no \\u202ename"


@pytest.mark.parametrize("error", [KeyError("4711"), Refused("4711"), Unavailable("4711")])
async def test_c78_a_guard_that_fails_stops_and_is_logged_by_its_type(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    scene, _ = guarded({"output": [error]})
    outcome, _ = await scene.turn(SAID)
    assert outcome.reason is Reason.GUARDRAIL_OUTPUT
    assert "this could not be checked against one of the guardrails" in outcome.text
    assert (type(error).__name__ in caplog.text, "4711" in caplog.text) == (True, False)
    assert "4711" not in repr(outcome)


async def test_c78_a_guard_that_never_answers_stops() -> None:
    async def hangs(_: Input) -> None:
        await for_ever()

    found = await guarding(hangs, seconds=0.05).check(MESSAGE)
    assert found is not None
    assert "could not be checked" in found.why


async def test_c78_the_first_that_says_no_counts() -> None:
    asked = list[int]()

    def says(number: int, said: str | None) -> Check:
        def check(_: Input) -> str | None:
            asked.append(number)
            return said

        return check

    found = await guarding(says(1, None), says(2, "two"), says(3, "three")).check(MESSAGE)
    assert found is not None
    assert (found.why, found.stage, asked) == ("two", "input", [1, 2])


async def test_the_next_turn_goes_on_after_each_of_them() -> None:
    for stage in ("input", "tool", "output"):
        scene, _ = guarded({stage: ["no"]})
        first, _ = await scene.turn(*SCRIPTS[stage])
        scene.history = first.entries
        outcome, _ = await scene.turn(Say(text="ok"))
        assert outcome.reason is Reason.ANSWERED


# What a call has posted later


async def noted(_: object, caller: object) -> str:
    del caller
    return "Noted."


POSTS = replace(LOOK, name="later", look=noted, posts="word")


@pytest.mark.parametrize("generative", [True, False])
async def test_c78_a_text_that_is_to_be_posted_later_is_an_output_now(
    generative: bool,  # noqa: FBT001 - a column
) -> None:
    fake = FakeGuards({"output": ["no numbers"]})
    scene = Scene(generative=generative, guards=fake.guards, tools=(*TOOLS, POSTS))
    outcome, _ = await scene.turn(use(call("look", name="1"), call("later", "4711", name="2")))
    assert (outcome.reason, scene.runner.ran) == (Reason.GUARDRAIL_OUTPUT, [])
    assert fake.seen[-1] == Output(text="4711", results=())
    assert "4711" not in outcome.text
    assert results(outcome) == [
        "Not run: this was the last step of the turn.",
        "Not answered: no numbers. Nothing was changed; ask for something else.",
    ]
    assert scene.happened.count(Guarded(stage="output", why="no numbers")) == 1


async def test_c78_what_may_be_said_is_set_and_a_last_step_sets_nothing_to_be_checked() -> None:
    later = use(call("later", "tomorrow"))
    fake = FakeGuards()
    scene = Scene(generative=True, guards=fake.guards, tools=(*TOOLS, POSTS))
    _, model = await scene.turn(later, SAID)
    assert [one.text for one in model.told] == ["Noted."]
    assert [one.text for one in fake.seen if isinstance(one, Output)] == ["tomorrow", SAID.text]
    fake.seen.clear()
    scene.limits = Limits(seconds=10, turns=1)
    await scene.turn(later, SAID)
    assert [one.text for one in fake.seen if isinstance(one, Output)] == [SAID.text]
