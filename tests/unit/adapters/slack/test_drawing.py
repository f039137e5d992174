"""What Slack shows: looked at once, held by golden files, and within every limit whatever is said."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack import messages
from adapters.slack.messages import Drawn
from adapters.slack.rich_text import weight
from core.cards import Button
from core.deliveries import Message, Opening, Progress, Text
from core.errors import Invalid, OutcomeUnknown, Refused, SaysoError, Unavailable
from core.platforms import Told
from core.principals import Identity
from tests import said
from tests.drawn_samples import ANSWER, FORGED
from tests.said import buttons, long
from tests.slack_drawings import GOLDEN, SAMPLES, TEAM, asking, drawn, golden
from tests.slack_limits import refused_message, refused_view

people = st.lists(
    st.builds(
        Identity,
        platform=st.sampled_from(["slack", "console"]),
        workspace=st.sampled_from([TEAM, "T9"]),
        user=st.sampled_from(["U1", "W2B", "alice", ""]),
    ),
    max_size=60,
).map(tuple)
askings = said.askings(people)


def wrong(one: Drawn) -> list[str]:
    return [*refused_message(one.blocks, one.text)]


def inside(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, Mapping):
        yield cast("dict[str, Any]", value)
        for inner in cast("Mapping[str, object]", value).values():
            yield from inside(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("list[object]", value):
            yield from inside(inner)


def kinds(one: Drawn) -> set[str]:
    return {str(block["type"]) for block in one.blocks}


def read(value: object) -> str:
    return " ".join(str(one["text"]) for one in inside(value) if one.get("type") == "text")


@pytest.mark.parametrize("name", SAMPLES)
def test_everything_is_drawn_as_somebody_has_seen_it(name: str) -> None:
    assert drawn(name) == golden(name).read_text("utf-8")


def test_every_golden_file_belongs_to_a_sample() -> None:
    assert {file.stem for file in GOLDEN.glob("*")} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_slack_takes_every_sample(name: str) -> None:
    sample = SAMPLES[name]
    for one in sample if isinstance(sample, tuple) else (sample,):
        if isinstance(one, Drawn):
            assert wrong(one) == []
        else:
            assert [*refused_view(cast("Mapping[str, Any]", one))] == []


@given(said.messages(people, "t_1"))
@settings(max_examples=150, deadline=None)
def test_slack_takes_whatever_is_said(message: Message) -> None:
    shown = messages.draw(message, team=TEAM)
    assert [wrong(one) for one in shown] == [[] for _ in shown]
    assert shown
    assert isinstance(message, Text) or len(shown) == 1


@given(st.builds(Told, text=long, buttons=buttons, card=st.none() | askings))
@settings(max_examples=50, deadline=None)
def test_slack_takes_whatever_somebody_is_told(told: Told) -> None:
    shown = messages.told(told)
    if told.text or told.buttons or told.card:
        assert wrong(shown) == []
    else:
        assert shown == Drawn(blocks=(), text="")


@given(long, st.sampled_from([Refused, Invalid, Unavailable, OutcomeUnknown]))
@settings(max_examples=50, deadline=None)
def test_slack_takes_whatever_failed(text: str, kind: type[SaysoError]) -> None:
    assert wrong(messages.failed(kind(text))) == []


@pytest.mark.parametrize(
    ("error", "emoji", "before"),
    [
        (Refused("No."), "no_entry", " No."),
        (Invalid("No."), "no_entry", " No."),
        (Unavailable("No."), "hourglass_flowing_sand", " Not now. No."),
        (OutcomeUnknown("No."), "question", " Nobody knows how this ended. No."),
    ],
)
def test_a_failure_is_marked_by_what_may_be_done_next(
    error: SaysoError, emoji: str, before: str
) -> None:
    shown = messages.failed(error)
    assert [one["name"] for one in inside(shown.blocks) if one.get("type") == "emoji"] == [emoji]
    assert (
        "".join(str(one["text"]) for one in inside(shown.blocks) if one.get("type") == "text")
        == before
    )


@given(long, st.lists(long, max_size=5).map(tuple))
@settings(max_examples=50, deadline=None)
def test_no_answer_can_pass_for_a_card_a_report_or_a_note(
    text: str, suggestions: tuple[str, ...]
) -> None:
    pressed = Button(label="Approve", verb="approve", request="a" * 32)
    answer = Text(text=text, suggestions=suggestions, turn="t_1", buttons=(pressed,))
    for one in messages.draw(answer, team=TEAM):
        assert kinds(one) <= {"rich_text", "actions"}
        for element in inside(one.blocks):
            assert element.get("type") not in {"user", "broadcast", "date", "emoji", "header"}
            assert str(element.get("action_id", "sayso:suggest:")).startswith("sayso:suggest:")


def test_a_report_a_note_a_card_and_an_answer_of_the_same_words_look_different() -> None:
    one = "Run r_1 succeeded: deploy."
    shown = [
        messages.draw(Text(text=one), team=TEAM),
        messages.draw(Text(text=one, is_note=True), team=TEAM),
        messages.draw(Text(text=one, is_report=True), team=TEAM),
        messages.draw(asking(), team=TEAM),
    ]
    assert [kinds(first) for (first,) in shown] == [
        {"rich_text"},
        {"context"},
        {"header", "rich_text"},
        {"header", "rich_text", "actions"},
    ]


@pytest.mark.parametrize("text", ["<!channel> <@U1> <!subteam^S1> @everyone", ANSWER, FORGED])
@pytest.mark.parametrize("is_note", [False, True])
@pytest.mark.parametrize("is_report", [False, True])
def test_nothing_that_is_said_mentions_anybody(
    text: str, *, is_note: bool, is_report: bool
) -> None:
    for one in messages.draw(Text(text=text, is_note=is_note, is_report=is_report), team=TEAM):
        assert not [each for each in inside(one.blocks) if each.get("type") in {"user", "mrkdwn"}]
        assert "<" not in one.text
        assert ">" not in one.text


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
        shown = json.dumps([(one.blocks, one.text) for one in messages.draw(message, team=TEAM)])
        assert "\\\\u202e" in shown
        assert not {"\\u202e", "\\u200b", "\\u001b", "\\ud800"} & {
            shown[at : at + 6] for at in range(len(shown)) if shown[at - 1] != "\\"
        }


def test_what_is_too_long_for_a_report_is_left_out_in_the_middle_and_given_as_a_file() -> None:
    text = "Run r_1 failed: deploy.\n" + "x" * 12_012 + "\nApproved by bob."
    (one,) = messages.draw(Text(text=text, is_report=True), team=TEAM)
    assert wrong(one) == []
    assert one.document == text
    assert "characters are left out here" in read(one.blocks)
    assert "Approved by bob." in read(one.blocks)
    left = int(re.findall(r"… (\d+) characters", read(one.blocks))[0])
    assert read(one.blocks).count("x") + left == 12_012 + "characters".count("x")


def test_a_report_that_fits_needs_no_file() -> None:
    (one,) = messages.draw(
        Text(text="Run r_1 failed: deploy.\n" + "x" * 7_000, is_report=True), team=TEAM
    )
    assert one.document is None
    assert "x" * 7_000 in read(one.blocks)


def test_an_answer_of_forty_thousand_and_one_characters_comes_in_five_messages() -> None:
    shown = messages.draw(Text(text="word " * 8_000 + "!"), team=TEAM)
    assert 4 < len(shown) <= 5
    assert [one.document for one in shown] == [None] * 5
    assert read([one.blocks for one in shown]).split().count("word") == 8_000


def test_a_longer_answer_is_a_beginning_and_a_file() -> None:
    text = "word " * 12_000
    (one,) = messages.draw(Text(text=text, suggestions=("more",), turn="t_1"), team=TEAM)
    assert one.document == text
    assert "All of it is in the file below." in read(one.blocks)
    assert kinds(one) == {"rich_text", "actions"}


def test_suggestions_that_do_not_fit_below_an_answer_come_in_a_message_of_their_own() -> None:
    many = tuple("漢" * 75 + str(number) for number in range(20))
    shown = messages.draw(Text(text="x" * 8_000, suggestions=many, turn="t_1"), team=TEAM)
    assert [kinds(one) for one in shown] == [{"rich_text"}, {"rich_text", "actions"}]


def test_a_suggestion_that_no_button_can_show_is_written_out_too() -> None:
    long_one = "restart " * 12
    (one,) = messages.draw(Text(text="?", suggestions=(long_one, "wait"), turn="t_1"), team=TEAM)
    assert long_one.strip() in read(one.blocks)
    labels = [each["text"]["text"] for each in inside(one.blocks) if each.get("type") == "button"]
    assert [len(label) for label in labels] == [75, 4]
    values = {each["value"] for each in inside(one.blocks) if each.get("type") == "button"}
    assert values == {"t_1"}


def test_without_a_turn_suggestions_are_words() -> None:
    (one,) = messages.draw(Text(text="?", suggestions=("wait",)), team=TEAM)
    assert kinds(one) == {"rich_text"}
    assert "wait" in read(one.blocks)


def test_a_message_that_vanishes_offers_no_approval() -> None:
    shown = messages.told(Told(card=asking()))
    actions = [each["action_id"] for each in inside(shown.blocks) if "action_id" in each]
    assert actions == ["sayso:review", "sayso:deny"]


def test_several_buttons_of_one_verb_are_numbered() -> None:
    stops = [Button(label=f"Stop {n}", verb="stop", request=f"r{n}") for n in range(3)]
    deny = Button(label="Deny", verb="deny", request="r")
    shown = messages.told(Told(text="Which?", buttons=(*stops, deny)))
    pressed = [
        (each["action_id"], each["value"]) for each in inside(shown.blocks) if "action_id" in each
    ]
    assert pressed == [
        ("sayso:stop:0", "r0"),
        ("sayso:stop:1", "r1"),
        ("sayso:stop:2", "r2"),
        ("sayso:deny", "r"),
    ]


@given(long)
@settings(max_examples=50, deadline=None)
def test_the_fallback_is_escaped_and_short_enough_for_an_edit(text: str) -> None:
    said_instead = messages.fallback(text)
    assert 0 < len(said_instead.encode()) < 4_000
    bare = said_instead.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
    assert not set("<>&") & set(bare)


@given(st.lists(st.text()), st.dictionaries(st.text(), st.text()))
def test_the_weight_of_something_is_never_less_than_its_text(
    some: list[str], named: dict[str, str]
) -> None:
    escaped = "".join([*some, *named.values()]).replace("&", "&amp;").replace("<", "&lt;")
    assert weight([some, named]) >= len(escaped.encode("utf-16-le", "surrogatepass")) // 2


def test_buttons_leave_room_for_words() -> None:
    many = tuple(Button(label="漢😀" * 30, verb="stop", request=f"r{n}") for n in range(60))
    shown = messages.told(Told(text="Which? " * 2_000, buttons=many))
    assert wrong(shown) == []
    assert 3 <= sum("action_id" in each for each in inside(shown.blocks)) < 60


def test_p07_a_reminder_mentions_whoever_is_waited_for_and_nothing_else_does() -> None:
    bob, elsewhere = (
        Identity(platform="slack", workspace=team, user="U2BOB") for team in (TEAM, "T9")
    )
    [note] = messages.draw(
        Text(text="Still waiting: <@U9EVE>.", is_note=True, wanted=(bob, elsewhere)), team=TEAM
    )
    [answer] = messages.draw(Text(text="Still waiting.", wanted=(bob,)), team=TEAM)
    mentioned = re.findall(r'"user_id": "(\w+)"', json.dumps([note.blocks, answer.blocks]))
    assert mentioned == ["U2BOB"]
    assert not [*refused_message(note.blocks, note.text)]
