"""The secrets that steps may name, each read where it comes from at the moment it is needed."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from core.display import one_line
from core.errors import Invalid
from core.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSources:
    """Implements `core.ports.Secrets`; what was rotated meanwhile is found as it is now."""

    at_hand: Mapping[str, Callable[[], str]]
    """What reads each secret that takes no time to read; raises `Invalid` where it cannot."""
    redactor: Redactor

    def fault(self, name: str) -> str | None:
        """See the port."""
        read = self.at_hand.get(name)
        if read is None:
            return _unknown(name)
        try:
            self.redactor.learn(name, read())
        except Invalid:
            return _unreadable(name)
        return None

    async def values(self, names: Collection[str]) -> Mapping[str, str]:
        """See the port."""
        return {name: await self._value(name) for name in names}

    async def _value(self, name: str) -> str:
        read = self.at_hand.get(name)
        if read is None:
            raise Invalid(_unknown(name))
        try:
            value = await asyncio.to_thread(read)
        except Invalid as error:
            raise Invalid(_unreadable(name)) from error
        self.redactor.learn(name, value)
        return value


def _unknown(name: str) -> str:
    return f"There is no secret {one_line(name, 80)} under `secrets` in sayso.yml. Add it."


def _unreadable(name: str) -> str:
    return (
        f"The secret {one_line(name, 80)} has no value that can be passed on. "
        "Ask an operator to look with `sayso check`."
    )
