"""What people do on Discord, with what a test wants to be different."""

from collections.abc import Mapping
from typing import Final

from adapters.discord.findings import Us
from adapters.discord.seen import Command, Pressed, Submitted, Where, Who, Written

US: Final = "900"
ROLE: Final = "901"
GUILD: Final = "100"
OTHER_GUILD: Final = "101"
CHANNEL: Final = "200"
THREAD: Final = "300"
DIRECT: Final = "400"
ALICE: Final = "1"
CAROL: Final = "3"
MESSAGE: Final = "5000"
INTERACTION: Final = "6000"
ID: Final = "0123456789abcdef" * 2
TURN: Final = f"t_{ID}"

IN_CHANNEL: Final = Where(guild=GUILD, channel=CHANNEL)
IN_THREAD: Final = Where(guild=GUILD, channel=THREAD, parent=CHANNEL)
IN_DIRECT: Final = Where(guild=None, channel=DIRECT)


def listed(user: str) -> frozenset[str]:
    """Alice is listed in a server that is ours and in one that is not; nobody else is anywhere."""
    return frozenset({GUILD, "099"}) if user == ALICE else frozenset()


SAYSO: Final = Us(
    user=US, roles=frozenset({ROLE}), guilds=frozenset({GUILD, OTHER_GUILD}), guilds_of=listed
)
STRICT: Final = Us(
    user=US,
    roles=frozenset({ROLE}),
    guilds=frozenset({GUILD, OTHER_GUILD}),
    guilds_of=listed,
    mentions_only=True,
)


def message(
    text: str,
    where: Where = IN_CHANNEL,
    *,
    by: Who | None = None,
    names: Mapping[str, str] | None = None,
    answers: str | None = None,
    is_plain: bool = True,
) -> Written:
    return Written(
        id=MESSAGE,
        author=by or Who(user=ALICE),
        where=where,
        text=text,
        names=names or {},
        answers=answers,
        is_plain=is_plain,
    )


def slash(
    name: str,
    text: str = "",
    where: Where = IN_CHANNEL,
    *,
    by: Who | None = None,
    interaction: str = INTERACTION,
) -> Command:
    return Command(
        interaction=interaction, name=name, text=text, by=by or Who(user=ALICE), where=where
    )


def press(
    custom_id: str,
    where: Where = IN_THREAD,
    *,
    by: Who | None = None,
    interaction: str = INTERACTION,
) -> Pressed:
    return Pressed(
        interaction=interaction,
        custom_id=custom_id,
        by=by or Who(user=ALICE),
        where=where,
        message=MESSAGE,
    )


def submit(
    custom_id: str, where: Where = IN_THREAD, *, by: Who | None = None, **fields: str
) -> Submitted:
    return Submitted(
        interaction=INTERACTION,
        custom_id=custom_id,
        by=by or Who(user=ALICE),
        where=where,
        fields=fields,
    )
