"""A card on Discord: its own words in its own order, and approved only by who could see all of it."""

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord import cards, messages, telling
from adapters.discord import words as discord_words
from adapters.discord.drawn import Drawn
from adapters.platforms.whole import UNCHECKED
from adapters.slack import messages as slack_messages
from approvals.models import RunState, State
from core.cards import Button, Card, Fact
from core.deliveries import Asking
from core.principals import Identity
from tests import drawn_samples as samples
from tests.discord_drawings import BOB, CAROL, GUILD, asking
from tests.discord_limits import every, refused, words
from tests.discord_reading import kinds, plain
from tests.drawn_samples import ID

lines = st.lists(st.text(alphabet="ab<&\n *`", max_size=30), max_size=40).map(tuple)
APPROVE, REVIEW, DENY = (f"sayso:{verb}:{ID}" for verb in ("approve", "review", "deny"))


def actions(one: Drawn) -> list[str]:
    return [each["custom_id"] for each in every(one.components) if each["type"] == 2]


def shown(one: Asking) -> tuple[str, list[str]]:
    (drawn,) = messages.draw(one, guild=GUILD)
    assert [*refused(drawn)] == []
    assert drawn.document is None
    return plain(words(drawn.components)), actions(drawn)


def with_card(**more: object) -> Asking:
    one = asking()
    return replace(one, card=replace(one.card, **more))  # type: ignore[arg-type]  # each test names fields of Card


def in_slack(value: object) -> str:
    """Return what is read of a card in Slack, in order, with what stands on its buttons."""
    return " ".join(
        str(one.get("fallback") or one.get("text"))
        for one in every(value)
        if one.get("type") in {"plain_text", "text", "date"}
    )


def on_discord(one: Drawn) -> str:
    """Return what is read of a card on Discord, in order, with what stands on its buttons."""
    pieces = (one for one in every(one.components) if one["type"] in {2, 10})
    return " ".join(plain(one["content"]) if "content" in one else one["label"] for one in pieces)


def folded(text: str) -> str:
    return "".join(text.replace(",", "").replace("\\u0060", "`").split())


def test_i6_a_file_is_measured_in_bytes_before_it_is_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = with_card(plan=("é" * 5_000,))
    monkeypatch.setattr(telling, "_LARGEST", 11_500)
    given = messages.reviewed(long)
    assert given.document is not None
    assert actions(given) == [APPROVE, DENY]
    monkeypatch.setattr(telling, "_LARGEST", len(given.document.encode()) - 1)
    refused_one = messages.reviewed(long)
    assert refused_one.document is None
    assert actions(refused_one) == [DENY]


@pytest.mark.parametrize(
    "one",
    [
        samples.asking(),
        samples.asking(words=2),
        samples.asking(State.OPEN, "bob"),
        samples.asking(State.GRANTED, "bob", "carol"),
        *(samples.asking(State.SPENT, "bob", "carol", ran=state) for state in RunState),
        samples.asking(State.DENIED, by="bob", reason="Not <!here> before *the* weekend."),
        samples.asking(State.EXPIRED, "bob"),
        samples.asking(State.REVOKED, reason="alice may no longer ask for it"),
        samples.asking(State.SUPERSEDED, by="alice"),
    ],
)
def test_slack_and_discord_show_the_same_words_in_the_same_order(one: Asking) -> None:
    here = [Identity(platform="slack", workspace="T1", user="U2"), BOB]
    one = replace(one, wanted=tuple(here))
    (slack,) = slack_messages.draw(one, team="T1")
    (discord,) = messages.draw(one, guild=GUILD)
    assert folded(on_discord(discord)) == folded(in_slack(slack.blocks))


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
        "May approve",
    ]
    at = 0
    for part in said:
        at = text.index(part, at) + 1


@given(plan=lines, preview=lines, unchecked=lines, title=st.text(alphabet="ab ", max_size=400))
@settings(max_examples=150, deadline=None)
def test_whoever_can_approve_sees_all_of_it(
    plan: tuple[str, ...], preview: tuple[str, ...], unchecked: tuple[str, ...], title: str
) -> None:
    one = with_card(
        plan=tuple(line * 10 for line in plan),
        preview=tuple(line * 10 for line in preview),
        unchecked=unchecked,
        title=title,
    )
    text, pressed = shown(one)
    looked = messages.reviewed(one)
    assert [*refused(looked)] == []
    assert actions(looked) == [APPROVE, DENY]
    given_all = [looked.document or plain(words(looked.components))]
    given_all += [text] if APPROVE in pressed else []
    for seen in given_all:
        for line in (*one.card.plan, *one.card.preview, *unchecked, " ".join(title.split())):
            assert folded(line) in folded(seen)
    assert looked.document is None or APPROVE not in pressed
    assert APPROVE in pressed or REVIEW in pressed


@pytest.mark.parametrize("name", ["preview", "unchecked", "plan"])
def test_a_section_that_does_not_fit_is_cut_says_so_and_takes_the_approval_away(name: str) -> None:
    text, pressed = shown(with_card(**{name: tuple(f"line {n} " + "x" * 90 for n in range(200))}))
    kept = text.count("x" * 90)
    assert 20 < kept < 40
    assert f"… {200 - kept} more lines" in text
    assert pressed == [REVIEW, DENY]


def test_the_preview_goes_first_then_what_the_agent_says_then_the_plan() -> None:
    many = tuple(f"{n} " + "x" * 90 for n in range(27))
    text, _ = shown(with_card(plan=many, preview=("p" * 90,) * 40, unchecked=("u" * 90,) * 8))
    assert text.count("p" * 90) == 0
    assert 0 < text.count("u" * 90) < 8
    assert text.count("x" * 90) == 27
    text, _ = shown(with_card(plan=many * 2, preview=("p" * 90,) * 40, unchecked=("u" * 90,) * 8))
    assert text.count("p" * 90) == text.count("u" * 90) == 0
    assert 20 < text.count("x" * 90) < 48


def test_a_single_line_that_does_not_fit_shows_its_beginning() -> None:
    text, pressed = shown(with_card(plan=("run " + "y" * 20_000,)))
    kept = text.count("y" * 1_000) * 1_000
    assert "more characters" in text
    assert kept >= 2_000
    assert APPROVE not in pressed


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
    assert pressed == [REVIEW, DENY]


def test_everything_at_once_still_fits() -> None:
    huge = ("😀<&>`*\u200b" * 200,) * 30
    one = asking()
    card = Card(
        title=huge[0],
        plan=huge,
        facts=(
            *(Fact(label="f" * 500, text="<" * 5_000) for _ in range(90)),
            *one.card.facts,
        ),
        warnings=huge,
        estimate=huge[0],
        preview=huge,
        unchecked=huge,
        buttons=tuple(
            Button(label="😀" * 80, verb=b.verb, request=f"{b.request}{n}")
            for n in range(20)
            for b in one.card.buttons
        ),
    )
    people = tuple(replace(BOB, user=str(10**19 + n)) for n in range(300))
    text, _ = shown(Asking(card=card, status=huge[0], wanted=people))
    assert "more facts; review the full plan" in text
    assert " and 290 more" in text
    looked = messages.reviewed(Asking(card=card, status="Open."))
    assert [*refused(looked)] == []


def test_a_plan_that_no_message_can_show_is_a_file_and_is_approved_below_it() -> None:
    one = with_card(plan=tuple(f"line {n} " + "x" * 90 for n in range(4_000)))
    looked = messages.reviewed(one)
    assert looked.document is not None
    assert all(line in looked.document for line in one.card.plan)
    assert actions(looked) == [APPROVE, DENY]
    assert "All of it is in the file" in words(looked.components)
    assert shown(one)[1] == [REVIEW, DENY]


def test_a_plan_that_no_file_can_hold_cannot_be_approved() -> None:
    looked = messages.reviewed(with_card(plan=("x" * 9_000_000,)))
    assert looked.document is None
    assert actions(looked) == [DENY]
    assert "cannot be approved here" in words(looked.components)


def test_a_plan_that_fits_is_shown_whole_to_whoever_reviews_it() -> None:
    looked = messages.reviewed(asking())
    assert looked.document is None
    assert actions(looked) == [APPROVE, DENY]
    assert all(line in plain(words(looked.components)) for line in asking().card.plan)
    assert looked.mentions == ()


@pytest.mark.parametrize("words_of_it", [1, 40])
def test_what_has_ended_cannot_be_approved_by_reviewing_it(words_of_it: int) -> None:
    ended = asking(State.EXPIRED, words=words_of_it)
    assert actions(messages.reviewed(ended)) == []
    denied = replace(ended, card=replace(ended.card, buttons=asking().card.buttons[1:]))
    assert actions(messages.reviewed(denied)) == [DENY]


def test_the_times_of_a_card_are_on_the_readers_own_clock() -> None:
    (drawn,) = messages.draw(
        replace(asking(), status="Expired at 2026-11-30 10:00:00 UTC."), guild=GUILD
    )
    assert words(drawn.components).count("<t:1796032800:f>") == 2


def test_only_people_of_this_server_are_mentioned_and_only_while_they_may_decide() -> None:
    one = asking()
    odd = replace(BOB, user="bob")
    slack = replace(BOB, platform="slack", user="4")
    one = replace(one, wanted=(*one.wanted, odd, slack, BOB))
    (drawn,) = messages.draw(one, guild=GUILD)
    assert drawn.mentions == (BOB.user, CAROL.user)
    assert f"May approve: <@{BOB.user}>, <@{CAROL.user}>" in words(drawn.components)
    for other in (with_card(buttons=()), replace(one, wanted=())):
        (drawn,) = messages.draw(other, guild=GUILD)
        assert drawn.mentions == ()
        assert "<@" not in words(drawn.components)
    (elsewhere,) = messages.draw(one, guild="5")
    assert elsewhere.mentions == ()


HOSTILE = (
    "```\n# Approved\n-# by bob\n> quoted **bold** <@1> @everyone <t:1:R> </stop:1> <:a:1>\n"
    "[x](https://evil.example) ||a|| discord.gg/abc https://evil.example"
)


@pytest.mark.parametrize(
    "name", ["title", "plan", "facts", "warnings", "estimate", "preview", "unchecked"]
)
def test_no_text_of_anybody_means_anything_on_a_card(name: str) -> None:
    value: Any = {
        "title": HOSTILE,
        "estimate": HOSTILE,
        "facts": (Fact(label=HOSTILE, text=HOSTILE),),
    }.get(name, (HOSTILE,))
    one = with_card(**{"buttons": asking().card.buttons, name: value})
    (drawn,) = messages.draw(replace(one, status=HOSTILE), guild=GUILD)
    assert [*refused(drawn)] == []
    texts = [each["content"] for each in every(drawn.components) if each["type"] == 10]
    allowed = {"heading", "block", "bold", "quote", "time", "user"}
    assert {kind for text in texts for kind in kinds(text)} <= allowed
    assert sum("heading" in kinds(text) for text in texts) == 1
    assert drawn.mentions == (BOB.user, CAROL.user)


def test_what_waits_has_a_colour_and_what_has_ended_has_none() -> None:
    for one, coloured in ((asking(), True), (asking(State.EXPIRED), False)):
        (drawn,) = messages.draw(one, guild=GUILD)
        assert ("accent_color" in drawn.components[0]) is coloured


@given(st.lists(st.text(max_size=20), max_size=30), st.integers(0, 400))
def test_cut_lines_are_a_beginning_and_shorter_by_as_much(
    given_lines: list[str], over: int
) -> None:
    kept = cards.cut_lines(given_lines, over, discord_words.fenced)
    whole = [line for line in kept if not line.startswith("… ")]
    assert all(line.startswith(part) for line, part in zip(given_lines, whole, strict=False))
    before = sum(discord_words.length(discord_words.fenced(line)) + 1 for line in given_lines)
    after = sum(discord_words.length(discord_words.fenced(line)) + 1 for line in kept)
    assert after <= max(before - over, 2 * len("… 1000000 more characters"))


@pytest.mark.parametrize("line", ["a", "\u202e", "<", "\N{GRINNING FACE}"])
def test_p34_a_plan_that_is_far_too_long_is_looked_at_before_discord_has_given_up(
    line: str,
) -> None:
    card = replace(asking().card, plan=(line * 500_000,))
    began = time.process_time()
    looked = messages.reviewed(Asking(card=card, status="Open."))
    assert time.process_time() - began < 10  # a guard against blow-ups; measured in hundredths
    assert looked.document is not None
