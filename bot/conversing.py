"""What happens while somebody sits at a terminal: each line is read, done, and answered visibly."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from approvals.models import RUN
from bot import authority, spoken
from bot.attending import Attending
from bot.awaiting import Awaiting
from bot.doors import Doors, Told
from bot.wiring import App
from core.conversations import TURN
from core.deliveries import EDIT, POST
from core.display import one_line
from core.errors import Refused, SaysoError, Unavailable
from core.events import Place
from core.principals import Identity
from core.terminal import (
    Become,
    Begin,
    Leave,
    Look,
    Mistyped,
    Seat,
    Show,
    Terminal,
    Typed,
)

Read: TypeAlias = Callable[[str, Seat], Typed | None]
log = logging.getLogger("sayso.terminal")
_POLL = 0.02
_GLANCE = 0.25
_WORK = frozenset({TURN, RUN})
_DELIVERIES = frozenset({POST, EDIT})
_NO_AS = "/as is not allowed here: `console.allow_as` is not true in sayso.yml."
_NOBODY = "Sayso knows nobody of that name here. Who there is stands in sayso.yml, under `people`."
_UNEXPECTED = "Something went wrong inside Sayso; its log has the details. Look at /runs before you try again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """How somebody left: what they are told, and the exit code."""

    goodbye: str
    code: int


@dataclass(slots=True, kw_only=True)
class Conversing:
    """One terminal, and who sits at it."""

    app: App
    terminal: Terminal
    read: Read
    """Reads a line, from where somebody sits."""
    who: str
    one_by_one: bool
    """Whether each line is answered before the next is read: nobody waits at a keyboard."""
    _threads: int = 0
    _leaving: bool = False
    """Whether Ctrl-C was the last thing that was pressed."""
    _warned: bool = False
    """Whether somebody who wants to leave was told last what that would cut."""
    seat: Seat = field(init=False)
    _here: set[str] = field(default_factory=set[str])
    """The conversations that are shown at this terminal."""
    _awaiting: Awaiting = field(init=False)

    def __post_init__(self) -> None:
        self._awaiting = Awaiting(
            looking=self.app.looking,
            tell=self.terminal.tell,
            answering=self.terminal.answering,
        )
        self.seat = Seat(identity=self._identity(self.who), place=self._place())

    async def hold(self) -> Left:
        """Serve and read lines, until somebody leaves or it is called off; say goodbye.

        What is typed already and was not begun is dropped where it is called off.
        """
        attending = self._attending()
        await attending.until_over(self._read_on())
        goodbye = spoken.left(ran=attending.cuts, waits=await self._waits())
        return Left(goodbye=goodbye, code=attending.off.code)

    def serving(self) -> AbstractAsyncContextManager[None]:
        """Answer, run and deliver inside the block; what then still runs is cut soon."""
        return self._attending().serving()

    def _attending(self) -> Attending:
        return Attending(app=self.app, terminal=self.terminal, is_alone=self.one_by_one)

    def sit(self, name: str) -> None:
        """Have somebody else type."""
        self.seat = replace(self.seat, identity=self._identity(name))

    async def take(self, text: str) -> bool:
        """Do what a line means and show it; False where somebody leaves."""
        self._leaving = False
        async with self.terminal.answering():
            try:
                typed = self.read(text, self.seat)
                return await self._done(typed) if typed else True
            except SaysoError as error:
                await self.terminal.fail(error)
            except Exception:
                log.exception("a typed line")
                await self.terminal.fail(Unavailable(_UNEXPECTED))
        return True

    async def rest(self) -> None:
        """Return once everything is done and shown that this conversation, or a yes here, waits for."""
        while (  # noqa: ASYNC110 - in the store
            await self._goes_on(_WORK | _DELIVERIES) or await self._awaiting.look()
        ):
            await asyncio.sleep(_POLL)
        await self.terminal.settled()

    async def told(self) -> None:
        """Return once everything that was said is shown, whatever still runs."""
        while await self._goes_on(_DELIVERIES):  # noqa: ASYNC110 - in the store
            await asyncio.sleep(_POLL)
        await self.terminal.settled()

    async def _goes_on(self, kinds: frozenset[str]) -> bool:
        here = self.seat.conversation
        return bool(here and kinds & await self.app.records.unfinished(here))

    async def _read_on(self) -> None:
        glancing = asyncio.create_task(self._glance())
        try:
            while await self._next():
                pass
        finally:
            glancing.cancel()

    async def _next(self) -> bool:
        line = await self.terminal.read(one_line(self.seat.identity.user, 40))
        if line.interrupted:
            return await self._interrupted()
        if line.text is None:
            return not (line.told or await self._leaves())
        goes_on = await self.take(line.text)
        if self.one_by_one and goes_on:
            await self.rest()
        return goes_on

    async def _interrupted(self) -> bool:
        """Stop what runs of whoever sits here; the second time, leave."""
        if self._leaving:
            return False
        if await self._goes_on(_WORK):
            await self.take("/stop")
        elif self.app.engine.holds(RUN):
            await self.terminal.tell(spoken.CUTS)
        else:
            await self.terminal.tell("Nothing runs here. Ctrl-C once more leaves.")
        self._leaving = True
        return True

    async def _leaves(self) -> bool:
        """Whether somebody who wants to leave does: told first what that cuts, they want it again."""
        if self._warned or self.one_by_one or not self.app.engine.holds(RUN):
            return True
        self._warned = True
        await self.terminal.tell(spoken.CUTS)
        return False

    async def _waits(self) -> bool:
        with suppress(SaysoError):
            return bool(await self.app.looking.decidable(self.seat.identity))
        return False

    async def _done(self, typed: Typed) -> bool:
        self._warned = self._warned and isinstance(typed, Leave)
        match typed:
            case Leave():
                return not await self._leaves()
            case Mistyped():
                raise Refused(typed.sentence)
            case Become():
                await self._become(typed.name)
            case Begin():
                self.seat = replace(self.seat, place=self._place(), conversation=None)
                await self.terminal.tell("Another conversation begins here.")
            case Show():
                await self.terminal.show(await self._doors().shown(typed, self.seat))
            case Look():
                await self._look(typed)
            case _:
                await self._told(await self._doors().act(typed, self.seat))
        return True

    def _doors(self) -> Doors:
        return Doors(
            app=self.app,
            has_shown=self.terminal.has_shown,
            is_here=self._here.__contains__,
        )

    async def _told(self, told: Told) -> None:
        if told.conversation:
            self._here.add(told.conversation)
            self.seat = replace(self.seat, conversation=told.conversation)
        if told.approved and told.approved.conversation not in self._here:
            self._awaiting.add(told.approved)
        if told.text:
            await self.terminal.tell(told.text)

    async def _become(self, name: str) -> None:
        if not self.app.settings.console.allow_as:
            raise Refused(_NO_AS)
        try:
            await self.app.looking.gate.acting.who(self._identity(name))
        except Refused as error:
            raise Refused(_NOBODY) from error
        self.sit(name)
        await self.terminal.tell(f"You are {one_line(name, 40)}.")

    async def _look(self, look: Look) -> None:
        looking, seat = self.app.looking, self.seat
        match look.at:
            case "help":
                extra = [spoken.HELP_AS] if self.app.settings.console.allow_as else []
                await self.terminal.tell("\n".join([spoken.HELP, *extra]))
            case "history":
                said = await looking.said(seat)
                if not said:
                    raise Refused("Nothing was said here yet.")
                await self.terminal.recall(said)
            case "requests":
                await self.terminal.tell(spoken.requests(await looking.waiting(seat.identity)))
            case "runs":
                await self.terminal.tell(spoken.runs(await looking.ran(seat.identity)))
            case "grants":
                await self.terminal.tell((await self.app.granting.listed(seat.identity)).text)
            case _:
                assert_never(look.at)

    async def _glance(self) -> None:
        """Show for how long something goes on here."""
        now = asyncio.get_running_loop().time
        since: float | None = None
        while True:
            busy = False
            with suppress(SaysoError):
                await self._awaiting.look()
                busy = await self._goes_on(_WORK)
            since = (since or now()) if busy else None
            await self.terminal.busy(None if since is None else f"working, {now() - since:.0f} s")
            await asyncio.sleep(_GLANCE)

    def _identity(self, name: str) -> Identity:
        platform, workspace = authority.CONSOLE
        return Identity(platform=platform, workspace=workspace, user=name)

    def _place(self) -> Place:
        """Return a thread of its own: this process alone shows what is delivered there."""
        self._threads += 1
        return replace(authority.CONSOLE_PLACE, thread=f"{self.app.engine.owner}:{self._threads}")
