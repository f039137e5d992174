"""The bounded loop: what ends a turn, what runs at once, and that it performs no effect."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.canonical import JsonObject
from core.dictated import Dictated
from core.errors import Incorrect, Invalid, Refused, Unavailable
from core.jobs import LeaseLost
from core.limits import Limits
from core.outcomes import Reason
from core.ports import Ended, Ending, ending_in_words
from core.prompt import Prompt
from core.runbooks import tool as runbook
from core.tools import Caller, Effect, Tool, Toolbox
from core.trail import Looked
from core.transcript import (
    AgentText,
    Called,
    Entry,
    Move,
    Result,
    Returned,
    Say,
    ToolCall,
    Use,
)
from tests.fakes.runner import FakeRunner, ended, exited, for_ever
from tests.scene import CALLER, HEARD, TOOLS, Proposals, Scene, call, use


async def test_an_answer_ends_the_turn_and_secrets_in_it_are_masked() -> None:
    outcome, model = await Scene().turn(Say(text="it is hunter2hunter2", suggestions=("help",)))
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, "it is [redacted]")
    assert outcome.suggestions == ("help",)
    assert model.seen == [(HEARD,)]


async def test_what_a_read_printed_reaches_the_next_move() -> None:
    scene = Scene()
    scene.runner.endings["look",] = exited(output="three words\n")
    asked = use(call("look"))
    outcome, model = await scene.turn(asked, Say(text="three"))
    assert outcome.reason is Reason.ANSWERED
    assert scene.runner.step_ids == ["t_1.1"]
    assert model.seen[-1] == (
        HEARD,
        Called(calls=asked.calls),
        Returned(results=(Result(call="1", text="three words"),)),
    )


async def test_a_read_that_printed_nothing_says_so() -> None:
    _, model = await Scene().turn(use(call("look")), Say(text="ok"))
    assert model.told == (Result(call="1", text="look: done, it printed nothing."),)


async def test_the_reads_of_one_move_run_at_the_same_time() -> None:
    scene, together = Scene(), asyncio.Barrier(2)
    scene.runner.meanwhile["look",] = together.wait
    outcome, model = await scene.turn(
        use(call("look", name="1"), call("look", name="2")), Say(text="ok")
    )
    assert outcome.reason is Reason.ANSWERED
    assert [result.call for result in model.told] == ["1", "2"]


async def test_results_come_back_in_the_order_of_the_calls() -> None:
    _, model = await Scene().turn(
        use(call("no-such", name="a"), call("look", name="b"), call("nor-this", name="c")),
        Say(text="ok"),
    )
    assert [result.call for result in model.told] == ["a", "b", "c"]


async def test_gated_calls_of_one_move_become_one_proposal_and_nothing_runs() -> None:
    scene = Scene()
    about = AgentText(rationale="because")
    outcome, _ = await scene.turn(
        use(call("append-word", "x", name="1"), call("append-word", "y", name="2"), about=about)
    )
    assert (outcome.reason, outcome.text) == (Reason.PROPOSED, "")
    assert outcome.request == "f" * 32
    [(calls, said)] = scene.proposals.made
    assert [checked.arguments["word"] for checked in calls] == ["x", "y"]
    assert said == about
    assert scene.runner.ran == []


async def test_reads_beside_gated_calls_still_run_and_are_told_with_the_proposal() -> None:
    scene = Scene()
    scene.runner.endings["look",] = exited(output="three words")
    outcome, _ = await scene.turn(use(call("look", name="1"), call("append-word", name="2")))
    assert (outcome.reason, outcome.text) == (Reason.PROPOSED, "three words")
    assert scene.proposals.seen == ["three words"]
    assert scene.runner.ran == [("look", "0", "alpha", "words.txt")]


async def test_c18_a_tool_that_does_not_declare_its_effect_cannot_run_freely() -> None:
    scene = Scene(tools=(runbook("name: r\nsummary: s\nsteps: [{run: [rm]}]\n", "r.yml"),))
    outcome, _ = await scene.turn(use(ToolCall(id="1", tool="r", arguments={})))
    assert outcome.reason is Reason.PROPOSED
    assert scene.runner.ran == []


async def test_the_texts_that_only_explain_a_call_are_no_arguments_of_it() -> None:
    scene = Scene()
    await scene.turn(use(call("append-word", rationale="r", limitations="l", alternatives="a")))
    [(calls, _)] = scene.proposals.made
    assert calls[0].arguments == {"word": "alpha", "file": "words.txt"}


async def test_c90_a_session_default_fills_what_was_left_out() -> None:
    scene = Scene(defaults={"file": "notes.txt", "nobody-takes-this": 1})
    await scene.turn(use(call("append-word")))
    [(calls, _)] = scene.proposals.made
    assert calls[0].arguments["file"] == "notes.txt"
    assert calls[0].filled == ("file",)


async def test_a_failing_step_ends_a_read_and_the_turn_goes_on_to_an_answer() -> None:
    scene = Scene()
    scene.runner.endings["look-twice", "0"] = exited(3, "no such table\n")
    outcome, model = await scene.turn(use(call("look-twice")), Say(text="it failed"))
    assert outcome.reason is Reason.ANSWERED
    assert model.told == (
        Result(call="1", text="look-twice failed: exit code 3.\nno such table", failed=True),
    )
    assert scene.runner.ran == [("look-twice", "0", "alpha", "words.txt")]


async def test_a_read_that_cannot_start_says_why_and_runs_nothing() -> None:
    scene = Scene()
    scene.runner.obstacles["look",] = "There is no program look."
    _, model = await scene.turn(use(call("look")), Say(text="ok"))
    assert model.told == (Result(call="1", text="look: There is no program look.", failed=True),)
    assert scene.runner.ran == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (ended(Ending.TIMED_OUT), "it ran longer than its time limit"),
        (ended(Ending.TOO_MUCH_OUTPUT), "it printed more than its output limit"),
        (ended(Ending.NOT_STARTED), "it could not be started"),
        (ended(Ending.ANSWERED), "it answered as expected"),
        (ended(Ending.ANSWERED_OTHERWISE), "it did not answer as expected"),
        (ended(Ending.BROKEN_OFF), "its answer broke off"),
        (
            replace(ended(Ending.ANSWERED_OTHERWISE), note="status 503, expected 200"),
            "status 503, expected 200",
        ),
        (exited(2), "exit code 2, often wrong arguments"),
        (exited(-9), "SIGKILL: it was killed, perhaps for want of memory"),
    ],
)
def test_each_ending_has_its_words(how: Ended, words: str) -> None:
    assert ending_in_words(how) == words


async def test_c95_a_model_corrects_itself_at_the_next_call() -> None:
    async def corrected(entries: Sequence[Entry]) -> Move:
        last = entries[-1]
        assert isinstance(last, Returned)
        [result] = last.results
        assert (result.failed, result.correctable) == (True, True)
        assert "`word`" in result.text
        assert "12345" not in result.text
        return use(call("append-word", "alpha", name="2"))

    wrong = ToolCall(id="1", tool="append-word", arguments={"word": 12345})
    outcome, _ = await Scene().turn(use(wrong), corrected)
    assert outcome.reason is Reason.PROPOSED


async def test_c25_a_missing_and_a_forbidden_tool_are_refused_in_the_same_words() -> None:
    async def refusal(tools: tuple[Tool, ...]) -> Result:
        _, model = await Scene(tools=tools).turn(use(call("append-word")), Say(text="ok"))
        return model.told[0]

    forbidden = Toolbox.of(TOOLS).offered(lambda tool: tool.name != "append-word").tools
    assert await refusal(forbidden) == await refusal(())


async def test_one_wrong_call_keeps_the_whole_step_from_being_proposed() -> None:
    scene = Scene()
    _, model = await scene.turn(
        use(call("append-word", name="1"), call("no-such", name="2")), Say(text="ok")
    )
    assert scene.proposals.made == []
    assert [result.failed for result in model.told] == [True, True]
    assert model.told[0].text.startswith("Not proposed: another call of this step")


async def test_a_failing_read_beside_a_gated_call_is_told_with_the_proposal() -> None:
    scene = Scene()
    scene.runner.endings["look",] = exited(1)
    outcome, _ = await scene.turn(use(call("append-word", name="1"), call("look", name="2")))
    assert (outcome.reason, outcome.text) == (Reason.PROPOSED, "look failed: exit code 1.")
    assert scene.proposals.seen == ["look failed: exit code 1."]


@pytest.mark.parametrize(
    ("refusal", "correctable"),
    [(Refused("bob denied this here."), False), (Incorrect("Give another file."), True)],
)
async def test_a_refused_proposal_is_told_to_the_model_with_its_reason(
    refusal: Refused,
    correctable: bool,  # noqa: FBT001 - a column of the table
) -> None:
    scene = Scene(proposals=Proposals(refusal=refusal))
    outcome, model = await scene.turn(use(call("append-word")), Say(text="ok"))
    assert outcome.reason is Reason.ANSWERED
    assert model.told == (
        Result(call="1", text=refusal.shown, failed=True, correctable=correctable),
    )


async def test_a_turn_that_is_lost_while_it_proposes_goes_no_further() -> None:
    scene = Scene(proposals=Proposals(refusal=LeaseLost("Somebody else answers.")))
    with pytest.raises(LeaseLost):
        await scene.turn(use(call("append-word")), Say(text="It was refused."))


async def test_a_model_that_does_not_answer_ends_the_turn() -> None:
    outcome, _ = await Scene().turn(*[Unavailable("connection reset by 10.0.0.7")] * 3)
    assert outcome.reason is Reason.MODEL_UNAVAILABLE
    assert outcome.text == "The model did not answer. Nothing was changed; try again in a while."


async def test_the_last_allowed_move_still_counts_and_one_more_is_too_many() -> None:
    scene = Scene(limits=Limits(turns=2, seconds=10))
    outcome, _ = await scene.turn(use(call("look")), Say(text="ok"))
    assert outcome.reason is Reason.ANSWERED
    outcome, model = await scene.turn(use(call("look")), use(call("look")), Say(text="ok"))
    assert outcome.reason is Reason.MAX_TURNS
    assert outcome.text.startswith("I stopped: this took more steps")
    assert len(model.seen) == 2


async def test_the_calls_of_all_moves_together_are_bounded_and_none_of_the_last_move_runs() -> None:
    scene = Scene(limits=Limits(tool_calls=2, seconds=10))
    outcome, _ = await scene.turn(use(call("look"), call("look", name="2")), Say(text="ok"))
    assert outcome.reason is Reason.ANSWERED
    outcome, _ = await scene.turn(use(call("look")), use(call("look"), call("look", name="2")))
    assert outcome.reason is Reason.MAX_TOOL_CALLS
    assert len(scene.runner.ran) == 3


async def test_the_deadline_cancels_a_read_that_hangs() -> None:
    scene = Scene(limits=Limits(seconds=0.2))
    scene.runner.meanwhile["look",] = for_ever
    outcome, _ = await scene.turn(use(call("look")))
    assert outcome.reason is Reason.MAX_SECONDS
    assert scene.runner.cut == ["t_1.1"]


async def test_the_deadline_cancels_a_model_that_hangs() -> None:
    async def hanging(entries: Sequence[Entry]) -> Move:
        del entries
        await for_ever()
        raise AssertionError

    outcome, _ = await Scene(limits=Limits(seconds=0.2)).turn(hanging)
    assert outcome.reason is Reason.MAX_SECONDS


async def test_a_request_that_was_stored_is_reported_even_after_the_deadline() -> None:
    scene = Scene(limits=Limits(seconds=0.2), proposals=Proposals(slow=0.4))
    outcome, _ = await scene.turn(use(call("append-word")))
    assert (outcome.reason, outcome.request) == (Reason.PROPOSED, "f" * 32)


async def test_a_dictated_call_is_made_once_and_its_result_said_as_it_is() -> None:
    dictated, prompt = Dictated(call("look")), Prompt(tools=Toolbox.of(TOOLS))
    assert await dictated.next_move((HEARD,), prompt) == use(call("look"))
    returned = Returned(results=(Result(call="1", text="a"), Result(call="2", text="b")))
    assert await dictated.next_move((HEARD, returned), prompt) == Say(text="a\nb")
    assert not dictated.generative


async def test_c8_two_calls_with_one_id_run_nothing_at_all() -> None:
    scene = Scene()
    twice = (
        ToolCall(id="1", tool="look", arguments={"word": "alpha"}),
        ToolCall(id="1", tool="append-word", arguments={"word": "beta"}),
    )
    outcome, model = await scene.turn(Use(calls=twice), Say(text="sorry"))
    assert outcome.reason is Reason.ANSWERED
    assert scene.runner.ran == []
    assert scene.proposals.made == []
    assert [result.text[:7] for result in model.told] == ["Not run"] * 2


async def test_a_runner_that_is_unavailable_is_evidence_and_no_outage_of_the_model() -> None:
    async def down() -> None:
        raise Unavailable("The folder cannot be read.")

    scene = Scene(runner=FakeRunner(meanwhile={("look",): down}))
    call = ToolCall(id="1", tool="look", arguments={"word": "alpha"})
    outcome, _ = await scene.turn(Use(calls=(call,)), Say(text="I could not look."))
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, "I could not look.")


async def test_a_tool_of_sayso_answers_by_itself_for_whoever_asked() -> None:
    seen = list[Caller]()

    async def look(arguments: JsonObject, caller: Caller) -> str:
        seen.append(caller)
        return f"found {arguments['word']}"

    own = replace(TOOLS[0], name="recall", effect=Effect.READ, look=look)
    scene = Scene(tools=(own,))
    _, model = await scene.turn(use(call("recall")), Say(text="ok"))
    assert model.told == (Result(call="1", text="found alpha"),)
    assert seen == [replace(CALLER, call="1")]
    assert scene.runner.step_ids == []
    assert own.resource == "tool:recall"


async def test_i7_a_look_that_finds_the_turn_lost_ends_it_and_the_others_are_cut() -> None:
    cut: list[str] = []

    async def look(arguments: JsonObject, _: Caller) -> str:
        if arguments["word"] == "lost":
            raise LeaseLost("Somebody else answers.")
        try:
            await for_ever()
        except asyncio.CancelledError:
            cut.append(str(arguments["word"]))
            raise
        raise AssertionError

    own = replace(TOOLS[0], name="recall", effect=Effect.READ, look=look)
    scene = Scene(tools=(own,))
    with pytest.raises(LeaseLost):
        await scene.turn(
            use(call("recall", "slow"), call("recall", "lost", name="2")), Say(text="ok")
        )
    assert cut == ["slow"]
    assert not [one for one in scene.happened if isinstance(one, Looked)]


def test_a_tool_that_answers_by_itself_changes_nothing() -> None:
    async def look(_: JsonObject, __: Caller) -> str:
        raise AssertionError

    with pytest.raises(Invalid, match="can only be a read"):
        replace(TOOLS[0], effect=Effect.WRITE, look=look)
