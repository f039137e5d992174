"""The platforms that are configured. What an adapter needs is imported only where it is."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from bot import settings
from bot.absent import NoPlatform
from bot.platform_sections import SlackSection
from bot.settings import Settings
from core.errors import Invalid
from core.platforms import Platform

_PATIENCE = 30.0
"""Seconds in which a platform has to say whether it could be connected to."""


def platforms(configured: Settings, home: Path) -> Mapping[str, Platform]:
    """Return every platform whose section is there, by name; without its secrets it says so itself."""
    found = dict[str, Platform]()
    if configured.slack:
        try:
            found["slack"] = _slack(configured, configured.slack, home)
        except Invalid as error:
            found["slack"] = NoPlatform(error, frozenset(configured.slack.groups))
    return found


async def platform_faults(configured: Settings, home: Path) -> tuple[str, ...]:
    """Return why a platform could not be connected to as it is set up, all of them asked at once."""
    found = platforms(configured, home)
    told = await asyncio.gather(*(wrong(*one, within=_PATIENCE) for one in found.items()))
    return tuple(chain.from_iterable(told))


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
    for name, source in _sources(configured.slack) if configured.slack else ():
        with suppress(Invalid):  # what cannot be read is not here to be shown
            found.append(settings.secret(name, source, home))
    return tuple(found)


def _slack(configured: Settings, section: SlackSection, home: Path) -> Platform:
    from adapters.slack.platform import SlackPlatform  # noqa: PLC0415 - heavy
    from adapters.slack.setup import SlackSetup  # noqa: PLC0415 - heavy

    values = {name: settings.secret(name, at, home) for name, at in _sources(section)}
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


def _sources(section: SlackSection) -> Iterator[tuple[str, str]]:
    """Yield the settings that name secrets, and where each comes from."""
    for name in ("bot_token", "app_token", "signing_secret"):
        source: str | None = getattr(section, name)
        if source:
            yield f"slack.{name}", source
