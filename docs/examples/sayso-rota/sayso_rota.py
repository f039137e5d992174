"""A toolset of Sayso: who is on call for what, as the operators wrote it into sayso.yml."""

from functools import partial
from typing import ClassVar

from core.canonical import JsonObject
from core.errors import Incorrect
from core.params import Param
from core.tools import Caller
from core.toolset import Channel, Exposure, Instruction, Maker, Toolset
from core.toolsets.own import own_tool


class RotaConfig(Exposure):
    """What stands under `toolsets.rota`."""

    toolset: ClassVar[str] = "rota"
    serves: ClassVar[tuple[Channel, ...]] = (Channel.TOOL, Channel.PROMPT, Channel.COMMAND)

    on_call: dict[str, str]
    """Who is on call, by what for."""


async def look_up(config: RotaConfig, arguments: JsonObject, caller: Caller) -> str:
    """Answer one call. It changes nothing, so nobody is asked; `caller` says for whom it is."""
    what = str(arguments["what"])
    if what not in config.on_call:
        raise Incorrect("who_is_on_call: `what`: nobody is, for that. Call it again with another.")
    return f"{config.on_call[what]} is on call for {what}."


def toolset(config: RotaConfig) -> Toolset:
    """Return what the toolset offers, each part on its channel."""
    what = Param(type="string", max_length=40, description="A service or a team.")
    tool = own_tool(
        "who_is_on_call", "Say who is on call.", {"what": what}, partial(look_up, config)
    )
    known = ", ".join(sorted(config.on_call))
    return Toolset(
        name="rota",
        tools=(tool,),
        commands=(tool,),
        instructions=(Instruction(text=f"Somebody is on call for: {known}."),),
    )


ROTA = Maker(config=RotaConfig, make=toolset)
