"""A workspace with two people, one from elsewhere, and a channel."""

from collections.abc import AsyncIterator

import pytest

from tests.standins.bolt import Client, client_of
from tests.standins.slack import FakeSlack

ALICE, BOB, EXTERNAL, OPS = "U0ALICE", "U0BOB", "U0EXT", "C0OPS"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        for user in (ALICE, BOB):
            slack.work.person(user)
        slack.work.person(EXTERNAL, team="T0ELSE", is_stranger=True)
        slack.work.channel(OPS, ALICE, BOB)
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> Client:
    return client_of(slack)
