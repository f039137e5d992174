"""The platforms that are configured. What an adapter needs is imported only where it is."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from adapters import processes
from adapters.storage.leases import Leases
from bot import settings
from bot.absent import NoDatabase, NoPlatform
from bot.authority import authority_of
from bot.platform_sections import SlackSection
from bot.settings import Settings
from core.errors import Invalid, Unavailable
from core.platforms import Platform
from core.principals import Directory

if TYPE_CHECKING:
    from adapters.discord.platform import DiscordPlatform
    from adapters.discord.sync import Synced

_PATIENCE = 30.0
"""Seconds in which a platform has to say whether it could be connected to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What platforms stand on: the folder of `sayso.yml`, and what they share with other processes."""

    home: Path
    leases: Leases
    directory: Callable[[], Directory]
    """Who is listed, as the file has it now."""


def bare(configured: Settings, home: Path) -> Ground:
    """Return what is enough for whoever connects nowhere."""
    return Ground(
        home=home,
        leases=Leases(NoDatabase(), is_dead=processes.is_dead),
        directory=lambda: authority_of(configured).directory,
    )


def platforms(configured: Settings, ground: Ground) -> Mapping[str, Platform]:
    """Return every platform whose section is there, by name; without its secrets it says so itself."""
    found = dict[str, Platform]()
    if slack := configured.slack:
        found["slack"] = _or_absent(lambda: _slack(configured, slack, ground), slack.groups)
    if discord := configured.discord:
        found["discord"] = _or_absent(lambda: discord_of(configured, ground), discord.groups)
    return found


def _or_absent(make: Callable[[], Platform], groups: Iterable[str]) -> Platform:
    try:
        return make()
    except Invalid as error:
        return NoPlatform(error, frozenset(groups))


async def platform_faults(configured: Settings, home: Path) -> tuple[str, ...]:
    """Return why a platform could not be connected to as it is set up, all of them asked at once."""
    found = platforms(configured, bare(configured, home))
    told = await asyncio.gather(*(wrong(*one, within=_PATIENCE) for one in found.items()))
    return tuple(chain.from_iterable(told))


async def sync_discord(configured: Settings, home: Path) -> "Synced":
    """Register the commands of the Discord bot where they differ."""
    try:
        async with asyncio.timeout(_PATIENCE):
            return await discord_of(configured, bare(configured, home)).sync()
    except TimeoutError:
        raise Unavailable(
            f"Discord did not answer within {_PATIENCE:.0f} seconds. Try again later."
        ) from None


async def wrong(name: str, platform: Platform, *, within: float) -> tuple[str, ...]:
    """Return what a platform finds wrong; that it does not answer in time is one thing more."""
    try:
        async with asyncio.timeout(within):
            return await platform.check()
    except TimeoutError:
        return (f"{name}: it did not answer within {within:.0f} seconds. Try again later.",)


def secrets(configured: Settings, home: Path) -> tuple[str, ...]:
    """Return the secrets of platforms that can be read: they must not be shown anywhere."""
    found = list[str]()
    for name, source in _sources(configured):
        with suppress(Invalid):  # what cannot be read is not here to be shown
            found.append(settings.secret(name, source, home))
    return tuple(found)


def discord_of(configured: Settings, ground: Ground) -> "DiscordPlatform":
    """Return Discord; raise `Invalid` where it is not configured, or its token cannot be read."""
    from adapters.discord.platform import DiscordPlatform  # noqa: PLC0415 - heavy
    from adapters.discord.setup import DiscordSetup  # noqa: PLC0415 - heavy

    section = configured.discord
    if section is None:
        raise Invalid(
            "There is no section `discord` in sayso.yml. Add it; docs/discord.md says how."
        )
    return DiscordPlatform(
        setup=DiscordSetup(
            token=settings.secret("discord.token", section.token, ground.home),
            api_url=section.api_url,
            gateway_url=section.gateway_url,
            guilds=frozenset(g for tenant in configured.tenants.values() for g in tenant.discord),
            groups={name: frozenset(ids) for name, ids in section.groups.items()},
            guilds_of=lambda user: _guilds_of(user, ground.directory()),
            mentions_only=section.threads == "mentions",
        ),
        leases=ground.leases,
        owner=processes.me(),
    )


def _guilds_of(user: str, directory: Directory) -> tuple[str, ...]:
    listed = (one for person in directory.people.values() for one in person.identities)
    found = {one.workspace for one in listed if (one.platform, one.user) == ("discord", user)}
    return tuple(sorted(found))


def _slack(configured: Settings, section: SlackSection, ground: Ground) -> Platform:
    from adapters.slack.platform import SlackPlatform  # noqa: PLC0415 - heavy
    from adapters.slack.setup import SlackSetup  # noqa: PLC0415 - heavy

    values = {name: settings.secret(name, at, ground.home) for name, at in _of_slack(section)}
    host, _, port = (section.listen or "").rpartition(":")
    return SlackPlatform(
        setup=SlackSetup(
            bot_token=values["slack.bot_token"],
            app_token=values.get("slack.app_token"),
            signing_secret=values.get("slack.signing_secret"),
            listen=(host.strip("[]"), int(port)) if section.listen else None,
            base_url=section.base_url,
            teams=frozenset(t for tenant in configured.tenants.values() for t in tenant.slack),
            groups={name: frozenset(ids) for name, ids in section.groups.items()},
            mentions_only=section.threads == "mentions",
        )
    )


def _sources(configured: Settings) -> Iterator[tuple[str, str]]:
    """Yield the settings that name secrets, and where each comes from."""
    if configured.slack:
        yield from _of_slack(configured.slack)
    if configured.discord:
        yield "discord.token", configured.discord.token


def _of_slack(section: SlackSection) -> Iterator[tuple[str, str]]:
    for name in ("bot_token", "app_token", "signing_secret"):
        source: str | None = getattr(section, name)
        if source:
            yield f"slack.{name}", source
