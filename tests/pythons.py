"""An interpreter of a test's own, with packages of its own installed."""

import sys
import sysconfig
import venv
from pathlib import Path

from adapters.python_steps.modules import Interpreter

DEEDS = '''\
"""What the functions of a step may do."""

import asyncio
import os
import subprocess
import sys
import time


def say(word, *, loud=False):
    """Print a word, and return how often."""
    print(word.upper() if loud else word)
    return {"said": [word], "times": 1}


def given(**values):
    """Return what it is given."""
    return values


async def later(word):
    """Say it after a while."""
    await asyncio.sleep(0.01)
    return word


def fails(word):
    """Say a word and raise it."""
    print("begun")
    raise LookupError(word)  # line 30


def exits(code):
    """Exit by itself."""
    sys.exit(code)


def odd():
    """Return what is no JSON."""
    return object()


def surroundings(path=""):
    """Return what it finds around it."""
    shown = sorted(set(os.environ) - {"PWD"})
    return {"names": shown, "path": sys.path, "argv": sys.argv, "reads": os.path.exists(path)}


def slow(seconds, file=""):
    """Take so long, and leave a file before."""
    if file:
        open(file, "w").close()
    time.sleep(seconds)


def flood():
    """Print without end."""
    while True:
        print("x" * 1000)


def hoard():
    """Take more memory than there may be."""
    return len(bytearray(1 << 30))


def leave(seconds):
    """Leave somebody in a session of its own."""
    subprocess.Popen(["sleep", str(seconds)], start_new_session=True)


def secret(name):
    """Print a secret."""
    print(os.environ[name])


def counts(file, enough):
    """Fail until it was called often enough."""
    with open(file, "a") as log:
        log.write(os.environ["SAYSO_STEP_ID"] + "\\n")
    with open(file) as log:
        if len(log.readlines()) < enough:
            raise RuntimeError
'''


def interpreter(folder: Path) -> Interpreter:
    """Make an interpreter in a folder, with `team.deeds` installed."""
    # Links, because a copy of the interpreter does not find its libraries everywhere.
    venv.create(folder, symlinks=True, with_pip=False)
    site = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(folder)}))
    install(site, "team.deeds", DEEDS)
    library = Path(sysconfig.get_path("stdlib"))
    return Interpreter(
        executable=folder / "bin" / "python",
        prefixes=(folder, Path(sys.base_prefix)),
        path=(library, site),
    )


def install(site: Path, module: str, text: str) -> Path:
    """Write a module where an interpreter finds it; return its file."""
    *packages, name = module.split(".")
    at = site.joinpath(*packages)
    at.mkdir(parents=True, exist_ok=True)
    for depth in range(len(packages)):
        site.joinpath(*packages[: depth + 1], "__init__.py").touch()
    file = at / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return file
