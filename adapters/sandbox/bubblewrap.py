"""The sandbox that bubblewrap makes: namespaces of its own, and nothing in them but what a step needs."""

import math
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from adapters import processes
from adapters.sandbox import host
from adapters.sandbox.boxes import PATH, Bounds, found
from adapters.sandbox.host import Shown
from adapters.sandbox.probe import Probe

_MIB = 1024 * 1024
_GIB = 1024 * _MIB
_OPEN_FILES = 1024
_FILE_BYTES = 4 * _GIB
_PROCESSES = 1024
"""Also threads. The kernel counts those of one sandbox alone, and does not hold root to it."""
_IN_MEMORY = str(256 * _MIB)
"""What may lie in each of /tmp and /dev/shm, which take memory."""
_ALONE = (
    "--die-with-parent", "--new-session", "--unshare-all", "--unshare-user", "--uid", "65534",
    "--gid", "65534", "--cap-drop", "ALL", "--disable-userns",
)  # fmt: skip
"""From --unshare-user on: or bubblewrap leaves root all its rights, and root mounts /usr writable again."""
_OF_ITS_OWN = (
    "--proc", "/proc", "--dev", "/dev", "--size", _IN_MEMORY, "--tmpfs", "/dev/shm",  # noqa: S108
    "--perms", "1777", "--size", _IN_MEMORY, "--tmpfs", "/tmp",  # noqa: S108 - nobody else is there
)  # fmt: skip
_MACHINES = (("proc",), ("dev",))
"""What a sandbox has one of its own of."""
_SHUT = ("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/")
"""/proc too: whoever is root outside could write the kernel's settings there, whatever it lacks here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """Runs programs with the working folder to write, what every program needs to read, and no more."""

    folder: Path
    """With every link followed: it is at the same place inside, so that paths mean the same."""
    readable: tuple[Path, ...] = ()
    """What else may be read, such as tools that are not in /usr."""
    hidden: tuple[Path, ...] = ()
    """What no program may see: the configuration's folder, the database, files of secrets."""
    fixed: tuple[Path, ...] = ()
    """What no program may change: what runs outside, such as Sayso itself and what prints secrets."""
    backend = "bwrap"
    keeps = True
    _probe: Probe = field(default_factory=Probe)

    def obstacle(self) -> str | None:
        """See the protocol."""
        if next(self.faults(), None):
            return (
                "Nothing may run, because the sandbox does not work here. An operator can find out "
                "why with `sayso check`; `apt-get install bubblewrap` brings one that is missing."
            )
        return None

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with it and what to do, in words for an operator."""
        yield from self.exposures()
        if self.folder.is_dir():
            yield from self._probe.faults(
                lambda: self.wrapped(("true",), Bounds(memory_bytes=_GIB))
            )

    def exposures(self, bounds: Bounds | None = None) -> Iterator[str]:
        """Yield what programs would see or change though they must not, in words for an operator."""
        bounds, hidden = (
            bounds or Bounds(memory_bytes=_GIB, network=True),
            map(Shown.of, self.hidden),
        )
        for kept, one in product(hidden, self._seen(bounds)):
            if kept.real.is_relative_to(one.real):
                yield f"steps would see {kept.at}, because they see {one.at}. Move one of them."
        for one in map(Shown.of, self.readable):
            if one.real.parts[1:2] in _MACHINES:
                yield f"{one.at} leads into /{one.real.parts[1]}, where steps would see others. Remove it."
        yield from self._changeable(bounds)

    def _changeable(self, bounds: Bounds) -> Iterator[str]:
        # Also what is only read: a link put in its place would show whatever it leads to.
        work = Shown.of(self.folder)
        for one in map(Shown.of, (*self.fixed, *self.readable, *bounds.readable)):
            if work.at in one.at.parents or work.real in one.real.parents:
                yield f"steps could change {one.at}, because they write in {work.at}. Move one of them."

    def program(self, name: str, bounds: Bounds | None = None) -> str | None:
        """See the protocol: what lies where nothing is seen, or too much would be, cannot be started."""
        file, bounds = found(name, self.folder), bounds or Bounds(memory_bytes=_GIB)
        starts = file and self._sees(Path(file), bounds) and not any(self.exposures(bounds))
        return file if starts else None

    def _sees(self, file: Path, bounds: Bounds) -> bool:
        seen = tuple(self._seen(bounds))
        tops = (*(one.at for one in seen), *(path for _, path in host.links()))
        at, real = Path(os.path.normpath(file)), Path(os.path.realpath(file))
        leads_there = any(real.is_relative_to(one.real) for one in seen)
        return leads_there and any(map(at.is_relative_to, tops))

    def wrapped(self, argv: Sequence[str], bounds: Bounds) -> list[bytes]:
        """See the protocol."""
        words = (
            *processes.wrapper(_limits(bounds)),
            shutil.which("bwrap", path=PATH) or "bwrap",
            *_ALONE,
            *(("--share-net",) if bounds.network else ()),
            *(word for to, at in host.links() for word in ("--symlink", to, str(at))),
            *_OF_ITS_OWN,
            *self._binds(bounds),
            *("--chdir", str(self.folder)),
            *_SHUT,
            "--",
            # Here, where the kernel counts only what runs in this sandbox.
            *processes.limited({"nproc": _PROCESSES}),
        )
        return [*map(os.fsencode, words), *(word.encode() for word in argv)]

    def _seen(self, bounds: Bounds) -> Iterator[Shown]:
        yield from host.shown(network=bounds.network)
        yield from map(Shown.of, (*self.readable, *bounds.readable, self.folder))

    def _binds(self, bounds: Bounds) -> Iterator[str]:
        # What lies in something else comes after it, or would be covered.
        for one in sorted(self._seen(bounds), key=lambda one: len(one.at.parts)):
            bind = "--bind" if one.at == self.folder else "--ro-bind"
            yield from (bind, str(one.real), str(one.at))


def _limits(bounds: Bounds) -> dict[str, int]:
    limits = {"as": bounds.memory_bytes, "core": 0, "nofile": _OPEN_FILES, "fsize": _FILE_BYTES}
    if bounds.seconds is not None:
        # As much as it could ever use within its time on every processor: this ends what nobody
        # is left to end, and never anything sooner than its time limit does.
        limits["cpu"] = math.ceil(bounds.seconds) * (os.cpu_count() or 1) + 1
    return limits
