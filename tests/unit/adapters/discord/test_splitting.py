"""Long texts in several messages of Discord: cut where a reader would, and nothing is lost (P-01)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord import markdown, splitting, words
from adapters.discord.splitting import MOST, Kind, Part, drawn, packed, said
from adapters.discord.styles import Run
from tests.discord_reading import kinds, plain

part_kinds: st.SearchStrategy[Kind] = st.sampled_from(("text", "code", "quote", "item", "heading"))
styles = st.sampled_from([(), ("bold",), ("italic",), ("bold", "italic"), ("strike",)])
runs = st.lists(
    st.builds(
        Run,
        words=st.text(alphabet="ab <&*`😀\n", min_size=1, max_size=300),
        styles=styles,
        kind=st.sampled_from(("text", "text", "text", "code")),
    ),
    min_size=1,
    max_size=6,
).map(tuple)
parts = st.lists(st.builds(Part, kind=part_kinds, runs=runs, level=st.integers(1, 3)), max_size=12)


def folded(some: list[Part]) -> str:
    return "".join("".join(said(part).split()) for part in some)


@given(parts, st.integers(300, 2_000))
@settings(max_examples=200, deadline=None)
def test_nothing_but_space_is_lost_and_no_message_is_too_long(
    given_parts: list[Part], most: int
) -> None:
    groups = [*packed(given_parts, most)]
    assert "".join(map(folded, groups)) == folded(given_parts)
    for group in groups:
        assert group
        assert words.length(drawn(group)) <= most


@pytest.mark.parametrize("info", ["", "sh", "python"])
def test_p01_a_fence_is_closed_and_opened_again_with_its_language(info: str) -> None:
    lines = "\n".join(f"line {n}" for n in range(600))
    groups = [*packed(markdown.parts(f"before\n```{info}\n{lines}\n```\nafter"))]
    shown = [drawn(group) for group in groups]
    assert len(shown) > 2
    assert all(one.count("```") == 2 for one in shown)
    assert all(re.match(rf"(before\n)?```{info}\nline", one) for one in shown)
    assert [int(n) for one in shown for n in re.findall(r"line (\d+)", one)] == [*range(600)]
    assert shown[-1].endswith("```\nafter")


def test_p01_a_message_that_is_full_inside_of_a_fence_has_room_for_its_end() -> None:
    for size in range(1_870, 2_010):
        shown = [drawn(group) for group in packed(markdown.parts(f"```\n{'x' * size}\n```"))]
        assert all(len(one) <= MOST and one.count("```") == 2 for one in shown)
        assert sum(one.count("x") for one in shown) == size


def test_p01_a_fence_with_a_very_long_first_line_shows_it_and_is_still_code() -> None:
    info = "a=" * 950
    shown = [drawn(group) for group in packed(markdown.parts(f"```{info}\nrm -r x\n```"))]
    assert all(len(one) <= MOST for one in shown)
    assert "".join(plain(one) for one in shown).replace("\n", "").startswith(info)
    assert shown[-1].endswith("```\nrm -r x\n```")


def test_p01_a_fence_of_four_backticks_holds_one_of_three_and_stays_one() -> None:
    [group] = packed(markdown.parts("````md\n```sh\nls\n```\n````\n# after"))
    shown = drawn(group)
    assert shown == "```md\n``\\u0060sh\nls\n``\\u0060\n```\n# after"
    assert kinds(shown) == {"block", "heading"}


def test_an_item_goes_into_the_next_message_rather_than_being_cut() -> None:
    text = "\n".join(f"- {n} " + "x" * 700 for n in range(9))
    groups = [*packed(markdown.parts(text))]
    assert len(groups) > 3
    assert all(len(said(part)) > 700 for group in groups for part in group)


def test_the_rest_of_an_item_that_no_message_can_hold_has_no_bullet() -> None:
    groups = [*packed(markdown.parts("- " + "word " * 900))]
    assert [[part.kind for part in group] for group in groups] == [["item"], ["text"], ["text"]]


def test_a_heading_stays_with_what_it_is_above() -> None:
    text = "x" * 1_500 + "\n\n# Next\n\n" + "y" * 1_500
    first, second = packed(markdown.parts(text))
    assert [part.kind for part in first] == ["text"]
    assert [part.kind for part in second] == ["heading", "text"]


def test_a_style_that_is_cut_goes_on_in_the_next_message() -> None:
    shown = [drawn(group) for group in packed(markdown.parts(f"**{'word ' * 700}end**"))]
    assert len(shown) == 2
    assert all(re.fullmatch(r"\*\*\S.*\S\*\*", one) for one in shown)


def test_a_quote_that_is_cut_is_a_quote_in_the_next_message() -> None:
    shown = [drawn(group) for group in packed(markdown.parts(f"> {'word ' * 700}"))]
    assert [one[:6] for one in shown] == ["> word"] * 2


def test_a_link_is_never_cut() -> None:
    url = "https://wiki.example/" + "x" * 1_400
    shown = [drawn(group) for group in packed(markdown.parts(f"{'word ' * 200} {url} after"))]
    assert [f"<{url}>" in one for one in shown] == [False, True]


def test_a_cut_never_falls_before_the_first_character() -> None:
    assert splitting.cut(Part(runs=(Run(words="abc"),)), 0)[0] is None


def test_an_address_is_never_cut() -> None:
    url = "https://a.example/" + "y" * 400
    part = Part(runs=(Run(words="x" * 1_700), Run(words=url, kind="link"), Run(words=" end")))
    shown = [drawn(group) for group in packed([part])]
    assert [f"<{url}>" in one for one in shown] == [False, True]


def test_a_message_is_filled_where_its_only_space_stands_at_its_beginning() -> None:
    first, *_ = packed([Part(runs=(Run(words="a " + "x" * 3_000),))])
    assert len(drawn(first)) == MOST


def test_code_in_a_line_keeps_its_spaces_at_a_cut() -> None:
    code = Run(words="x" * 1_800 + " " * 400 + "y", kind="code")
    shown = [said(part) for group in packed([Part(runs=(code,))]) for part in group]
    assert "".join(shown) == code.words
