"""What a model may do in a turn: every reason for which one ends, and every limit."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest

from core.agent import Agent
from core.canonical import Json
from core.errors import Refused, SaysoError, Unavailable
from core.limits import Limits, prompt_bytes
from core.outcomes import LIMITS, STOPS, WHOLE, Outcome, Reason, forced, guarded, incomplete
from core.prompt import Prompt
from core.redaction import Redactor
from core.tools import Toolbox
from core.trail import Guarded, Moved
from core.transcript import (
    AgentText,
    Broken,
    Called,
    Entry,
    Heard,
    Move,
    Noted,
    Pause,
    Result,
    Returned,
    Say,
    Spoke,
    Stop,
    ToolCall,
    Use,
    Wire,
)
from tests.fakes.guards import FakeGuards
from tests.fakes.model import Scripted, ScriptedModel
from tests.fakes.runner import FakeRunner, exited, for_ever
from tests.scene import HEARD, TOOLS, Proposals, Scene, a_session, call, use

LOOKS = use(call("look"))
APPENDS = use(call("append-word", rationale="because"))
ASKS = use(ToolCall(id="1", tool="ask_user", arguments={"question": "Which file?"}))
OK = Say(text="ok", wire=Wire(content="[ok]"))
Kinds: TypeAlias = tuple[type[Entry], ...]
PAIR: Kinds = (Called, Returned)
FIRST = prompt_bytes((HEARD,)) + Prompt(tools=Toolbox.of(TOOLS)).says.bytes
"""The size of a turn's first prompt."""


def model(limits: Limits | None = None, **more: object) -> Scene:
    """Return a turn of a model that writes texts of its own."""
    return Scene(limits=limits or Limits(seconds=10), generative=True, **more)  # type: ignore[arg-type]


def copied(says: dict[str, list[object]]) -> dict[str, list[object]]:
    return {stage: list(said) for stage, said in says.items()}


async def hangs(_: Sequence[Entry]) -> Move:
    await for_ever()
    raise AssertionError


def results(outcome: Outcome, at: int = -1) -> list[str]:
    returned = [entry for entry in outcome.entries if isinstance(entry, Returned)][at]
    return [result.text for result in returned.results]


# Every reason


@dataclass(frozen=True, kw_only=True)
class Row:
    """How a turn goes, and what is left of it."""

    script: tuple[Scripted, ...]
    reason: Reason
    checks: str
    """At which stages a guard is asked."""
    record: tuple[str, ...]
    """What is on record: how each call of the model ended, and what a guard stopped."""
    text: str = ""
    """What is posted; empty for the reason's own sentence."""
    kinds: Kinds = ()
    """What is appended after what was heard."""
    ran: int = 0
    asked: int = 1
    """How often the model was."""
    limits: Limits = field(default_factory=lambda: Limits(seconds=10))
    says: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """What the guards of a stage say, each time they are asked."""
    first: type[Entry] = Heard
    """What stands for the message."""


DOWN = Unavailable("no route to 10.0.0.7")
ROWS = {
    "an answer": Row(
        script=(OK,),
        reason=Reason.ANSWERED,
        checks="input context output",
        record=("say",),
        text="ok",
        kinds=(Spoke,),
    ),
    "a question": Row(
        script=(ASKS,),
        reason=Reason.ASKED,
        checks="input context",
        record=("use",),
        text="Which file?",
        kinds=PAIR,
    ),
    "a look and a plan": Row(
        script=(LOOKS, APPENDS),
        reason=Reason.PROPOSED,
        checks="input context context tool",
        record=("use", "use"),
        kinds=PAIR * 2,
        ran=1,
        asked=2,
    ),
    "a look beside a plan": Row(
        script=(use(call("look"), call("append-word", name="2", rationale="because")),),
        reason=Reason.PROPOSED,
        checks="input context tool output",
        record=("use",),
        text="look: done, it printed nothing.",
        kinds=PAIR,
        ran=1,
    ),
    "what the look beside a plan found, which a guardrail stops": Row(
        script=(use(call("look"), call("append-word", name="2", rationale="because")),),
        reason=Reason.GUARDRAIL_OUTPUT,
        checks="input context tool output",
        record=("use", "output: no"),
        text="Not answered: no. Nothing was changed; ask for something else.",
        kinds=PAIR,
        ran=1,
        says={"output": ["no"]},
    ),
    "a refusal": Row(
        script=(Broken(stop=Stop.REFUSED, text="I will not"),),
        reason=Reason.REFUSED_BY_MODEL,
        checks="input context",
        record=("refused",),
    ),
    "a cut message": Row(
        script=(LOOKS, Broken(stop=Stop.TRUNCATED, text="rm -")),
        reason=Reason.TRUNCATED,
        checks="input context context",
        record=("use", "truncated"),
        kinds=PAIR,
        ran=1,
        asked=2,
    ),
    "too much for the model": Row(
        script=(Broken(stop=Stop.CONTEXT_EXCEEDED),),
        reason=Reason.CONTEXT_EXCEEDED,
        checks="input context",
        record=("context_exceeded",),
    ),
    "a reason that nobody knows": Row(
        script=(Broken(stop=Stop.UNKNOWN, text="?"),),
        reason=Reason.ERROR,
        checks="input context",
        record=("unknown",),
    ),
    "tools without calls": Row(
        script=(use(),), reason=Reason.ERROR, checks="input context", record=("use",)
    ),
    "an answer without words": Row(
        script=(Say(text=" \n"),), reason=Reason.ERROR, checks="input context", record=("say",)
    ),
    "one turn": Row(
        script=(LOOKS, Broken(stop=Stop.UNKNOWN)),
        reason=Reason.MAX_TURNS,
        checks="input context context",
        record=("use", "unknown"),
        kinds=(*PAIR, Noted),
        asked=2,
        limits=Limits(turns=1),
    ),
    "one turn with closing words": Row(
        script=(LOOKS, OK),
        reason=Reason.MAX_TURNS,
        checks="input context context output",
        record=("use", "say"),
        text=incomplete(Reason.MAX_TURNS, "ok"),
        kinds=(*PAIR, Noted, Spoke),
        asked=2,
        limits=Limits(turns=1),
    ),
    "closing words that a guardrail stops": Row(
        script=(LOOKS, OK),
        reason=Reason.GUARDRAIL_OUTPUT,
        checks="input context context output",
        record=("use", "say", "output: no"),
        text="Not answered: no. Nothing was changed; ask for something else.",
        kinds=(*PAIR, Noted, Noted),
        asked=2,
        limits=Limits(turns=1),
        says={"output": ["no"]},
    ),
    "one tool call": Row(
        script=(use(call("look"), call("look", "b", name="2")), DOWN),
        reason=Reason.MAX_TOOL_CALLS,
        checks="input context context",
        record=("use", "nothing came back"),
        kinds=(*PAIR, Noted),
        asked=2,
        limits=Limits(tool_calls=1),
    ),
    "one token": Row(
        script=(use(call("look"), tokens=1),),
        reason=Reason.MAX_TOKENS,
        checks="input context",
        record=("use",),
        kinds=PAIR,
        limits=Limits(tokens=1),
    ),
    "one byte of prompt": Row(
        script=(),
        reason=Reason.CONTEXT_EXCEEDED,
        checks="input",
        record=(),
        asked=0,
        limits=Limits(prompt_bytes=1),
    ),
    "no time for the model": Row(
        script=(hangs, hangs),
        reason=Reason.MAX_SECONDS,
        checks="input context context",
        record=("max_seconds", "max_seconds"),
        kinds=(Noted,),
        asked=2,
        limits=Limits(seconds=0.4),
    ),
    "the same call for the third time": Row(
        script=(LOOKS, LOOKS, LOOKS),
        reason=Reason.REPEATED_CALL,
        checks="input context context context",
        record=("use", "use", "use"),
        kinds=PAIR * 3,
        ran=1,
        asked=3,
    ),
    "no model": Row(
        script=(DOWN, DOWN, DOWN),
        reason=Reason.MODEL_UNAVAILABLE,
        checks="input context",
        record=("nothing came back", "nothing came back", "nothing came back"),
        asked=3,
    ),
    "a model with a fault": Row(
        script=(LOOKS, ValueError("4711")),
        reason=Reason.MODEL_UNAVAILABLE,
        checks="input context context",
        record=("use", "model_unavailable"),
        kinds=PAIR,
        ran=1,
        asked=2,
    ),
    "a message that a guardrail stops": Row(
        script=(),
        reason=Reason.GUARDRAIL_INPUT,
        checks="input",
        record=("input: no",),
        text="Not answered: no. Nothing was changed; ask in other words.",
        asked=0,
        says={"input": ["no"]},
        first=Noted,
    ),
    "a prompt that a guardrail stops": Row(
        script=(LOOKS,),
        reason=Reason.GUARDRAIL_CONTEXT,
        checks="input context context",
        record=("use", "context: no"),
        text="Not answered: no. Nothing was changed; start a new conversation, because this one "
        "holds what stopped it.",
        kinds=PAIR,
        ran=1,
        says={"context": [None, "no"]},
    ),
    "a plan that a guardrail stops": Row(
        script=(LOOKS, APPENDS),
        reason=Reason.GUARDRAIL_TOOL,
        checks="input context context tool",
        record=("use", "use", "tool: no"),
        text="Not proposed: no. Nobody was asked and nothing was changed; ask for something else.",
        kinds=PAIR * 2,
        ran=1,
        asked=2,
        says={"tool": ["no"]},
    ),
    "an answer that a guardrail stops": Row(
        script=(LOOKS, OK),
        reason=Reason.GUARDRAIL_OUTPUT,
        checks="input context context output",
        record=("use", "say", "output: no"),
        text="Not answered: no. Nothing was changed; ask for something else.",
        kinds=(*PAIR, Noted),
        ran=1,
        asked=2,
        says={"output": ["no"]},
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_c4_every_reason_has_its_text_its_entries_and_what_ran(row: Row) -> None:
    scene = model(row.limits, guards=FakeGuards(copied(row.says)).guards)
    outcome, asked = await scene.turn(*row.script)
    assert outcome.reason is row.reason
    wanted = row.text or ("" if row.reason is Reason.PROPOSED else forced(row.reason))
    assert outcome.text == wanted
    assert tuple(map(type, outcome.entries)) == (row.first, *row.kinds)
    assert len(scene.runner.ran) == row.ran
    assert len(asked.seen) == row.asked


def on_record(scene: Scene) -> tuple[str, ...]:
    """Return how each call of the model ended and what a guard stopped, in order."""
    found = list[str]()
    for one in scene.happened:
        match one:
            case Moved(stop=stop):
                found.append(stop)
            case Guarded(stage=stage, why=why):
                found.append(f"{stage}: {why}")
            case _:
                pass
    return tuple(found)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_c4_c78_c88_every_reason_has_its_checks_and_its_record(row: Row) -> None:
    fake = FakeGuards(copied(row.says))
    scene = model(row.limits, guards=fake.guards)
    await scene.turn(*row.script)
    assert " ".join(fake.stages) == row.checks
    assert on_record(scene) == row.record


GUARDED = {reason for reason in Reason if reason.startswith("guardrail:")}


def test_c4_the_table_has_every_reason_but_a_stop_which_is_no_end_of_the_loop() -> None:
    assert {row.reason for row in ROWS.values()} == set(Reason) - {Reason.STOPPED}


@pytest.mark.parametrize("reason", sorted({*Reason} - {*WHOLE} - GUARDED))
def test_every_end_without_a_say_of_the_model_or_a_guardrail_has_its_sentence(
    reason: Reason,
) -> None:
    assert forced(reason).endswith(".")


@pytest.mark.parametrize("reason", sorted(GUARDED))
def test_so_has_every_end_that_a_guardrail_wants(reason: Reason) -> None:
    assert ": because. " in guarded(reason, "because")


@pytest.mark.parametrize("reason", sorted({*STOPS.values(), *LIMITS, Reason.REPEATED_CALL}))
def test_every_forced_end_says_what_to_do_next(reason: Reason) -> None:
    text = forced(reason)
    assert text.endswith(".")
    assert reason is Reason.MAX_SECONDS or any(
        word in text.lower() for word in ("ask", "start", "put it", "try")
    )


# The end of a turn: stop reasons, pauses, limits


async def test_c5_a_cut_message_runs_and_posts_nothing() -> None:
    scene = model()
    outcome, _ = await scene.turn(
        Broken(stop=Stop.TRUNCATED, text="secret plan", wire=Wire(content="x"))
    )
    assert "secret plan" not in repr(outcome)
    assert (scene.runner.ran, scene.proposals.made) == ([], [])


async def test_c5_a_pause_sends_back_what_was_sent_unchanged() -> None:
    outcome, asked = await model().turn(Pause(wire=Wire(content="[half]")), OK)
    paused = Spoke(text="", content="[half]")
    assert asked.seen[1] == (HEARD, paused)
    assert outcome.entries == (HEARD, paused, Spoke(text="ok", content="[ok]"))


async def test_c5_a_pause_uses_a_turn_and_is_kept_only_where_it_was_sent_back() -> None:
    first, second = (Pause(wire=Wire(content=f"[{word}]")) for word in ("half", "more"))
    outcome, asked = await model(Limits(turns=3)).turn(LOOKS, first, second, DOWN)
    assert outcome.reason is Reason.MAX_TURNS
    assert tuple(map(type, outcome.entries)) == (Heard, Called, Returned, Spoke, Noted)
    assert outcome.entries[3] == Spoke(text="", content="[half]")
    assert asked.seen[-1] == outcome.entries
    outcome, asked = await model().turn(first, ValueError())
    assert outcome.entries == asked.seen[-1] == (HEARD, Spoke(text="", content="[half]"))
    outcome, _ = await model(Limits(turns=1, tokens=1)).turn(first, DOWN)
    assert outcome.entries[:2] == (HEARD, outcome.entries[-1])


async def test_c5_a_pause_in_which_nothing_was_sent_leaves_nothing() -> None:
    outcome, _ = await model().turn(Pause(wire=Wire()), OK)
    assert outcome.entries == (HEARD, Spoke(text="ok", content="[ok]"))


async def test_c1_on_the_last_turn_a_read_is_not_run_and_a_gated_call_may_still_propose() -> None:
    scene = model(Limits(turns=1))
    both = use(call("look"), call("append-word", name="2", rationale="because"))
    outcome, _ = await scene.turn(both)
    assert (outcome.reason, outcome.text, scene.runner.ran) == (Reason.PROPOSED, "", [])
    assert results(outcome) == [
        "Not run: this was the last step of the turn.",
        "The plan waits for approval, not run.",
    ]


async def test_c1_when_the_tokens_are_gone_a_read_is_not_run_either() -> None:
    scene = model(Limits(tokens=15))
    outcome, _ = await scene.turn(use(call("look"), tokens=5), use(call("look", "b"), tokens=6))
    assert outcome.reason is Reason.MAX_TOKENS
    assert len(scene.runner.ran) == 1
    assert results(outcome) == ["Not run: this was the last step of the turn."]


async def test_p21_tokens_are_checked_before_the_model_is_asked_again() -> None:
    step = use(call("look"), tokens=5)
    assert (await model(Limits(tokens=13)).turn(step, OK))[0].reason is Reason.ANSWERED
    over, asked = await model(Limits(tokens=12)).turn(step, DOWN)
    assert (over.reason, asked.concluded) == (Reason.MAX_TOKENS, [False, True])
    over, asked = await model(Limits(tokens=9)).turn(step)
    assert (over.reason, asked.concluded) == (Reason.MAX_TOKENS, [False])
    typed, _ = await Scene(limits=Limits(tokens=10)).turn(step, OK)
    assert typed.reason is Reason.ANSWERED


async def test_tokens_below_zero_give_none_back() -> None:
    steps = [
        Use(calls=(call("look", word),), wire=Wire(input_tokens=5, output_tokens=-100))
        for word in "abc"
    ]
    outcome, asked = await model(Limits(tokens=16)).turn(*steps, DOWN)
    assert (outcome.reason, len(asked.seen)) == (Reason.MAX_TOKENS, 3)


@pytest.mark.parametrize("generative", [True, False])
async def test_c2_the_deadline_cancels_a_read_and_keeps_what_others_found(
    generative: bool,  # noqa: FBT001 - a column of the table
) -> None:
    scene = Scene(limits=Limits(seconds=0.2), generative=generative)
    scene.runner.meanwhile["look", "0", "alpha"] = for_ever
    scene.runner.endings["look", "0", "b"] = exited(output="found")
    step = use(
        call("look"),
        call("look", "b", name="2"),
        call("append-word", name="3", rationale="because"),
    )
    begun = asyncio.get_running_loop().time()
    outcome, _ = await scene.turn(step, hangs)
    assert asyncio.get_running_loop().time() - begun < 5  # a guard; it is 0.2 on an idle machine
    assert (outcome.reason, scene.runner.cut) == (Reason.MAX_SECONDS, ["t_1.1"])
    late = "Not run, or not to its end: the time of the turn was over."
    assert results(outcome) == [late, "found", late]
    assert scene.proposals.made == []


async def test_c2_no_model_is_asked_after_the_deadline() -> None:
    scene = model(Limits(seconds=0.4), proposals=Proposals(refusal=Refused("No.")))

    async def blocks(_: Sequence[Entry]) -> Move:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while loop.time() < begun + 0.41:
            pass  # a model that never lets anybody else run cannot be cancelled
        return APPENDS

    outcome, asked = await scene.turn(blocks)
    assert (outcome.reason, len(asked.seen)) == (Reason.MAX_SECONDS, 1)


async def test_c3_an_oversized_prompt_makes_no_model_call_and_what_fits_exactly_does() -> None:
    scene = model(tools=())
    scene.limits = Limits(prompt_bytes=600)
    scene.heard = Heard(speaker="a", text="x" * 600)
    outcome, asked = await scene.turn()
    assert (outcome.reason, asked.seen) == (Reason.CONTEXT_EXCEEDED, [])
    assert outcome.entries == (scene.heard,)


async def test_c3_of_a_message_that_was_too_large_only_the_beginning_is_kept() -> None:
    scene = model(Limits(prompt_bytes=20_000))
    scene.heard = Heard(speaker="a", text="x" * 20_000)
    outcome, _ = await scene.turn()
    assert outcome.reason is Reason.CONTEXT_EXCEEDED
    scene.history, scene.heard = outcome.entries, HEARD
    assert (await scene.turn(OK))[0].reason is Reason.ANSWERED


async def test_c3_the_history_and_the_tools_count_too() -> None:
    small = Limits(prompt_bytes=3000)
    history = (Heard(speaker="a", text="x" * 3000), Spoke(text="ok"))
    assert (await model(small).turn(OK))[0].reason is Reason.ANSWERED
    assert (await model(small, history=history).turn())[0].reason is Reason.CONTEXT_EXCEEDED
    assert (await model(Limits(prompt_bytes=1000)).turn())[0].reason is Reason.CONTEXT_EXCEEDED


async def test_c3_what_a_step_appends_counts_at_the_next() -> None:
    outcome, asked = await model(Limits(prompt_bytes=FIRST + 10)).turn(LOOKS)
    assert (outcome.reason, len(asked.seen)) == (Reason.CONTEXT_EXCEEDED, 1)


async def test_c3_a_result_that_is_too_large_never_enters_the_next_request() -> None:
    scene = model(Limits(result_bytes=100))
    scene.runner.endings["look",] = exited(output="ä" * 51)
    scene.runner.endings["look", "0", "b"] = exited(output="ä" * 50)
    outcome, asked = await scene.turn(use(call("look"), call("look", "b", name="2")), OK)
    assert outcome.reason is Reason.ANSWERED
    large, small = asked.told
    assert (large.failed, large.correctable) == (True, True)
    assert (
        large.text == "look: what it found is larger than 100 bytes and was dropped. Ask for less."
    )
    assert small == Result(call="2", text="ä" * 50)


async def test_c3_arguments_that_are_too_large_are_a_short_error_that_can_be_corrected() -> None:
    scene = model(Limits(argument_bytes=100))
    outcome, asked = await scene.turn(use(call("look", "x" * 101)), use(call("look")), OK)
    assert (outcome.reason, len(scene.runner.ran)) == (Reason.ANSWERED, 1)
    assert "xxx" not in repr(asked.seen)
    first = asked.seen[1][-1]
    assert first == Returned(
        results=(
            Result(
                call="1",
                text="look: The arguments are larger than 100 bytes. Call it again with that corrected.",
                failed=True,
                correctable=True,
            ),
        )
    )


async def test_a_tools_failure_that_nobody_foresaw_is_evidence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def breaks() -> None:
        raise KeyError("4711")

    scene = model(runner=FakeRunner(meanwhile={("look",): breaks}))
    outcome, asked = await scene.turn(LOOKS, OK)
    assert outcome.reason is Reason.ANSWERED
    assert asked.told[0].text == "look failed. Calling it again does not help."
    assert ("4711" in caplog.text, "KeyError" in caplog.text) == (False, True)


# The same call twice


SAME: list[tuple[dict[str, Json], dict[str, Json]]] = [
    ({"word": "a", "file": "f"}, {"file": "f", "word": "a"}),
    ({"word": "a"}, {"word": "a", "file": "words.txt"}),
    ({"word": 1}, {"word": 1.0}),
    ({"word": 1, "nonsense": [1, {"a": 2}]}, {"nonsense": [1.0, {"a": 2}], "word": 1}),
]


@pytest.mark.parametrize(("one", "other"), SAME)
async def test_c7_the_same_call_is_corrected_once_and_then_ends_the_turn(
    one: dict[str, Json], other: dict[str, Json]
) -> None:
    scene = model(Limits(tool_calls=1))
    moves = [use(ToolCall(id="1", tool="look", arguments=given)) for given in (one, other, one)]
    outcome, asked = await scene.turn(*moves)
    assert outcome.reason is Reason.REPEATED_CALL
    assert len(scene.runner.ran) <= 1
    assert asked.told[0].text.startswith("Not run again: you made this very call before")
    assert results(outcome) == [
        "Not run: a call of this step was made before and had been corrected."
    ]


async def test_c7_a_call_that_the_gate_refused_counts_as_seen() -> None:
    scene = model(proposals=Proposals(refusal=Refused("bob denied this here.")))
    outcome, asked = await scene.turn(APPENDS, APPENDS, APPENDS)
    assert outcome.reason is Reason.REPEATED_CALL
    assert asked.told[0].failed


async def test_c7_a_correction_lets_the_turn_go_on() -> None:
    scene = model(Limits(tool_calls=2))
    outcome, _ = await scene.turn(LOOKS, LOOKS, use(call("look", "b")), OK)
    assert (outcome.reason, len(scene.runner.ran)) == (Reason.ANSWERED, 2)


async def test_c7_what_is_still_to_be_corrected_or_was_out_of_reach_may_be_made_again() -> None:
    beside = use(call("append-word", rationale="r"), call("no-such", name="2"))
    assert (await model().turn(beside, APPENDS))[0].reason is Reason.PROPOSED
    twice = use(
        call("append-word", rationale="r"), call("append-word", name="2", rationale="because")
    )
    assert (await model().turn(twice, APPENDS))[0].reason is Reason.PROPOSED
    scene = model(proposals=Proposals(refusal=Unavailable("The disk is full.")))
    assert (await scene.turn(APPENDS, APPENDS, APPENDS, OK))[0].reason is Reason.ANSWERED


async def test_c7_a_read_that_was_out_of_reach_may_be_made_again() -> None:
    failures = [SaysoError("x"), Unavailable("The folder cannot be read.")]

    async def down() -> None:
        if failures:
            raise failures.pop()

    scene = model(runner=FakeRunner(meanwhile={("look",): down}))
    outcome, asked = await scene.turn(LOOKS, LOOKS, LOOKS, OK)
    assert outcome.reason is Reason.ANSWERED
    assert len(scene.runner.ran) == 2
    assert asked.told[0].text.startswith("Not run again")


async def test_c7_two_equal_reads_of_one_step_run_once_and_are_no_obstacle_for_a_plan() -> None:
    scene = model()
    scene.runner.endings["look",] = exited(output="three words")
    step = use(
        call("look"), call("look", name="2"), call("append-word", name="3", rationale="because")
    )
    outcome, _ = await scene.turn(step)
    assert (outcome.reason, outcome.text) == (Reason.PROPOSED, "three words")
    assert len(scene.runner.ran) == 1


async def test_c7_who_only_passes_on_what_a_person_said_may_repeat_it() -> None:
    scene = Scene()
    twice = use(call("append-word"), call("append-word", name="2"))
    outcome, _ = await scene.turn(twice)
    assert outcome.reason is Reason.PROPOSED
    assert len(scene.proposals.made[0][0]) == 2


# The concluding message


LIMITED: dict[Reason, tuple[Limits, tuple[Scripted, ...]]] = {
    Reason.MAX_TURNS: (Limits(turns=1), (LOOKS,)),
    Reason.MAX_TOOL_CALLS: (
        Limits(tool_calls=1),
        (use(call("look"), call("look", "b", name="2")),),
    ),
    Reason.MAX_TOKENS: (Limits(tokens=12), (use(call("look"), tokens=6),)),
    Reason.MAX_SECONDS: (Limits(seconds=0.4), (hangs,)),
}


@pytest.mark.parametrize("reason", LIMITED)
async def test_c11_a_limit_allows_one_concluding_message_which_is_marked(reason: Reason) -> None:
    limits, script = LIMITED[reason]
    closing = Say(text="It is hunter2hunter2.", suggestions=("x",), wire=Wire(content="[c]"))
    outcome, asked = await model(limits).turn(*script, closing)
    assert outcome.reason is reason
    assert outcome.text == f"(incomplete: {LIMITS[reason]})\nIt is [redacted]."
    assert outcome.suggestions == ()
    assert asked.concluded == [False, True]
    *_, note, spoke = outcome.entries
    assert asked.seen[-1] == outcome.entries[:-1]
    assert isinstance(note, Noted)
    assert LIMITS[reason] in note.text
    assert spoke == Spoke(text="It is [redacted].")


FAILING: list[Scripted] = [
    DOWN,
    ValueError("4711"),
    TimeoutError(),
    LOOKS,
    ASKS,
    Pause(wire=Wire(content="x")),
    Broken(stop=Stop.TRUNCATED, text="Half"),
    Say(text=" "),
]


@pytest.mark.parametrize("reason", LIMITED)
@pytest.mark.parametrize("closing", FAILING, ids=lambda one: type(one).__name__)
async def test_c11_where_that_fails_the_limit_itself_is_named(
    reason: Reason, closing: Scripted
) -> None:
    limits, script = LIMITED[reason]
    outcome, asked = await model(limits).turn(*script, closing)
    assert (outcome.reason, outcome.text) == (reason, forced(reason))
    assert asked.concluded == [False, True]
    assert asked.seen[-1] == outcome.entries


async def test_c11_a_conclusion_has_its_own_time_and_never_more_than_the_turn_has() -> None:
    begun = asyncio.get_running_loop().time()
    limits = Limits(turns=1, seconds=60, conclusion_seconds=0.1)
    outcome, _ = await model(limits).turn(LOOKS, hangs)
    assert outcome.reason is Reason.MAX_TURNS
    outcome, _ = await model(Limits(turns=1, seconds=0.4)).turn(LOOKS, hangs)
    assert outcome.reason is Reason.MAX_TURNS
    assert asyncio.get_running_loop().time() - begun < 30  # a guard; it is 0.5 on an idle machine


async def test_c11_no_conclusion_is_asked_for_in_a_prompt_that_is_too_large() -> None:
    scene = model(Limits(turns=1, prompt_bytes=FIRST + 200))
    outcome, asked = await scene.turn(use(call("look", "y" * 3000)))
    assert (outcome.reason, asked.concluded) == (Reason.MAX_TURNS, [False])


async def test_c11_who_writes_nothing_of_its_own_is_not_asked_to_conclude() -> None:
    outcome, asked = await Scene(limits=Limits(turns=1)).turn(LOOKS)
    assert (outcome.reason, outcome.text) == (Reason.MAX_TURNS, forced(Reason.MAX_TURNS))
    assert asked.concluded == [False]


async def test_who_writes_nothing_of_its_own_is_given_no_prompt_that_could_be_too_large() -> None:
    outcome, _ = await Scene(limits=Limits(prompt_bytes=1)).turn(Say(text=""))
    assert outcome.reason is Reason.ANSWERED


# A question


async def test_c12_a_question_wins_over_what_is_called_beside_it() -> None:
    scene = model()
    asks = ToolCall(id="2", tool="ask_user", arguments={"question": " Is it hunter2hunter2? "})
    outcome, _ = await scene.turn(
        use(call("look"), asks, call("append-word", name="3", rationale="because"))
    )
    assert (outcome.reason, outcome.text) == (Reason.ASKED, "Is it [redacted]?")
    assert (scene.runner.ran, scene.proposals.made) == ([], [])
    not_run = "Not run: a question ends the turn. Make this call again if it is needed then."
    assert results(outcome) == [
        not_run,
        "The question was put to the person. The next message answers it.",
        not_run,
    ]


BAD_QUESTIONS: list[dict[str, Json]] = [
    {},
    {"question": ""},
    {"question": " \n"},
    {"question": 4711},
    {"question": ["4711"]},
    {"question": None},
    {"question": "Which?", "options": ["4711"]},
    {"questions": "4711"},
    {"question": "4711\ud800"},
]


@pytest.mark.parametrize("arguments", BAD_QUESTIONS)
async def test_c12_a_question_that_is_none_can_be_corrected(arguments: dict[str, Json]) -> None:
    asks = use(ToolCall(id="1", tool="ask_user", arguments=arguments))
    outcome, asked = await model().turn(asks, ASKS)
    assert outcome.reason is Reason.ASKED
    [told] = asked.told
    assert (told.failed, told.correctable) == (True, True)
    assert "`question`" in told.text
    assert "4711" not in told.text


async def test_c12_two_questions_at_once_are_none() -> None:
    two = use(*(ToolCall(id=n, tool="ask_user", arguments={"question": n}) for n in "12"))
    outcome, asked = await model().turn(two, ASKS)
    assert outcome.reason is Reason.ASKED
    assert [told.correctable for told in asked.told] == [True, True]


async def test_c12_who_writes_nothing_of_its_own_has_no_question() -> None:
    outcome, asked = await Scene().turn(ASKS, OK)
    assert outcome.reason is Reason.ANSWERED
    assert asked.told[0].text.startswith("There is no such tool here.")


# What is said about gated calls


async def test_the_texts_about_gated_calls_are_joined_and_never_hashed() -> None:
    scene = model()
    step = use(
        call("append-word", rationale="one", limitations="l\0", alternatives=" "),
        call("append-word", "b", name="2", rationale=" two ", limitations="l\0"),
        call("look", name="3", rationale="of a read", limitations=1),
        about=AgentText(rationale="zero"),
    )
    outcome, _ = await scene.turn(step)
    assert outcome.reason is Reason.PROPOSED
    [(calls, about)] = scene.proposals.made
    assert about == AgentText(rationale="zero\none\ntwo", limitations="l\ufffd")
    assert [dict(one.arguments) for one in calls] == [
        {"word": word, "file": "words.txt"} for word in ("alpha", "b")
    ]


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, "rationale"),
        ({"rationale": " "}, "rationale"),
        ({"rationale": ["4711"]}, "rationale"),
        ({"rationale": "r", "limitations": 4711}, "limitations"),
        ({"rationale": "r", "alternatives": None}, "alternatives"),
    ],
)
async def test_a_gated_call_that_is_not_explained_can_be_corrected(
    more: dict[str, Json], name: str
) -> None:
    outcome, asked = await model().turn(
        use(ToolCall(id="1", tool="append-word", arguments={"word": "a", **more})), APPENDS
    )
    assert outcome.reason is Reason.PROPOSED
    [told] = asked.told
    assert told.correctable
    assert told.text.startswith(f"append-word: `{name}`: a text is expected")
    assert "4711" not in told.text


async def test_a_fault_in_the_text_of_arguments_can_be_corrected() -> None:
    scene = model()
    bad = ToolCall(id="1", tool="look", arguments={}, fault="This JSON names one key twice.")
    outcome, asked = await scene.turn(use(bad), use(bad), LOOKS, OK)
    assert (outcome.reason, len(scene.runner.ran)) == (Reason.ANSWERED, 1)
    assert asked.seen[1][-1] == Returned(
        results=(
            Result(
                call="1",
                text="look: This JSON names one key twice. Call it again with that corrected.",
                failed=True,
                correctable=True,
            ),
        )
    )


# Asking again


async def test_a_model_that_did_not_answer_is_asked_again_at_most_twice() -> None:
    outcome, asked = await model().turn(DOWN, DOWN, OK)
    assert (outcome.reason, len(asked.seen)) == (Reason.ANSWERED, 3)
    outcome, asked = await model().turn(LOOKS, DOWN, OK)
    assert (outcome.reason, len(asked.seen)) == (Reason.ANSWERED, 3)


@pytest.mark.parametrize("error", [ConnectionError("4711"), TimeoutError("4711"), Refused("4711")])
async def test_c10_anything_else_is_not_tried_again_and_only_its_type_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    outcome, asked = await model().turn(error)
    assert (outcome.reason, len(asked.seen)) == (Reason.MODEL_UNAVAILABLE, 1)
    assert "4711" not in outcome.text
    [record] = caplog.records
    assert (record.levelno, record.exc_info) == (logging.WARNING, None)
    assert record.getMessage() == f"turn t_1: the model failed: {type(error).__name__}"


async def test_the_pauses_between_the_tries_end_with_the_turn() -> None:
    limits = Limits(seconds=0.1)
    agent = Agent(runner=FakeRunner(), redactor=Redactor.of([]), pauses=(60,))
    session = a_session(limits)
    outcome = await agent.turn(
        HEARD,
        model=ScriptedModel(DOWN, generative=False),
        session=session,
        propose=Proposals(),
    )
    assert outcome.reason is Reason.MAX_SECONDS


# The transcript


async def test_i10_the_turns_before_come_first_and_are_not_appended_again() -> None:
    history = (Heard(speaker="bob", text="hi"), Spoke(text="hello"))
    outcome, asked = await model(history=history).turn(OK)
    assert asked.seen == [(*history, HEARD)]
    assert outcome.entries == (HEARD, Spoke(text="ok", content="[ok]"))


async def test_i10_every_prompt_begins_with_the_one_before() -> None:
    moves = [use(call("look", word)) for word in "abc"]
    _, asked = await model().turn(*moves, OK)
    for before, after in zip(asked.seen, asked.seen[1:], strict=False):
        assert after[: len(before)] == before


async def test_p05_calls_at_the_end_of_the_history_are_left_out() -> None:
    history = (Heard(speaker="bob", text="hi"), Called(calls=(call("look"),)))
    _, asked = await model(history=history).turn(OK)
    assert asked.seen == [(history[0], HEARD)]


async def test_p05_a_history_that_does_not_fit_together_is_not_sent() -> None:
    history = (Called(calls=(call("look"),)), Spoke(text="ok"))
    outcome, asked = await model(history=history).turn(OK)
    assert (outcome.reason, outcome.entries, asked.seen) == (Reason.ERROR, (), [])
    assert outcome.text.endswith("Start a new one.")


async def test_ids_are_new_in_the_whole_conversation() -> None:
    history = (
        HEARD,
        Called(calls=(call("look"),)),
        Returned(results=(Result(call="1", text="old"),)),
    )
    scene = model(history=history)
    outcome, _ = await scene.turn(use(call("look")), use(call("look", "b")), OK)
    assert scene.runner.step_ids == ["t_1.call_2", "t_1.call_3"]
    called = [entry.calls[0].id for entry in outcome.entries if isinstance(entry, Called)]
    assert called == ["call_2", "call_3"]


async def test_what_is_proposed_comes_with_what_the_turn_appends() -> None:
    scene = model()
    scene.runner.endings["look",] = exited(output="three words")
    step = Use(
        calls=(call("look"), call("append-word", name="2", rationale="because")),
        text="I look and append.",
        wire=Wire(content="[blocks]"),
    )
    outcome, _ = await scene.turn(step)
    waiting = Result(call="2", text="The plan waits for approval, not run.")
    assert outcome.entries == (
        HEARD,
        Called(calls=step.calls, text="I look and append.", content="[blocks]"),
        Returned(results=(Result(call="1", text="three words"), waiting)),
    )
    assert scene.proposals.entries == [outcome.entries]


async def test_what_was_heard_is_kept_sound() -> None:
    scene = model(heard=Heard(speaker="a", text="a\0\ud800"))
    outcome, _ = await scene.turn(OK)
    assert outcome.entries[0] == Heard(speaker="a", text="a\ufffd\ufffd")


async def test_p04_a_model_that_is_refused_again_and_again_is_stopped() -> None:
    scene = model()
    scene.proposals.refusal = Refused("Not proposed: bob denied append-word here.")
    script = [use(call("append-word", word, name=word, rationale="because")) for word in "abcd"]
    outcome, asked = await scene.turn(*script)
    assert (outcome.reason, len(asked.seen)) == (Reason.REPEATED_CALL, 3)
    assert results(outcome) == ["Not proposed: bob denied append-word here."]
    assert outcome.text == forced(Reason.REPEATED_CALL)


async def test_c6_all_results_of_a_step_come_back_in_one_message_in_the_order_of_the_calls() -> (
    None
):
    scene = model()
    step = use(*(call("look", word, name=word) for word in "abc"))
    outcome, asked = await scene.turn(step, OK)
    [returned] = [entry for entry in outcome.entries if isinstance(entry, Returned)]
    assert [one.call for one in returned.results] == ["a", "b", "c"]
    assert asked.seen[1][-2:] == (outcome.entries[1], returned)
