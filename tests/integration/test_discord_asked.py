"""People, servers and commands of Discord, asked for through the real client."""

import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.discord.asked import Asked
from adapters.discord.checks import Checks
from adapters.discord.declared import payload
from adapters.discord.people import DiscordRoster
from adapters.discord.permissions import integer, invitation
from adapters.discord.rest import Rest
from adapters.discord.setup import DiscordSetup
from adapters.discord.sync import synced
from core.errors import SaysoError, Unavailable
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, NotActive, Standing, Unknown, Why
from tests.standins.discord import FakeDiscord
from tests.standins.discord.world import ALICE, BOB, BOT, BOT_ROLE, GUILD, OPS

MEMBER = "GET /guilds/{guild}/members/{user}"
COMMANDS = "/applications/{app}/commands"
SRE = "800000000000000001"


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as discord:
        discord.world.role(SRE, "sre")
        yield discord


def setup_of(discord: FakeDiscord, *, token: str = "", guilds: tuple[str, ...] = (GUILD,)
) -> DiscordSetup:  # fmt: skip
    return DiscordSetup(
        token=token or discord.token,
        api_url=discord.api_url,
        gateway_url=discord.gateway_url,
        guilds=frozenset(guilds),
        groups={"sre": frozenset({SRE})},
    )


@pytest.fixture
async def asked(discord: FakeDiscord) -> AsyncIterator[Asked]:
    rest = Rest(setup=setup_of(discord))
    async with rest.opened():
        yield Asked(rest)


@pytest.fixture
def roster(asked: Asked) -> DiscordRoster:
    return DiscordRoster(asked, groups={"sre": frozenset({SRE})}, patience=10.0)


async def standing(
    roster: DiscordRoster, user: str = BOB, *, guild: str = GUILD, at: Freshness = Freshness.NOW
) -> Standing:
    one = Identity(platform="discord", workspace=guild, user=user)
    return (await roster.standings([one], at))[one]


async def test_x7_who_lost_the_role_a_second_ago_is_out_at_the_spend(
    discord: FakeDiscord, roster: DiscordRoster
) -> None:
    discord.world.person(BOB, "bob", SRE)
    assert await standing(roster) == Active(groups=frozenset({"sre"}))
    discord.world.person(BOB, "bob")
    assert await standing(roster, at=Freshness.RECENT) == Active(groups=frozenset({"sre"}))
    assert await standing(roster) == Active()
    assert len(discord.calls(MEMBER)) == 2


async def test_p36_who_left_and_who_never_was_are_not_there(
    discord: FakeDiscord, roster: DiscordRoster
) -> None:
    assert await standing(roster) == Active()
    del discord.world.guilds[GUILD].members[BOB]
    assert await standing(roster) == NotActive(why=Why.NOT_THERE)
    assert await standing(roster, "500000000000000077") == NotActive(why=Why.NOT_THERE)


async def test_a_bot_never_counts_and_nobody_while_moderators_keep_them_silent(
    discord: FakeDiscord, roster: DiscordRoster
) -> None:
    assert await standing(roster, BOT) == NotActive(why=Why.BOT)
    bob = discord.world.guilds[GUILD].members[BOB]
    now = datetime.now(UTC)
    bob["communication_disabled_until"] = (now + timedelta(hours=1)).isoformat()
    assert await standing(roster) == NotActive(why=Why.TIMED_OUT)
    bob["communication_disabled_until"] = (now - timedelta(hours=1)).isoformat()
    assert await standing(roster) == Active()
    bob["pending"] = True
    assert await standing(roster) == NotActive(why=Why.PENDING)


async def test_a_server_that_sayso_is_not_in_can_say_nothing_of_anybody(
    discord: FakeDiscord, roster: DiscordRoster
) -> None:
    unknown = Unknown(why="Sayso is not in that server")
    assert await standing(roster, guild="700000000000000009") == unknown
    del discord.world.guilds[GUILD].members[BOT]
    assert await standing(roster) == unknown


async def test_a_discord_that_is_down_or_wants_to_be_left_alone_is_no_yes(
    discord: FakeDiscord, roster: DiscordRoster
) -> None:
    discord.faults.rate_limited(MEMBER, after=60.0)
    waiting = Unknown(why="it limits how often it is asked")
    assert await standing(roster) == waiting
    assert await standing(roster, ALICE) == waiting
    assert len(discord.calls(MEMBER)) == 1, "it is left alone meanwhile"


async def test_an_outage_is_no_yes(discord: FakeDiscord, roster: DiscordRoster) -> None:
    discord.faults.says(MEMBER, 503, 0, "upstream @everyone")
    assert await standing(roster) == Unknown(why="it could not be reached")
    discord.faults.says(MEMBER, 403, 40001, "@everyone")
    assert await standing(roster) == Unknown(why="it answered 40001")


async def test_everybody_who_is_listed_is_named_with_their_roles(
    discord: FakeDiscord, roster: DiscordRoster
) -> None:
    users = [str(500_000_000_000_001_000 + n) for n in range(40)]
    for user in users:
        discord.world.person(user, f"u{user}", *([SRE] if user.endswith("7") else []))
    everybody = [Identity(platform="discord", workspace=GUILD, user=user) for user in users]
    found = await roster.standings(everybody, Freshness.HELD)
    in_sre = {one.user for one, told in found.items() if told == Active(groups=frozenset({"sre"}))}
    assert in_sre == {user for user in users if user.endswith("7")}


def faults_of(discord: FakeDiscord, asked: Asked, *guilds: str) -> Checks:
    return Checks(rest=asked, setup=setup_of(discord, guilds=guilds or (GUILD,)))


async def test_nothing_is_wrong_once_the_commands_are_registered(
    discord: FakeDiscord, asked: Asked
) -> None:
    (sentence,) = await faults_of(discord, asked).faults()
    assert "sayso sync discord" in sentence
    assert (await synced(asked)).changed
    assert await faults_of(discord, asked).faults() == ()


async def test_commands_are_written_exactly_where_they_differ(
    discord: FakeDiscord, asked: Asked
) -> None:
    assert (await synced(asked)).changed
    assert not (await synced(asked)).changed
    assert len(discord.calls(f"PUT {COMMANDS}")) == 1
    discord.declares([{"name": "ask", "description": "Something else", "type": 1}])
    assert (await synced(asked)).changed
    assert len(discord.world.commands[None]) == len(payload())


async def test_everything_that_is_wrong_is_told_at_once(discord: FakeDiscord, asked: Asked) -> None:
    await synced(asked)
    discord.world.privileged = 0
    discord.world.deny(OPS, "attach_files", who=BOT_ROLE)
    discord.world.guilds[GUILD].roles.remove(
        next(one for one in discord.world.guilds[GUILD].roles if one["id"] == SRE)
    )
    elsewhere = "700000000000000009"
    content, channel, outside, role = await faults_of(discord, asked, GUILD, elsewhere).faults()
    assert content.startswith("The Message Content Intent is off")
    assert f"not in the Discord server {elsewhere}" in outside
    assert invitation(BOT, elsewhere) in outside
    assert channel.startswith(f"In the Discord server acme ({GUILD})")
    assert "#ops (Attach Files)" in channel
    assert f"the role {SRE}" in role


async def test_what_everybody_may_no_longer_do_sayso_asks_for_itself(
    discord: FakeDiscord, asked: Asked
) -> None:
    await synced(asked)
    discord.world.guilds[GUILD].roles[0]["permissions"] = str(1 << 10 | 1 << 11)
    (sentence,) = await faults_of(discord, asked).faults()
    assert "Read Message History" in sentence
    assert invitation(BOT, GUILD) in sentence
    own = discord.world.guilds[GUILD].roles[1]
    own["permissions"] = str(integer())  # as the link does
    assert await faults_of(discord, asked).faults() == ()


async def test_a_token_that_discord_refuses_is_one_sentence_without_it(
    discord: FakeDiscord,
) -> None:
    setup = setup_of(discord, token="MTIz.not.the-token")
    (sentence,) = await Checks(rest=Asked(Rest(setup=setup)), setup=setup).faults()
    assert sentence.startswith("Discord does not accept discord.token.")
    assert setup.token not in sentence


async def test_an_answer_that_is_lost_holds_nothing_of_the_sdk(
    discord: FakeDiscord, asked: Asked
) -> None:
    await asked.user()
    discord.faults.down = True
    with pytest.raises(SaysoError) as caught:
        await synced(asked)
    assert isinstance(caught.value, Unavailable)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value.__dict__)
    assert discord.token not in shown
