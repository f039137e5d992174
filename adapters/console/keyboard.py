"""Where typed lines come from: an editor at a terminal, or lines one after another."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Protocol, TextIO, cast

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from adapters.console.printing import Handed, Printer
from core.terminal import Line

_STYLE = Style.from_dict({"who": "bold", "busy": ""})
_FRAMES = "|/-\\"
_PACE = 0.15
_UNREAD = 256
"""So many lines are taken from the source before somebody reads the first of them."""
_CTRL_C = Line(interrupted=True)


class _Cut(Exception):
    """What is being typed is over."""

    def __init__(self, line: Line = _CTRL_C) -> None:
        super().__init__()
        self.line = line


class Keyboard(Protocol):
    """Reads lines, and prints without tearing the one that is being typed."""

    def held(self) -> AbstractContextManager[None]:
        """Keep every key for whoever reads next, inside the block."""
        ...

    async def read(self, who: str) -> Line:
        """Return the next line."""
        ...

    def cut(self, line: Line) -> None:
        """Have whoever reads get this at once."""
        ...

    async def print(self, text: str) -> None:
        """Print above what is being typed, in order; wait only where much is not read yet."""
        ...

    async def drained(self) -> None:
        """Return once all that was printed can be read, or nobody reads any more."""
        ...

    async def unread(self) -> None:
        """Return once nobody reads any more."""
        ...

    def busy(self, what: str | None) -> None:
        """Show what goes on beside what is being typed, where that can be taken back again."""
        ...


class Editor:
    """Implements `Keyboard` at a terminal: a line with history, and whatever arrives above it."""

    def __init__(self, terminal: TextIO, printer: Printer, *, colours: bool) -> None:
        self._printer = printer
        self._busy: str | None = None
        self._frame = 0
        self._is_stale = False
        """Whether something else goes on than what is shown."""
        self._cut: Line | None = None
        output = Vt100_Output.from_pty(
            cast("TextIO", Handed(terminal, printer)),  # as much of one as is used
            default_color_depth=None if colours else ColorDepth.MONOCHROME,
        )
        output.enable_cpr = False  # a terminal that does not answer would look broken
        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory(),
            input=create_input(),
            output=output,
            style=_STYLE if colours else Style([]),
            interrupt_exception=_Cut,
            include_default_pygments_style=False,
            key_bindings=_keys(),
        )

    def held(self) -> AbstractContextManager[None]:
        """See the protocol."""
        return self._session.input.raw_mode()

    async def read(self, who: str) -> Line:
        """See the protocol."""
        if self._cut is not None:
            line, self._cut = self._cut, None
            return line
        spinning = asyncio.create_task(self._spin())
        try:
            text = await self._session.prompt_async(lambda: self._prompt(who), handle_sigint=False)
        except _Cut as cut:
            return cut.line
        except EOFError:
            return Line()
        finally:
            spinning.cancel()
        return Line(text=text)

    def cut(self, line: Line) -> None:
        """See the protocol."""
        if self._session.app.is_running and not self._session.app.is_done:
            self._session.app.exit(exception=_Cut(line))
        else:
            self._cut = line

    async def print(self, text: str) -> None:
        """See the protocol."""
        # Not `run_in_terminal`: a key that is pressed meanwhile would be the terminal's own, and lost.
        app = self._session.app
        async with self._printer.turn():
            if app.is_running:
                app.renderer.erase()
            self._printer.put(text)
            if app.is_running:
                app.invalidate()

    async def drained(self) -> None:
        """See the protocol."""
        await self._printer.drained()

    async def unread(self) -> None:
        """See the protocol."""
        await self._printer.unread()

    def busy(self, what: str | None) -> None:
        """See the protocol."""
        if self._busy != what:
            self._busy, self._is_stale = what, True
            self._draw()

    def _prompt(self, who: str) -> StyleAndTextTuples:
        line: StyleAndTextTuples = [("class:who", f"{who}> ")]
        if self._busy is None or self._session.app.is_done:
            return line
        spinner = _FRAMES[self._frame % len(_FRAMES)]
        return [("class:busy", f"{spinner} {self._busy}\n"), *line]

    async def _spin(self) -> None:
        while True:
            await asyncio.sleep(_PACE)
            if self._busy is not None:
                self._frame += 1
                self._is_stale = True
            self._draw()

    def _draw(self) -> None:
        """Show what goes on, unless nobody has read for a while: then it is shown once somebody does."""
        if self._is_stale and not self._printer.is_behind:
            self._is_stale = False
            self._session.app.invalidate()


def _keys() -> KeyBindings:
    """Have Ctrl-Z do nothing: what runs here could not be held, and in a line it would hide a command."""
    keys = KeyBindings()
    keys.add("c-z")(lambda _: None)
    return keys


class Lines:
    """Implements `Keyboard` for lines that come one after another: a pipe, a file, a plain terminal."""

    def __init__(
        self, source: TextIO | None, printer: Printer, echo: Callable[[str, str], str] | None
    ) -> None:
        """Read the source; `echo` draws what was read, where nobody saw it being typed."""
        self._printer = printer
        self._echo = echo
        self._lines: asyncio.Queue[Line] = asyncio.Queue()
        self._room = threading.Semaphore(_UNREAD)
        loop = asyncio.get_running_loop()

        def hand(line: Line) -> None:
            self._room.acquire()
            loop.call_soon_threadsafe(self._lines.put_nowait, line)

        # A thread that nobody waits for: reading may take for ever, also when everything ends.
        threading.Thread(target=_feed, args=(source, hand), daemon=True).start()

    def held(self) -> AbstractContextManager[None]:
        """See the protocol."""
        return nullcontext()

    @property
    def ahead(self) -> int:
        """Return how many lines were taken and not read, the end among them."""
        return self._lines.qsize()

    async def read(self, who: str) -> Line:
        """See the protocol."""
        if self._echo is None:
            await self.print(f"{who}> ")
        line = await self._lines.get()
        if line == Line():
            self._lines.put_nowait(line)  # an end stays one, however often somebody reads
        if line.text is not None:
            self._room.release()
        if self._echo and line.text is not None:
            await self.print(self._echo(who, line.text))
        return line

    def cut(self, line: Line) -> None:
        """See the protocol. What was typed ahead is dropped, as a terminal does for Ctrl-C."""
        ended = False
        while not self._lines.empty():
            ended = self._lines.get_nowait() == Line()  # nothing comes after it
            self._room.release()
        for one in (line, Line()) if ended else (line,):
            self._lines.put_nowait(one)

    async def print(self, text: str) -> None:
        """See the protocol."""
        await self._printer.print(text)

    async def drained(self) -> None:
        """See the protocol."""
        await self._printer.drained()

    async def unread(self) -> None:
        """See the protocol."""
        await self._printer.unread()

    def busy(self, what: str | None) -> None:
        """See the protocol."""


def _feed(source: TextIO | None, hand: Callable[[Line], None]) -> None:
    """Hand over what is there to be read, and its end; nobody listens once all is over.

    What cannot be read any more has ended: a terminal that is gone, or what `nohup` leaves in its place.
    """
    with suppress(RuntimeError):
        with suppress(OSError):
            for line in source or ():
                hand(Line(text=line))
        hand(Line())
