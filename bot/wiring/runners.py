"""Who runs the steps of runbooks, as the configuration says."""

import os
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import cast

from adapters.http_steps.runner import HttpRunner
from adapters.key_file import NAME
from adapters.python_steps.modules import Modules, our_own
from adapters.python_steps.runner import FunctionRunner
from adapters.sandbox.boxes import Box, NoBox
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Programs
from adapters.sandbox.runner import CommandRunner
from adapters.steps import KindRunner, StepRunner
from bot import settings
from bot.settings import Settings
from core.hosts import Allowed
from core.plans import ToolStep
from core.ports import Runner, Secrets
from core.redaction import Redactor

_FILE = "file:"


def runner_of(
    box: Box,
    modules: Modules,
    allowed: Allowed,
    tools: KindRunner[ToolStep],
    *,
    secrets: Secrets,
    redactor: Redactor,
) -> Runner:
    """Return what runs steps in a box, and sends requests to the hosts that are allowed."""
    programs = Programs(box=box, secrets=secrets, redactor=redactor)
    return StepRunner(
        backend=box.backend,
        commands=CommandRunner(programs),
        http=HttpRunner(allowed=allowed, secrets=secrets, redactor=redactor),
        python=FunctionRunner(programs=programs, modules=modules),
        tools=tools,
    )


def box_of(configured: Settings, home: Path) -> Box:
    """Return where steps run, as it is configured."""
    work = home / configured.runbooks.workdir
    if configured.sandbox.backend == "none":
        return NoBox(folder=work)
    return Bubblewrap(
        folder=Path(os.path.realpath(work)),
        readable=configured.sandbox.readable,
        hidden=(home, *_hidden(configured, home)),
        fixed=(*_fixed(configured, home),),
    )


def safe_box_of(configured: Settings, file: Path, home: Path) -> Box:
    """Return where steps run; raise `Invalid` where they would see what no step may."""
    box = box_of(configured, home)
    if isinstance(box, Bubblewrap):
        for problem in box.exposures():
            raise settings.blame(file, "sandbox", problem=problem)
    return box


def modules_of(configured: Settings, home: Path) -> Modules:
    """Return the modules whose functions steps may call: those that are installed beside Sayso."""
    return Modules(interpreter=our_own(), work=home / configured.runbooks.workdir)


def sandbox_faults(configured: Settings, home: Path) -> Iterator[str]:
    """Yield what keeps the sandbox from running anything, with what to do."""
    box = box_of(configured, home)
    if isinstance(box, Bubblewrap):
        yield from box.faults()


def sandbox_notes(configured: Settings, home: Path) -> Iterator[str]:
    """Yield what whoever starts Sayso has to know about how steps run."""
    if configured.sandbox.backend == "none":
        yield "no sandbox: steps run with all the rights of this account, as sayso.yml says."
    yield from sandbox_faults(configured, home)


def _hidden(configured: Settings, home: Path) -> Iterator[Path]:
    """Yield what no step may see or change, whether it is there yet or not."""
    database = home / configured.storage.path
    yield from (database, database.with_name(NAME), home / configured.runbooks.folder)
    yield home / configured.artifacts.beside(configured.storage.path)
    if configured.audit.heads:
        yield home / configured.audit.heads
    for text in _texts(configured.model_dump(mode="json")):
        if text.startswith(_FILE):
            yield home / text.removeprefix(_FILE)


def _fixed(configured: Settings, home: Path) -> Iterator[Path]:
    """Yield what decides what happens outside of the sandbox: who could change it would be out of it."""
    yield from (Path(sys.executable), Path(__file__), *map(Path, filter(None, sys.path)))
    if skills := configured.toolsets.skills:
        yield home / skills.folder  # what stands there is told to the model
    for secret in configured.secrets.values():
        yield from (home / word for word in secret.command)


def _texts(value: object) -> Iterator[str]:
    """Yield every text of a configuration: whichever section names a file of a secret, it counts."""
    match value:
        case str():
            yield value
        case dict():
            yield from chain.from_iterable(map(_texts, cast("dict[str, object]", value).values()))
        case list():
            yield from chain.from_iterable(map(_texts, cast("list[object]", value)))
        case _:
            pass
