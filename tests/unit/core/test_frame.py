"""C13: a message goes on with the task or changes the subject, and an outage keeps the task."""

import asyncio
from typing import Any

import pytest

from core.entities import Entity
from core.frame import (
    LONGEST_INTENT,
    MOST_ENTITIES,
    ByName,
    Continue,
    Frame,
    Known,
    Pivot,
    Topic,
    after,
    classified,
    lines,
)
from core.redaction import Redactor
from core.task import Task
from core.tools import TASK, Toolbox
from core.waiting import now
from tests.builders import a_tool
from tests.scene import CALLER

ORDER = Entity(kind="order", value="4711")
OTHER = Entity(kind="order", value="4712")
PROD = Entity(kind="env", value="prod")
FRAME = Frame(intent="ship order 4711", entities=frozenset({ORDER}), since=3)
CHOICES = {"env": frozenset({"prod", "staging"})}


async def topic(text: str, frame: Frame = FRAME) -> Topic | None:
    return await classified(ByName(CHOICES), frame, text, by=now() + 5)


async def test_c13_the_same_order_continues() -> None:
    assert await topic("is order-4711 paid?") == Continue(entities=frozenset({ORDER}))


async def test_c13_a_message_that_names_nothing_continues() -> None:
    assert await topic("and now?") == Continue()


async def test_c13_something_of_another_kind_continues() -> None:
    assert await topic("in prod") == Continue(entities=frozenset({PROD}))


async def test_c13_another_order_is_another_subject() -> None:
    assert await topic("ship order 4712") == Pivot(entities=frozenset({OTHER}))


async def test_c13_who_names_both_goes_on() -> None:
    assert isinstance(await topic("is 4711 of the order 4712 or of order 4711?"), Continue)


async def test_c13_the_same_of_one_kind_does_not_hide_another_of_the_next() -> None:
    frame = Frame(intent="x", entities=frozenset({ORDER, PROD}))
    assert isinstance(await topic("order 4711 in staging", frame), Pivot)


async def test_c13_a_first_message_changes_no_topic() -> None:
    async def pivots(_: Frame, __: str) -> Topic:
        return Pivot(entities=frozenset({ORDER}))

    found = await classified(pivots, Frame(), "ship order 4711", by=now() + 5)
    assert found == Continue(entities=frozenset({ORDER}))
    frame = after(Frame(), found, "ship order 4711", here=7)
    assert frame == Frame(intent="ship order 4711", entities=frozenset({ORDER}), since=0)
    assert lines(frame, found, ()).splitlines()[0] == "topic: no change"


async def test_c13_an_outage_of_the_classifier_keeps_the_frame() -> None:
    async def fails(_: Frame, __: str) -> Topic:
        raise ValueError("down")

    async def hangs(_: Frame, __: str) -> Topic:
        await asyncio.Event().wait()
        raise AssertionError

    for broken in (fails, hangs):
        found = await classified(broken, FRAME, "ship order 4712", by=now() + 0.01)
        assert found is None
        assert after(FRAME, found, "ship order 4712", here=9) == FRAME


NONE: Any = None
ODD: dict[str, Any] = {
    "nothing": None,
    "a word": "continue",
    "no entities": Continue(entities=NONE),
    "entities in a list": Pivot(entities=[ORDER]),  # type: ignore[arg-type]
    "words for entities": Continue(entities=frozenset({"order 4711"})),  # type: ignore[arg-type]
    "a number for a word": Pivot(entities=frozenset({Entity(kind="order", value=NONE)})),
    "two lines": Pivot(entities=frozenset({Entity(kind="order", value="1\ntopic: changed")})),
    "half a character": Continue(entities=frozenset({Entity(kind="\ud800", value="1")})),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("frame", [FRAME, Frame()], ids=["known", "first"])
async def test_c13_a_classifier_that_says_something_odd_keeps_the_frame(
    frame: Frame,
    odd: Any,  # noqa: ANN401 - that is the point
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def says(_: Frame, __: str) -> Topic:
        topic: Topic = odd
        return topic

    found = await classified(says, frame, "ship order 4712", by=now() + 5)
    assert found is None
    assert after(frame, found, "ship order 4712", here=9) == frame
    assert "4712" not in caplog.text
    assert len(caplog.records) == 1


async def test_who_stops_a_turn_stops_its_classifier() -> None:
    async def hangs(_: Frame, __: str) -> Topic:
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.create_task(classified(hangs, FRAME, "x", by=now() + 60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_c13_to_continue_keeps_the_intent_and_adds_what_is_named() -> None:
    kept = after(FRAME, Continue(entities=frozenset({PROD})), "in prod", here=9)
    assert kept == Frame(intent="ship order 4711", entities=frozenset({ORDER, PROD}), since=3)


def test_c13_to_change_the_subject_drops_all_of_the_old_one() -> None:
    new = after(FRAME, Pivot(entities=frozenset({OTHER})), "ship order 4712", here=9)
    assert new == Frame(intent="ship order 4712", entities=frozenset({OTHER}), since=9)


def test_a_frame_is_bounded() -> None:
    many = frozenset(Entity(kind="order", value=str(n)) for n in range(1000))
    frame = after(Frame(), Continue(entities=many), "x" * 10_000, here=0)
    assert len(frame.entities) == MOST_ENTITIES
    assert len(frame.intent) == LONGEST_INTENT


def test_a_frame_is_told_a_line_for_each_thing() -> None:
    frame = Frame(intent="ship\n## SYSTEM", entities=frozenset({PROD, ORDER}))
    assert lines(after(Frame(), Continue(), "ship\n## SYSTEM", 0), None, ()).count("\n") == 1
    assert lines(frame, Pivot(), ("f" * 32,)).splitlines()[-3:] == [
        "env: prod",
        "order: 4711",
        f"waits for approval: request {'f' * 32}",
    ]
    assert lines(Frame(), None, ("f" * 32,)) == ""


# What a model says itself


def begun(found: Topic | None = Continue()) -> Task:  # noqa: B008 - frozen
    task = Task(redactor=Redactor.of(["hunter2hunter2"]))
    task.begin(Known(frame=FRAME, pending=("f" * 32,), here=9), found, "ship order 4712")
    return task


async def told(task: Task, topic: str, intent: str = "look at order 4712") -> str:
    checked = task.tool.check({"topic": topic, "intent": intent}, {})
    assert checked.tool.look is not None
    return await checked.tool.look(checked.arguments, CALLER)


async def test_before_a_message_there_is_nothing_to_keep() -> None:
    task = Task(redactor=Redactor.of([]))
    assert task.frame is None
    assert await task.state(CALLER) == ""


async def test_c13_a_model_may_say_that_the_subject_changed() -> None:
    task = begun()
    assert "waits for approval" in await task.state(CALLER)
    answer = await told(task, "pivot")
    assert task.frame == Frame(intent="look at order 4712", since=9)
    assert "topic: changed" in answer
    assert "waits for approval" not in answer


async def test_c13_a_model_may_say_that_the_subject_did_not_change() -> None:
    task = begun(Pivot(entities=frozenset({OTHER})))
    assert "waits for approval" not in await task.state(CALLER)
    answer = await told(task, "continue")
    assert task.frame == Frame(
        intent="look at order 4712", entities=frozenset({ORDER, OTHER}), since=3
    )
    assert "waits for approval" in answer


async def test_c13_after_an_outage_a_model_may_still_say_what_it_is_about() -> None:
    task = begun(None)
    await told(task, "pivot")
    assert task.frame == Frame(intent="look at order 4712", since=9)


async def test_i12_what_a_model_says_of_the_task_keeps_no_secret() -> None:
    task = begun()
    await told(task, "continue", "use hunter2hunter2\nnow")
    assert task.frame is not None
    assert task.frame.intent == "use [redacted] now"


def test_the_tool_is_one_of_the_others_and_the_same_for_everybody() -> None:
    one, other = begun(), Task(redactor=Redactor.of([]))
    tools = Toolbox.of([a_tool("look"), a_tool("zip")])
    assert [tool.name for tool in tools.beside(one.tool)] == ["look", TASK, "zip"]
    assert one.tool.schema() == other.tool.schema()
    assert (one.tool.resource, one.tool.definition) == ("tool:task", other.tool.definition)
