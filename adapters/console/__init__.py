"""The terminal as a platform: what somebody types becomes events, what Sayso says is drawn.

`account` and `draw` need nothing heavy; whatever draws with colours is in modules that only a
conversation imports.
"""

from adapters.console.account import account
from adapters.console.text import draw

__all__ = ["account", "draw"]
