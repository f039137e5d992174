"""What the configuration lets somebody ask for: runbooks and toolsets, read from where they lie."""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from adapters.runbook_folder import Catalogue, RunbookFolder
from adapters.sandbox.boxes import PATH
from adapters.skill_folder import shelf
from adapters.storage.memories import Memories
from adapters.storage.reminders import Reminders
from adapters.storage.transactions import Database
from bot import settings
from bot.absent import NoDatabase
from bot.settings import Settings
from bot.toolsets import Ports, composed
from bot.wiring.runners import box_of
from core import advice, commands
from core.errors import Incorrect, Invalid
from core.phrases import interpret
from core.redaction import Redactor
from core.toolbelt import Toolbelt
from core.tools import Effect, Toolbox
from core.toolset import Channel


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the Clock that everything else asks


def home_of(file: Path) -> Path:
    """Return the folder that paths in the configuration are relative to."""
    return file.resolve().parent


def folder(file: Path, configured: Settings, taken: Mapping[str, str]) -> RunbookFolder:
    """Return the folder of the runbooks; none of them may have a name that is `taken`."""
    path = home_of(file) / configured.runbooks.folder
    return RunbookFolder(path, strict=configured.runbooks.strict, taken=taken)


def catalogue(file: Path, configured: Settings) -> Catalogue:
    """Return the runbooks as they are now, with what is wrong with the others."""
    try:
        taken = toolbelt(file, configured).owners
    except Invalid:
        taken = dict[str, str]()  # told with the toolsets
    return folder(file, configured, taken).catalogue()


def unwise(file: Path, configured: Settings) -> Iterator[str]:
    """Yield what is legal and unwise in the runbooks that are sound; raise `Unavailable` without any."""
    box = box_of(configured, home_of(file))
    found = folder(file, configured, {}).sources()
    for source in found:
        yield from advice.of_one(source)
        for path, command in source.commands():
            if not box.program(command.run[0]):
                problem = (
                    f"no program of this name is in {PATH}, or of this path in the working folder. "
                    "Correct or install it."
                )
                yield source.told((*path, "run"), problem)
    yield from advice.of_all(found)


def unruled(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the writes whose risk has no rule; raise `Unavailable` without any runbooks."""
    known = ", ".join(configured.approvals.risks)
    for source in folder(file, configured, {}).sources():
        one = source.runbook
        if one.effect is Effect.WRITE and one.risk not in configured.approvals.risks:
            problem = (
                f"there is no rule for the risk {one.risk}; there are {known}. Correct it, or add one "
                "under `approvals` in sayso.yml."
            )
            yield source.told(("risk",), problem)


def unowned(file: Path, configured: Settings, owned: Collection[tuple[str, str]]) -> Iterator[str]:
    """Yield the channels of runbooks in workspaces that no tenant has; raise as `unruled` does."""
    for source in folder(file, configured, {}).sources():
        for number, channel in enumerate(source.runbook.channels):
            platform, workspace, _ = channel.split("/")
            if not any(platform in {"*", p} and workspace in {"*", w} for p, w in owned):
                problem = (
                    f"no tenant owns {platform}/{workspace}. Correct it, or add it under `tenants` in "
                    "sayso.yml."
                )
                yield source.told(("channels", number), problem)


def unheard(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the schedules of whose words nothing comes; nothing while a bad file may be the reason."""
    found = catalogue(file, configured)
    if found.faults:
        return
    belt = toolbelt(file, configured)
    for name, section in configured.schedules.items():
        why = _misheard(section.ask, found.tools, belt, configured)
        if why:
            yield settings.blame(file, "schedules", name, "ask", problem=why).shown


def _misheard(text: str, runbooks: Toolbox, belt: Toolbelt, configured: Settings) -> str | None:
    """Return why nothing comes of a text: a command is one for everybody, all else for the grammar."""
    marked = commands.after_mark(text)
    tools = belt.beside(runbooks, Channel.COMMAND if marked else Channel.TOOL)
    try:
        typed = commands.parse(marked, tools) if marked else None
        calls = (typed,) if typed else interpret(text, tools)
        for call in calls:
            tools[call.tool].check(call.arguments, configured.defaults)
    except Incorrect as error:
        return error.shown
    return None if calls else "nothing here is asked for in these words. Correct them."


def toolbelt(
    file: Path,
    configured: Settings,
    database: Database | None = None,
    redactor: Redactor | None = None,
) -> Toolbelt:
    """Return the toolsets that are on; without a database they can be looked at, but not used.

    Raises `Invalid` with file, line and field where they do not fit together.
    """
    home, kept = home_of(file), database or NoDatabase()
    ports = Ports(
        memories=Memories(kept),
        reminders=Reminders(kept),
        clock=SystemClock(),
        redactor=redactor or Redactor.of([]),
        shelf=lambda path: shelf(home / path),
    )
    return composed(file, configured, ports.own())


def unknown_tools(file: Path, configured: Settings) -> Iterator[str]:
    """Yield what is wrong with the tools of profiles; nothing while a file that is bad may be the reason."""
    found, known = catalogue(file, configured), tool_names(file, configured)
    for name, section in configured.profiles.items():
        for tool in section.tools or ():
            if tool not in known and not found.faults:
                problem = f"there is no tool {tool}. Correct or remove it."
                yield settings.blame(file, "profiles", name, "tools", problem=problem).shown


def tool_names(file: Path, configured: Settings) -> frozenset[str]:
    """Return the names of all runbooks and toolsets' tools."""
    return catalogue(file, configured).tools.names | toolbelt(file, configured).owners.keys()
