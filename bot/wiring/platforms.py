"""The platforms that are configured. What an adapter needs is imported only where it is."""

import asyncio
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from bot import settings
from bot.platform_sections import SlackSection
from bot.settings import Settings
from core.errors import Invalid
from core.platforms import Platform

_PATIENCE = 30.0
"""Seconds in which a platform has to say whether it could be connected to."""


def platforms(configured: Settings, home: Path) -> Mapping[str, Platform]:
    """Return every platform whose section is there, by name; raise `Invalid` without its secrets."""
    found = dict[str, Platform]()
    if configured.slack:
        found["slack"] = _slack(configured, configured.slack, home)
    return found


async def platform_faults(configured: Settings, home: Path) -> tuple[str, ...]:
    """Return why a platform could not be connected to as it is set up, all of them asked at once."""
    try:
        found = platforms(configured, home)
    except Invalid as error:
        return (error.shown,)
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
    """Return the secrets of platforms, which must not be shown anywhere."""
    return tuple(_values(configured.slack, home).values()) if configured.slack else ()


def _slack(configured: Settings, section: SlackSection, home: Path) -> Platform:
    from adapters.slack.platform import SlackPlatform  # noqa: PLC0415 - heavy
    from adapters.slack.setup import SlackSetup  # noqa: PLC0415 - heavy

    values = _values(section, home)
    host, _, port = (section.listen or "").rpartition(":")
    return SlackPlatform(
        setup=SlackSetup(
            bot_token=values["bot_token"],
            app_token=values.get("app_token"),
            signing_secret=values.get("signing_secret"),
            listen=(host.strip("[]"), int(port)) if section.listen else None,
            base_url=section.base_url,
            teams=frozenset(t for tenant in configured.tenants.values() for t in tenant.slack),
            groups={name: frozenset(ids) for name, ids in section.groups.items()},
            mentions_only=section.threads == "mentions",
        )
    )


def _values(section: SlackSection, home: Path) -> dict[str, str]:
    sources = {
        "bot_token": section.bot_token,
        "app_token": section.app_token,
        "signing_secret": section.signing_secret,
    }
    return {
        name: settings.secret(f"slack.{name}", source, home)
        for name, source in sources.items()
        if source
    }
