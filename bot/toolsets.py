"""The toolsets that the configuration names: Sayso's own, and those of installed packages."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, TypeAlias

from pydantic import ValidationError

from bot import settings
from bot.settings import Settings
from core import wording
from core.errors import Invalid
from core.memories import Memories
from core.ports import Clock
from core.redaction import Redactor
from core.reminders import Reminders
from core.skills import Shelf
from core.toolbelt import Toolbelt
from core.toolset import Exposure, Maker, Toolset
from core.toolsets import memory, reminders, skills
from core.toolsets.memory import MemoryConfig
from core.toolsets.reminders import RemindersConfig
from core.toolsets.skills import SkillsConfig
from core.waiting import AT_ONCE

GROUP = "sayso.toolsets"
"""The group of entry points in which a package offers toolsets: the name of one, and its `Maker`."""


class Offer(Protocol):
    """What a package says that it offers; `importlib.metadata.EntryPoint` is one."""

    @property
    def name(self) -> str:
        """Return the name of the toolset."""
        ...

    @property
    def value(self) -> str:
        """Return where it comes from, as `module:NAME`."""
        ...

    def load(self) -> object:
        """Import it."""
        ...


Offers: TypeAlias = Callable[[], Iterable[Offer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What Sayso's own toolsets stand on."""

    memories: Memories
    reminders: Reminders
    clock: Clock
    redactor: Redactor
    shelf: Callable[[str], Shelf]
    """Reads a folder of skills."""

    def own(self) -> Mapping[str, Maker]:
        """Return how each toolset of Sayso's own is made, by its name."""
        remind = partial(
            reminders.toolset,
            reminders=self.reminders,
            clock=self.clock,
            redactor=self.redactor,
        )
        remember = partial(memory.toolset, memories=self.memories, redactor=self.redactor)
        return {
            memory.NAME: Maker(config=MemoryConfig, make=remember),
            reminders.NAME: Maker(config=RemindersConfig, make=remind),
            skills.NAME: Maker(config=SkillsConfig, make=self._skills),
        }

    def _skills(self, config: SkillsConfig) -> Toolset:
        return skills.toolset(config, self.shelf(config.folder), self.redactor)


def installed() -> Iterable[Offer]:
    """Return what installed packages offer."""
    return entry_points(group=GROUP)


def composed(
    file: Path, configured: Settings, own: Mapping[str, Maker], offers: Offers = installed
) -> Toolbelt:
    """Return what is on; raise `Invalid` with file, line and field where it does not fit together."""
    found = configured.toolsets.on
    made = [_made(file, name, value, own, offers) for name, value in found.items()]
    try:
        return Toolbelt.of(made)
    except Invalid as error:
        path = ["toolsets", *filter(None, [str(error.detail.get("toolset", ""))])]
        raise settings.blame(file, *path, problem=error.shown) from error


def _made(
    file: Path, name: str, value: object, own: Mapping[str, Maker], offers: Offers
) -> Toolset:
    try:
        maker = own.get(name) or _loaded(name, offers)
        return maker.made(name, _config(name, value, maker))
    except Invalid as error:
        path = ("toolsets", name, *map(str, filter(None, [error.detail.get("field")])))
        raise settings.blame(file, *path, problem=error.shown) from error


def _config(name: str, value: object, maker: Maker) -> Exposure:
    if isinstance(value, Exposure):
        return value
    try:
        return maker.config.model_validate(value)
    except ValidationError as error:
        first = wording.first(error)
        problem = f"{first.problem}. Correct it for the toolset {name}."
        raise Invalid(problem, field=(*first.where, "")[0]) from error
    except AT_ONCE as error:  # a package's own checks may fail in any way
        raise Invalid(
            f"The settings of the toolset {name} could not be checked ({type(error).__name__}). "
            "Correct them, or remove it."
        ) from error


def _loaded(name: str, offers: Offers) -> Maker:
    """Return what an installed package offers under a name; raise `Invalid` where there is not one."""
    found = [offer for offer in offers() if offer.name == name]
    if not found:
        raise Invalid(
            "Sayso has no toolset of this name, and no installed package offers one. Correct its "
            "spelling, install it, or remove it."
        )
    if len(found) > 1:
        owners = " and ".join(sorted(offer.value for offer in found))
        raise Invalid(
            f"Two packages offer a toolset of this name: {owners}. Uninstall one of them."
        )
    try:
        maker: object = found[0].load()
    except AT_ONCE as error:  # a package may fail in any way while it is imported
        raise Invalid(
            f"The toolset {name} cannot be loaded ({type(error).__name__}). Install what it needs, "
            "or remove it."
        ) from error
    if not isinstance(maker, Maker):
        raise Invalid(f"What the package offers as {name} is no toolset. Remove it.")
    return maker
