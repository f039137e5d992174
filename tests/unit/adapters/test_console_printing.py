"""What is printed: in order, nothing lost while somebody reads, and the event loop never waits for it."""

import asyncio
import os
import threading
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

from adapters.console.printing import Printer, onto
from tests.jobs import PATIENCE


@dataclass
class Reader:
    """Reads what is printed, while it likes to."""

    likes: threading.Event = field(default_factory=threading.Event)
    is_gone: bool = False
    seen: str = ""

    def __call__(self, text: str) -> None:
        assert self.likes.wait(PATIENCE)
        if self.is_gone:
            raise BrokenPipeError
        self.seen += text


@pytest.fixture
def reader() -> Generator[Reader]:
    reader = Reader()
    yield reader
    reader.likes.set()


async def test_whoever_does_not_read_holds_up_only_who_prints_more_than_there_is_room_for(
    reader: Reader,
) -> None:
    printer = Printer(reader, ahead=10)
    for text in ("one ", "two ", "three "):
        await asyncio.wait_for(printer.print(text), PATIENCE)  # the loop goes on
    more = [asyncio.create_task(printer.print(text)) for text in ("four ", "five ", "six")]
    await asyncio.sleep(0.05)
    assert (reader.seen, [task.done() for task in more]) == ("", [False] * 3)
    reader.likes.set()
    await asyncio.wait_for(asyncio.wait(more), PATIENCE)
    await asyncio.wait_for(printer.drained(), PATIENCE)
    assert reader.seen == "one two three four five six"


async def test_nobody_overtakes_whoever_waits_for_room() -> None:
    for _ in range(30):  # who sees the room first is up to the threads
        reader = Reader()
        printer = Printer(reader, ahead=0)
        printer.put("much " * 1_000)
        waits = asyncio.create_task(printer.print("first "))
        await asyncio.sleep(0)
        reader.likes.set()
        while printer.is_behind:  # noqa: ASYNC110 - to be there as soon as there is room
            await asyncio.sleep(0)
        await printer.print("second")
        await waits
        await printer.drained()
        assert reader.seen.endswith("first second")


async def test_it_is_known_that_somebody_has_not_read_for_a_while(reader: Reader) -> None:
    printer = Printer(reader)
    behind = list[bool]()
    for text in ("a little", "much " * 1_000):
        printer.put(text)
        behind.append(printer.is_behind)
    reader.likes.set()
    await asyncio.wait_for(printer.drained(), PATIENCE)
    assert [*behind, printer.is_behind] == [False, True, False]


async def test_once_nobody_reads_what_is_printed_is_dropped_and_nobody_waits(
    reader: Reader,
) -> None:
    printer, reader.is_gone = Printer(reader, ahead=10), True
    await printer.print("more than there is room for")
    waits = [
        asyncio.create_task(one)
        for one in (printer.print("more"), printer.drained(), printer.unread())
    ]
    await asyncio.sleep(0)
    reader.likes.set()
    await asyncio.wait_for(asyncio.gather(*waits), PATIENCE)
    await asyncio.wait_for(printer.print("much " * 1_000), PATIENCE)
    assert (reader.seen, printer.is_behind) == ("", False)


async def test_all_of_it_reaches_a_pipe_that_takes_little_at_once_and_never_waits() -> None:
    out, into = os.pipe()
    os.set_blocking(into, False)
    text = "what there is to say \u2192 " * 10_000
    reading = asyncio.create_task(asyncio.to_thread(_read, out))
    with os.fdopen(into, "w", encoding="ascii") as stream:
        printer = Printer(onto(stream))
        await printer.print(text)
        await printer.drained()
    assert await reading == text.replace("\u2192", "\\u2192")


async def test_without_anything_to_print_to_nothing_is_printed() -> None:
    printer = Printer(onto(None))
    await printer.print("words")
    await asyncio.wait_for(printer.drained(), PATIENCE)


def _read(end: int) -> str:
    with os.fdopen(end, encoding="ascii") as out:
        return out.read()
