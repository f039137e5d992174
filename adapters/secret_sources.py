"""The secrets that steps may name, each read where it comes from at the moment it is needed."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from adapters.secret_commands import SecretCommand
from core.display import one_line
from core.errors import Invalid, Unavailable
from core.exact_values import unfit
from core.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSources:
    """Implements `core.ports.Secrets`; what was rotated meanwhile is found as it is now."""

    at_hand: Mapping[str, Callable[[], str]]
    """What reads each secret that takes no time to read; raises `Invalid` where it cannot."""
    commands: Mapping[str, SecretCommand]
    """What prints each of the others."""
    redactor: Redactor

    def fault(self, name: str) -> str | None:
        """See the port."""
        if command := self.commands.get(name):
            return (
                None
                if command.is_there
                else _without(name, "Its command names no program of this machine.")
            )
        try:
            self._at_hand(name)
        except Invalid as error:
            return error.shown
        return None

    async def values(self, names: Collection[str]) -> Mapping[str, str]:
        """See the port."""
        return {name: await self._value(name) for name in names}

    async def _value(self, name: str) -> str:
        if command := self.commands.get(name):
            return self._learnt(name, await _printed(name, command))
        return await asyncio.to_thread(self._at_hand, name)

    def _at_hand(self, name: str) -> str:
        read = self.at_hand.get(name)
        if read is None:
            raise Invalid(
                f"There is no secret {_shown(name)} under `secrets` in sayso.yml. Add it."
            )
        try:
            return self._learnt(name, read())
        except Invalid as error:
            raise Invalid(_without(name, "It has no value that can be passed on.")) from error

    def _learnt(self, name: str, value: str) -> str:
        self.redactor.learn(name, value)
        return value


async def _printed(name: str, command: SecretCommand) -> str:
    try:
        value = await command.read()
    except Unavailable as error:
        raise Unavailable(_without(name, error.shown)) from error
    if why := unfit(value):
        raise Invalid(_without(name, f"Its command printed what cannot be one: {why}"))
    return value


def _without(name: str, why: str) -> str:
    return (
        f"The secret {_shown(name)} cannot be used. {why} "
        "Try again later, or ask an operator to look with `sayso check`."
    )


def _shown(name: str) -> str:
    return one_line(name, 80)
