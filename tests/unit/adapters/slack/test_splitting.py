"""Long texts in several messages: cut where a reader would, and nothing is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack import markdown, rich_text, splitting
from adapters.slack.rich_text import weight
from adapters.slack.splitting import MOST, Kind, Part, packed, said

kinds: st.SearchStrategy[Kind] = st.sampled_from(("text", "code", "quote", "item"))
runs = st.lists(st.text(alphabet="ab <&😀\n", min_size=1, max_size=300), min_size=1, max_size=6)


def part(kind: Kind, words: list[str], *, is_heading: bool) -> Part:
    return Part(kind=kind, runs=tuple(map(rich_text.text, words)), is_heading=is_heading)


parts = st.lists(st.builds(part, kinds, runs, is_heading=st.booleans()), max_size=12)


def words(groups: list[list[Part]]) -> str:
    return "".join(said(run) for group in groups for part in group for run in part.runs)


@given(parts, st.integers(600, 4_000))
@settings(max_examples=200, deadline=None)
def test_nothing_is_lost_and_no_message_is_too_heavy(given_parts: list[Part], most: int) -> None:
    groups = [*packed(given_parts, most)]
    assert words(groups) == words([given_parts])
    for group in groups:
        assert group
        assert weight([rich_text.block(splitting.elements(group))]) <= most + 100


def test_a_fence_goes_on_as_a_fence() -> None:
    lines = "\n".join(f"line {n}" for n in range(3_000))
    groups = [*packed(markdown.parts(f"```\n{lines}\n```"))]
    assert len(groups) > 2
    assert {part.kind for group in groups for part in group} == {"code"}
    assert all(said(group[-1].runs[-1]).endswith("\n") for group in groups[:-1])


def test_an_item_goes_into_the_next_message_rather_than_being_cut() -> None:
    text = "\n".join(f"- {n} " + "x" * 900 for n in range(30))
    groups = [*packed(markdown.parts(text))]
    assert len(groups) > 2
    assert all(len(said(part.runs[0])) > 900 for group in groups for part in group)
    assert {part.kind for group in groups for part in group} == {"item"}


def test_the_rest_of_an_item_that_no_message_can_hold_has_no_bullet() -> None:
    groups = [*packed(markdown.parts("- " + "word " * 4_000))]
    assert [[part.kind for part in group] for group in groups] == [["item"], ["text"], ["text"]]
    assert all(said(group[-1].runs[-1]).endswith(" ") for group in groups[:-1])


def test_a_heading_stays_with_what_it_is_above() -> None:
    text = "x" * 6_000 + "\n\n# Next\n\n" + "y" * 6_000
    first, second = packed(markdown.parts(text))
    assert [said(part.runs[0])[:4] for part in first] == ["xxxx"]
    assert [said(part.runs[0])[:4] for part in second] == ["Next", "yyyy"]


def test_what_cannot_be_cut_stands_alone() -> None:
    link = Part(runs=(rich_text.address("http://" + "x" * 2_900),))
    assert [*packed([link, link], 600)] == [[link], [link]]


def test_signs_beyond_the_basic_plane_weigh_more() -> None:
    groups = [*packed(markdown.parts("😀" * 2_000))]
    assert len(groups) == 3
    assert all(len(str(group)) < MOST for group in groups)


def test_a_cut_never_falls_before_the_first_character() -> None:
    assert splitting.cut(Part(runs=(rich_text.text("abc"),)), 10)[0] is None
