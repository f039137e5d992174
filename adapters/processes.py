"""Processes of this machine: who owns a piece of work, whether it is dead, how commands die with it.

An owner is `boot/namespace/pid/start`. Where owners of other machines stand too, ask `is_dead_here`:
to `is_dead`, every process of theirs is one of an earlier boot.
"""

import os
import re
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

STEP = "SAYSO_STEP_ID"
"""The variable that marks every process of a step, also those that left its group and session."""

SETPRIV, PRLIMIT = "/usr/bin/setpriv", "/usr/bin/prlimit"
"""Both of util-linux."""

_PROC = Path("/proc")
_UNKNOWN = "-"
_OWNER = re.compile(r"([0-9a-f-]{1,36})/([0-9]{1,20}|-)/([1-9][0-9]{0,8})/([0-9]{1,20}|-)")
_DEAD_STATES = frozenset("ZXx")


class _Owner(NamedTuple):
    boot: str
    namespace: str
    pid: int
    start: str

    @property
    def place(self) -> tuple[str, str]:
        return self.boot, self.namespace


def me() -> str:
    """Name this process, on this boot of this machine, so that no later one has the same name."""
    boot, namespace = _here()
    pid = os.getpid()
    start = _stat(pid)[1] if boot != _UNKNOWN else _UNKNOWN
    return f"{boot}/{namespace}/{pid}/{start}"


def is_dead(owner: str) -> bool:
    """Tell whether the process is provably dead; False wherever that cannot be judged."""
    known = _parsed(owner)
    if known is None:
        return False
    boot, namespace = _here()
    if (boot == _UNKNOWN) != (known.boot == _UNKNOWN):
        return False
    if known.boot != boot:
        return True
    return known.namespace == namespace and _is_gone(known)


def is_dead_here(owner: str) -> bool:
    """Tell it where other machines have owners too: of another boot, nothing can be judged."""
    known = _parsed(owner)
    return known is not None and known.boot == _here()[0] and is_dead(owner)


def kill_step(step_id: str) -> int:
    """Kill whatever still runs for a step, wherever it moved; return how many processes that were.

    The name of a turn, a run or a request stands for all that is named after it (`t_1` for
    `t_1.2`). It may have been forking meanwhile, and dying takes a moment: call again until this
    returns 0. An id that two steps share makes one kill the other. Where there is no /proc it finds
    nothing.
    """
    mark = os.fsencode(f"{STEP}={step_id}")
    killed = 0
    for pid in _pids():
        if pid != os.getpid() and _bears(pid, mark):
            # Gone meanwhile, or another user's: neither is ours to kill any more.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


def ask_step(step_id: str, *, keeper: int) -> None:
    """Ask whatever runs for a step to end, with its group; the group that its keeper leads is spared."""
    for group in _groups(os.fsencode(f"{STEP}={step_id}")) - {keeper}:
        signal_group(group, signal.SIGTERM)


class StepProcesses:
    """Implements `core.ports.Processes` by what each process carries in its environment."""

    def kill(self, name: str) -> int:
        """See the port."""
        return kill_step(name)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal every process of the group that a command leads, if there is any left."""
    # On macOS a group of zombies answers "not permitted".
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def wrapper(limits: Mapping[str, int]) -> list[str]:
    """Return what goes before a command so that it is bounded and dies with this thread.

    Limits are named as prlimit names them, such as `as` and `core`. Each program becomes the next
    one, with the same pid. Only Linux has them; elsewhere it is empty.
    """
    if sys.platform != "linux":
        return []
    wrappers = ([SETPRIV, "--pdeathsig", "KILL", "--"], limited(limits))
    return [word for words in wrappers if os.access(words[0], os.X_OK) for word in words]


def limited(limits: Mapping[str, int]) -> list[str]:
    """Return what goes before a command so that it may take no more than this."""
    return [PRLIMIT, *(f"--{name}={_at_most(name, most)}" for name, most in limits.items()), "--"]


def _at_most(name: str, wanted: int) -> int:
    # Asking for more than we may have ourselves is refused, and the command would not start.
    most = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)


def _parsed(owner: str) -> _Owner | None:
    match = _OWNER.fullmatch(owner)
    if match is None:
        return None
    boot, namespace, pid, start = match.groups()
    return _Owner(boot, namespace, int(pid), start)


def _here() -> tuple[str, str]:
    """Return the boot and the namespace in which pids mean something to us, `-` where unknown."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
        namespace = (_PROC / "self/ns/pid").readlink().name
    except OSError:
        return _UNKNOWN, _UNKNOWN
    return boot, namespace.removeprefix("pid:[").removesuffix("]")


def _is_gone(owner: _Owner) -> bool:
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # It is somebody else's, so there is one; its start tells whether it is the same.
    if owner.boot == _UNKNOWN:
        return False
    try:
        state, start = _stat(owner.pid)
    except OSError:
        return False  # There is one, but it is hidden from us.
    return state in _DEAD_STATES or start != owner.start


def _groups(mark: bytes) -> set[int]:
    """Return the groups in which something bears this mark."""
    found = set[int]()
    for pid in _pids():
        with suppress(ProcessLookupError):
            if _bears(pid, mark):
                found.add(os.getpgid(pid))
    return found


def _stat(pid: int) -> tuple[str, str]:
    """Return the state of a process and when it started, in ticks since the boot."""
    text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    # The second field is a name that may hold spaces and parentheses; the third follows the last one.
    fields = text.rpartition(")")[2].split()
    return fields[0], fields[19]


def _pids() -> Iterator[int]:
    with suppress(FileNotFoundError):
        yield from (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())


def _bears(pid: int, mark: bytes) -> bool:
    found = _environment(pid)
    # Most processes are nobody's here, and those of others have long environments.
    return mark in found and any(v == mark or v.startswith(mark + b".") for v in found.split(b"\0"))


def _environment(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""
