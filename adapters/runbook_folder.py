"""The catalogue: a folder of runbooks, read again whenever one of its files has changed."""

from dataclasses import dataclass
from pathlib import Path

from core import commands, runbooks
from core.errors import Invalid, Unavailable
from core.tools import Tool, Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the folder holds: every sound runbook, and one line for every other file."""

    tools: Toolbox
    faults: tuple[str, ...]


class RunbookFolder:
    """Reads runbooks. One bad file does not stop the rest, unless `strict`."""

    def __init__(self, folder: Path, *, strict: bool) -> None:
        self._folder = folder
        self._strict = strict
        self._read: dict[Path, tuple[bytes, Tool | str]] = {}

    def toolbox(self) -> Toolbox:
        """Return the sound runbooks as they are now; raise `Invalid` for a fault where strict."""
        catalogue = self.catalogue()
        if self._strict and catalogue.faults:
            raise Invalid(catalogue.faults[0])
        return catalogue.tools

    def catalogue(self) -> Catalogue:
        """Return everything; raise `Unavailable` where the folder cannot be read."""
        try:
            files = sorted(f for f in self._folder.iterdir() if f.suffix in {".yml", ".yaml"})
        except OSError as error:
            raise Unavailable(
                f"The runbooks in {self._folder.name} cannot be read. Check `runbooks.folder`."
            ) from error
        found = [self._tool(file) for file in files]
        tools = Toolbox.of(tool for tool in found if isinstance(tool, Tool))
        commands.check(tools)
        return Catalogue(tools=tools, faults=tuple(f for f in found if isinstance(f, str)))

    def _tool(self, file: Path) -> Tool | str:
        """Return a file's tool or what is wrong with it; parsed again only where its bytes are new."""
        try:
            content = file.read_bytes()
            known = self._read.get(file)
            if known is None or known[0] != content:
                known = (
                    content,
                    runbooks.tool(content.decode(), f"{file.parent.name}/{file.name}"),
                )
                self._read[file] = known
            return known[1]
        except Invalid as error:
            return error.shown
        except (OSError, UnicodeDecodeError):
            return f"{file.parent.name}/{file.name}:1: it cannot be read. Check its rights and encoding."
