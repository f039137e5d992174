"""`sayso sync discord` registers commands exactly where Discord has others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from adapters.discord.declared import payload
from adapters.discord.refusals import unanswered
from adapters.discord.sync import synced
from core.canonical import JsonObject
from core.errors import SaysoError, Unavailable


@dataclass
class FakeRest:
    """Implements `adapters.discord.sync.Rest`: what is registered gets an id, as on Discord."""

    registered: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])
    writes: int = 0
    fails: SaysoError | None = None

    async def application(self) -> Mapping[str, object]:
        return {"id": "42"}

    async def commands(self, application: str) -> Sequence[Mapping[str, object]]:
        assert application == "42"
        return tuple(self.registered)

    async def register(self, application: str, commands: Sequence[JsonObject]) -> None:
        assert application == "42"
        if self.fails:
            raise self.fails
        self.writes += 1
        self.registered = [{**one, "id": str(n), "version": "1"} for n, one in enumerate(commands)]


async def test_commands_are_registered_once_and_then_left_alone() -> None:
    rest = FakeRest()
    assert (await synced(rest)).changed
    assert not (await synced(rest)).changed
    assert rest.writes == 1


async def test_what_was_changed_elsewhere_or_is_too_much_is_put_right() -> None:
    rest = FakeRest()
    await synced(rest)
    rest.registered.append({"name": "old", "description": "Gone"})
    assert (await synced(rest)).changed
    assert len(rest.registered) == len(payload())


async def test_a_discord_that_does_not_answer_is_no_success() -> None:
    rest = FakeRest(fails=unanswered("write commands", why="x"))
    with pytest.raises(Unavailable):
        await synced(rest)
