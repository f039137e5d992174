"""What Discord shows: looked at once, held by golden files, and within every limit whatever is said."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.discord import messages
from adapters.discord.drawn import Drawn
from core.cards import Button
from core.deliveries import Asking, Message, Opening, Progress, Text
from core.errors import Invalid, OutcomeUnknown, Refused, SaysoError, Unavailable
from core.platforms import Told
from core.principals import Identity
from tests import said
from tests.discord_drawings import (
    ALICE,
    BOB,
    ELSEWHERE,
    GOLDEN,
    GUILD,
    SAMPLES,
    TURN,
    asking,
    drawn,
    golden,
)
from tests.discord_limits import every, refused, refused_form, words
from tests.discord_reading import kinds, plain
from tests.drawn_samples import ANSWER, FORGED
from tests.said import buttons, long

STYLES = {"bold", "italic", "strike", "code", "block", "heading", "item", "quote", "pressed"}
"""What an answer may be made of."""
people = st.lists(
    st.builds(
        Identity,
        platform=st.sampled_from(["discord", "slack"]),
        workspace=st.sampled_from([GUILD, "9"]),
        user=st.sampled_from(["1", "22", "alice", "", "1" * 20, *map(str, range(100, 130))]),
    ),
    max_size=60,
).map(tuple)


def pressed(one: Drawn) -> list[tuple[str, str]]:
    shown = every([one.components, one.below])
    return [(each["custom_id"], each["label"]) for each in shown if each["type"] == 2]


def types(one: Drawn) -> set[int]:
    return {each["type"] for each in every(one.components)}


@pytest.mark.parametrize("name", SAMPLES)
def test_everything_is_drawn_as_somebody_has_seen_it(name: str) -> None:
    assert drawn(name) == golden(name).read_text("utf-8")


def test_every_golden_file_belongs_to_a_sample() -> None:
    assert {file.stem for file in GOLDEN.glob("*")} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_discord_takes_every_sample(name: str) -> None:
    sample = SAMPLES[name]
    if isinstance(sample, Drawn):
        assert [*refused(sample)] == []
    elif isinstance(sample, tuple):
        assert [[*refused(one)] for one in sample] == [[] for _ in sample]
    else:
        assert [*refused_form(sample)] == []  # type: ignore[arg-type]  # a form


@given(said.messages(people, TURN))
@settings(max_examples=300, deadline=None)
def test_discord_takes_whatever_is_said(message: Message) -> None:
    shown = messages.draw(message, guild=GUILD)
    assert [[*refused(one)] for one in shown] == [[] for _ in shown]
    assert shown
    assert isinstance(message, Text) or len(shown) == 1


@given(st.builds(Told, text=long, buttons=buttons, card=st.none() | said.askings(people)))
@settings(max_examples=100, deadline=None)
def test_discord_takes_whatever_somebody_is_told(told: Told) -> None:
    shown = messages.told(told)
    if told.text or told.buttons or told.card:
        assert [*refused(shown)] == []
    else:
        assert shown == Drawn()


@given(said.askings(people))
@settings(max_examples=150, deadline=None)
def test_discord_takes_whatever_somebody_looks_at(card: Asking) -> None:
    assert [*refused(messages.reviewed(card))] == []


@given(long, st.sampled_from([Refused, Invalid, Unavailable, OutcomeUnknown]))
@settings(max_examples=50, deadline=None)
def test_discord_takes_whatever_failed(text: str, kind: type[SaysoError]) -> None:
    assert [*refused(messages.failed(kind(text)))] == []


@given(long)
@example("111<<<_` " * 300)
@settings(max_examples=100, deadline=None)
def test_discord_takes_whatever_is_not_finished_and_it_says_so(text: str) -> None:
    shown = messages.unfinished(text)
    assert [*refused(shown)] == []
    assert shown.content.endswith("\n-# This is still being written.")


@pytest.mark.parametrize(
    ("error", "words_of_it"),
    [
        (Refused("No."), "⛔ No."),
        (Invalid("No."), "⛔ No."),
        (Unavailable("No."), "⏳ Not now. No."),
        (OutcomeUnknown("No."), "❓ Nobody knows how this ended. No."),
    ],
)
def test_a_failure_is_marked_by_what_may_be_done_next(error: SaysoError, words_of_it: str) -> None:
    assert words(messages.failed(error).components) == words_of_it


@given(long, st.lists(long, max_size=5).map(tuple))
@settings(max_examples=150, deadline=None)
def test_no_answer_can_pass_for_a_card_a_report_or_a_note(
    text: str, suggestions: tuple[str, ...]
) -> None:
    approve = Button(label="Approve", verb="approve", request="a" * 32)
    answer = Text(text=text, suggestions=suggestions, turn=TURN, buttons=(approve,))
    for one in messages.draw(answer, guild=GUILD):
        assert not one.components
        assert not one.mentions
        below = one.content.removesuffix(
            "-# This is the beginning. All of it is in the file below."
        )
        if "-# This is" not in one.content:
            assert kinds(below) <= STYLES
        assert all(custom_id.startswith(f"sayso:suggest:{TURN}:") for custom_id, _ in pressed(one))


def test_a_report_a_note_a_card_and_an_answer_of_the_same_words_look_different() -> None:
    one = "Run r_1 succeeded: deploy."
    shown = [
        messages.draw(Text(text=one), guild=GUILD),
        messages.draw(Text(text=one, is_note=True), guild=GUILD),
        messages.draw(Text(text=one, is_report=True), guild=GUILD),
        messages.draw(asking(), guild=GUILD),
    ]
    assert [types(first) for (first,) in shown] == [set(), {10}, {10, 17}, {1, 2, 10, 14, 17}]
    assert kinds(words(shown[1][0].components)) == {"small"}
    assert kinds(words(shown[2][0].components)) == {"heading", "bold"}


@pytest.mark.parametrize(
    "text",
    [
        "@everyone @here <@1> <@!1> <@&1> <#1> </stop:1> <t:1:R> <:a:1> <id:guide> :smile:",
        "`@everyone`\n```\n<@1>\n```",
        "[@everyone](https://evil.example/<@1>) [<@1>](https://discord.gg/a) discord.gg/a",
        "> <@1>\n> -# small\n\n-# small\n\n||@here||",
        "# <@1>\n\n- <@1>\n1. <t:1>\n\n| a | b |\n|---|---|\n| <@1> | @here |",
        ANSWER,
        FORGED,
    ],
)
@pytest.mark.parametrize("is_note", [False, True])
@pytest.mark.parametrize("is_report", [False, True])
def test_p18_nothing_that_is_said_mentions_anybody(
    text: str, *, is_note: bool, is_report: bool
) -> None:
    (one,) = messages.draw(Text(text=text, is_note=is_note, is_report=is_report), guild=GUILD)
    assert one.mentions == ()
    assert [*refused(one)] == []
    assert kinds(one.content) <= STYLES
    assert kinds(words(one.components)) <= {"small", "block", "bold", "heading"}
    assert kinds(messages.unfinished(text).content) <= STYLES | {"small"}


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=secret)",
        "[a](https://evil.example/?q=secret)",
        "https://evil.example/?q=secret",
        "<https://evil.example/?q=secret>",
    ],
)
def test_p48_an_address_is_shown_and_asks_for_no_preview(text: str) -> None:
    (one,) = messages.draw(Text(text=text), guild=GUILD)
    assert "https://evil.example/?q=secret" in plain(one.content)
    assert kinds(one.content) <= {"pressed"}


@pytest.mark.parametrize(
    "url",
    [
        "https://discord.gg/abc",
        "https://discord.com/channels/1/2",
        "https://ptb.Discord.com/channels/1/2",
    ],
)
def test_an_address_that_discord_shows_as_something_else_stays_an_address(url: str) -> None:
    (one,) = messages.draw(Text(text=f"{url} <{url}> [here]({url})"), guild=GUILD)
    assert kinds(one.content) == set()
    assert plain(one.content) == f"{url} {url} here ({url})"


def test_nothing_hidden_passes_anywhere() -> None:
    odd = "over\u202ertl \u200b\x1b[31m &#x202e; \ud800"
    for message in (
        Text(text=odd),
        Text(text=odd, is_note=True),
        Text(text=odd, is_report=True),
        Opening(author=odd, text=odd),
        Progress(run="r", title=odd, status=odd, began_at=datetime.now(UTC), tail=(odd,)),
        replace(asking(), status=odd),
    ):
        (one,) = messages.draw(message, guild=GUILD)
        assert not set("\u202e\u200b\x1b\ud800") & set(one.content + words(one.components))
        assert "\\u202e" in plain(one.content + words(one.components))


@pytest.mark.parametrize(
    "text",
    ["Head.\n" + "x" * 10_000, "x" * 10_000, "x" * 3_600 + "\nxxx", "x" * 3_600 + "\n" + "x" * 300],
)
def test_whoever_is_told_a_part_is_told_how_much_is_missing(text: str) -> None:
    for one in (messages.told(Told(text=text)), messages.failed(Refused(text))):
        assert [*refused(one)] == []
        shown = words(one.components)
        missing = sum(map(int, re.findall(r"\n… (\d+) more characters$", shown, re.MULTILINE)))
        assert missing
        assert shown.count("x") + missing == text.count("x")


def test_what_is_too_long_for_a_report_is_left_out_in_the_middle_and_given_as_a_file() -> None:
    text = "Run r_1 failed: deploy.\n" + "x" * 12_012 + "\nApproved by bob."
    (one,) = messages.draw(Text(text=text, is_report=True), guild=GUILD)
    assert [*refused(one)] == []
    assert one.document == text
    shown = words(one.components)
    assert "Approved by bob." in shown
    left = int(re.findall(r"… (\d+) characters are left out here", shown)[0])
    assert shown.count("x") + left == 12_012
    assert shown.count("x") > 2_500


def test_a_report_that_fits_needs_no_file() -> None:
    (one,) = messages.draw(
        Text(text="Run r_1 failed: deploy.\n" + "x" * 3_000, is_report=True), guild=GUILD
    )
    assert one.document is None
    assert "x" * 3_000 in words(one.components)


def test_p01_an_answer_of_nine_thousand_characters_comes_in_five_messages() -> None:
    shown = messages.draw(Text(text="word " * 1_800), guild=GUILD)
    assert len(shown) == 5
    assert [one.document for one in shown] == [None] * 5
    assert " ".join(one.content for one in shown).split().count("word") == 1_800


def test_p01_an_answer_of_forty_thousand_and_one_characters_is_a_beginning_and_a_file() -> None:
    text = "word " * 8_000 + "!"
    (one,) = messages.draw(Text(text=text, suggestions=("more",), turn=TURN), guild=GUILD)
    assert one.document == text
    assert "-# This is the beginning. All of it is in the file below." in one.content
    assert one.content.count("word") > 300
    assert pressed(one) == [(f"sayso:suggest:{TURN}:0", "more")]


def test_p01_two_thousand_emoji_are_counted_as_discord_may_count_them() -> None:
    shown = messages.draw(Text(text="😀" * 2_000), guild=GUILD)
    assert [[*refused(one)] for one in shown] == [[] for _ in shown]
    assert "".join(one.content for one in shown).count("😀") == 2_000
    assert len(shown) == 3


def test_suggestions_that_do_not_fit_below_an_answer_come_in_a_message_of_their_own() -> None:
    many = tuple("漢" * 90 + str(number) for number in range(20))
    shown = messages.draw(Text(text="x" * 1_800, suggestions=many, turn=TURN), guild=GUILD)
    assert [bool(one.below) for one in shown] == [False, True]
    assert "You could ask:" in shown[1].content


def test_a_suggestion_that_no_button_can_show_is_written_out_too() -> None:
    long_one = "restart " * 12
    (one,) = messages.draw(Text(text="?", suggestions=(long_one, "wait"), turn=TURN), guild=GUILD)
    assert f"- {long_one.strip()}" in one.content
    assert [len(label) for _, label in pressed(one)] == [80, 4]
    assert one.content.count("wait") == 0


def test_a_suggestion_keeps_its_number_where_an_empty_one_is_left_out() -> None:
    (one,) = messages.draw(Text(text="?", suggestions=("a", " ", "b"), turn=TURN), guild=GUILD)
    assert pressed(one) == [(f"sayso:suggest:{TURN}:0", "a"), (f"sayso:suggest:{TURN}:2", "b")]


def test_without_a_turn_suggestions_are_words() -> None:
    (one,) = messages.draw(Text(text="?", suggestions=("wait",)), guild=GUILD)
    assert pressed(one) == []
    assert "- wait" in one.content


def test_a_message_that_vanishes_offers_no_approval() -> None:
    shown = messages.told(Told(card=asking()))
    assert [custom_id.split(":")[1] for custom_id, _ in pressed(shown)] == ["review", "deny"]
    assert shown.mentions == ()


def test_buttons_that_would_mean_the_same_are_one() -> None:
    stops = [Button(label=f"Stop {n}", verb="stop", request=f"r{n % 2}") for n in range(4)]
    deny = Button(label="Deny", verb="deny", request="r0")
    shown = messages.told(Told(text="Which?", buttons=(*stops, deny)))
    assert pressed(shown) == [
        ("sayso:stop:r0", "Stop 0"),
        ("sayso:stop:r1", "Stop 1"),
        ("sayso:deny:r0", "Deny"),
    ]


def test_buttons_leave_room_for_words() -> None:
    many = tuple(Button(label="漢😀" * 30, verb="stop", request=f"r{n}") for n in range(60))
    shown = messages.told(Told(text="Which? " * 2_000, buttons=many))
    assert [*refused(shown)] == []
    assert 3 <= len(pressed(shown)) < 60


def test_p07_a_reminder_mentions_whoever_is_waited_for_and_nothing_else_does() -> None:
    [note] = messages.draw(
        Text(text="Still waiting: <@9>.", is_note=True, wanted=(BOB, ELSEWHERE)), guild=GUILD
    )
    [answer] = messages.draw(Text(text="Still waiting.", wanted=(BOB,)), guild=GUILD)
    assert (note.mentions, answer.mentions) == ((BOB.user,), ())
    assert f"May approve: <@{BOB.user}>" in json.dumps(note.components)
    assert [*refused(note)] == []


def test_who_asked_is_mentioned_above_the_thread_and_their_words_are_quoted() -> None:
    asked = Opening(author="alice", text="restart <@1>\n# now", asker=ALICE)
    (one,) = messages.draw(asked, guild=GUILD)
    assert one.content == f"<@{ALICE.user}> asked:\n> restart \\<@1>\n> \\# now"
    assert one.mentions == (ALICE.user,)
    (other,) = messages.draw(replace(asked, asker=ELSEWHERE), guild=GUILD)
    assert other.content.startswith("**alice** asked:\n")
    assert other.mentions == ()


def test_what_was_asked_at_length_is_a_beginning_and_a_file() -> None:
    text = "*" * 5_000
    (one,) = messages.draw(Opening(author="alice", text=text, asker=ALICE), guild=GUILD)
    assert one.document == text
    assert [*refused(one)] == []


def test_the_end_of_what_a_run_prints_is_what_is_kept() -> None:
    tail = tuple(f"{n} " + "x" * 290 for n in range(20))
    (one,) = messages.draw(
        Progress(
            run="r", title="t", status="s", began_at=datetime(2026, 1, 1, tzinfo=UTC), tail=tail
        ),
        guild=GUILD,
    )
    shown = words(one.components)
    assert "\n19 x" in shown
    assert "\n1 x" not in shown
    assert "Began <t:1767225600:f>" in shown


def test_a_reminder_mentions_ten_people_and_counts_the_others() -> None:
    many = tuple(replace(BOB, user=str(100 + n)) for n in range(12))
    [note] = messages.draw(Text(text="Still waiting.", is_note=True, wanted=many), guild=GUILD)
    assert note.mentions == tuple(str(100 + n) for n in range(10))
    assert words(note.components).endswith(" and 2 more")
    assert [*refused(note)] == []
