"""C19-C22, C25: the stages that a call goes through, what each of them is told, and who learns why not."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from pydantic import BaseModel, model_validator

from core.canonical import JsonObject
from core.errors import Incorrect, Refused, SaysoError, Unavailable
from core.fitting import REFUSED_BYTES
from core.gateway import Access, Check, TooOften
from core.guardrails import Guards, Output
from core.limits import Limits
from core.outcomes import Reason
from core.tools import MISSING, Caller, Checked
from core.trail import Looked, Moved, Stage, Staged
from core.transcript import (
    Broken,
    Noted,
    Pause,
    Returned,
    Say,
    Spoke,
    Stop,
    ToolCall,
    Use,
    Wire,
)
from tests.fakes.guards import FakeGuards
from tests.fakes.runner import exited
from tests.scene import LOOK, TOOLS, WRITE, Scene, an_access, call, use

OK = Say(text="ok")
TWICE = "Not run: you may do this 2 times in 1h."
ALL = [*Stage]


def stages(scene: Scene, name: str = "1") -> list[tuple[Stage, bool]]:
    """Return the stages that a call came to, and whether it passed."""
    found = [one for one in staged(scene) if one.call == name]
    return [(one.stage, not one.why) for one in found]


def staged(scene: Scene) -> list[Staged]:
    return [one for one in scene.happened if isinstance(one, Staged)]


def refusing(why: object) -> Access:
    async def no(_: Checked) -> object:
        return why

    return an_access(authorize=no)


def counting(most: int) -> Access:
    left = [most]

    async def count(calls: Sequence[Checked]) -> TooOften | None:
        over = range(left[0], len(calls))
        left[0] -= 0 if over else len(calls)
        return TooOften(why=dict.fromkeys(over, TWICE)) if over else None

    return an_access(count=count)


async def test_c19_a_call_that_runs_passes_every_stage_in_order() -> None:
    scene = Scene(generative=True)
    await scene.turn(use(call("look")), OK)
    assert stages(scene) == [(stage, True) for stage in ALL]


async def test_c19_a_call_that_is_proposed_does_too() -> None:
    scene = Scene(generative=True)
    await scene.turn(use(call("append-word", rationale="because")))
    assert stages(scene) == [(stage, True) for stage in ALL]


async def test_c19_each_stage_is_kept_before_the_call_runs() -> None:
    scene = Scene(generative=True)
    kept = list[int]()

    async def runs() -> None:
        await asyncio.sleep(0)
        kept.append(len(scene.happened))

    scene.runner.meanwhile["look",] = runs
    await scene.turn(use(call("look")), OK)
    assert kept == [1 + len(ALL)]


@pytest.mark.parametrize(
    ("step", "last"),
    [
        (use(call("no-such")), Stage.KNOWN),
        (use(call("note")), Stage.ALLOWED),
        (use(call("look", "", file=1)), Stage.SCHEMA),
        (use(call("append-word")), Stage.SCHEMA),
    ],
)
async def test_c19_a_refused_call_ends_at_its_stage(step: Use, last: Stage) -> None:
    note = replace(TOOLS[0], name="note")
    scene = Scene(generative=True, known=(*TOOLS, note))
    await scene.turn(step, OK)
    before = [(stage, True) for stage in ALL[: ALL.index(last)]]
    assert stages(scene) == [*before, (last, False)]


async def test_c25_missing_and_forbidden_read_the_same_whatever_the_arguments() -> None:
    note = replace(TOOLS[0], name="note")
    told = set[str]()
    for step in (
        use(call("note")), use(call("nota")), use(call("note", file=1)), use(call("nota", file=1)),
    ):  # fmt: skip
        scene = Scene(generative=True, known=(*TOOLS, note))
        _, model = await scene.turn(step, OK)
        told.add(model.told[0].text)
    assert told == {MISSING}


async def test_c19_two_calls_with_one_id_come_to_no_stage_but_the_first() -> None:
    scene = Scene(generative=True)
    await scene.turn(use(call("look"), call("look", "b")), OK)
    assert {one.stage for one in scene.happened if isinstance(one, Staged)} == {Stage.KNOWN}


async def test_c20_a_reason_refuses_and_reaches_the_model_and_whoever_asked() -> None:
    scene = Scene(generative=True, access=refusing("It is not your order."))
    outcome, model = await scene.turn(use(call("look")), OK)
    assert scene.runner.ran == []
    assert (model.told[0].text, model.told[0].correctable) == ("It is not your order.", False)
    assert outcome.text == "ok\n(not run: look: It is not your order.)"
    assert stages(scene)[-1] == (Stage.AUTHORIZED, False)


@pytest.mark.parametrize("why", [True, False, 0, "", " ", "yes", ["ok"]])
async def test_c20_whatever_is_not_none_refuses(why: object) -> None:
    scene = Scene(generative=True, access=refusing(why))
    await scene.turn(use(call("look")), OK)
    assert scene.runner.ran == []
    scene = Scene(generative=True, access=refusing(why))
    outcome, _ = await scene.turn(use(call("append-word", rationale="because")), OK)
    assert (outcome.reason, scene.proposals.made) == (Reason.ANSWERED, [])


async def test_c20_what_could_not_be_checked_is_refused() -> None:
    async def down(_: Checked) -> object:
        raise Unavailable("The rules cannot be read.")

    scene = Scene(generative=True, access=an_access(authorize=down))
    outcome, _ = await scene.turn(use(call("look")), OK)
    assert scene.runner.ran == []
    assert "The rules cannot be read." in outcome.text


async def test_c20_who_only_passes_on_what_a_tool_said_says_the_reason_once() -> None:
    scene = Scene(access=refusing("It is not your order."))
    outcome, model = await scene.turn(use(call("look")), OK)
    assert outcome.text == "ok"
    assert model.told[0].text == "It is not your order."


async def test_c20_a_proposal_tells_what_was_refused_before_it() -> None:
    async def no(checked: Checked) -> object:
        return "It is not yours." if checked.tool.name == "look" else None

    scene = Scene(generative=True, access=an_access(authorize=no))
    await scene.turn(use(call("look")), use(call("append-word", name="2", rationale="because")))
    assert scene.proposals.seen == ["(not run: look: It is not yours.)"]


async def test_c22_a_call_is_counted_when_it_is_dispatched_and_refused_beyond_the_rate() -> None:
    scene = Scene(generative=True, access=counting(2))
    scene.runner.endings["look",] = exited(output="three words\n")
    step = use(*(call("look", word, name=word) for word in "abc"))
    _, model = await scene.turn(step, use(call("look", "d", name="d")), OK)
    assert [one.text for one in model.told] == [TWICE]
    assert len(scene.runner.ran) == 2
    ends = [stages(scene, name)[-1] for name in "abcd"]
    assert ends == [(Stage.RUN, True)] * 2 + [(Stage.RATE, False)] * 2


async def test_c22_what_is_refused_or_repeated_is_not_counted() -> None:
    counted = list[str]()

    async def count(calls: Sequence[Checked]) -> None:
        counted.extend(str(checked.arguments["word"]) for checked in calls)

    scene = Scene(generative=True, access=an_access(count=count))
    wrong = call("look", "b", name="2", file=1)
    again = call("look", "a", name="3")
    await scene.turn(use(call("look", "a"), wrong), use(again), OK)
    assert counted == ["a"]


async def test_c22_one_gated_call_beyond_the_rate_is_one_plan_not_proposed() -> None:
    scene = Scene(generative=True, access=counting(1))
    step = use(*(call("append-word", word, name=word, rationale="because") for word in "ab"))
    _, model = await scene.turn(step, OK)
    assert scene.proposals.made == []
    assert [one.text for one in model.told] == [
        "Not proposed: another call of this step has to be corrected first.",
        TWICE,
    ]
    assert stages(scene, "a")[-1] == (Stage.RATE, True)  # and nothing of it ran
    assert stages(scene, "b")[-1] == (Stage.RATE, False)


async def test_c22_a_step_that_is_not_proposed_for_one_call_counts_none_of_them() -> None:
    scene = Scene(generative=True, access=counting(2))
    wants = [call("append-word", word, name=word, rationale="because") for word in "abc"]
    again = [call("append-word", word, name=f"{word}2", rationale="because") for word in "ab"]
    outcome, _ = await scene.turn(use(*wants), use(*again))
    assert outcome.reason is Reason.PROPOSED
    [(calls, _)] = scene.proposals.made
    assert [one.arguments["word"] for one in calls] == ["a", "b"]


async def test_c22_reads_that_all_have_room_are_counted_at_once() -> None:
    counted = list[int]()

    async def count(calls: Sequence[Checked]) -> None:
        counted.append(len(calls))

    scene = Scene(generative=True, access=an_access(count=count))
    await scene.turn(use(*(call("look", word, name=word) for word in "abc")), OK)
    assert counted == [3]


@pytest.mark.parametrize(
    "found", [True, 0, "", "yes", [], {0: "no"}, TooOften(why={}), TooOften(why={7: "no"})]
)
@pytest.mark.parametrize("tool", ["look", "append-word"])
async def test_c20_calls_of_which_it_is_not_sure_that_they_were_counted_are_refused(
    found: object, tool: str
) -> None:
    async def count(_: Sequence[Checked]) -> object:
        return found

    scene = Scene(generative=True, access=an_access(count=count))
    why = {"rationale": "because"} if tool == "append-word" else {}
    _, model = await scene.turn(use(*(call(tool, word, name=word, **why) for word in "ab")), OK)
    assert (scene.runner.ran, scene.proposals.made) == ([], [])
    said = "It could not be checked whether this may be done, so it was not. Tell an operator."
    assert [one.text for one in model.told] == [said, said]


async def test_c20_calls_that_could_not_be_counted_are_refused() -> None:
    async def down(_: Sequence[Checked]) -> object:
        raise Unavailable("The database is busy.")

    scene = Scene(generative=True, access=an_access(count=down))
    _, model = await scene.turn(use(call("look", "a", name="1"), call("look", "b", name="2")), OK)
    assert [one.text for one in model.told] == ["The database is busy."] * 2
    assert scene.runner.ran == []


def failing(times: int, error: SaysoError | TooOften) -> Callable[[object], Awaitable[object]]:
    """Return a check that fails so often, then lets everything pass."""
    left = [times]

    async def check(_: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            return None
        if isinstance(error, SaysoError):
            raise error
        return error

    return check


DOWN = Unavailable("The rules cannot be read.")
FAST = TooOften(why={0: "Not run: you may do this 2 times in 1h. Try again in 2s."})
CLOSED_FOR_NOW = {
    "too fast": lambda: an_access(count=failing(3, FAST)),
    "not counted": lambda: an_access(count=failing(3, DOWN)),
    "not known whether it may be": lambda: an_access(authorize=failing(3, DOWN)),
}


@pytest.mark.parametrize("access", CLOSED_FOR_NOW.values(), ids=CLOSED_FOR_NOW)
@pytest.mark.parametrize("tool", ["look", "append-word"])
async def test_c7_c22_a_call_of_which_nothing_came_for_now_may_be_made_again(
    access: Callable[[], Access], tool: str
) -> None:
    scene = Scene(generative=True, access=access())
    about = {"rationale": "because"} if tool == "append-word" else {}
    step = use(call(tool, **about))
    outcome, model = await scene.turn(step, step, step, step, OK)
    came = scene.proposals.made if about else scene.runner.ran
    assert (outcome.reason, len(came)) == (Reason.PROPOSED if about else Reason.ANSWERED, 1)
    assert not any("Not run again" in str(entries) for entries in model.seen)


@pytest.mark.parametrize("access", CLOSED_FOR_NOW.values(), ids=CLOSED_FOR_NOW)
async def test_c22_what_was_refused_for_now_and_ran_later_is_not_told(
    access: Callable[[], Access],
) -> None:
    scene = Scene(generative=True, access=access())
    step = use(call("look"))
    outcome, _ = await scene.turn(step, step, step, step, OK)
    assert outcome.text == "ok"


@pytest.mark.parametrize("access", CLOSED_FOR_NOW.values(), ids=CLOSED_FOR_NOW)
async def test_c22_nor_is_it_beside_the_card_that_shows_it(access: Callable[[], Access]) -> None:
    scene = Scene(generative=True, access=access())
    step = use(call("append-word", rationale="because"))
    await scene.turn(step, step, step, step)
    assert scene.proposals.seen == [""]


async def test_c22_what_was_refused_is_told_although_another_call_of_the_tool_ran() -> None:
    scene = Scene(generative=True, access=counting(1))
    step = use(call("look", "a"), call("look", "b", name="2"))
    outcome, _ = await scene.turn(step, OK)
    assert len(scene.runner.ran) == 1
    assert outcome.text == f"ok\n(not run: look: {TWICE})"


async def test_c7_a_call_that_may_not_be_made_counts_as_answered() -> None:
    scene = Scene(generative=True, access=refusing("It is not your order."))
    step = use(call("look"))
    outcome, _ = await scene.turn(step, step, step)
    assert outcome.reason is Reason.REPEATED_CALL


async def test_c88_each_call_of_the_model_is_on_record_before_anything_it_wants_is_done() -> None:
    scene = Scene(generative=True)
    wire = Wire(request="req_1", input_tokens=7, output_tokens=3, options={"effort": "low"})
    await scene.turn(Use(calls=(call("look"),), wire=wire), OK)
    first, *_, last = scene.happened
    assert isinstance(first, Moved)
    assert isinstance(last, Moved)
    assert replace(first, milliseconds=0, prompt="") == Moved(
        request="req_1", stop="use", input_tokens=7, output_tokens=3, milliseconds=0, prompt="",
        entries=1, options={"effort": "low"},
    )  # fmt: skip
    assert (last.stop, last.entries) == ("say", 3)
    assert first.prompt == last.prompt


async def test_c88_attempts_that_brought_nothing_are_on_record_too() -> None:
    scene = Scene(generative=True)
    await scene.turn(Unavailable("no route"), Broken(stop=Stop.TRUNCATED))
    assert [one.stop for one in scene.happened if isinstance(one, Moved)] == [
        "nothing came back",
        "truncated",
    ]
    scene = Scene(generative=True)
    await scene.turn(ValueError("no"))
    assert [one.stop for one in scene.happened if isinstance(one, Moved)] == ["model_unavailable"]


async def test_c88_nobody_is_asked_where_a_person_or_the_grammar_decides() -> None:
    scene = Scene()
    await scene.turn(use(call("look")), OK)
    assert not [one for one in scene.happened if isinstance(one, Moved)]


async def test_c77_a_read_is_on_record_at_its_completion_without_what_it_found() -> None:
    scene = Scene(generative=True)
    scene.runner.endings["look",] = exited(1, output="sekret\n")
    await scene.turn(use(call("look", "alpha")), OK)
    [looked] = [one for one in scene.happened if isinstance(one, Looked)]
    assert (looked.call, looked.tool, looked.failed) == ("1", "look", True)
    assert not any("sekret" in str(one) or "alpha" in str(one) for one in scene.happened)


# Words of others that are posted


SECRET = "hunter2hunter2"
TELLS = refusing(f"Only {SECRET} opens this.")


async def test_i12_a_secret_in_a_reason_reaches_nobody_beside_an_answer_or_a_card() -> None:
    for last in (OK, use(call("append-word", name="2", rationale="because"))):
        scene = Scene(generative=True, access=an_access(authorize=of_looks(TELLS)))
        outcome, _ = await scene.turn(use(call("look")), last)
        posted = "\n".join((outcome.text, *scene.proposals.seen))
        assert "(not run: look: Only [redacted] opens this.)" in posted
        assert SECRET not in repr((outcome, scene.happened, scene.proposals.entries))


async def test_i12_of_a_secret_in_a_long_reason_no_part_is_left_where_that_is_cut() -> None:
    reason = f"{'x' * (REFUSED_BYTES - 6)} {SECRET} {'y' * 100}"
    for error in (Refused(reason), Incorrect(reason)):
        scene = Scene(generative=True, access=refusing(error))
        outcome, model = await scene.turn(use(call("look")), OK)
        assert "(Cut here" in model.told[0].text
        assert "hunt" not in repr((outcome, model.told))


@pytest.mark.parametrize("fails", ["check", "look", "propose"])
async def test_i12_nor_in_the_reason_of_whatever_else_refuses_a_call(fails: str) -> None:
    error = Refused(f"{'x' * (REFUSED_BYTES - 6)} {SECRET} {'y' * 100}")

    async def look(_: JsonObject, __: Caller) -> str:
        raise error

    class Fussy(BaseModel):
        word: str

        @model_validator(mode="after")
        def no(self) -> "Fussy":
            raise error

    looks = replace(LOOK, look=look) if fails == "look" else LOOK
    checks = replace(LOOK, parameters=Fussy) if fails == "check" else looks
    scene = Scene(generative=True, tools=(checks, WRITE))
    if fails == "propose":
        scene.proposals.refusal = error
    made = call("append-word", rationale="because") if fails == "propose" else call("look")
    outcome, model = await scene.turn(use(made), OK)
    assert "(Cut here" in model.told[0].text
    assert "hunt" not in repr((outcome, model.told))


def of_looks(access: Access) -> Check:
    async def authorize(checked: Checked) -> object:
        return await access.authorize(checked) if checked.tool.name == "look" else None

    return authorize


async def test_c78_a_reason_is_guarded_before_it_is_posted() -> None:
    for last in (OK, use(call("append-word", name="2", rationale="because"))):
        fake = FakeGuards()
        access = an_access(authorize=of_looks(refusing("It is not your order.")))
        await Scene(generative=True, access=access, guards=fake.guards).turn(
            use(call("look")), last
        )
        assert isinstance(posted := fake.seen[-1], Output)
        assert posted.text == "(not run: look: It is not your order.)"


async def test_c78_an_answer_whose_refusals_are_stopped_is_not_posted_either() -> None:
    guards = Guards(output=(lambda given: "no orders" if "order" in given.text else None,))
    scene = Scene(generative=True, access=refusing("It is not your order."), guards=guards)
    outcome, _ = await scene.turn(use(call("look")), Say(text="4711"))
    assert outcome.reason is Reason.GUARDRAIL_OUTPUT
    assert "order" not in outcome.text.replace("no orders", "")
    assert "4711" not in repr(outcome)


@pytest.mark.parametrize("last", ["question", "limit"])
async def test_c78_nor_is_a_reason_beside_words_that_pass_no_guardrail(last: str) -> None:
    fake = FakeGuards({"output": ["no orders"]})
    asks = ToolCall(id="2", tool="ask_user", arguments={"question": "Which?"})
    limits = Limits(seconds=10) if last == "question" else Limits(seconds=10, tokens=1)
    access = refusing("It is not your order.")
    scene = Scene(generative=True, access=access, guards=fake.guards, limits=limits)
    outcome, _ = await scene.turn(use(call("look"), tokens=1), use(asks))
    assert (outcome.reason, "your order" in outcome.text) == (Reason.GUARDRAIL_OUTPUT, False)
    [lines] = [one for one in fake.seen if isinstance(one, Output)]
    assert lines.text == "(not run: look: It is not your order.)"
    assert isinstance(outcome.entries[-1], Noted)


async def test_a_question_that_nobody_is_shown_does_not_stand_there_as_one_that_was_put() -> None:
    asks = ToolCall(id="2", tool="ask_user", arguments={"question": "Which?"})
    told = dict[bool, str]()
    for stopped in (True, False):
        fake = FakeGuards({"output": ["no orders"] if stopped else [None]})
        access = refusing("It is not your order.")
        scene = Scene(generative=True, access=access, guards=fake.guards)
        outcome, _ = await scene.turn(use(call("look")), use(asks, call("look", name="3")))
        last = [one for one in outcome.entries if isinstance(one, Returned)][-1]
        told[stopped], beside = (one.text for one in last.results)
        assert beside.startswith("Not run: a question ends the turn.")
    assert told[True].startswith("The question was not put to the person")
    assert told[False].startswith("The question was put to the person.")


async def test_what_a_model_was_given_again_stays_where_its_last_words_are_not_posted() -> None:
    fake = FakeGuards({"output": ["no orders"]})
    scene = Scene(generative=True, access=refusing("Not your order."), guards=fake.guards)
    pause = Pause(wire=Wire(content='"half"'))
    outcome, _ = await scene.turn(use(call("look")), pause, Broken(stop=Stop.REFUSED))
    assert outcome.reason is Reason.GUARDRAIL_OUTPUT
    paused = [one for one in outcome.entries if isinstance(one, Spoke)]
    assert paused == [Spoke(text="", content='"half"')]
    assert isinstance(outcome.entries[-1], Noted)


# What is on record of why not


ODD = "the code is quagga"


@pytest.mark.parametrize(
    ("made", "name", "why"),
    [
        (call("quagga-is-the-code"), "_unnamed_", MISSING),
        (
            call("look", **{ODD: "x"}),
            "look",
            "look: `an argument`: there is no such argument. Call it again with that corrected.",
        ),
        (
            replace(call("look"), arguments={"word": {ODD: "x"}}),
            "look",
            "look: `word`: it must be a valid string. Call it again with that corrected.",
        ),
        (
            replace(call("look"), fault=f"It is no JSON at {ODD}."),
            "look",
            "look: its arguments could not be read.",
        ),
        (call("look", file=2**60), "look", ""),
        (call("ask_user", "quagga"), "ask_user", ""),
    ],
)
async def test_c88_the_record_of_a_refusal_holds_no_word_of_a_model(
    made: ToolCall, name: str, why: str
) -> None:
    scene = Scene(generative=True)
    _, model = await scene.turn(use(replace(made, id="1")), OK)
    last = [one for one in scene.happened if isinstance(one, Staged)][-1]
    assert (last.tool, last.why) == (name, why or last.why)
    assert last.why
    assert "quagga" not in repr(scene.happened)
    assert model.told[0].failed


async def test_c88_a_refusal_whose_words_are_anybodys_is_on_record_in_its_other_form() -> None:
    error = Refused("You said quagga.", logged="You said something.")
    scene = Scene(generative=True, access=refusing(error))
    outcome, _ = await scene.turn(use(call("look")), OK)
    assert "You said quagga." in outcome.text
    assert [one.why for one in scene.happened if isinstance(one, Staged)][-1] == (
        "You said something."
    )


# Calls that are led through no stage


def looks(*words: str) -> Use:
    return use(*(call("look", word, name=f"c{n}") for n, word in enumerate(words)))


@pytest.mark.parametrize(
    "words", [[f"w{n}" for n in range(500)], ["w"] * 500], ids=["others", "the same"]
)
async def test_c1_of_a_flood_of_calls_none_is_led_through_the_stages(words: list[str]) -> None:
    scene = Scene(generative=True)
    outcome, _ = await scene.turn(looks(*words), Say(text="That is all."))
    assert outcome.reason is Reason.MAX_TOOL_CALLS
    why = "Calls: 500. Not run: this needs more tool calls than one turn may make."
    assert staged(scene) == [Staged(call="", tool="", stage=Stage.KNOWN, why=why)]


async def test_c1_calls_that_only_repeat_others_do_not_count_for_it() -> None:
    scene = Scene(generative=True, limits=Limits(tool_calls=2))
    outcome, _ = await scene.turn(looks("a", "b", "a", "b", "a"), Say(text="ok"))
    assert outcome.reason is Reason.ANSWERED
    assert len(scene.runner.ran) == 2


async def test_c19_calls_beside_a_question_are_on_record() -> None:
    asks = ToolCall(id="q", tool="ask_user", arguments={"question": "Which?"})
    scene = Scene(generative=True)
    outcome, _ = await scene.turn(use(asks, *looks("a").calls))
    assert outcome.reason is Reason.ASKED
    why = "Not run: a question ends the turn. Make this call again if it is needed then."
    assert staged(scene) == [Staged(call="c0", tool="look", stage=Stage.KNOWN, why=why)]
    outcome, _ = await scene.turn(use(asks, *looks(*map(str, range(100))).calls))
    assert outcome.reason is Reason.ASKED
    assert staged(scene)[1:] == [
        Staged(call="", tool="", stage=Stage.KNOWN, why=f"Calls: 100. {why}")
    ]
