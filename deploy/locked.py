"""Print the part of requirements.lock that some packages need; without names, what Sayso runs with.

The lock pins what development takes too, and none of that belongs into an image. Each entry of the
lock says behind `# via` who asked for it, so the part is found without asking an index.
"""

import re
import sys
from pathlib import Path

SAYSO = "sayso (pyproject.toml)"
"""Who asks for what Sayso runs with; what is for development is asked for by `pyproject.toml:dev`."""
_ENTRY = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==.*(?:\n[ ]+.*)*", re.MULTILINE)


def part(lock: str, *names: str) -> str:
    """Return the entries for these names and for everything that they need."""
    entries = {found["name"]: found[0] for found in _ENTRY.finditer(lock)}
    askers = {name: _askers(text) for name, text in entries.items()}
    wanted = set(names or (SAYSO,))
    unknown = wanted - {SAYSO} - set(entries)
    if unknown:
        raise SystemExit(f"The lock has no {min(unknown)}. Correct the name.")
    while more := {n for n, asked in askers.items() if asked & wanted} - wanted:
        wanted |= more
    return "".join(f"{text}\n" for name, text in entries.items() if name in wanted)


def _askers(entry: str) -> set[str]:
    _, _, via = entry.partition("# via")
    return {line.strip().lstrip("# ") for line in via.splitlines()} - {""}


if __name__ == "__main__":
    file, *wanted = sys.argv[1:]
    sys.stdout.write(part(Path(file).read_text("utf-8"), *wanted))
