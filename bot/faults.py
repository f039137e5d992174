"""What is wrong with a configuration: a line for each problem, with what to do about it."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from approvals.policy import EVERYONE
from bot import settings, wiring
from bot.aside import begin
from bot.authority import CONSOLE, authority_of
from bot.publish import HANGS, WITHIN
from bot.settings import Settings
from core.errors import Invalid, SaysoError
from core.tools import Effect


def problems(file: Path, configured: Settings) -> Iterator[str]:
    """Yield everything that is wrong, though each value by itself is sound."""
    for name in settings.stray_names():
        yield f"{name}: no setting has this name. Correct or unset this variable."
    yield from _secret_problems(file, configured)
    for problem in wiring.sandbox_faults(configured, wiring.home_of(file)):
        yield told(file, "sandbox", problem=problem)
    if not (file.parent / configured.runbooks.workdir).is_dir():
        problem = f"there is no folder {configured.runbooks.workdir}. Make it."
        yield told(file, "runbooks", "workdir", problem=problem)
    if not any(tenant.console for tenant in configured.tenants.values()):
        problem = "nobody owns the console. Write `console: true` for the tenant that does."
        yield told(file, "tenants", problem=problem)
    yield from _heads_problems(file, configured)
    yield from _artifact_problems(file, configured)
    yield from _mute_channel(file, configured)
    yield from _toolset_problems(file, configured)
    yield from _empty_groups(file, configured)
    yield from _too_few(file, configured)
    yield from _unknown_tools(file, configured)
    yield from _unknown_channels(file, configured)
    yield from _idle_rates(file, configured)
    yield from _unheard(file, configured)
    yield from runbook_problems(file, configured)


def told(file: Path, *path: str | int, problem: str) -> str:
    """Return the sentence for a value of the file that is sound by itself, with its line and field."""
    return settings.blame(file, *path, problem=problem).shown


def _secret_problems(file: Path, configured: Settings) -> Iterator[str]:
    if configured.storage.password:
        try:
            settings.secret("storage.password", configured.storage.password, file.parent)
        except Invalid as error:
            problem = error.shown.removeprefix("storage.password: ")
            yield told(file, "storage", "password", problem=problem)
    for name, problem in wiring.secret_faults(configured, file.parent):
        yield told(file, "secrets", name, problem=problem)


def _heads_problems(file: Path, configured: Settings) -> Iterator[str]:
    try:
        found = begin(lambda: list(_heads_faults(file, configured))).result(WITHIN)
    except TimeoutError:
        found = [HANGS]
    for problem in found:
        yield told(file, "audit", "heads", problem=problem)


def _heads_faults(file: Path, configured: Settings) -> Iterator[str]:
    heads, place = wiring.heads_of(file, configured), configured.audit.heads
    if heads is None or place is None:
        return
    folder = (file.parent / place).parent.resolve()
    if not folder.is_dir():
        yield "there is no such folder. Make it, or correct it."
    if folder.is_relative_to((file.parent / configured.runbooks.workdir).resolve()):
        yield "steps can write there. Choose a folder outside `runbooks.workdir`."
    if fault := heads.fault():
        yield fault


def _artifact_problems(file: Path, configured: Settings) -> Iterator[str]:
    try:
        wiring.artifact_folder(file, configured)
    except Invalid as error:
        yield error.shown


def _toolset_problems(file: Path, configured: Settings) -> Iterator[str]:
    try:
        belt = wiring.toolbelt(file, configured)
    except Invalid as error:
        yield error.shown
        return
    yield from belt.faults
    yield from wiring.server_faults(file, configured, belt.owners)


def _empty_groups(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the groups that somebody may do something as and that nobody is in."""
    held = {group for person in configured.people.values() for group in person.groups}
    named: list[tuple[tuple[str | int, ...], tuple[str, ...]]] = [
        *(
            (("policy", "rules", n, "groups"), one.groups)
            for n, one in enumerate(configured.policy.rules)
        ),
        *((("profiles", name, "choose"), one.choose) for name, one in configured.profiles.items()),
    ]
    for path, groups in named:
        for group in groups:
            if group not in held | {EVERYONE}:
                problem = f"nobody is in {group}. Correct it, or add somebody."
                yield told(file, *path, problem=problem)


def _owned(configured: Settings) -> set[tuple[str, str]]:
    """Return every workspace of every tenant, each with its platform."""
    return {
        (platform, workspace)
        for tenant in configured.tenants.values()
        for platform, workspaces in (("slack", tenant.slack), ("discord", tenant.discord))
        for workspace in workspaces
    }


def _mute_channel(file: Path, configured: Settings) -> Iterator[str]:
    """Yield why no head of the audit log could be posted where it should be."""
    if configured.audit.channel is None:
        return
    platform, workspace, _ = configured.audit.channel.split("/")
    if (platform, workspace) not in _owned(configured):
        problem = f"no tenant owns {platform}/{workspace}. Correct it, or add it under `tenants`."
        yield told(file, "audit", "channel", problem=problem)
    elif getattr(configured, platform, None) is None:
        problem = f"there is no section `{platform}`, so nothing can be posted there. Add it."
        yield told(file, "audit", "channel", problem=problem)


def _unknown_channels(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the channels of profiles that no conversation can ever be in."""
    owned = {CONSOLE, *_owned(configured)}
    for name, section in configured.profiles.items():
        for channel in section.channels:
            platform, workspace, _ = channel.split("/")
            if (platform, workspace) not in owned:
                problem = (
                    f"no tenant owns {platform}/{workspace}. Correct it, or add it under `tenants`."
                )
                yield told(file, "profiles", name, "channels", problem=problem)


def _idle_rates(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the rates that concern no tool; nothing while a file that is bad may be the reason."""
    try:
        names = wiring.tool_names(file, configured)
        bad = wiring.catalogue(file, configured).faults
    except SaysoError:
        return  # told with the runbooks
    if bad:
        return
    for number, line in enumerate(configured.rates.tools):
        if not any(fnmatchcase(name, line.tool) for name in names):
            problem = f"no tool is called like {line.tool}. Correct or remove it."
            yield told(file, "rates", "tools", number, problem=problem)


def _unknown_tools(file: Path, configured: Settings) -> Iterator[str]:
    try:
        yield from wiring.unknown_tools(file, configured)
    except SaysoError:
        return  # told with the runbooks


def _unheard(file: Path, configured: Settings) -> Iterator[str]:
    try:
        yield from wiring.unheard(file, configured)
    except SaysoError:
        return  # told with the runbooks


def _too_few(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the runbooks that nobody can ever get approved."""
    try:
        tools = wiring.catalogue(file, configured).tools
    except SaysoError:
        return  # told with the runbooks
    authority = authority_of(configured)
    for tool in tools:
        rule = configured.approvals.risks.get(tool.risk)
        if tool.effect is not Effect.WRITE or rule is None:
            continue
        for tenant in configured.tenants:
            may = authority.holders(tenant, "plan:approve", [tool.resource])
            if len(may) < rule.quorum:
                problem = (
                    f"{rule.quorum} must approve {tool.name} in {tenant}, and {len(may)} may. "
                    "Correct this, or `quorum` under `approvals`."
                )
                yield told(file, "policy", problem=problem)


def runbook_problems(file: Path, configured: Settings) -> Iterator[str]:
    """Yield what is wrong with the runbooks."""
    try:
        found = wiring.catalogue(file, configured)
    except SaysoError as error:
        yield told(file, "runbooks", "folder", problem=error.shown)
        return
    yield from found.faults
    yield from wiring.unruled(file, configured)
    yield from wiring.unlisted(file, configured)
    yield from wiring.unowned(file, configured, {CONSOLE, *_owned(configured)})
