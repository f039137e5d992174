"""The composition root: the only package that knows which adapter fills which port."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from adapters import console
from adapters.slack import manifest
from bot import settings
from bot.settings import Settings
from bot.wiring.app import App, app_of
from bot.wiring.catalogue import (
    catalogue,
    home_of,
    tool_names,
    toolbelt,
    unheard,
    unknown_tools,
    unowned,
    unruled,
    unwise,
)
from bot.wiring.parts import Parts, Seams, heads_of
from bot.wiring.platforms import platform_faults, sync_discord
from bot.wiring.storage import storage
from core.errors import Invalid

__all__ = [
    "App",
    "Seams",
    "account",
    "catalogue",
    "draw",
    "heads_of",
    "home_of",
    "manifest",
    "opened",
    "platform_faults",
    "sync_discord",
    "tool_names",
    "toolbelt",
    "unheard",
    "unknown_tools",
    "unowned",
    "unruled",
    "unwise",
]

account = console.account
draw = console.draw


@asynccontextmanager
async def opened(file: Path, seams: Seams | None = None) -> AsyncGenerator[App]:
    """Open what the configuration names, notice what dead processes left, and close it again."""
    configured = settings.read(file)
    _must_name_tools(file, configured)
    async with storage(configured.storage, home_of(file)) as database:
        app = app_of(Parts(configured, file, database, seams or Seams()))
        await app.engine.notice()
        yield app


def _must_name_tools(file: Path, configured: Settings) -> None:
    """Raise `Invalid` for a profile that names a tool that is not there."""
    if any(section.tools for section in configured.profiles.values()):
        for problem in unknown_tools(file, configured):
            raise Invalid(problem)
