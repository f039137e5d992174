"""A Sayso without the extra for MCP: whatever needs it says what to install, and nothing else needs it."""

import asyncio
import sys
from pathlib import Path
from typing import cast

import pytest

from bot import settings
from bot.relaying import Relaying
from bot.wiring import probed
from bot.wiring.agents import serve
from bot.wiring.mcp_servers import McpServers
from core.errors import Invalid

SERVER = "mcp: {servers: {notes: {command: [./notes]}}}\n"


async def test_c92_without_the_extra_mcp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [one for one in sys.modules if one.startswith("adapters.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    file = tmp_path / "sayso.yml"
    file.write_text(f"sandbox: {{backend: none}}\n{SERVER}", "utf-8")
    with pytest.raises(Invalid, match=r"sayso\[mcp\]"):
        McpServers(file, settings.read(file), {})
    with pytest.raises(Invalid, match=r"sayso\[mcp\]"):
        await serve(cast("Relaying", None), asyncio.Event())
    with pytest.raises(Invalid, match=r"sayso\[mcp\]"):
        await probed(file, settings.read(file), "notes")
    file.write_text("sandbox: {backend: none}\n", "utf-8")
    assert McpServers(file, settings.read(file), {}).offered() == ()
