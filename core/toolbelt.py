"""All toolsets that are on, beside the runbooks: which names are whose, and what is offered where."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from core import commands
from core.commands import BUILT_IN
from core.errors import Invalid
from core.tools import OWN, Tool, Toolbox
from core.toolset import Channel, State, Toolset, ordered


@dataclass(frozen=True, slots=True)
class Toolbelt:
    """The toolsets of a configuration, each behind those that it needs."""

    toolsets: tuple[Toolset, ...] = ()

    @classmethod
    def of(cls, made: Iterable[Toolset]) -> "Toolbelt":
        """Put toolsets in order; raise `Invalid`, with both owners, where a name is taken twice.

        The details of the error name the `toolset` that is to be corrected.
        """
        belt = cls(ordered(made))
        belt._check()
        return belt

    @property
    def owners(self) -> Mapping[str, str]:
        """Return which toolset each name belongs to, on whatever channel it is."""
        return {tool.name: one.name for one in self.toolsets for tool in _of(one)}

    def states(self, offered: Toolbox) -> tuple[tuple[str, State], ...]:
        """Return what a model that is offered these tools is told when it changed, by toolset."""
        return tuple(
            (one.name, one.state)
            for one in self.toolsets
            if one.state and _is_for(one, offered.names)
        )

    @property
    def faults(self) -> tuple[str, ...]:
        """Return what was left out of any of them, a line each."""
        return tuple(fault for one in self.toolsets for fault in one.faults)

    def beside(self, runbooks: Toolbox, channel: Channel) -> Toolbox:
        """Return the runbooks and what is offered on a channel.

        A runbook that got a name of ours after the start is left out, as any bad runbook is.
        """
        ours = self.owners
        kept = (tool for tool in runbooks if tool.name not in ours)
        return Toolbox.of((*kept, *(tool for one in self.toolsets for tool in one.on(channel))))

    def parts(self, offered: Toolbox) -> tuple[tuple[str, str], ...]:
        """Return what a model that is offered these tools is told about them, by toolset."""
        return tuple((one.name, _part(one, offered.names)) for one in self.toolsets)

    def _check(self) -> None:
        found = dict[str, str]()
        for one in self.toolsets:
            if one.name in OWN:
                raise Invalid(
                    f"{one.name} is a name of Sayso's own. Give the toolset another.",
                    toolset=one.name,
                )
            for name in dict.fromkeys(tool.name for tool in _of(one)):
                _must_be_free(name, one.name, found.get(name))
                found[name] = one.name
            _must_be_distinct(one)
            commands.check(Toolbox(one.commands))


def _of(toolset: Toolset) -> tuple[Tool, ...]:
    return (*toolset.tools, *toolset.commands)


def _must_be_free(name: str, owner: str, other: str | None) -> None:
    if other:
        raise Invalid(
            f"The toolsets {other} and {owner} both have a tool or command {name}. Turn one of them "
            "off.",
            toolset=owner,
        )
    if name in BUILT_IN | OWN:
        raise Invalid(
            f"The toolset {owner} has a tool or command {name}, which is a word of Sayso's own. Turn "
            "it off.",
            toolset=owner,
        )


def _must_be_distinct(one: Toolset) -> None:
    for offered in (one.tools, one.commands):
        if len({tool.name for tool in offered}) < len(offered):
            raise Invalid(
                f"The toolset {one.name} has two tools of one name. Turn it off.", toolset=one.name
            )


def _is_for(one: Toolset, names: AbstractSet[str]) -> bool:
    """Return whether a toolset is of use to whoever has these tools."""
    return not one.tools or not names.isdisjoint(tool.name for tool in one.tools)


def _part(one: Toolset, names: AbstractSet[str]) -> str:
    if not _is_for(one, names):
        return ""
    return "\n".join(each.text for each in one.instructions if each.about in {None, *names})
