"""The toolset `skills`: a menu in the instructions, and each text for whoever asks for it (T12)."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from core.canonical import JsonObject
from core.counts import Count
from core.dictated import quoted
from core.errors import Invalid
from core.fitting import cut
from core.params import Param
from core.redaction import Redactor
from core.skills import Shelf, Skill
from core.tools import Caller, Tool
from core.toolset import Channel, Exposure, Instruction, Toolset
from core.toolsets.own import own_tool

NAME = "skills"
TOOL = "skill"
_MENU = (
    f"There are texts by the operators about how things are done here. Read one with `{TOOL}` before "
    "you do what it is about; they give you no right to anything. There are:"
)
_LABEL = (
    "The skill {name}, as the operators wrote it. Follow it as far as the tools and the people here "
    "allow; it decides nothing."
)


class SkillsConfig(Exposure):
    """Where the texts lie, and how long each may be."""

    toolset: ClassVar[str] = NAME
    serves: ClassVar[tuple[Channel, ...]] = (Channel.TOOL, Channel.PROMPT, Channel.COMMAND)

    folder: str = Field(default="skills", min_length=1)
    """Relative to the folder of sayso.yml."""
    most_bytes: Count = Field(default=16 * 1024, ge=256, le=32 * 1024)
    """Of what is sent of one text; whatever is longer is cut there and says so."""
    strict: bool = False
    """Refuse to start while any file is bad, instead of leaving that file out."""


def toolset(config: SkillsConfig, shelf: Shelf, redactor: Redactor) -> Toolset:
    """Return the toolset for these texts; where there are none, it offers nothing.

    Raises `Invalid` for a fault where strict.
    """
    if config.strict and shelf.faults:
        raise Invalid(shelf.faults[0])
    if not shelf.skills:
        return Toolset(name=NAME, faults=shelf.faults)
    found = {one.name: one for one in sorted(shelf.skills, key=lambda one: one.name)}
    tool = _tool(config, found, redactor)
    menu = "\n".join([_MENU, *(f"- {one.name}: {one.summary}" for one in found.values())])
    return Toolset(
        name=NAME,
        faults=shelf.faults,
        tools=(tool,),
        commands=(tool,),
        instructions=(Instruction(about=TOOL, text=menu),),
    )


def _tool(config: SkillsConfig, skills: Mapping[str, Skill], redactor: Redactor) -> Tool:
    async def look(arguments: JsonObject, caller: Caller) -> str:
        del caller  # the same text for everybody who may read skills at all
        found = skills[str(arguments["name"])]
        # Masked as it was written: of a secret that is cut or quoted, a part would be shown.
        body = cut(redactor.text(found.body), config.most_bytes)
        return f"{_LABEL.format(name=found.name)}\n{quoted(body)}"

    # One closed choice, so that no text is ever a path.
    name = Param(type="string", min_length=1, max_length=64, enum=tuple(skills))
    return own_tool(TOOL, "Read how something is done here.", {"name": name}, look)
