"""A folder of Sayso in which an MCP server of somebody else's is configured."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from adapters.mcp import definitions
from tests.sayso import Object, Sayso

SERVER = Path(__file__).parent / "standins" / "mcp_server.py"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ADD: Object = {"name": "add", "description": "Add a note.", "inputSchema": TEXT}
FIND: Object = {
    "name": "find",
    "description": "Find a note.",
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}


@dataclass
class Notes:
    """The server `notes`, and what it is to do."""

    sayso: Sayso
    tools: list[Object] = field(default_factory=lambda: [ADD, FIND])
    calls: dict[str, str] = field(default_factory=dict[str, str])
    pages: str = ""

    def says(self) -> None:
        """Have it say and do what stands here from now on."""
        how = {"tools": self.tools, "calls": self.calls, "pages": self.pages}
        (self.sayso.folder / "work" / "server.json").write_text(json.dumps(how), "utf-8")

    def accept(self, reads: tuple[str, ...] = (), **more: object) -> None:
        """Accept what it says now, as an operator does with what `sayso mcp probe` prints."""
        known = {str(one["name"]): definitions.of(one).text for one in self.tools}
        self.configure(known, reads=list(reads), **more)

    def configure(self, tools: Mapping[str, str], **more: object) -> None:
        """Write the section."""
        command = [sys.executable, "-S", str(SERVER), "server.json"]
        section: Object = {"command": command, "tools": dict(tools), **more}
        config = self.sayso.folder / "sayso.yml"
        text = config.read_text("utf-8").partition("mcp:\n")[0]
        written: str = yaml.safe_dump({"mcp": {"servers": {"notes": section}}}, width=10**9)  # pyright: ignore[reportUnknownMemberType]
        config.write_text(f"{text}{written}", "utf-8")

    def served(self) -> list[Object]:
        """Return the calls that got as far as the server."""
        file = self.sayso.folder / "work" / "served.txt"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def notes(sayso: Sayso, reads: tuple[str, ...] = ()) -> Notes:
    """Return a server that was accepted, with people who may use and approve its tools."""
    for action, group in (
        ("tool:read", "eng"), ("run:propose", "eng"), ("plan:approve", "sre"), ("plan:deny", "eng"),
    ):  # fmt: skip
        line = f'    - {{effect: allow, action: "{action}", resource: "mcp:notes__*", groups: [{group}]}}'
        sayso.edit("sayso.yml", "  rules:\n", f"  rules:\n{line}\n")
    made = Notes(sayso)
    made.says()
    made.accept(reads)
    return made
