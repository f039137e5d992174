"""What people do on Discord means, and that everything else means nothing."""

from dataclasses import replace

import pytest

from adapters.discord.findings import Act, Ignored, Sentence, Us
from adapters.discord.inbound import read
from adapters.discord.seen import Added, Removed, Rewritten, Seen, Where, Who
from core.events import Approve, Ask, Edited, Invited, Lookup, Place, Stop, StopHere
from core.platforms import Event
from core.principals import Identity
from tests.discord_seen import (
    ALICE,
    CAROL,
    CHANNEL,
    DIRECT,
    GUILD,
    ID,
    IN_CHANNEL,
    IN_DIRECT,
    IN_THREAD,
    INTERACTION,
    MESSAGE,
    OTHER_GUILD,
    SAYSO,
    STRICT,
    THREAD,
    US,
    message,
    press,
    slash,
    submit,
)

WHO = Identity(platform="discord", workspace=GUILD, user=ALICE)
PLACE = Place(platform="discord", workspace=GUILD, channel=CHANNEL)
NEW = replace(PLACE, thread=f"opens:{MESSAGE}")
TO_OPEN = replace(PLACE, thread=f"opens:i{INTERACTION}")
HERE = replace(PLACE, thread=THREAD)
PRIVATE = replace(PLACE, channel=DIRECT, thread=DIRECT)
NOBODY = "nobody spoke to Sayso"
SOFTWARE = "software wrote it"
NOBODYS = "it is of a server that is nobody's here"
UNCLEAR = "it cannot be understood"


def did(seen: Seen, us: Us = SAYSO) -> Event:
    found = read(seen, us)
    assert isinstance(found, Act), found
    return found.event


def why(seen: Seen, us: Us = SAYSO) -> str:
    found = read(seen, us)
    assert isinstance(found, Ignored), found
    return found.why


def said(seen: Seen, us: Us = SAYSO) -> str:
    found = read(seen, us)
    assert isinstance(found, Sentence), found
    return found.text


def asked(text: str, place: Place = NEW, *, known_only: bool = False) -> Ask:
    return Ask(
        identity=WHO,
        place=place,
        text=text,
        deliveries=(f"msg:{MESSAGE}",),
        known_only=known_only,
    )


# Asking


@pytest.mark.parametrize("mention", ["<@900>", "<@!900>", "<@&901>"])
def test_a_mention_asks_and_opens_a_thread_at_its_message(mention: str) -> None:
    assert did(message(f"{mention} restart web")) == asked("restart web")
    assert not NEW.is_opened


def test_a_mention_in_a_thread_asks_there() -> None:
    assert did(message("<@900> restart web", IN_THREAD)) == asked("restart web", HERE)
    assert did(message("look, <@900>, restart web", IN_THREAD, names={"<@900>": "sayso"})) == asked(
        "look, @sayso, restart web", HERE
    )


def test_p12_a_reply_calls_sayso_only_where_it_answers_sayso() -> None:
    assert did(message("restart web", answers=US)) == asked("restart web")
    assert did(message("and worker", IN_THREAD, answers=US), STRICT) == asked("and worker", HERE)
    assert why(message("restart web", answers=CAROL)) == NOBODY
    assert did(message("and worker", IN_THREAD, answers=CAROL)) == asked(
        "and worker", HERE, known_only=True
    )


def test_a_reply_that_points_somebody_to_what_sayso_said_is_for_them() -> None:
    assert why(message("<@3> look at this", answers=US)) == NOBODY
    assert why(message("<@3> look at this", IN_THREAD, answers=US)) == NOBODY
    assert did(message("<@3> and <@900> look", answers=US)) == asked("@3 and @900 look")


def test_what_stands_in_a_thread_asks_only_where_it_is_a_conversation() -> None:
    assert did(message("and worker", IN_THREAD)) == asked("and worker", HERE, known_only=True)


@pytest.mark.parametrize("text", ["<@3> look", "<@!3> look", "<@&7> look", "@everyone look"])
def test_what_begins_with_somebody_else_is_theirs(text: str) -> None:
    assert why(message(text, IN_THREAD)) == NOBODY


@pytest.mark.parametrize("text", ["restart web", "stop", "!stop", "", "`<@900>` stop", r"\<@900>"])
def test_a_message_to_nobody_is_for_nobody(text: str) -> None:
    assert why(message(text)) == NOBODY


def test_where_only_mentions_count_a_word_in_a_thread_is_for_nobody_but_stop_stays() -> None:
    assert why(message("and worker", IN_THREAD), STRICT) == NOBODY
    assert why(message("!runs", IN_THREAD), STRICT) == NOBODY
    assert why(message("", IN_THREAD), STRICT) == NOBODY
    for text in ("stop", "!stop"):
        assert did(message(text, IN_THREAD), STRICT) == StopHere(
            identity=WHO, place=HERE, known_only=True
        )
    for seen in (message("<@900> go", IN_THREAD), message("go", IN_DIRECT)):
        assert read(seen, STRICT) == read(seen, SAYSO)


def test_a_direct_message_is_for_sayso_in_the_server_that_lists_whoever_wrote_it() -> None:
    assert did(message("restart web", IN_DIRECT)) == asked("restart web", PRIVATE)


def test_of_several_servers_a_direct_message_is_of_the_first_that_is_ours() -> None:
    ours = [OTHER_GUILD, *(str(number) for number in range(110, 140)), GUILD]
    listed = {ALICE: ["099", *ours]}.__getitem__
    everywhere = replace(SAYSO, guilds=frozenset(ours), guilds_of=listed)
    assert did(message("restart web", IN_DIRECT), everywhere) == asked("restart web", PRIVATE)
    elsewhere = replace(SAYSO, guilds_of={ALICE: ["099"]}.__getitem__)
    assert "does not know you" in said(message("restart web", IN_DIRECT), elsewhere)


def test_p17_a_stranger_who_writes_to_sayso_is_told_so() -> None:
    stranger = Who(user=CAROL)
    for seen in (
        message("restart web", IN_DIRECT, by=stranger),
        slash("ask", "restart web", IN_DIRECT, by=stranger),
        press(f"sayso:stop:{ID}", IN_DIRECT, by=stranger),
        submit(f"sayso:deny:{ID}", IN_DIRECT, by=stranger),
    ):
        assert "does not know you" in said(seen)


def test_a_mention_without_a_word_is_told_what_to_say() -> None:
    assert said(message("<@900>")) == "Say what you need, as in: ask health"
    assert why(message("  ", IN_THREAD)) == "there is no text in it"


def test_what_no_store_takes_is_replaced() -> None:
    assert did(message("<@900> a\udc80\0b")) == asked("a\ufffd\ufffdb")


def test_a_line_that_was_pasted_as_code_asks_what_stands_in_it() -> None:
    assert did(message("<@900> ```sh\nrestart web\n```")) == asked("restart web")
    assert did(message("`restart web`", IN_THREAD)) == asked("restart web", HERE, known_only=True)
    assert did(message("<@900> run `restart web`")) == asked("run `restart web`")


# Commands in messages


@pytest.mark.parametrize("text", ["stop", "!stop", "Stop ", "<@900> stop", "<@900> !stop"])
def test_p22_stop_in_a_thread_stops_there(text: str) -> None:
    is_called = text.startswith("<")
    assert did(message(text, IN_THREAD)) == StopHere(
        identity=WHO, place=HERE, known_only=not is_called
    )


@pytest.mark.parametrize("text", ["stop", "!stop", "<@900> stop"])
def test_stop_outside_of_a_thread_means_what_they_may_stop(text: str) -> None:
    assert did(message(text, IN_DIRECT)) == Stop(identity=WHO)


@pytest.mark.parametrize(
    "text", ["stop the deploy", "st\u200bop", "!nice work", "lgtm", "approve", "👍", "**stop**"]
)
def test_p03_p22_p39_what_is_only_like_a_command_is_a_message(text: str) -> None:
    assert did(message(text, IN_THREAD)) == asked(text, HERE, known_only=True)


def test_p39_an_id_approves_and_nothing_less_does() -> None:
    approved = Approve(identity=WHO, request=ID)
    for text in (f"!approve {ID}", f"<@900> approve {ID}", f"<@900> approve `{ID}`"):
        assert did(message(text, IN_THREAD)) == approved
    assert did(message(f"<@900> approve {ID}")) == approved
    assert did(message(f"approve {ID}", IN_THREAD)) == asked(f"approve {ID}", HERE, known_only=True)
    for text in ("!approve", "<@900> approve it"):
        assert "Nothing was approved" in said(message(text, IN_THREAD))


@pytest.mark.parametrize("quoted", [f"> !approve {ID}", f"`!approve {ID}`", f"`approve {ID}`"])
def test_p39_whoever_quotes_approves_nothing_and_asks_what_they_wrote(quoted: str) -> None:
    assert did(message(quoted, IN_THREAD)) == asked(quoted, HERE, known_only=True)
    assert did(message(f"<@900> {quoted}", IN_THREAD)) == asked(quoted, HERE)


def test_p39_no_name_is_read_as_a_command() -> None:
    names = {"<@3>": f"!approve {ID}", "<#8>": "stop"}
    assert did(message("<#8>", IN_THREAD, names=names)) == asked("#stop", HERE, known_only=True)
    assert did(message("<@900> <@3>", names=names)) == asked(f"@!approve {ID}")


@pytest.mark.parametrize(
    "words",
    [
        f"approve {ID}",
        f"!deny {ID} no",
        f"again {ID}",
        f"grant {ID} 5 1h",
        f"!revoke g_{ID}",
        "pause",
        "resume",
        "!lift",
        f"handover {ID} bob",
        f"break-glass {ID} why",
    ],
)
def test_c61_nothing_is_decided_in_a_direct_message(words: str) -> None:
    assert said(message(words, IN_DIRECT)).startswith("Nothing was decided")
    assert said(slash("sayso", words, IN_DIRECT)).startswith("Nothing was decided")


# What never starts anything


@pytest.mark.parametrize("by", [Who(user="7", is_software=True), Who(user=US)])
def test_p09_p10_p12_software_starts_nothing(by: Who) -> None:
    everything: tuple[Seen, ...] = (
        message("<@900> go", by=by),
        message("!stop", IN_THREAD, by=by, answers=US),
        message("go", IN_DIRECT, by=by),
        message("joined", is_plain=False, by=by),
        message("<@900> go", replace(IN_CHANNEL, guild="999"), by=by),
        Rewritten(now=message("<@900> go", by=by), edited="now"),
        Removed(id=MESSAGE, where=IN_CHANNEL, author=by),
        slash("ask", "go", by=by),
        press(f"sayso:approve:{ID}", by=by),
        submit(f"sayso:deny:{ID}", by=by),
        Added(guild=GUILD, channel=CHANNEL, by=by),
    )
    assert {why(seen) for seen in everything} == {SOFTWARE}


@pytest.mark.parametrize("where", [IN_CHANNEL, IN_THREAD, IN_DIRECT])
def test_p10_what_discord_says_itself_starts_nothing(where: Where) -> None:
    assert why(message("<@900> go", where, is_plain=False)) == (
        "it is of a kind that Sayso does not read"
    )


def test_p26_a_server_that_is_nobodys_is_ignored() -> None:
    there = replace(IN_THREAD, guild="099")
    everything: tuple[Seen, ...] = (
        message("<@900> go", there),
        Rewritten(now=message("<@900> go", there), edited="now"),
        Removed(id=MESSAGE, where=there, author=Who(user=ALICE)),
        slash("ask", "go", there),
        press(f"sayso:approve:{ID}", there),
        submit(f"sayso:deny:{ID}", there),
        Added(guild="099", channel=CHANNEL, by=Who(user=ALICE)),
    )
    assert {why(seen) for seen in everything} == {NOBODYS}


def test_p26_the_same_channel_of_another_server_is_another_place() -> None:
    event = did(message("<@900> go", replace(IN_THREAD, guild=OTHER_GUILD)))
    assert isinstance(event, Ask)
    assert event.place == replace(HERE, workspace=OTHER_GUILD)
    assert event.identity == replace(WHO, workspace=OTHER_GUILD)


@pytest.mark.parametrize("odd", ["", "x", "1 ", "-1", "\u0661", "1" * 21])
def test_what_has_no_id_of_discords_is_not_understood(odd: str) -> None:
    whose = Who(user=odd)
    everything: tuple[Seen, ...] = (
        message("<@900> go", by=whose),
        message("<@900> go", replace(IN_CHANNEL, channel=odd)),
        replace(message("<@900> go"), id=odd),
        Rewritten(now=replace(message("go"), id=odd), edited="now"),
        Removed(id=odd, where=IN_CHANNEL, author=Who(user=ALICE)),
        slash("ask", "go", interaction=odd),
        press(f"sayso:approve:{ID}", interaction=odd),
        submit(f"sayso:deny:{ID}", by=whose),
        Added(guild=GUILD, channel=odd, by=Who(user=ALICE)),
    )
    assert {why(seen) for seen in everything} == {UNCLEAR}


# Edits


def changed(text: str, before: str | None = None, edited: str | None = "2026-11-30") -> Rewritten:
    return Rewritten(now=message(text, IN_THREAD), edited=edited, before=before)


def edited_to(text: str, place: Place = HERE) -> Edited:
    return Edited(identity=WHO, place=place, delivery=f"msg:{MESSAGE}", text=text)


def test_p10_other_words_are_an_edit_of_the_message_that_came_in() -> None:
    assert did(changed("restart worker")) == edited_to("restart worker")
    assert did(changed("restart worker", "restart web")) == edited_to("restart worker")
    now = Rewritten(now=message("<@900> go"), edited="now")
    assert did(now) == edited_to("go", NEW)


def test_p10_a_preview_or_a_mention_changes_no_word() -> None:
    for seen in (
        changed("restart web", edited=None),
        changed("restart web", "restart web"),
        changed("<@900> restart web ", "restart web"),
        changed("restart web", "<@900>, restart web"),
    ):
        assert why(seen) == "it is an edit that changes no word"


def test_p10_what_was_taken_back_says_nothing_any_more() -> None:
    gone = Removed(id=MESSAGE, where=IN_THREAD, author=Who(user=ALICE))
    assert did(gone) == edited_to("")
    assert why(replace(gone, author=None)) == UNCLEAR


def test_whoever_changes_a_direct_message_is_answered_nothing() -> None:
    stranger = Who(user=CAROL)
    now = message("go", IN_DIRECT, by=stranger)
    assert why(Rewritten(now=now, edited="now")) == NOBODYS
    assert why(Removed(id=MESSAGE, where=IN_DIRECT, author=stranger)) == NOBODYS
    assert did(Rewritten(now=message("go", IN_DIRECT), edited="now")) == edited_to("go", PRIVATE)


# Being brought into a server


def test_an_invitation_is_by_whoever_brought_it() -> None:
    assert did(Added(guild=GUILD, channel=CHANNEL, by=Who(user=ALICE))) == Invited(
        identity=WHO, place=PLACE
    )


# Slash commands


def once(text: str, place: Place = TO_OPEN) -> Ask:
    return Ask(identity=WHO, place=place, text=text, deliveries=(f"interaction:{INTERACTION}",))


SLASHES: dict[tuple[str, str], Event] = {
    ("ask", " restart web "): once("restart web"),
    ("ask", "stop the deploy"): once("stop the deploy"),
    ("ask", "look at <@3>"): once("look at @3"),
    ("stop", ""): Stop(identity=WHO),
    ("stop", "ALL"): Stop(identity=WHO, everything=True),
    ("stop", "c_1"): Stop(identity=WHO, conversation="c_1"),
    ("stop", "x" * 200): Stop(identity=WHO, conversation="x" * 64),
    ("sayso", ""): Lookup(identity=WHO, place=TO_OPEN, at="help"),
    ("sayso", "stop"): Stop(identity=WHO),
    ("sayso", "runs"): Lookup(identity=WHO, place=TO_OPEN, at="runs"),
    ("sayso", f"approve {ID}"): Approve(identity=WHO, request=ID),
    ("sayso", "restart web"): once("restart web"),
}


@pytest.mark.parametrize(("name", "text"), SLASHES)
def test_a_slash_command_means_one_thing(name: str, text: str) -> None:
    assert did(slash(name, text)) == SLASHES[name, text]


def test_a_slash_command_in_a_thread_is_about_that_thread() -> None:
    assert did(slash("ask", "go", IN_THREAD)) == once("go", HERE)
    here = StopHere(identity=WHO, place=HERE)
    assert did(slash("stop", "", IN_THREAD)) == here
    assert did(slash("sayso", "stop", IN_THREAD)) == here
    assert did(slash("stop", "all", IN_THREAD)) == Stop(identity=WHO, everything=True)


def test_a_slash_command_in_a_direct_message_is_about_that() -> None:
    assert did(slash("ask", "go", IN_DIRECT)) == once("go", PRIVATE)
    assert did(slash("stop", "", IN_DIRECT)) == Stop(identity=WHO)


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("ask", "  ", "/ask health"),
        ("stop", "this and that", "takes nothing"),
        ("sayso", "approve", "Nothing was approved"),
        ("sayso", "deny it", "Nothing was denied"),
    ],
)
def test_a_slash_command_that_is_misused_is_told_how(name: str, text: str, hint: str) -> None:
    assert hint in said(slash(name, text))


@pytest.mark.parametrize("name", ["dance", "", "/ask", "ASK"])
def test_no_other_command_is_read(name: str) -> None:
    assert why(slash(name, "now")) == "it is of a kind that Sayso does not read"
