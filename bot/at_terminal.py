"""What happens when somebody wants to talk in a terminal: it is opened, served and left."""

from collections.abc import Callable
from pathlib import Path

from bot import wiring
from bot.conversing import Conversing, Left
from bot.wiring import App, Seams, terminals
from core.deliveries import TERMINAL


async def hold(file: Path, who: Callable[[App], str], *, plain: bool, welcome: str) -> Left:
    """Hold a conversation over what a file configures, until whoever sits there leaves; say goodbye."""
    terminal = terminals.here(plain=plain)
    async with wiring.opened(file, Seams(chats={TERMINAL: terminal.chat})) as app:
        conversing = Conversing(
            app=app,
            terminal=terminal,
            read=terminals.read,
            who=who(app),
            one_by_one=not terminals.has_one(),
        )
        await terminal.tell(welcome)
        with terminal.held():
            return await conversing.hold()
