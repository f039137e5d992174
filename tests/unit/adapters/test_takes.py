"""One take of what is delivered several times, and what goes on in the background."""

import asyncio

import pytest

from adapters.platforms import takes as module
from adapters.platforms.takes import Outcome, Takes, outcome_of, soon
from adapters.platforms.tasks import Tasks
from core.errors import Refused, Unavailable
from core.platforms import Told


async def told(text: str) -> Outcome:
    return Told(text=text)


async def test_whoever_comes_again_gets_the_same() -> None:
    takes = Takes(tasks=Tasks())

    first = await takes.of("a", lambda: told("one"))
    again = await takes.of("a", lambda: told("two"))

    assert first is again


async def test_what_has_no_key_is_always_new() -> None:
    takes = Takes(tasks=Tasks())

    assert await takes.of("", lambda: told("one")) == Told(text="one")
    assert await takes.of("", lambda: told("two")) == Told(text="two")


async def test_a_refusal_stays_and_an_outage_does_not() -> None:
    takes = Takes(tasks=Tasks())

    async def fails(error: Refused | Unavailable) -> Outcome:
        return error

    refused, down = Refused("No."), Unavailable("Down.")
    await takes.of("a", lambda: fails(refused))
    await takes.of("b", lambda: fails(down))

    assert await takes.of("a", lambda: told("two")) is refused
    assert await takes.of("b", lambda: told("two")) == Told(text="two")


async def test_only_so_much_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    takes = Takes(tasks=Tasks())
    for key in "abc":
        await takes.of(key, lambda: told("one"))

    assert await takes.of("c", lambda: told("two")) == Told(text="one")
    assert await takes.of("a", lambda: told("two")) == Told(text="two")


async def test_a_crash_is_an_outage_with_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    error = KeyError("s3cret")

    async def crashes() -> Told:
        raise error

    outcome = await outcome_of(crashes())

    assert isinstance(outcome, Unavailable)
    assert "s3cret" not in outcome.shown + caplog.text
    assert "crashes" in caplog.text  # where it was


async def test_what_is_not_there_in_time_goes_on() -> None:
    gate = asyncio.Event()

    async def waits() -> Outcome:
        await gate.wait()
        return Told(text="late")

    task = Tasks().start(waits())

    assert await soon(task, 0.01) is None
    gate.set()
    assert await soon(task, 5) == Told(text="late")


async def test_what_is_cut_is_an_outage() -> None:
    takes = Takes(tasks=Tasks())
    task = takes.of("a", forever)
    await asyncio.sleep(0)
    task.cancel()

    assert isinstance(await soon(task, 5), Unavailable)
    assert await takes.of("a", lambda: told("two")) == Told(text="two")


async def forever() -> Outcome:
    await asyncio.Event().wait()
    return Told()


async def test_draining_waits_for_what_others_begin_on_the_way() -> None:
    tasks, done = Tasks(), list[str]()

    async def second() -> None:
        await asyncio.sleep(0)
        done.append("second")

    async def first() -> None:
        await asyncio.sleep(0)
        tasks.start(second())

    tasks.start(first())
    await tasks.drain(5)

    assert done == ["second"]


async def test_draining_cuts_what_takes_too_long() -> None:
    tasks = Tasks()
    task = tasks.start(forever())

    await tasks.drain(0.01)

    assert task.cancelled()
    assert not tasks.running


async def test_a_failure_in_the_background_is_logged_without_what_it_says(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fails(error: Exception) -> None:
        raise error

    tasks = Tasks()
    tasks.start(fails(ValueError("s3cret")))
    tasks.start(fails(Refused("Not you.", logged="refused")))
    await tasks.drain(5)

    assert "unexpected ValueError" in caplog.text
    assert "refused" in caplog.text
    assert "s3cret" not in caplog.text
