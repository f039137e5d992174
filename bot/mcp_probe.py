"""Shows what an MCP server offers now, and how that differs from what was accepted."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from bot import leaving, settings, wiring
from bot.printed import Printed
from core import canonical
from core.display import one_line
from core.errors import Invalid, Refused

_WIDE = 10**9
_HOW = (
    "To accept what you have read, put this into sayso.yml, without what nobody needs. What changes "
    "nothing, by your own word, you list under `reads`."
)


def mcp_probe(file: Path, *, server: str) -> Printed:
    """Start a server, ask it, and print what accepts its tools; nothing is written anywhere."""
    configured = settings.read(file)
    section = configured.mcp.servers.get(server)
    if section is None:
        raise Invalid("There is no server of this name under `mcp.servers` in sayso.yml. Add it.")
    offered, unusable = leaving.run(wiring.probed(file, configured, server))
    states = {
        **{name: _state(section.tools.get(name), text) for name, text in offered.items()},
        **{name: f"cannot be accepted: {why}" for name, why in unusable.items()},
        **{n: "gone" for n in section.tools if n not in offered and n not in unusable},
    }
    return Printed(
        object={"server": server, "tools": dict(offered), "states": states},
        text="\n".join([*_told(states), _HOW, _pasted(server, offered)]),
    )


def _state(accepted: str | None, offered: str) -> str:
    if accepted is None:
        return "new"
    try:
        known = canonical.digest(canonical.parse(accepted))
    except Refused:
        return "changed"
    return "accepted" if known == canonical.digest(canonical.parse(offered)) else "changed"


def _told(states: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{one_line(name, 80)}: {one_line(state, 200)}" for name, state in states.items())


def _pasted(server: str, offered: Mapping[str, str]) -> str:
    values = {"mcp": {"servers": {server: {"tools": dict(offered)}}}}
    dumped: str = yaml.safe_dump(values, sort_keys=False, width=_WIDE)  # pyright: ignore[reportUnknownMemberType]
    return dumped.rstrip("\n")
