"""A card in Slack: its own words in its own order, and approved only by who could see all of it."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.platforms.whole import UNCHECKED
from adapters.slack import cards, messages, rich_text, views
from core.cards import Button, Card, Fact
from core.deliveries import Asking
from core.principals import Identity
from tests.drawn_samples import ID
from tests.slack_drawings import PRIVATE, TEAM, asking
from tests.slack_limits import refused_message, refused_view

lines = st.lists(st.text(alphabet="ab<&\n ", max_size=30), max_size=60).map(tuple)


def words(value: object) -> str:
    if isinstance(value, Mapping):
        one = cast("Mapping[str, Any]", value)
        if one.get("type") == "plain_text" or one.get("type") == "text":
            return str(one["text"])
        if one.get("type") == "date":
            return str(one["fallback"])
        return "".join(words(inner) for inner in one.values())
    if isinstance(value, (list, tuple)):
        return "\n".join(map(words, cast("Sequence[object]", value)))
    return ""


def actions(value: object) -> list[str]:
    return [part.split('"')[0] for part in json.dumps(value).split('"action_id": "')[1:]]


def shown(one: Asking) -> tuple[str, list[str]]:
    (drawn,) = messages.draw(one, team=TEAM)
    assert [*refused_message(drawn.blocks, drawn.text)] == []
    return words(list(drawn.blocks)), actions(list(drawn.blocks))


def with_card(**more: object) -> Asking:
    one = asking()
    return replace(one, card=replace(one.card, **more))  # type: ignore[arg-type]  # each test names fields of Card


def test_the_sections_stand_in_the_order_of_the_card() -> None:
    one = asking()
    text, _ = shown(one)
    card = one.card
    said = [
        card.title,
        *card.plan,
        *(f"{fact.label}: " for fact in card.facts),
        *card.warnings,
        card.estimate,
        *card.preview,
        UNCHECKED,
        *card.unchecked,
        "Open: 0 of 2 votes",
        "Approve",
    ]
    at = 0
    for part in said:
        at = text.index(part, at) + 1


@given(plan=lines, preview=lines, unchecked=lines, title=st.text(alphabet="ab ", max_size=400))
@settings(max_examples=100, deadline=None)
def test_whoever_can_approve_sees_all_of_it(
    plan: tuple[str, ...], preview: tuple[str, ...], unchecked: tuple[str, ...], title: str
) -> None:
    one = with_card(
        plan=tuple(line * 20 for line in plan),
        preview=tuple(line * 20 for line in preview),
        unchecked=unchecked,
        title=title,
    )
    text, pressed = shown(one)
    window = views.review(one, PRIVATE)
    assert [*refused_view(window)] == []
    for seen, may in ((text, "sayso:approve" in pressed), (words(window), "submit" in window)):
        if may:
            for line in (*one.card.plan, *one.card.preview, *unchecked, " ".join(title.split())):
                assert "".join(line.split()) in "".join(seen.split())
    assert "sayso:approve" in pressed or "sayso:review" in pressed


@pytest.mark.parametrize("name", ["preview", "unchecked", "plan"])
def test_a_section_that_does_not_fit_is_cut_says_so_and_takes_the_approval_away(name: str) -> None:
    text, pressed = shown(with_card(**{name: tuple(f"line {n} " + "x" * 90 for n in range(200))}))
    kept = text.count("x" * 90)
    assert 50 < kept < 200
    assert f"… {200 - kept} more lines" in text
    assert pressed == ["sayso:review", "sayso:deny"]
    assert "Review full plan" in text


def test_the_preview_goes_first_then_what_the_agent_says_then_the_plan() -> None:
    many = tuple(f"{n} " + "x" * 90 for n in range(60))
    text, _ = shown(with_card(plan=many, preview=("p" * 90,) * 40, unchecked=("u" * 90,) * 20))
    assert [text.count(what * 90) for what in "pux"] == [0, 18, 60]
    text, _ = shown(with_card(plan=many * 2, preview=("p" * 90,) * 40, unchecked=("u" * 90,) * 20))
    assert text.count("p" * 90) == text.count("u" * 90) == 0
    assert 40 < text.count("x" * 90) < 120


def test_a_single_line_that_does_not_fit_shows_its_beginning() -> None:
    text, pressed = shown(with_card(plan=("run " + "y" * 20_000,)))
    kept = max(map(len, re.findall("y+", text)))
    assert f"… {20_000 - kept} more characters" in text
    assert kept > 6_000
    assert "sayso:approve" not in pressed


@pytest.mark.parametrize(
    "name", ["title", "plan", "facts", "warnings", "estimate", "preview", "unchecked"]
)
def test_the_plan_and_its_digest_stay_whole_whatever_is_cut(name: str) -> None:
    one = asking()
    digest = next(fact.text for fact in one.card.facts if fact.label == "Plan")
    huge: Any = {
        "title": "😀 " * 9_000,
        "estimate": "😀 " * 9_000,
        "facts": (*(Fact(label="😀" * 500, text="<" * 5_000) for _ in range(50)), *one.card.facts),
    }.get(name, ("😀<&>" * 500,) * 200)
    text, pressed = shown(with_card(**{name: huge}))
    assert digest in text
    assert pressed == ["sayso:review", "sayso:deny"]


def test_everything_at_once_still_fits() -> None:
    huge = ("😀<&>\u200b" * 200,) * 30
    one = asking()
    facts = (*(Fact(label="f" * 500, text="<" * 5_000) for _ in range(90)), *one.card.facts)
    given_buttons = one.card.buttons * 9
    card = Card(
        title=huge[0],
        plan=huge,
        facts=facts,
        warnings=huge,
        estimate=huge[0],
        preview=huge,
        unchecked=huge,
        buttons=given_buttons,
    )
    people = tuple(Identity(platform="slack", workspace=TEAM, user=f"U{n}") for n in range(300))
    text, _ = shown(Asking(card=card, status=huge[0], wanted=people))
    assert "more facts; review the full plan" in text
    assert " and 260 more" in text
    window = views.review(Asking(card=card, status="Open."), PRIVATE)
    assert [*refused_view(window)] == []
    assert "submit" not in window


def test_a_card_that_no_window_can_show_comes_with_a_file_and_cannot_be_approved_here() -> None:
    one = with_card(plan=tuple(f"line {n} " + "x" * 90 for n in range(4_000)))
    (drawn,) = messages.draw(one, team=TEAM)
    assert drawn.document is not None
    assert all(line in drawn.document for line in one.card.plan)
    assert actions(list(drawn.blocks)) == ["sayso:review", "sayso:deny"]
    window = views.review(one, PRIVATE)
    assert "submit" not in window
    assert "in the file below its card" in words(window)
    assert [*refused_view(window)] == []


def test_a_card_that_fits_a_window_needs_no_file() -> None:
    one = with_card(plan=tuple(f"line {n} " + "x" * 90 for n in range(900)))
    (drawn,) = messages.draw(one, team=TEAM)
    assert drawn.document is None
    window = views.review(one, PRIVATE)
    assert window["submit"]
    assert words(window).count("x" * 90) == 900
    assert [*refused_view(window)] == []


def test_a_window_about_what_has_ended_cannot_approve() -> None:
    ended = with_card(buttons=(Button(label="Ask again", verb="again", request=ID),))
    assert "submit" not in views.review(ended, PRIVATE)
    assert "submit" not in views.review(with_card(buttons=()), PRIVATE)


def test_the_times_of_a_card_are_on_the_readers_own_clock() -> None:
    (drawn,) = messages.draw(
        replace(asking(), status="Expired at 2026-11-30 10:00:00 UTC."), team=TEAM
    )
    text = json.dumps(drawn.blocks)
    date = {
        "type": "date",
        "timestamp": 1796032800,
        "format": "{date_num} {time_secs}",
        "fallback": "2026-11-30 10:00:00 UTC",
    }
    assert text.count(json.dumps(date)) == 2


@pytest.mark.parametrize("odd", ["2026-13-30 10:00:00 UTC", "9999-99-99 99:99:99 UTC"])
def test_what_only_looks_like_a_time_stays_as_it_is(odd: str) -> None:
    assert [*rich_text.dated(f"at {odd}.")] == [rich_text.text(f"at {odd}.")]


def test_only_people_of_this_workspace_are_mentioned_and_only_while_they_may_decide() -> None:
    one = asking()
    odd = Identity(platform="slack", workspace=TEAM, user="alice")
    console = Identity(platform="console", workspace=TEAM, user="U7")
    one = replace(one, wanted=(*one.wanted, odd, console))
    (drawn,) = messages.draw(one, team=TEAM)
    assert json.dumps(drawn.blocks).count('"user_id"') == 2
    assert 'May approve: "}, {"type": "user", "user_id": "U2BOB"}' in json.dumps(drawn.blocks)
    (ended,) = messages.draw(with_card(buttons=()), team=TEAM)
    assert '"user_id"' not in json.dumps(ended.blocks)
    (elsewhere,) = messages.draw(one, team="T5")
    assert '"user_id"' not in json.dumps(elsewhere.blocks)


@given(st.lists(st.text(max_size=20), max_size=30), st.integers(0, 400))
def test_cut_lines_are_a_beginning_and_lighter_by_as_much(
    given_lines: list[str], over: int
) -> None:
    kept = cards.cut_lines(given_lines, over)
    whole = [line for line in kept if not line.startswith("… ")]
    assert all(line.startswith(part) for line, part in zip(given_lines, whole, strict=False))
    before = sum(rich_text.length(line) + 1 for line in given_lines)
    after = sum(rich_text.length(line) + 1 for line in kept)
    assert after <= max(before - over, 2 * len("… 1000000 more characters"))


def test_weights_rise_with_every_line() -> None:
    heavy = [rich_text.weight(cards.blocks(with_card(plan=("x",) * n), TEAM)) for n in range(1, 9)]
    assert all(one < other for one, other in pairwise(heavy))


@given(st.text(alphabet="ab&<>\N{GRINNING FACE}\u202e", max_size=60), st.integers(-3, 120))
def test_the_most_that_fits_is_what_counting_each_character_finds(words: str, room: int) -> None:
    fits = [n for n in range(len(words) + 1) if rich_text.length(words[:n]) <= room]
    assert rich_text.reach(words, room) == max(fits, default=0)


@pytest.mark.parametrize("line", ["a", "\u202e", "&", "\N{GRINNING FACE}"])
def test_p34_a_plan_that_is_far_too_long_is_looked_at_before_slack_has_given_up(line: str) -> None:
    card = replace(asking().card, plan=(line * 500_000,))
    began = time.process_time()
    view = views.review(Asking(card=card, status="Open."), PRIVATE)
    assert time.process_time() - began < 10  # a guard against blow-ups; measured in hundredths
    assert "submit" not in view
