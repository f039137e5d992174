"""What `sayso check` says of Discord: one sentence for each thing that is wrong, and none otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from adapters.discord.checks import Checks
from adapters.discord.declared import payload
from adapters.discord.permissions import (
    FILES,
    HISTORY,
    IN_POSTS,
    SEND,
    THREADS,
    VIEW,
    integer,
    invitation,
)
from adapters.discord.refusals import unanswered, wrong_token
from adapters.discord.setup import DiscordSetup
from core.errors import Refused, SaysoError

T = TypeVar("T")
ME, APP, GUILD, MINE = "9", "42", "700", "71"
CONTENT = 1 << 19
USUAL = VIEW.bit | SEND.bit
AT = 1_800_000_000.0
UNREADABLE = "Discord's answer could not be read. Try again later."
NOT_THERE = "Discord shows Sayso no such server. Invite it there."


def channel(
    name: str, over: Mapping[str, tuple[int, int]] | None = None, *, kind: int = 0
) -> dict[str, object]:
    """Return a channel; by a role's or a member's id, what is allowed and denied."""
    told = [
        {"id": id_, "type": int(id_ == ME), "allow": str(allow), "deny": str(deny)}
        for id_, (allow, deny) in (over or {}).items()
    ]
    return {"id": "5", "name": name, "type": kind, "permission_overwrites": told}


def guild(id_: str = GUILD, *, everybody: int = USUAL, mine: int | None = None) -> dict[str, Any]:
    own = integer() if mine is None else mine
    roles = [
        {"id": id_, "name": "@everyone", "permissions": str(everybody)},
        {"id": MINE, "name": "Sayso", "permissions": str(own)},
    ]
    return {"id": id_, "name": "Acme", "owner_id": "1", "roles": roles}


def registered(*commands: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return commands as Discord keeps them."""
    return [{**one, "id": "1", "version": "2"} for one in commands]


@dataclass
class FakeRest:
    """Implements `adapters.discord.checks.Rest`."""

    app: Mapping[str, object] | SaysoError = field(
        default_factory=lambda: dict[str, object](id=APP, flags=CONTENT)
    )
    registered: list[Mapping[str, object]] | SaysoError = field(
        default_factory=lambda: registered(*payload())
    )
    known: dict[str, Mapping[str, object] | SaysoError] = field(
        default_factory=lambda: dict[str, Mapping[str, object] | SaysoError]({GUILD: guild()})
    )
    listed: Sequence[Mapping[str, object]] | SaysoError = ()
    seen: Sequence[Mapping[str, object]] | SaysoError = field(
        default_factory=lambda: [channel("general")]
    )
    about_me: Mapping[str, object] | SaysoError = field(
        default_factory=lambda: dict[str, object](user={"id": ME, "bot": True}, roles=[MINE])
    )

    async def user(self) -> str:
        return ME

    async def application(self) -> Mapping[str, object]:
        return _or_raise(self.app)

    async def guilds(self) -> Sequence[Mapping[str, object]]:
        return _or_raise(self.listed)

    async def guild(self, guild: str) -> Mapping[str, object]:
        return _or_raise(self.known.get(guild, Refused(NOT_THERE, error=10004)))

    async def channels(self, guild: str) -> Sequence[Mapping[str, object]]:
        assert guild in self.known
        return _or_raise(self.seen)

    async def member(self, guild: str, user: str) -> Mapping[str, object]:
        assert guild in self.known
        assert user == ME
        return _or_raise(self.about_me)

    async def commands(self, application: str) -> Sequence[Mapping[str, object]]:
        assert application == APP
        return _or_raise(self.registered)


def _or_raise(answer: T | SaysoError) -> T:
    if isinstance(answer, SaysoError):
        raise answer
    return answer


async def faults(
    rest: FakeRest,
    *,
    guilds: frozenset[str] = frozenset({GUILD}),
    groups: Mapping[str, frozenset[str]] | None = None,
    mentions_only: bool = False,
) -> tuple[str, ...]:
    setup = DiscordSetup(token="x", guilds=guilds, groups=groups or {}, mentions_only=mentions_only)
    return await Checks(rest=rest, setup=setup, wall=lambda: AT).faults()


async def test_nothing_is_wrong_where_everything_is_there() -> None:
    assert await faults(FakeRest(), groups={"sre": frozenset({MINE})}) == ()


async def test_with_a_wrong_token_that_is_all_that_is_told() -> None:
    rest = FakeRest(app=wrong_token("log in"), registered=[], known={})
    assert await faults(rest) == (wrong_token("log in").shown,)


@pytest.mark.parametrize("flags", [0, 1 << 15, None, "524288"])
async def test_without_the_content_of_messages_it_is_told_where_to_turn_that_on(
    flags: object,
) -> None:
    rest = FakeRest(app={"id": APP, "flags": flags})
    assert await faults(rest) == (
        "The Message Content Intent is off, without which Sayso cannot read what does not mention "
        "it: turn it on in Discord's Developer Portal under “Bot”, or write discord.threads: "
        "mentions.",
    )
    assert await faults(rest, mentions_only=True) == ()


async def test_an_app_that_was_let_to_read_everything_is_as_good() -> None:
    assert await faults(FakeRest(app={"id": APP, "flags": 1 << 18})) == ()


async def test_what_would_send_buttons_elsewhere_or_keep_it_out_is_told() -> None:
    endpoint, grant = "interactions_endpoint_url", "bot_require_code_grant"
    rest = FakeRest(app={"id": APP, "flags": CONTENT, endpoint: "https://a.example", grant: True})
    assert await faults(rest) == (
        "The Discord app has an Interactions Endpoint URL, so commands and buttons go there and "
        "never reach Sayso: remove it in Discord's Developer Portal under “General Information”.",
        "“Requires OAuth2 Code Grant” is on, so no link lets Sayso into a Discord server: turn it "
        "off in Discord's Developer Portal under “Bot”.",
    )


@pytest.mark.parametrize(
    "others", [registered(), registered(*payload()[1:], {**payload()[0], "description": "Old"})]
)
async def test_commands_that_are_not_these_are_to_be_synced(
    others: list[Mapping[str, object]],
) -> None:
    assert await faults(FakeRest(registered=others)) == (
        "/ask, /stop and /sayso are not registered with Discord as this version has them: "
        "run `sayso sync discord`.",
    )


async def test_without_any_server_it_is_told_where_to_write_one() -> None:
    (sentence,) = await faults(FakeRest(), guilds=frozenset())
    assert sentence.startswith("No tenant names a Discord server")


async def test_a_server_that_it_is_not_in_comes_with_the_link_that_lets_it_in() -> None:
    rest = FakeRest()
    (sentence,) = await faults(rest, guilds=frozenset({GUILD, "800"}))
    assert sentence == (
        f"Sayso is not in the Discord server 800, which a tenant names: open "
        f"{invitation(APP, '800')} as somebody who manages that server, or correct the id."
    )


async def test_a_server_that_discord_keeps_from_it_is_one_that_it_is_not_in() -> None:
    rest = FakeRest(known={GUILD: Refused("x", error=50001)})
    (sentence,) = await faults(rest)
    assert sentence.startswith(f"Sayso is not in the Discord server {GUILD}")


async def test_who_owns_a_server_lacks_nothing_there() -> None:
    rest = FakeRest(known={GUILD: {**guild(mine=0), "owner_id": ME}})
    assert await faults(rest) == ()


async def test_a_server_that_no_tenant_names_may_be_the_one_that_was_meant() -> None:
    rest = FakeRest(listed=[{"id": GUILD, "name": "Acme"}, {"id": "801", "name": "Ac\u202eme\n2"}])
    (sentence,) = await faults(rest, guilds=frozenset({GUILD, "800"}))
    assert "801" in sentence
    assert sentence.endswith(" (801), which no tenant names.")
    assert GUILD not in sentence
    assert "\u202e" not in sentence
    assert "\n" not in sentence
    rest.listed = unanswered("read a server", why="x")
    (sentence,) = await faults(rest, guilds=frozenset({GUILD, "800"}))
    assert sentence.endswith("or correct the id.")


async def test_what_it_lacks_in_all_of_a_server_is_told_once_with_reasons_and_a_link() -> None:
    here = guild(mine=integer() & ~(FILES.bit | THREADS.bit))
    rest = FakeRest(known={GUILD: here}, seen=[channel("general"), channel("ops")])
    assert await faults(rest) == (
        "In the Discord server Acme (700) Sayso lacks Create Public Threads (to hold each "
        "conversation in a thread) and Attach Files (to post long texts as files): open "
        f"{invitation(APP, GUILD)} as somebody who manages it, or give Sayso's role that.",
    )


async def test_channels_that_take_permissions_away_are_named_the_first_few() -> None:
    nothing = {MINE: (0, HISTORY.bit)}
    rest = FakeRest(
        seen=[
            channel("ops", nothing),
            channel("dev", {ME: (0, FILES.bit)}),
            channel("help", {MINE: (0, integer() & ~VIEW.bit)}, kind=15),
            channel("news", nothing, kind=5),
            channel("ops", nothing),
            channel("fine"),
        ]
    )
    assert await faults(rest) == (
        "In the Discord server Acme (700) some channels take permissions away from Sayso: #ops "
        "(Read Message History), #dev (Attach Files), #help (Send Messages in Threads, Read "
        "Message History and Attach Files) and 2 more. Allow its role these under “Permissions” "
        "of each.",
    )


@pytest.mark.parametrize(
    "quiet",
    [
        channel("secret", {MINE: (0, VIEW.bit)}),
        channel("rules", {GUILD: (0, SEND.bit), MINE: (0, SEND.bit)}),
        channel("voice", {MINE: (0, SEND.bit)}, kind=2),
        channel("team", {MINE: (0, SEND.bit)}, kind=4),
        channel("forum", {ME: (0, SEND.bit | THREADS.bit)}, kind=15),
        {"id": "6", "name": "bare", "type": 0},
    ],
)
async def test_channels_that_it_is_not_for_are_no_fault(quiet: dict[str, object]) -> None:
    assert await faults(FakeRest(seen=[channel("general"), quiet])) == ()


async def test_a_private_channel_that_it_was_let_into_is_for_it() -> None:
    private = channel("war", {GUILD: (0, VIEW.bit), ME: (VIEW.bit, THREADS.bit)})
    (sentence,) = await faults(FakeRest(seen=[channel("general"), private]))
    assert ": #war (Create Public Threads). Allow" in sentence


@pytest.mark.parametrize("seen", [[], [channel("secret", {MINE: (0, VIEW.bit)})]])
async def test_a_server_in_which_it_sees_nothing_is_told(seen: list[dict[str, object]]) -> None:
    (sentence,) = await faults(FakeRest(seen=seen))
    assert sentence.startswith("In the Discord server Acme (700) Sayso sees no channel")


async def test_a_timeout_of_its_own_is_told_and_hides_nothing_else() -> None:
    rest = FakeRest()
    about = {"user": {"id": ME, "bot": True}, "roles": [MINE]}
    rest.about_me = {**about, "communication_disabled_until": "2027-01-15T08:00:01+00:00"}
    assert await faults(rest) == (
        "Sayso is timed out in the Discord server Acme (700), so it cannot write there: let one of "
        "its moderators end that.",
    )
    rest.about_me = {**about, "communication_disabled_until": "2027-01-15T07:59:59+00:00"}
    assert await faults(rest) == ()


async def test_roles_that_give_nobody_anything_are_told() -> None:
    groups = {"sre": frozenset({MINE, "72"}), "all": frozenset({GUILD})}
    assert await faults(FakeRest(), groups=groups) == (
        "discord.groups.all names 700, which is a server and stands for everybody in it, so it puts "
        "nobody in that group: name another role.",
        "discord.groups.sre names the role 72, which no server of a tenant has: copy its id anew "
        "under “Roles” in the settings of the server.",
    )


async def test_no_role_is_missed_in_a_server_that_could_not_be_read() -> None:
    rest = FakeRest(known={GUILD: unanswered("read a server", why="x")})
    groups = {"sre": frozenset({"72"})}
    assert await faults(rest, groups=groups) == ("Discord did not answer. Try again later.",)
    rest = FakeRest(about_me=unanswered("read a member", why="x"))
    told = await faults(rest, groups=groups)
    assert told[0] == "Discord did not answer. Try again later."
    assert "the role 72" in told[1]


@pytest.mark.parametrize(
    "rest",
    [
        FakeRest(app={"flags": CONTENT}),
        FakeRest(known={GUILD: {**guild(), "name": None}}),
        FakeRest(known={GUILD: {**guild(), "roles": [{"id": "1"}]}}),
        FakeRest(known={GUILD: {**guild(), "roles": [{"id": "1", "permissions": "-1"}]}}),
        FakeRest(seen=[{"name": "x", "type": "0"}]),
        FakeRest(seen=[{"name": "x", "type": 0, "permission_overwrites": "all"}]),
        FakeRest(seen=[{"name": "x", "type": 0, "permission_overwrites": [{"id": "1"}]}]),
        FakeRest(about_me={"user": {"id": "1"}, "roles": []}),
    ],
)
async def test_an_answer_that_makes_no_sense_is_told_as_such(rest: FakeRest) -> None:
    assert await faults(rest) == (UNREADABLE,)


async def test_what_discord_does_not_answer_is_told_once() -> None:
    silence = unanswered("read a server", why="x")
    rest = FakeRest(registered=silence, known={GUILD: silence, "800": silence})
    assert await faults(rest, guilds=frozenset({GUILD, "800"})) == (silence.shown,)
    assert await faults(FakeRest(listed=[{"id": 7}]), guilds=frozenset({"800"})) != ()


def test_a_forum_needs_less() -> None:
    assert SEND not in IN_POSTS
