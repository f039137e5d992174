"""Where typed lines come from: an editor at a terminal, or lines one after another."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Protocol, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from core.terminal import Line

_STYLE = Style.from_dict({"who": "bold", "busy": ""})
_FRAMES = "|/-\\"
_PACE = 0.15
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
        """Print above what is being typed."""
        ...

    def busy(self, what: str | None) -> None:
        """Show what goes on beside what is being typed, where that can be taken back again."""
        ...


class Editor:
    """Implements `Keyboard` at a terminal: a line with history, and whatever arrives above it."""

    def __init__(self, terminal: TextIO, *, colours: bool) -> None:
        self._terminal = terminal
        self._busy: str | None = None
        self._frame = 0
        self._cut: Line | None = None
        output = Vt100_Output.from_pty(
            terminal, default_color_depth=None if colours else ColorDepth.MONOCHROME
        )
        output.enable_cpr = False  # a terminal that does not answer would look broken
        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory(),
            input=create_input(),
            output=output,
            style=_STYLE if colours else Style([]),
            interrupt_exception=_Cut,
            include_default_pygments_style=False,
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
        if app.is_running:
            app.renderer.erase()
        self._terminal.write(text)
        self._terminal.flush()
        if app.is_running:
            app.invalidate()

    def busy(self, what: str | None) -> None:
        """See the protocol."""
        if self._busy != what:
            self._busy = what
            self._session.app.invalidate()

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
                self._session.app.invalidate()


class Lines:
    """Implements `Keyboard` for lines that come one after another: a pipe, a file, a plain terminal."""

    def __init__(
        self, source: TextIO | None, target: TextIO, echo: Callable[[str, str], str] | None
    ) -> None:
        """Read the source; `echo` draws what was read, where nobody saw it being typed."""
        self._target = target
        self._echo = echo
        self._lines: asyncio.Queue[Line] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        # A thread that nobody waits for: reading may take for ever, also when everything ends.
        threading.Thread(target=_feed, args=(source, self._lines, loop), daemon=True).start()

    def held(self) -> AbstractContextManager[None]:
        """See the protocol."""
        return nullcontext()

    async def read(self, who: str) -> Line:
        """See the protocol."""
        if self._echo is None:
            await self.print(f"{who}> ")
        line = await self._lines.get()
        if line == Line():
            self._lines.put_nowait(line)  # an end stays one, however often somebody reads
        if self._echo and line.text is not None:
            await self.print(self._echo(who, line.text))
        return line

    def cut(self, line: Line) -> None:
        """See the protocol."""
        self._lines.put_nowait(line)

    async def print(self, text: str) -> None:
        """See the protocol."""
        self._target.write(text)
        self._target.flush()

    def busy(self, what: str | None) -> None:
        """See the protocol."""


def _feed(
    source: TextIO | None, lines: "asyncio.Queue[Line]", loop: asyncio.AbstractEventLoop
) -> None:
    """Hand over what is there to be read, and its end; nobody listens once all is over."""
    with suppress(RuntimeError):
        for line in source or ():
            loop.call_soon_threadsafe(lines.put_nowait, Line(text=line))
        loop.call_soon_threadsafe(lines.put_nowait, Line())
