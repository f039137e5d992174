"""Who a command acts as: the account of its process, or `--as` where that is allowed."""

from bot import authority, wiring
from bot.wiring import App
from core.errors import Refused
from core.principals import Identity

_NO_AS = (
    "--as is not allowed here: leave it out, and you act as your own account. To try things with one "
    "terminal for everybody, write in sayso.yml: console: {allow_as: true}"
)


def identity_of(app: App, name: str | None) -> Identity:
    """Return who is typing: the account of this process's uid, or `--as` where that is allowed."""
    if name is not None and not app.settings.console.allow_as:
        raise Refused(_NO_AS)
    platform, workspace = authority.CONSOLE
    return Identity(platform=platform, workspace=workspace, user=name or wiring.account())
