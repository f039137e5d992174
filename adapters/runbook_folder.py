"""The catalogue: a folder of runbooks, read again whenever one of its files has changed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core import commands, runbooks, undo
from core.advice import Source
from core.canonical import sha256
from core.display import one_line
from core.errors import Invalid, Unavailable
from core.tools import Effect, Tool, Toolbox

_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What a file held when it was read last."""

    content: bytes
    source: Source
    tool: Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the folder holds: every sound runbook, and one line for every other file."""

    tools: Toolbox
    faults: tuple[str, ...]
    clashes: tuple[str, ...] = ()
    """Those of the faults that are about names which somebody else has."""


class RunbookFolder:
    """Reads runbooks. One bad file does not stop the rest, unless `strict`."""

    def __init__(
        self, folder: Path, *, strict: bool, taken: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._taken = taken or {}
        """Names that no runbook may have, and which toolset has each."""
        self._strict = strict
        self._read: dict[Path, _Known] = {}

    def toolbox(self) -> Toolbox:
        """Return the sound runbooks as they are now; raise `Invalid` for a fault where strict."""
        catalogue = self.catalogue()
        if self._strict and catalogue.faults:
            raise Invalid(catalogue.faults[0])
        return catalogue.tools

    def must_not_clash(self) -> None:
        """Raise `Invalid` where a runbook has a name that is taken: later ones are left out."""
        if not self._taken:
            return
        try:
            clashes = self.catalogue().clashes
        except Unavailable:
            return  # whoever needs the runbooks is told
        if clashes:
            raise Invalid(clashes[0])

    def catalogue(self) -> Catalogue:
        """Return everything; raise `Unavailable` where the folder cannot be read."""
        try:
            files = sorted(f for f in self._folder.iterdir() if f.suffix in {".yml", ".yaml"})
        except OSError as error:
            raise Unavailable(
                f"The runbooks in {self._folder.name} cannot be read. Check `runbooks.folder`."
            ) from error
        found = [(_shown(file), self._known(file)) for file in files]
        names = Counter(one.tool.name for _, one in found if isinstance(one, _Known))
        sound, faults, clashes = list[_Known](), list[str](), list[str]()
        for file, known in found:
            if isinstance(known, str):
                faults.append(known)
                continue
            tool = known.tool
            if tool.name in self._taken:
                clashes.append(
                    f"{file}:1: name: the toolset {self._taken[tool.name]} has a tool or command "
                    f"{tool.name}, so the runbook {tool.name} cannot. Rename it."
                )
            elif names[tool.name] > 1:
                faults.append(
                    f"{file}:1: name: another file has a runbook {tool.name}. Rename one."
                )
            else:
                sound.append(known)
        unsound = _unsound({known.tool.name: known.source for known in sound})
        tools = [_without(known.tool, unsound) for known in sound]
        faults += unsound.values()
        return Catalogue(
            tools=Toolbox.of(tools), faults=(*faults, *clashes), clashes=tuple(clashes)
        )

    def sources(self) -> tuple[Source, ...]:
        """Return every sound runbook as it is written; raise `Unavailable` where none can be read."""
        sound = self.catalogue().tools.names
        return tuple(
            known.source for _, known in sorted(self._read.items()) if known.tool.name in sound
        )

    def _known(self, file: Path) -> _Known | str:
        """Return what a file holds or what is wrong with it; parsed again only where its bytes are new."""
        shown = _shown(file)
        try:
            if not file.is_file() or file.stat().st_size > _LARGEST:
                return f"{shown}:1: it is no file, or larger than {_LARGEST} bytes. Remove it."
            content = file.read_bytes()
            known = self._read.get(file)
            if known is None or known.content != content:
                known = _parsed(content, shown)
                commands.check(Toolbox((known.tool,)))
                self._read[file] = known
        except Invalid as error:
            return error.shown if error.shown.startswith(shown) else f"{shown}:1: {error.shown}"
        except (OSError, UnicodeDecodeError):
            return f"{shown}:1: it cannot be read. Check its rights and its encoding."
        return known


def _parsed(content: bytes, shown: str) -> _Known:
    text = content.decode()
    runbook, document = runbooks.read(text, shown)
    source = Source(runbook=runbook, document=document)
    return _Known(content=content, source=source, tool=runbook.tool(definition=sha256(text)))


def _unsound(sources: Mapping[str, Source]) -> dict[str, str]:
    """Return the names of runbooks whose `undo` cannot be meant, and a line about each."""
    faults = {name: _undo_fault(source, sources) for name, source in sources.items()}
    return {name: fault for name, fault in faults.items() if fault}


def _undo_fault(source: Source, sources: Mapping[str, Source]) -> str | None:
    ours, wanted = source.runbook, source.runbook.undo
    if wanted is None:
        return None
    if ours.effect is Effect.READ:
        return source.told(("undo",), "a read leaves nothing that could be undone. Remove it.")
    other = sources.get(wanted.runbook)
    if other is None or other.runbook.effect is Effect.READ:
        problem = "there is no sound runbook of this name that changes something. Correct it."
        return source.told(("undo", "runbook"), problem)
    found = undo.fault(wanted, ours.params, other.runbook.params)
    return source.told(*found) if found else None


def _without(tool: Tool, unsound: Mapping[str, str]) -> Tool:
    """Return a runbook, which is sound by itself, without an `undo` that is not."""
    return replace(tool, undo=None) if tool.name in unsound else tool


def _shown(file: Path) -> str:
    """Return a file's name as one visible line: it may hold anything."""
    return one_line(f"{file.parent.name}/{file.name}", 120)
