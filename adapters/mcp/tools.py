"""The accepted tools of MCP servers as tools of ours: named after their server, and gated unless listed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from pydantic import JsonValue

from adapters.mcp import arguments, definitions
from adapters.mcp.definitions import Definition
from core.canonical import JsonObject, digest
from core.display import one_line
from core.errors import Invalid, Refused
from core.plans import ToolStep
from core.sizes import ADDRESS_SPACE
from core.tools import FOREIGN, Effect, Tool, Work

_ABOUT = 300
_LONGEST = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server, as it is configured."""

    name: str
    argv: tuple[str, ...]
    reads: tuple[str, ...]
    """Which of its tools change nothing, by the operator's word: what the server says of that is no proof."""
    accepted: Mapping[str, str]
    """What it said of each of its tools that may be called, by its name."""
    secrets: tuple[str, ...]
    network: bool
    timeout_ms: int
    risk: str
    memory_bytes: int = ADDRESS_SPACE

    def step(self, definition: Definition, given: JsonObject) -> ToolStep:
        """Return the one call of a tool."""
        return ToolStep(
            server=self.name,
            argv=self.argv,
            tool=definition.name,
            definition=definition.sha256,
            arguments=cast("Mapping[str, JsonValue]", given),
            timeout_ms=self.timeout_ms,
            memory_bytes=self.memory_bytes,
            secrets=self.secrets,
            network=self.network,
        )


Blame: TypeAlias = Callable[[str, str, str], Invalid]
"""Returns the error about a tool of a server, with file, line and field."""


def named(
    servers: Sequence[Server], taken: Mapping[str, str], blame: Blame
) -> tuple[tuple[str, Tool], ...]:
    """Return what was accepted, each with the name of its server.

    Raises `Invalid` where a name is taken, with both owners, or a definition is none.
    """
    found = list[tuple[str, Tool]]()
    owners = {name.casefold(): f"the toolset {owner}" for name, owner in taken.items()}
    for server in servers:
        for name, tool in _tools(server, blame):
            key = tool.name.casefold()
            if key in owners:
                why = (
                    f"{owners[key]} has a tool {tool.name} already, so that the tool {name} of the "
                    f"server {server.name} cannot be called so. Remove one of them."
                )
                raise blame(server.name, name, why)
            owners[key] = f"the server {server.name} ({name})"
            found.append((server.name, tool))
    return tuple(found)


def local_name(server: str, tool: str) -> str:
    """Return what a tool of a server is called here: kept beside it, never read back."""
    return f"{server}{FOREIGN}{_OTHER.sub('_', tool)}"


def _tools(server: Server, blame: Blame) -> Iterator[tuple[str, Tool]]:
    for name, text in server.accepted.items():
        try:
            yield name, _tool(server, name, definitions.read(text))
        except Refused as error:
            raise blame(server.name, name, f"{error.shown} Remove it.") from error
    unknown = [name for name in server.reads if name not in server.accepted]
    if unknown:
        why = "only what was accepted under `tools` can be listed as a read. Correct or remove it."
        raise blame(server.name, unknown[0], why)


def _tool(server: Server, name: str, definition: Definition) -> Tool:
    local = local_name(server.name, name)
    if definition.name != name:
        raise Refused("it is the definition of another tool.")
    if len(local) > _LONGEST:
        raise Refused(f"its name here, {local}, would have more than {_LONGEST} characters.")
    effect = Effect.READ if name in server.reads else Effect.WRITE
    known = digest([list(server.argv), definition.sha256, effect.value, server.risk])
    return Tool(
        name=local,
        summary=f"The MCP server {server.name} says of it: {_about(definition)}",
        effect=effect,
        risk=server.risk,
        definition=known,
        parameters=arguments.model_of(definition.schema, local),
        defaults={},
        expand=lambda given: Work(steps=(server.step(definition, given),)),
    )


def _about(definition: Definition) -> str:
    return one_line(definition.about, _ABOUT) or "nothing"
