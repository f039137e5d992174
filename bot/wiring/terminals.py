"""The terminal of this process. Heavy, so only what holds a conversation in it imports this."""

from adapters.console import inbound, terminal
from adapters.console.terminal import DrawnTerminal
from bot import settings

read = inbound.read
has_one = terminal.has_one


def here(*, plain: bool = False) -> DrawnTerminal:
    """Return it, with colours unless somebody does not want them."""
    wishes = settings.terminal_wishes()
    return terminal.here(colours=not (plain or wishes.plain), dumb=wishes.dumb)


def printer(*, plain: bool = False) -> DrawnTerminal:
    """Return it as one at which nobody types."""
    wishes = settings.terminal_wishes()
    return terminal.printer(colours=not (plain or wishes.plain), dumb=wishes.dumb)
