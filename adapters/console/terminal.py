"""A terminal, put together: a keyboard, a look at the screen for each thing shown, and the chat."""

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TextIO

from adapters.console import drawing
from adapters.console.chat import SETTLE, TerminalChat
from adapters.console.keyboard import Editor, Keyboard, Lines
from adapters.console.printing import Printer, onto
from adapters.console.screen import looked
from adapters.console.shown import Failed, Heading, Recalled, Shown, Told, Typed
from core.conversations import Said
from core.deliveries import Asking, Progress
from core.errors import SaysoError
from core.terminal import Line

Draw = Callable[[Shown], str]


class DrawnTerminal:
    """Implements `core.terminal.Terminal`."""

    def __init__(self, keyboard: Keyboard, draw: Draw, *, settle: float = SETTLE) -> None:
        self._keyboard = keyboard
        self._draw = draw
        self._chat = TerminalChat(show=self._show, goes_on=self._goes_on, settle=settle)
        self._runs: dict[str, Progress] = {}

    @property
    def chat(self) -> TerminalChat:
        """See the port."""
        return self._chat

    async def _show(self, what: Shown) -> None:
        await self._keyboard.print(self._draw(what))

    def held(self) -> AbstractContextManager[None]:
        """Keep every key for whoever reads next, inside the block; afterwards all is as it was."""
        return self._keyboard.held()

    async def read(self, who: str) -> Line:
        """See the port."""
        return await self._keyboard.read(who)

    def has_shown(self, request: str) -> bool:
        """See the port."""
        return request in self._chat.requests

    def answering(self) -> AbstractAsyncContextManager[object]:
        """See the port."""
        return self._chat.paused

    def cut(self, line: Line) -> None:
        """See the port."""
        self._keyboard.cut(line)

    async def show(self, card: Asking) -> None:
        """See the port."""
        await self._show(card)
        self._chat.know(card)

    async def recall(self, said: Sequence[Said]) -> None:
        """See the port."""
        await self._show(Recalled(said=tuple(said)))

    async def quote(self, who: str, text: str) -> None:
        """See the port."""
        await self._show(Typed(who=who, text=text))

    async def head(self, text: str) -> None:
        """See the port."""
        await self._show(Heading(text=text))

    async def tell(self, text: str) -> None:
        """See the port."""
        await self._show(Told(text=text))

    async def fail(self, error: SaysoError) -> None:
        """See the port."""
        await self._show(Failed(kind=error.kind, text=error.shown))

    async def busy(self, what: str | None) -> None:
        """See the port."""
        lines = [line for one in self._runs.values() for line in self._draw(one).splitlines()]
        self._keyboard.busy("\n  ".join(lines) or what)

    def _goes_on(self, progress: Progress) -> None:
        """Keep where a run is for as long as somebody could stop it."""
        self._runs.pop(progress.run, None)
        if progress.buttons:
            self._runs[progress.run] = progress

    async def settled(self) -> None:
        """See the port."""
        await self._chat.flush()
        await self._keyboard.drained()

    async def unread(self) -> None:
        """See the port."""
        await self._keyboard.unread()


def here(*, colours: bool, dumb: bool) -> DrawnTerminal:
    """Return this process's own terminal; where it is none, its lines are read one after another."""
    source: TextIO | None = sys.stdin  # pyright: ignore[reportAssignmentType] - None without one
    if isinstance(source, io.TextIOWrapper):
        source.reconfigure(errors="surrogateescape")  # bytes that are no text become U+FFFD later
    draw, printer = _drawn(colours=colours, dumb=dumb), Printer(onto(_output()))
    if has_one() and not dumb:
        return DrawnTerminal(Editor(sys.stdout, printer, colours=colours), draw)

    def echo(who: str, text: str) -> str:
        return draw(Typed(who=who, text=text))

    return DrawnTerminal(Lines(source, printer, None if has_one() else echo), draw)


def printer(*, colours: bool, dumb: bool) -> DrawnTerminal:
    """Return this process's terminal as one at which nobody types."""
    keyboard = Lines(None, Printer(onto(_output())), None)
    return DrawnTerminal(keyboard, _drawn(colours=colours, dumb=dumb))


def has_one() -> bool:
    """Whether somebody can type at this process and read from it."""
    source: TextIO | None = sys.stdin  # pyright: ignore[reportAssignmentType] - None without one
    target = _output()
    return bool(source and source.isatty() and target and target.isatty())


def _output() -> TextIO | None:
    """Return where this process prints, if it was given anything to print to."""
    return sys.stdout


def _drawn(*, colours: bool, dumb: bool) -> Draw:
    """Return what draws for this terminal; its window may have another size each time."""
    target = _output()
    colours = colours and not dumb and target is not None and target.isatty()

    def draw(what: Shown) -> str:
        screen = looked(target, colours=colours)
        return screen.text(drawing.draw(what, screen))

    return draw
