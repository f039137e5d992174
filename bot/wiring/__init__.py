"""The composition root: the only package that knows which adapter fills which port."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from adapters import console
from adapters.slack import manifest
from bot import log_records, settings
from bot.settings import Settings
from bot.wiring.app import App, app_of
from bot.wiring.catalogue import (
    catalogue,
    home_of,
    tool_names,
    toolbelt,
    unheard,
    unknown_tools,
    unlisted,
    unowned,
    unruled,
    unwise,
)
from bot.wiring.mcp_servers import server_faults
from bot.wiring.parts import Parts, Seams, artifact_folder, heads_of
from bot.wiring.platforms import platform_faults, sync_discord
from bot.wiring.probing import probed
from bot.wiring.runners import sandbox_faults, sandbox_notes
from bot.wiring.secrets import secret_faults
from bot.wiring.storage import storage
from core.errors import Invalid

__all__ = [
    "App",
    "Seams",
    "account",
    "artifact_folder",
    "catalogue",
    "draw",
    "heads_of",
    "home_of",
    "manifest",
    "opened",
    "platform_faults",
    "probed",
    "sandbox_faults",
    "sandbox_notes",
    "secret_faults",
    "server_faults",
    "sync_discord",
    "tool_names",
    "toolbelt",
    "unheard",
    "unknown_tools",
    "unlisted",
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
        parts = Parts(configured, file, database, seams or Seams())
        with log_records.masked(parts.redactor):
            app = app_of(parts)
            await app.engine.notice()
            yield app


def _must_name_tools(file: Path, configured: Settings) -> None:
    """Raise `Invalid` for a profile that names a tool that is not there."""
    if any(section.tools for section in configured.profiles.values()):
        for problem in unknown_tools(file, configured):
            raise Invalid(problem)
