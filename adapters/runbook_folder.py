"""The catalogue: a folder of runbooks, read again whenever one of its files has changed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core import commands, runbooks
from core.advice import Source
from core.display import one_line
from core.errors import Invalid, Unavailable
from core.tools import Tool, Toolbox

_LARGEST = 1_000_000


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
        self._read: dict[Path, tuple[bytes, Tool]] = {}

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
        found = [(_shown(file), self._tool(file)) for file in files]
        names = Counter(tool.name for _, tool in found if isinstance(tool, Tool))
        tools, faults, clashes = list[Tool](), list[str](), list[str]()
        for file, tool in found:
            if isinstance(tool, str):
                faults.append(tool)
            elif tool.name in self._taken:
                clashes.append(
                    f"{file}:1: name: the toolset {self._taken[tool.name]} has a tool or command "
                    f"{tool.name}, so the runbook {tool.name} cannot. Rename it."
                )
            elif names[tool.name] > 1:
                faults.append(
                    f"{file}:1: name: another file has a runbook {tool.name}. Rename one."
                )
            else:
                tools.append(tool)
        return Catalogue(
            tools=Toolbox.of(tools), faults=(*faults, *clashes), clashes=tuple(clashes)
        )

    def sources(self) -> tuple[Source, ...]:
        """Return every sound runbook as it is written; raise `Unavailable` where none can be read."""
        sound = self.catalogue().tools.names
        written = [
            runbooks.read(content.decode(), _shown(file))
            for file, (content, tool) in sorted(self._read.items())
            if tool.name in sound
        ]
        return tuple(Source(runbook=runbook, document=document) for runbook, document in written)

    def _tool(self, file: Path) -> Tool | str:
        """Return a file's tool or what is wrong with it; parsed again only where its bytes are new."""
        shown = _shown(file)
        try:
            if not file.is_file() or file.stat().st_size > _LARGEST:
                return f"{shown}:1: it is no file, or larger than {_LARGEST} bytes. Remove it."
            content = file.read_bytes()
            known = self._read.get(file)
            if known is None or known[0] != content:
                known = (content, runbooks.tool(content.decode(), shown))
                commands.check(Toolbox((known[1],)))
                self._read[file] = known
        except Invalid as error:
            return error.shown if error.shown.startswith(shown) else f"{shown}:1: {error.shown}"
        except (OSError, UnicodeDecodeError):
            return f"{shown}:1: it cannot be read. Check its rights and its encoding."
        return known[1]


def _shown(file: Path) -> str:
    """Return a file's name as one visible line: it may hold anything."""
    return one_line(f"{file.parent.name}/{file.name}", 120)
