"""No first turn takes the room that the second one needs, and what was left out is said."""

import pytest

from core.fitting import TEXT_BYTES, cut, fitted, fitted_words, trimmed
from core.limits import Limits, prompt_bytes
from core.outcomes import Outcome, Reason
from core.transcript import (
    AgentText,
    Called,
    Heard,
    Noted,
    Pause,
    Result,
    Returned,
    Say,
    Spoke,
    ToolCall,
    Use,
    Wire,
)
from tests.fakes.model import Scripted, ScriptedModel
from tests.fakes.runner import exited
from tests.scene import Scene, call, use

HUGE = "x" * 300_000
OK = Say(text="ok")
UNKNOWN = ToolCall(id="1", tool="no-such", arguments={"word": HUGE})
LIMITS = Limits(seconds=60, argument_bytes=1024 * 1024, result_bytes=1024 * 1024)
"""The largest that the design allows for one call."""
FIRST: dict[str, tuple[Scripted, ...]] = {
    "refused arguments": (use(UNKNOWN), OK),
    "refused arguments again and again": (
        *(use(ToolCall(id="1", tool=f"no-{n}", arguments={"word": HUGE})) for n in range(7)),
        OK,
    ),
    "a fault": (use(ToolCall(id="1", tool="look", arguments={}, fault=HUGE)), OK),
    "a text": (Use(calls=(call("look"),), text=HUGE), OK),
    "blocks": (Use(calls=(call("look"),), wire=Wire(content=HUGE)), OK),
    "blocks of an answer": (Say(text="ok", wire=Wire(content=HUGE)),),
    "blocks of a pause": (Pause(wire=Wire(content=HUGE)), OK),
    "an answer": (Say(text=HUGE),),
    "a question": (use(ToolCall(id="1", tool="ask_user", arguments={"question": HUGE})),),
    "a result": (use(call("look", "huge")), OK),
    "many results": (use(*(call("look", str(n), name=f"c{n}") for n in range(8))), OK),
    "many steps": (*(use(call("look", str(n), name=f"c{n}")) for n in range(7)), OK),
    "too many calls": (
        use(*(call("look", str(n), name=f"c{n}") for n in range(10_000))),
        OK,
    ),
    "an explanation": (use(call("append-word", rationale=HUGE)),),
    "a text about a plan": (use(call("append-word"), about=AgentText(rationale=HUGE)), OK),
    "a conclusion": (*(use(call("look", f"w{n}")) for n in range(8)), Say(text=HUGE)),
    "everything at once": (
        Use(
            calls=(*(call("look", str(n), name=f"c{n}") for n in range(8)), UNKNOWN),
            text=HUGE,
            wire=Wire(content=HUGE),
        ),
        Say(text=HUGE),
    ),
}


async def two_turns(
    generative: bool,  # noqa: FBT001 - a column of the table
    *first: Scripted,
) -> tuple[Outcome, Outcome, ScriptedModel]:
    scene = Scene(generative=generative, limits=LIMITS)
    for word in range(8):
        scene.runner.endings["look", "0", str(word)] = exited(output="y" * 40_000)
    scene.runner.endings["look", "0", "huge"] = exited(output=HUGE)
    before, _ = await scene.turn(*first)
    scene.history, scene.generative = before.entries, True
    scene.heard = Heard(speaker="alice", text="z" * 16_000)
    after, asked = await scene.turn(OK)
    return before, after, asked


@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
async def test_after_any_turn_the_next_message_gets_its_model_call(
    first: tuple[Scripted, ...],
) -> None:
    before, after, asked = await two_turns(True, *first)  # noqa: FBT003 - a model
    assert before.reason is not Reason.ERROR
    assert (after.reason, len(asked.seen)) == (Reason.ANSWERED, 1)
    assert prompt_bytes(before.entries) <= LIMITS.kept_bytes
    assert len(before.text) <= TEXT_BYTES + 200


@pytest.mark.parametrize("first", ["a result", "many results", "an answer"])
async def test_what_was_typed_leaves_room_too(first: str) -> None:
    _, after, _ = await two_turns(False, *FIRST[first])  # noqa: FBT003 - no model
    assert after.reason is Reason.ANSWERED


async def test_in_a_conversation_that_is_nearly_full_a_small_step_is_kept_as_it_is() -> None:
    full = Heard(speaker="a", text="x" * 240_000)
    outcome, _ = await Scene(generative=True, history=(full,)).turn(use(call("look")), OK)
    assert tuple(map(type, outcome.entries)) == (Heard, Called, Returned, Spoke)
    assert outcome.entries[1] == Called(calls=(call("look"),))


async def test_what_is_said_about_a_plan_is_bounded() -> None:
    scene = Scene()
    await scene.turn(use(call("append-word"), about=AgentText(rationale=HUGE)))
    [(_, about)] = scene.proposals.made
    assert len(about.rationale) < TEXT_BYTES + 100
    assert about.rationale.endswith("(Cut here: there was more than 32768 bytes.)")


async def test_what_reads_found_beside_a_plan_is_posted_within_bounds() -> None:
    scene = Scene(limits=LIMITS)
    scene.runner.endings["look",] = exited(output=HUGE)
    outcome, _ = await scene.turn(use(call("look"), call("append-word", name="2")))
    assert outcome.reason is Reason.PROPOSED
    assert len(outcome.text) < TEXT_BYTES + 100
    assert scene.proposals.seen == [outcome.text]


def test_a_text_is_cut_between_characters_and_says_so() -> None:
    assert cut("ää", 4) == "ää"
    assert cut("äää", 5) == "ää\n(Cut here: there was more than 5 bytes.)"


def test_a_refused_call_keeps_small_arguments() -> None:
    assert trimmed(call("look")) == call("look")
    assert trimmed(UNKNOWN).arguments == {}


CALLED = Called(calls=(call("look", name="a"), call("look", "b", name="b")), content="[blocks]")
SMALL = Result(call="a", text="three words")


def test_the_largest_results_are_left_out_first_and_nothing_else() -> None:
    large = Result(call="b", text="y" * 1000)
    assert fitted(CALLED, Returned(results=(large, SMALL)), 2000)[1] == Returned(
        results=(large, SMALL)
    )
    called, returned = fitted(CALLED, Returned(results=(large, SMALL)), 600)
    assert called == CALLED
    assert isinstance(returned, Returned)
    dropped, kept = returned.results
    assert kept == SMALL
    assert (dropped.call, dropped.failed, dropped.correctable) == ("b", True, True)
    assert dropped.text.startswith("What came of this does not fit")


def test_a_step_that_does_not_fit_loses_its_arguments_and_then_is_a_note() -> None:
    called = Called(calls=(call("look", "x" * 1000, name="a"),), text="t")
    returned = Returned(results=(SMALL,))
    bare = Called(calls=(ToolCall(id="a", tool="look", arguments={}),))
    assert fitted(called, returned, 300) == (bare, returned)
    assert fitted(called, returned, 10) == (
        Noted(text="A step (calls: 1) was too large to be kept. What came of it:\nthree words"),
    )


def test_an_answer_that_does_not_fit_loses_its_blocks_and_then_its_words() -> None:
    words = Spoke(text="three words", content="x" * 1000)
    assert fitted_words(words, 1000) == words
    assert fitted_words(words, 999) == Spoke(text="three words")
    left_out = "(What was said here does not fit into what is left of the conversation.)"
    assert fitted_words(words, 10) == Spoke(text=left_out)
