"""Discord's REST interface through the real client: one login, a bounded time, and no token in what fails."""

import asyncio
from collections.abc import AsyncIterator

import discord as sdk
import pytest
from discord.http import Route

from adapters.discord import rest as module
from adapters.discord.rest import Rest
from core.errors import Invalid, Refused, SaysoError, Unavailable
from tests.discord_posts import LOGIN, POST, setup_of
from tests.standins.discord import BOT, OPS, FakeDiscord
from tests.standins.discord.faults import Fault


@pytest.fixture
async def discord(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    monkeypatch.setattr(Route, "BASE", Route.BASE)
    async with FakeDiscord() as discord:
        yield discord


@pytest.fixture
async def rest(discord: FakeDiscord) -> AsyncIterator[Rest]:
    rest = Rest(setup=setup_of(discord))
    async with rest.opened():
        yield rest


async def posts(client: sdk.Client) -> str:
    message = await client.get_partial_messageable(int(OPS)).send("Hello", nonce="n")
    return str(message.id)


async def post(rest: Rest) -> str:
    return await rest.call("post in a channel", posts, on=OPS)


async def test_one_login_serves_everybody_at_once(discord: FakeDiscord, rest: Rest) -> None:
    assert await rest.user() == BOT
    await asyncio.gather(*(post(rest) for _ in range(10)))

    assert len(discord.calls(LOGIN)) == 1


async def test_outside_of_a_block_each_call_opens_and_closes_what_it_needs(
    discord: FakeDiscord,
) -> None:
    rest = Rest(setup=setup_of(discord))

    await post(rest)
    await post(rest)

    assert len(discord.calls(LOGIN)) == 2


@pytest.mark.parametrize("first", ["login", "later"])
async def test_a_wrong_token_is_named_and_not_tried_again_at_once(
    discord: FakeDiscord, first: str
) -> None:
    now = 1000.0
    rest = Rest(setup=setup_of(discord), now=lambda: now)
    async with rest.opened():
        if first == "later":
            await post(rest)
        discord.token = discord.web.token = "another"
        for _ in range(5):
            with pytest.raises(Invalid) as caught:
                await post(rest)
            assert "discord.token" in caught.value.shown
        refused = [call for call in discord.web.calls if call.status == 401]
        assert len(refused) == 1
        now += module.DISTRUST
        with pytest.raises(Invalid):
            await post(rest)
        discord.token = discord.web.token = rest.setup.token
        now += module.DISTRUST
        assert await post(rest)


async def test_nothing_of_the_client_is_in_an_error(discord: FakeDiscord, rest: Rest) -> None:
    failures: list[SaysoError] = []
    await rest.user()
    for fault in (
        Fault(status=403, body={"code": 50013, "message": "Missing Permissions: hunter2"}),
        Fault(status=404, body={"code": 10003, "message": "hunter2"}),
        Fault(status=400, body={"code": 50035, "message": "hunter2", "errors": {"content": {}}}),
        Fault(status=503, body={"message": "hunter2"}),
        Fault(status=401, body={"message": "hunter2"}),
        Fault(cuts=True),
        Fault(status=200, body={"odd": "hunter2"}),
    ):
        discord.faults.add(POST, fault)
        with pytest.raises((Refused, Unavailable)) as caught:
            await post(rest)
        failures.append(caught.value)
        rest._refused_until = 0.0  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    for failure in failures:
        assert (failure.__cause__, failure.__context__) == (None, None)
        assert "hunter2" not in f"{failure} {failure.__dict__}"
        assert rest.setup.token not in f"{failure} {failure.__dict__}"


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_an_outage_of_discord_is_tried_through_as_long_as_there_is_time(
    discord: FakeDiscord, rest: Rest, status: int
) -> None:
    await rest.user()
    discord.faults.fails(POST, status)
    assert await post(rest)
    rest.deadline = 0.1
    discord.faults.fails(POST, status)
    with pytest.raises(Unavailable) as caught:
        await post(rest)
    assert caught.value.after is None


async def test_a_login_that_failed_is_tried_again(discord: FakeDiscord, rest: Rest) -> None:
    discord.faults.drops(LOGIN, times=2)  # what only reads is tried twice
    with pytest.raises(Unavailable):
        await post(rest)
    discord.faults.fails("GET /oauth2/applications/@me", 503)
    with pytest.raises(Unavailable):
        await post(rest)

    assert await post(rest)


async def test_a_call_that_is_cut_while_all_have_to_wait_blocks_no_other(
    discord: FakeDiscord, rest: Rest
) -> None:
    await rest.user()
    discord.faults.rate_limited(POST, after=2, everywhere=True)
    rest.deadline = 0.2
    with pytest.raises(Unavailable):
        await post(rest)

    rest.deadline = 5.0
    async with asyncio.timeout(5):
        assert await post(rest)


async def test_what_is_cut_from_outside_blocks_no_other(discord: FakeDiscord, rest: Rest) -> None:
    await rest.user()
    discord.faults.rate_limited(POST, after=2, everywhere=True)
    task = asyncio.create_task(post(rest))
    await discord.until(lambda: discord.calls(POST))
    await asyncio.sleep(0.05)  # until the client has read the answer and sleeps for it
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with asyncio.timeout(5):
        assert await post(rest)


async def test_what_is_left_is_used_up_and_then_it_is_told_how_long_to_wait(
    discord: FakeDiscord, rest: Rest
) -> None:
    discord.rates.limit(POST, 3, 300)
    for _ in range(3):
        await post(rest)

    with pytest.raises(Unavailable) as caught:
        await post(rest)

    assert caught.value.after is not None
    assert 290 < caught.value.after.total_seconds() <= 300


async def test_where_it_is_soon_over_a_burst_is_spread_and_nobody_is_told_of_it(
    discord: FakeDiscord, rest: Rest
) -> None:
    discord.rates.limit(POST, 5, 1)

    await asyncio.gather(*(post(rest) for _ in range(12)))

    assert discord.rates.most(POST, within=1) <= 5
