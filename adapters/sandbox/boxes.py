"""Where a program may run: what stands around its arguments, so that it is kept from everything else.

Whoever starts a program of its own asks a box for the words to start, `wrapped`, and starts them in
the box's folder with the `environment` that the program is to have: secrets go there and nowhere
else, because everybody on the machine can read arguments.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from adapters import processes

PATH = "/usr/bin:/bin"
"""Where programs are found by their names alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one program may take, and what it may reach."""

    memory_bytes: int
    """Of address space, for each process."""
    seconds: float | None = None
    """After which somebody ends it; None for one that runs as long as it is needed."""
    network: bool = False
    readable: tuple[Path, ...] = ()
    """What it may read besides what every program may, such as an interpreter's folder."""


class Box(Protocol):
    """A way to start programs."""

    @property
    def backend(self) -> str:
        """Return the name that stands in a plan."""
        ...

    @property
    def folder(self) -> Path:
        """Return the working folder: a program starts there, and may write there."""
        ...

    @property
    def keeps(self) -> bool:
        """Return whether what is started only keeps the program: signals to it do not reach that."""
        ...

    def obstacle(self) -> str | None:
        """Say what would keep any program from starting, in a sentence for people; None where nothing would."""
        ...

    def program(self, name: str, bounds: Bounds | None = None) -> str | None:
        """Return the file that this name starts in there; None where there is none."""
        ...

    def wrapped(self, argv: Sequence[str], bounds: Bounds) -> list[bytes]:
        """Return the words that start this program; raise `UnicodeEncodeError` for what is no text.

        Sandboxed or not, it dies with the thread that starts it, and its environment is that of
        the words, to which a sandbox adds PWD alone.
        """
        ...


def environment(box: Box, step_id: str, named: Mapping[str, str]) -> dict[str, str]:
    """Return all that a program finds in its environment, and what it can be found by."""
    # These come last: a secret called PATH must not choose which program runs.
    home = str(box.folder)
    return {**named, "PATH": PATH, "LANG": "C.UTF-8", "HOME": home, processes.STEP: step_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBox:
    """No sandbox: a program may do whatever this process may, with any file and any host."""

    folder: Path
    backend = "none"
    keeps = False

    def obstacle(self) -> str | None:
        """Say that nothing stands in the way."""
        return None

    def program(self, name: str, bounds: Bounds | None = None) -> str | None:
        """See the protocol."""
        del bounds
        return found(name, self.folder)

    def wrapped(self, argv: Sequence[str], bounds: Bounds) -> list[bytes]:
        """See the protocol; only the memory is bounded."""
        limits = processes.wrapper({"as": bounds.memory_bytes, "core": 0})
        return [word.encode() for word in (*limits, *argv)]


def found(name: str, folder: Path) -> str | None:
    """Return the file that this machine starts by this name in this folder; None where there is none."""
    # One with a slash is looked up in the folder, because the command starts there.
    return shutil.which(folder / name if "/" in name else name, path=PATH)
