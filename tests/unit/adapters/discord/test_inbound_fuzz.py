"""Whatever comes in is read; and why something is ignored repeats nothing of it."""

from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.findings import Act, Finding, Ignored, Sentence, Why
from adapters.discord.inbound import read
from adapters.discord.seen import (
    Added,
    Command,
    Pressed,
    Removed,
    Rewritten,
    Seen,
    Submitted,
    Where,
    Who,
    Written,
)
from adapters.discord.whereabouts import is_id
from tests.discord_seen import (
    ALICE,
    CAROL,
    CHANNEL,
    DIRECT,
    GUILD,
    ID,
    INTERACTION,
    MESSAGE,
    ROLE,
    SAYSO,
    STRICT,
    THREAD,
    TURN,
    US,
)

SECRET = "correcthorsebattery"
ODD = st.text(max_size=20) | st.text(st.sampled_from("0123456789"), max_size=25)
IDS = ODD | st.sampled_from([ALICE, CAROL, CHANNEL, DIRECT, GUILD, MESSAGE, THREAD, US])
PARTS = st.sampled_from(
    [
        f"<@{US}>",
        f"<@!{US}>",
        f"<@&{ROLE}>",
        f"<@{CAROL}>",
        "<#8>",
        "<t:99999999999:R>",
        "</stop:1>",
        "`",
        "```",
        "\\",
        "\n",
        "\ud800",
        "\0",
        "stop",
        "!",
        "approve ",
        "deny ",
        ID,
        "all",
        " ",
    ]
)
TEXTS = st.lists(PARTS | st.text(max_size=10), max_size=8).map(SECRET.join)
NAMES = st.dictionaries(st.sampled_from([f"<@{CAROL}>", "<#8>"]) | ODD, TEXTS, max_size=3)
CUSTOM_IDS = TEXTS | st.builds(
    "sayso:{}:{}{}".format,
    st.sampled_from(["approve", "deny", "suggest", "again", "stop", "review", "dance"]) | ODD,
    st.sampled_from([ID, TURN]) | ODD,
    st.sampled_from(["", ":0", ":999", ":x"]),
)
WHOSE = st.builds(Who, user=IDS, is_software=st.booleans())
WHERE = st.builds(
    Where, guild=st.none() | st.just(GUILD) | IDS, channel=IDS, parent=st.none() | IDS
)
WRITTEN = st.builds(
    Written,
    id=IDS,
    author=WHOSE,
    where=WHERE,
    text=TEXTS,
    names=NAMES,
    answers=st.none() | IDS,
    is_plain=st.booleans(),
)
INTERACTIONS = st.just(INTERACTION) | IDS
SEEN: st.SearchStrategy[Seen] = st.one_of(
    WRITTEN,
    st.builds(Rewritten, now=WRITTEN, edited=st.none() | TEXTS, before=st.none() | TEXTS),
    st.builds(Removed, id=IDS, where=WHERE, author=st.none() | WHOSE),
    st.builds(
        Command,
        interaction=INTERACTIONS,
        name=st.sampled_from(["ask", "stop", "sayso"]) | ODD,
        text=TEXTS,
        by=WHOSE,
        where=WHERE,
    ),
    st.builds(
        Pressed,
        interaction=INTERACTIONS,
        custom_id=CUSTOM_IDS,
        by=WHOSE,
        where=WHERE,
        message=st.none() | IDS,
    ),
    st.builds(
        Submitted,
        interaction=INTERACTIONS,
        custom_id=CUSTOM_IDS,
        by=WHOSE,
        where=WHERE,
        fields=st.dictionaries(st.just("reason") | ODD, TEXTS, max_size=2),
    ),
    st.builds(Added, guild=IDS, channel=IDS, by=WHOSE),
)
WHYS = set(get_args(Why))


def is_sound(found: Finding) -> bool:
    match found:
        case Ignored():
            return found.why in WHYS
        case Sentence():
            return SECRET not in found.text and found.text.isascii()
        case Act():
            who = found.event.identity
            return is_id(who.user) and who.workspace in SAYSO.guilds
        case _:
            return is_id(found.identity.user) and len(found.request) <= 64


@settings(max_examples=1500)
@given(SEEN)
def test_whatever_comes_in_is_read_and_no_reason_repeats_it(seen: Seen) -> None:
    assert is_sound(read(seen, SAYSO))
    assert is_sound(read(seen, STRICT))


@given(SEEN, IDS)
def test_whoever_sayso_is_what_comes_in_is_read(seen: Seen, odd: str) -> None:
    us = replace(SAYSO, user=odd, roles=frozenset({odd, ROLE}))
    assert is_sound(read(seen, us))


@given(WRITTEN)
def test_p12_no_software_is_ever_taken_for_a_person(said: Written) -> None:
    software = replace(said, author=replace(said.author, is_software=True))
    for seen in (software, Rewritten(now=software, edited="now")):
        assert read(seen, SAYSO) == Ignored(why="software wrote it")
