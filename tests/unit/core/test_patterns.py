"""Guards of the configuration: where a pattern is looked for, and that a long text hides nothing."""

import asyncio
import re

import pytest

from core.guardrails import Context, Input, Output, Payload, Proposed
from core.patterns import OVERLAP, PIECE, Pattern, texts
from core.transcript import AgentText, Called, Heard, Noted, Result, Returned, Spoke, ToolCall
from tests.scene import WRITE

NO = "no"


async def said(pattern: str, payload: Payload) -> str | None:
    return await Pattern(pattern=re.compile(pattern), reason=NO)(payload)


def heard(text: str) -> Input:
    return Input(speaker="alice", text=text)


def plan(word: str, about: AgentText | None = None) -> Proposed:
    call = WRITE.check({"word": word}, {})
    return Proposed(calls=(call,), about=about or AgentText())


async def test_c78_a_match_is_the_reason_and_nothing_else_is() -> None:
    assert await said("alpha", heard("append alpha now")) == NO
    assert await said("alpha", heard("append beta")) is None
    assert await said("alpha", heard("")) is None


def test_c78_a_pattern_is_looked_for_in_the_texts_of_each_stage() -> None:
    result = Result(call="1", text="three words")
    step = Called(calls=(ToolCall(id="1", tool="look", arguments={"a": ["b"]}),), text="I look.")
    entries = (Heard(speaker="a", text="hi"), step, Returned(results=(result,)), Spoke(text="ok"))
    assert [*texts(heard("hi"))] == ["hi"]
    assert [*texts(Context(entries=(*entries, Noted(text="later"))))] == [
        "hi", "I look.", 'look {"a":["b"]}', "a", "b", "three words", "ok", "later",
    ]  # fmt: skip
    assert [*texts(Output(text="posted", results=(result,)))] == ["posted"]
    about = AgentText(rationale="r", limitations="l", alternatives="a")
    assert [*texts(plan("x", about))] == [
        'append-word {"file":"words.txt","word":"x"}', "word", "x", "file", "words.txt", "r", "l", "a",
    ]  # fmt: skip


async def test_c78_a_plan_is_matched_as_name_and_canonical_arguments_and_as_plain_values() -> None:
    assert await said(r'^append-word \{.*"word":"prod"', plan("prod")) == NO
    assert await said(r'"prod"', plan("staging")) is None
    # In JSON that is a backslash and an n.
    assert await said(r"rm\s-rf", plan("rm\n-rf")) == NO
    assert await said("forgot", plan("x", AgentText(rationale="I forgot why"))) == NO


@pytest.mark.parametrize(
    "at", [0, PIECE - OVERLAP, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE]
)
@pytest.mark.parametrize("length", [1, 7, OVERLAP])
async def test_c78_a_match_is_found_wherever_it_begins(at: int, length: int) -> None:
    text = f"{'.' * at}{'x' * length}"
    assert await said(f"x{{{length}}}", heard(text)) == NO
    assert await said(f"x{{{length}}}", heard(text + "." * PIECE)) == NO
    assert await said(f"x{{{length}}}$", heard(text)) == NO


async def test_c78_what_stands_around_a_piece_counts() -> None:
    text = "a" * (PIECE - OVERLAP) + "b" + "c" * PIECE
    assert await said("^b", heard(text)) is None
    assert await said(r"\bb", heard(text)) is None
    assert await said("(?<=a)b", heard(text)) == NO


async def test_c78_what_cannot_be_seen_and_fancy_letters_hide_nothing() -> None:
    assert await said("delete", heard("de\u200blete it")) == NO
    assert await said("delete", heard("ｄｅｌｅｔｅ it")) == NO
    assert await said("\u200b", heard("de\u200blete")) == NO
    assert await said("delete", heard("d\u00e9lete it")) is None


async def test_others_go_on_while_a_long_text_is_searched() -> None:
    searching = asyncio.create_task(said("y", heard("x" * PIECE * 3)))
    await asyncio.sleep(0)
    assert not searching.done()
    assert await searching is None
