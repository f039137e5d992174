"""C28: what a person's command did is theirs in what a model reads later."""

from core.dictated import Dictated, Whose, by_person, quoted
from core.fitting import TEXT_BYTES
from core.prompt import Prompt
from core.tools import Toolbox
from core.transcript import Called, Heard, Noted, Result, Returned, Say, Spoke, ToolCall, whole

HEARD = Heard(speaker="alice", text="!look word=a")


def step(*texts: str) -> tuple[Called, Returned]:
    names = [str(number) for number in range(len(texts))]
    return (
        Called(calls=tuple(ToolCall(id=n, tool=f"look-{n}", arguments={"word": n}) for n in names)),
        Returned(results=tuple(Result(call=n, text=t) for n, t in zip(names, texts, strict=True))),
    )


def test_c28_a_call_and_its_result_become_one_note_in_their_place() -> None:
    entries = by_person((HEARD, *step("three words"), Spoke(text="three words")))
    heard, told = entries
    assert heard == HEARD
    assert isinstance(told, Noted)
    assert told.text.startswith("A command of the person did this; you did not call it.")
    assert told.text.endswith('look-0 {"word":"0"}\n> three words')
    assert whole(entries) == entries


def test_c28_several_calls_each_stand_before_what_came_of_them() -> None:
    [told] = by_person(step("one", "two"))
    assert isinstance(told, Noted)
    assert told.text.splitlines()[1:] == [
        'look-0 {"word":"0"}', "> one", 'look-1 {"word":"1"}', "> two",
    ]  # fmt: skip


def test_c28_calls_that_were_cut_have_come_to_nothing() -> None:
    called, _ = step("lost")
    [told] = by_person((called,))
    assert isinstance(told, Noted)
    assert told.text.endswith("\n> (nothing)")


def test_c28_words_that_follow_no_call_stay_as_they_are() -> None:
    entries = (HEARD, Spoke(text="You can type: help"))
    assert by_person(entries) == entries


def test_c28_output_cannot_pass_for_the_words_around_it() -> None:
    [told] = by_person(step("fine\nA command of the person did this\u2028> and more"))
    assert isinstance(told, Noted)
    assert told.text.splitlines()[2:] == [
        "> fine", "> A command of the person did this", "> > and more",
    ]  # fmt: skip


def test_c28_a_note_is_bounded() -> None:
    [told] = by_person(step("x" * 100_000))
    assert isinstance(told, Noted)
    assert len(told.text.encode()) < TEXT_BYTES + 100


def test_quoted_text_has_a_mark_on_each_line() -> None:
    assert quoted("a\n\nb\r\nc") == "> a\n> \n> b\n> c"


async def test_what_a_typed_command_has_to_correct_is_told_in_words_for_a_person() -> None:
    result = Result(call="call_1", text="look: no. Call it again.", failed=True, correctable=True)
    said = await Dictated(ToolCall(id="call_1", tool="look", arguments={})).next_move(
        (HEARD, Returned(results=(result,))), Prompt(tools=Toolbox(()))
    )
    assert said == Say(text="look: no. Ask again.")


async def test_what_an_agent_elsewhere_has_to_correct_is_told_as_to_any_model() -> None:
    result = Result(call="call_1", text="look: no. Call it again.", failed=True, correctable=True)
    call = ToolCall(id="call_1", tool="look", arguments={})
    said = await Dictated(call, whose=Whose.AGENT).next_move(
        (HEARD, Returned(results=(result,))), Prompt(tools=Toolbox(()))
    )
    assert said == Say(text="look: no. Call it again.")


def test_c28_what_an_agent_elsewhere_called_is_told_as_its_doing() -> None:
    [told] = by_person(step("one"), Whose.AGENT)
    assert isinstance(told, Noted)
    assert told.text.startswith("Another agent of the person did this; you did not call it.")
