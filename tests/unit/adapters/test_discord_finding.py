"""Which messages on Discord are what was posted under a key."""

from adapters.discord import finding
from adapters.discord.drawn import Drawn
from adapters.discord.finding import There, draft, opening, posted
from adapters.discord.marks import mark
from adapters.discord.messages import unfinished

KEY = "post:c:1"
WORDS = Drawn(content="Done.")
CARD = Drawn(components=({"type": 10, "content": "Restart web"},))
PRESSED = Drawn(
    content="Done.",
    below=({"type": 1, "components": [{"type": 2, "custom_id": "sayso:suggest:t_1:0"}]},),
)


def test_components_are_known_by_their_mark_alone() -> None:
    there = [
        There(id="3", content="Restart web", marks=frozenset({1})),
        There(id="2", is_ours=False),
        There(id="1", marks=frozenset({1, mark(KEY, 0)})),
        There(id="0", marks=frozenset({mark(KEY, 0)}), is_ours=False),
    ]

    assert posted(there, KEY, [CARD], "f").pieces == {0: "1"}
    assert posted(there, "post:c:2", [CARD], "f").pieces == {}


def test_words_are_known_by_what_they_say_where_nobody_else_wrote_since() -> None:
    ours, theirs = There(id="1", content="Done. "), There(id="2", is_ours=False, content="And?")

    assert posted([ours], KEY, [WORDS], "f").pieces == {0: "1"}
    assert posted([ours, theirs], KEY, [WORDS], "f").pieces == {0: "1"}
    assert posted([theirs, ours], KEY, [WORDS], "f").pieces == {}


def test_each_message_is_one_piece() -> None:
    there = [There(id="2", content="Done."), There(id="1", content="Done.")]

    assert len(set(posted(there, KEY, [WORDS, WORDS], "f").pieces.values())) == 2
    assert posted(there[:1], KEY, [WORDS, WORDS], "f").pieces == {0: "2"}


def test_words_with_buttons_are_known_by_these() -> None:
    there = [
        There(id="3", content="Done.", buttons=("sayso:suggest:t_2:0",)),
        There(id="2", is_ours=False),
        There(id="1", content="Done.", buttons=("sayso:suggest:t_1:0",)),
    ]

    assert posted(there, KEY, [PRESSED], "f").pieces == {0: "1"}


def test_nothing_is_known_by_saying_nothing() -> None:
    assert posted([There(id="1")], KEY, [Drawn()], "f").pieces == {}


def test_a_file_is_known_by_its_name() -> None:
    there = [There(id="1", files=frozenset({"f"}))]

    assert posted(there, KEY, [WORDS], "f").has_file
    assert not posted(there, KEY, [WORDS], "g").has_file
    assert not posted([There(id="1", files=frozenset({"f"}), is_ours=False)], KEY, [], "f").has_file


def test_what_was_asked_is_known_where_nothing_was_opened_from_it() -> None:
    there = [
        There(id="3", is_ours=False, content="Lunch?"),
        There(id="2", content="Done.", has_thread=True),
        There(id="1", content="Done."),
    ]

    assert opening(there, WORDS, "f").pieces == {0: "1"}
    assert opening(there[:2], WORDS, "f").pieces == {}


def test_a_draft_is_known_by_being_unfinished() -> None:
    content = unfinished("It is").content

    assert draft([There(id="1", content=content)]) == "1"
    assert draft([There(id="1", content=content, is_ours=False)]) is None
    assert draft([There(id="1", content=f"{content} no longer")]) is None
    assert finding._WRITING in content  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
