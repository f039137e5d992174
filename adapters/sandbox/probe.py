"""Finds out whether bubblewrap works on this machine, by starting something in it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

from adapters import processes
from adapters.sandbox.boxes import PATH
from core import display

_PATIENCE = 10.0
"""Seconds; it takes about 15 ms."""
_OR_NONE = (
    "To run steps without a sandbox, with all the rights of Sayso's own account, write "
    "`sandbox: {backend: none}`."
)


class Probe:
    """Remembers that it works, and looks again where it did not: somebody may have put that right."""

    def __init__(self) -> None:
        self._works = False

    def faults(self, wrapped: Callable[[], list[bytes]]) -> Iterator[str]:
        """Yield what keeps these words from starting a program, and what to do."""
        if self._works:
            return
        if fault := _missing() or _broken(wrapped()):
            yield fault
        else:
            self._works = True


def _missing() -> str | None:
    if sys.platform != "linux":
        return f"the sandbox needs Linux. {_OR_NONE}"
    if not shutil.which("bwrap", path=PATH):
        return (
            "bubblewrap is not installed. Install it: apt-get install bubblewrap, or "
            f"dnf install bubblewrap. {_OR_NONE}"
        )
    for needed in (processes.SETPRIV, processes.PRLIMIT):
        if not os.access(needed, os.X_OK):
            return f"{needed} is not installed. Install it: apt-get install util-linux. {_OR_NONE}"
    return None


def _broken(words: list[bytes]) -> str | None:
    try:
        tried = subprocess.run(  # noqa: S603  # the words are ours
            words,
            env={"PATH": PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"bubblewrap does not start. Try `bwrap --version`. {_OR_NONE}"
    if tried.returncode == 0:
        return None
    said = display.one_line(tried.stderr.decode("utf-8", "replace").strip(), 200)
    return (
        f'bubblewrap does not work here ("{said}"). docs/operate.md says what it needs. {_OR_NONE}'
    )
