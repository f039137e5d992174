"""Lines that come one after another: read only so far ahead, and dropped where something is cut."""

import asyncio
import errno
import io
import itertools
from collections.abc import Iterator

from adapters.console.keyboard import Lines
from adapters.console.printing import Printer
from core.terminal import Line
from tests.jobs import PATIENCE, soon

CUT = Line(told=True)


class Endless(io.StringIO):
    """A source that never ends, and counts what was taken of it."""

    taken = 0

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        for number in itertools.count(1):
            self.taken = number
            yield f"{number}\n"


class Gone(io.StringIO):
    """A source that cannot be read any more after its first line."""

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        yield "one\n"
        raise OSError(errno.EIO, "Input/output error")


def echo(who: str, text: str) -> str:
    return f"{who}> {text}"


async def has_taken(lines: Lines, number: int) -> None:
    """Wait until so many lines were taken from the source and nobody has read them."""

    async def is_so() -> bool:
        return lines.ahead == number

    await soon(is_so)


async def test_what_was_taken_and_not_read_is_dropped_where_something_is_cut() -> None:
    shown = io.StringIO()
    lines = Lines(io.StringIO("one\ntwo\nthree\n"), Printer(shown.write), echo)
    assert await lines.read("alice") == Line(text="one\n")
    await has_taken(lines, 3)  # the end too
    lines.cut(CUT)
    assert [await lines.read("alice") for _ in range(3)] == [CUT, Line(), Line()]
    await lines.drained()
    assert shown.getvalue() == "alice> one\n"


async def test_whoever_reads_gets_a_cut_at_once() -> None:
    lines = Lines(None, Printer(io.StringIO().write), echo)
    assert await lines.read("alice") == Line()
    lines.cut(CUT)
    assert await asyncio.wait_for(lines.read("alice"), PATIENCE) == CUT


async def test_what_cannot_be_read_any_more_has_ended() -> None:
    lines = Lines(Gone(), Printer(io.StringIO().write), echo)
    assert await lines.read("alice") == Line(text="one\n")
    assert await asyncio.wait_for(lines.read("alice"), PATIENCE) == Line()


async def test_no_more_is_taken_from_a_source_than_a_little_ahead() -> None:
    source = Endless()
    lines = Lines(source, Printer(io.StringIO().write), echo)
    assert (await lines.read("alice")).text == "1\n"
    await has_taken(lines, 256)
    assert source.taken <= 258
    lines.cut(CUT)
    assert await lines.read("alice") == CUT
    assert (await lines.read("alice")).text not in {None, "2\n"}
