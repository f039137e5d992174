"""Permissions: what Sayso asks for, and what somebody has, as discord.py computes it as well."""

from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import discord
import pytest
from discord.abc import GuildChannel
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.permissions import (
    FILES,
    HISTORY,
    IN_POSTS,
    IN_THREADS,
    NEEDED,
    SEND,
    THREADS,
    VIEW,
    Holder,
    Overwrite,
    Permission,
    integer,
    invitation,
    lacking,
)

GUILD, ME, OTHER = "700", "9", "8"
ROLES = ("71", "72", "73")
ADMINISTRATOR = 8
NOTHING: list[Overwrite] = []
BITS = [*(one.bit for one in NEEDED), ADMINISTRATOR, 1 << 4]
SETS = st.sets(st.sampled_from(BITS), max_size=6).map(sum)
MASKS = st.sets(st.sampled_from(BITS[:6]), max_size=4).map(sum)
OVERWRITES = st.dictionaries(
    st.sampled_from([GUILD, *ROLES, ME, OTHER]), st.tuples(MASKS, MASKS), max_size=6
).map(
    lambda told: [
        Overwrite(id=id_, is_member=id_ in (ME, OTHER), allow=allow, deny=deny)
        for id_, (allow, deny) in told.items()
    ]
)


def holder(
    *,
    everybody: int = 0,
    roles: tuple[str, ...] = (),
    is_owner: bool = False,
    is_silenced: bool = False,
    **can: int,
) -> Holder:
    return Holder(
        guild=GUILD,
        user=ME,
        roles=frozenset(roles),
        can={GUILD: everybody, **{name.removeprefix("r"): bits for name, bits in can.items()}},
        is_owner=is_owner,
        is_silenced=is_silenced,
    )


def over(id_: str, *, allow: int = 0, deny: int = 0) -> Overwrite:
    return Overwrite(id=id_, is_member=id_ == ME, allow=allow, deny=deny)


def of_discord_py(one: Holder, overwrites: list[Overwrite]) -> int:
    """Return what the library says of the same member in a text channel.

    As it does for threads, before it takes away what goes with `Send Messages`.
    """
    state: Any = vars(discord.Client(intents=discord.Intents.none()))["_connection"]
    roles = [
        {"id": id_, "name": id_, "permissions": str(bits), "position": 0 if id_ == GUILD else 1,
         "color": 0, "hoist": False, "managed": False, "mentionable": False}
        for id_, bits in one.can.items()
    ]  # fmt: skip
    owner = ME if one.is_owner else "1"
    guild = discord.Guild(
        data=cast("Any", {"id": GUILD, "name": "g", "roles": roles, "owner_id": owner}),
        state=state,
    )
    told = [
        {"id": o.id, "type": int(o.is_member), "allow": str(o.allow), "deny": str(o.deny)}
        for o in overwrites
    ]
    channel: Any = {
        "id": "5", "name": "c", "type": 0, "position": 0, "permission_overwrites": told,
    }  # fmt: skip
    raw: Any = {
        "user": {"id": ME, "username": "me", "discriminator": "0", "avatar": None},
        "roles": list(one.roles), "joined_at": None, "flags": 0,
        "communication_disabled_until": "2999-01-01T00:00:00+00:00" if one.is_silenced else None,
    }  # fmt: skip
    me = discord.Member(data=raw, guild=guild, state=state)
    text = discord.TextChannel(state=state, guild=guild, data=channel)
    return GuildChannel.permissions_for(text, me).value


@given(
    everybody=SETS,
    can=st.tuples(SETS, SETS, SETS),
    roles=st.sets(st.sampled_from(ROLES)),
    overwrites=OVERWRITES,
    is_owner=st.booleans(),
    is_silenced=st.booleans(),
)
def test_what_a_member_may_do_is_what_discord_py_says(
    *,
    everybody: int,
    can: tuple[int, int, int],
    roles: set[str],
    overwrites: list[Overwrite],
    is_owner: bool,
    is_silenced: bool,
) -> None:
    one = Holder(
        guild=GUILD,
        user=ME,
        roles=frozenset(roles),
        can={GUILD: everybody, **dict(zip(ROLES, can, strict=True))},
        is_owner=is_owner,
        is_silenced=is_silenced,
    )
    mine, theirs = one.within(overwrites), of_discord_py(one, overwrites)
    if not theirs & VIEW.bit:
        theirs = 0  # without a view of it, the rest means nothing
    assert mine & integer() == theirs & integer()


@pytest.mark.parametrize(
    ("one", "overwrites", "held"),
    [
        (holder(everybody=VIEW.bit), NOTHING, {VIEW}),
        (holder(everybody=SEND.bit), NOTHING, set[Permission]()),
        (holder(everybody=VIEW.bit, roles=("71",), r71=SEND.bit), NOTHING, {VIEW, SEND}),
        (holder(everybody=VIEW.bit, r71=SEND.bit), NOTHING, {VIEW}),
        (holder(everybody=VIEW.bit | SEND.bit), [over(GUILD, deny=SEND.bit)], {VIEW}),
        (holder(everybody=VIEW.bit, roles=("71",)),
         [over(GUILD, deny=SEND.bit), over("71", allow=SEND.bit)], {VIEW, SEND}),
        (holder(everybody=VIEW.bit, roles=("71",)),
         [over(GUILD, allow=SEND.bit), over("71", deny=SEND.bit)], {VIEW}),
        (holder(everybody=VIEW.bit, roles=("71", "72")),
         [over("71", allow=SEND.bit), over("72", deny=SEND.bit)], {VIEW, SEND}),
        (holder(everybody=VIEW.bit, roles=("71",)),
         [over(ME, deny=SEND.bit), over("71", allow=SEND.bit)], {VIEW}),
        (holder(roles=("71",), r71=ADMINISTRATOR), [over(ME, deny=VIEW.bit)], set(NEEDED)),
        (holder(is_owner=True), [over(ME, deny=VIEW.bit)], set(NEEDED)),
        (holder(everybody=integer(), is_silenced=True), NOTHING, {VIEW, HISTORY}),
    ],
)  # fmt: skip
def test_a_channel_overrules_the_server_everybody_first_then_roles_together_then_oneself(
    one: Holder, overwrites: list[Overwrite], held: set[Permission]
) -> None:
    assert set(NEEDED) - set(lacking(one.within(overwrites))) == held


def test_each_permission_is_the_one_that_discord_py_knows_by_that_name() -> None:
    names = {
        VIEW: "view_channel", SEND: "send_messages", IN_THREADS: "send_messages_in_threads",
        THREADS: "create_public_threads", HISTORY: "read_message_history", FILES: "attach_files",
    }  # fmt: skip
    assert set(names) == set(NEEDED)
    for one, name in names.items():
        assert discord.Permissions(**{name: True}).value == one.bit
    assert discord.Permissions(**dict.fromkeys(names.values(), True)).value == integer()
    assert set(IN_POSTS) < set(NEEDED)
    assert lacking(0, IN_POSTS) == IN_POSTS


def test_the_link_asks_for_what_is_needed_and_can_name_the_server() -> None:
    asked = parse_qs(urlsplit(invitation("42")).query)
    assert asked == {
        "client_id": ["42"], "scope": ["bot applications.commands"],
        "permissions": [str(integer())],
    }  # fmt: skip
    here = parse_qs(urlsplit(invitation("42", GUILD)).query)
    assert here == {**asked, "guild_id": [GUILD], "disable_guild_select": ["true"]}
    expected = discord.utils.oauth_url(
        42,
        permissions=discord.Permissions(integer()),
        guild=discord.Object(700),
        disable_guild_select=True,
    )
    assert invitation("42", GUILD) == expected.replace("bot+app", "bot%20app")
