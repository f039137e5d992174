"""What is wrong with a configuration: a line for each problem, with what to do about it."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from approvals.policy import EVERYONE
from bot import settings, wiring
from bot.authority import CONSOLE, authority_of
from bot.settings import Settings
from core.errors import Invalid, SaysoError
from core.tools import Effect


def problems(file: Path, configured: Settings) -> Iterator[str]:
    """Yield everything that is wrong, though each value by itself is sound."""
    for name in settings.stray_names():
        yield f"{name}: no setting has this name. Correct or unset this variable."
    try:
        settings.secret_values(configured.secrets, file.parent)
    except Invalid as error:
        yield error.shown
    if configured.sandbox.backend is None:
        yield "sandbox: nothing may run until you choose one. Write: sandbox: {backend: none}"
    if not (file.parent / configured.runbooks.workdir).is_dir():
        yield f"runbooks.workdir: there is no folder {configured.runbooks.workdir}. Make it."
    if not any(tenant.console for tenant in configured.tenants.values()):
        yield "tenants: nobody owns the console. Write `console: true` for the tenant that does."
    yield from _heads_problems(file, configured)
    yield from _toolset_problems(file, configured)
    yield from _empty_groups(configured)
    yield from _too_few(file, configured)
    yield from _unknown_tools(file, configured)
    yield from _unknown_channels(configured)
    yield from _idle_rates(file, configured)
    yield from runbook_problems(file, configured)


def _heads_problems(file: Path, configured: Settings) -> Iterator[str]:
    if configured.audit.heads is None:
        return
    folder = (file.parent / configured.audit.heads).parent.resolve()
    if not folder.is_dir():
        yield "audit.heads: there is no such folder. Make it, or correct it."
    if folder.is_relative_to((file.parent / configured.runbooks.workdir).resolve()):
        yield "audit.heads: steps can write there. Choose a folder outside `runbooks.workdir`."


def _toolset_problems(file: Path, configured: Settings) -> Iterator[str]:
    try:
        yield from wiring.toolbelt(file, configured).faults
    except Invalid as error:
        yield error.shown


def _empty_groups(configured: Settings) -> Iterator[str]:
    held = {group for person in configured.people.values() for group in person.groups}
    for number, line in enumerate(configured.policy.rules):
        for group in line.groups:
            if group not in held | {EVERYONE}:
                yield f"policy.rules.{number}: nobody is in {group}. Correct it, or add somebody."

    for name, section in configured.profiles.items():
        for group in section.choose:
            if group not in held | {EVERYONE}:
                yield f"profiles.{name}.choose: nobody is in {group}. Correct it, or add somebody."


def _unknown_channels(configured: Settings) -> Iterator[str]:
    """Yield the channels of profiles that no conversation can ever be in."""
    owned = {CONSOLE} | {
        (platform, workspace)
        for tenant in configured.tenants.values()
        for platform, workspaces in (("slack", tenant.slack), ("discord", tenant.discord))
        for workspace in workspaces
    }
    for name, section in configured.profiles.items():
        for channel in section.channels:
            platform, workspace, _ = channel.split("/")
            if (platform, workspace) not in owned:
                yield (
                    f"profiles.{name}.channels: no tenant owns {platform}/{workspace}. Correct it, "
                    "or add it under `tenants`."
                )


def _idle_rates(file: Path, configured: Settings) -> Iterator[str]:
    """Yield the rates that concern no tool."""
    try:
        names = wiring.tool_names(file, configured)
    except SaysoError:
        return  # told with the runbooks
    for number, line in enumerate(configured.rates.tools):
        if not any(fnmatchcase(name, line.tool) for name in names):
            yield f"rates.tools.{number}: no tool is called like {line.tool}. Correct or remove it."


def _unknown_tools(file: Path, configured: Settings) -> Iterator[str]:
    try:
        yield from wiring.unknown_tools(file, configured)
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
        rule = configured.approvals.get(tool.risk)
        if tool.effect is not Effect.WRITE or rule is None:
            continue
        for tenant in configured.tenants:
            may = authority.holders(tenant, "plan:approve", [tool.resource])
            if len(may) < rule.quorum:
                yield (
                    f"{tool.name}: {rule.quorum} must approve it in {tenant}, and {len(may)} may. "
                    "Correct `policy`, or `quorum` under `approvals`."
                )


def runbook_problems(file: Path, configured: Settings) -> Iterator[str]:
    """Yield what is wrong with the runbooks."""
    try:
        found = wiring.catalogue(file, configured)
    except SaysoError as error:
        yield error.shown
        return
    yield from found.faults
    for tool in found.tools:
        if tool.effect is Effect.WRITE and tool.risk not in configured.approvals:
            yield f"{tool.name}: no rule for its risk. Add one to `approvals`, or correct `risk`."
