"""A workspace with two people, one from elsewhere, and a channel; a server; clients of both."""

from collections.abc import AsyncIterator

import pytest

from tests.standins.bolt import Client, client_of
from tests.standins.discord import FakeDiscord
from tests.standins.discordpy import Listening, connected, logged_in
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


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as discord:
        yield discord


@pytest.fixture
async def rest(discord: FakeDiscord) -> AsyncIterator[Listening]:
    """Give a discord.py client that calls, without a session."""
    async with logged_in(discord) as client:
        yield client


@pytest.fixture
async def listening(discord: FakeDiscord) -> AsyncIterator[Listening]:
    """Give a discord.py client with a session."""
    async with connected(discord) as client:
        yield client
