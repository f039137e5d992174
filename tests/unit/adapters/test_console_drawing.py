"""What a terminal shows: looked at once, and held by golden files; and nothing reaches it raw."""

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from adapters.console import drawing, folding
from adapters.console.screen import Screen
from adapters.console.shown import Changed, Failed, Heading, Recalled, Shown, Told, Typed
from core.cards import Card, Fact, encode
from core.conversations import Said
from core.deliveries import Asking, Progress, Text
from tests.drawings import AT, CARD, SAMPLES, WIDTHS, drawn, golden

HOSTILE = (
    "\x1b[2J\x1b[31mred\x1b]0;title\x07 \r\b\x9b1m over\u202ertl\u2066\u200b\u200d\ufeff \u2028 end"
)
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def shown(what: Shown, width: int = 80, *, colours: bool = False, encoding: str = "utf-8") -> str:
    screen = Screen(width=width, colours=colours, encoding=encoding)
    return screen.text(drawing.draw(what, screen))


def hostile_card() -> Card:
    return replace(
        CARD,
        title=f"Approve {HOSTILE}",
        plan=(HOSTILE,),
        facts=(Fact(label="Asked by", text=HOSTILE),),
        warnings=(HOSTILE,),
        preview=(HOSTILE,),
        unchecked=(HOSTILE,),
    )


EVERYTHING: list[Shown] = [
    Asking(card=hostile_card(), status=HOSTILE),
    Changed(card=hostile_card(), status=HOSTILE),
    Text(text=HOSTILE, suggestions=(HOSTILE,)),
    Text(text=HOSTILE, is_report=True),
    Told(text=HOSTILE),
    Failed(kind="refused", text=HOSTILE),
    Typed(who=HOSTILE, text=HOSTILE),
    Heading(text=HOSTILE),
    Recalled(
        said=tuple(
            Said(at=AT, kind=kind, author=HOSTILE, text=HOSTILE)
            for kind in ("asked", "answered", "report", "note")
        )
    ),
]

WORDS = "\u00e4\u00f6\u00fc\u2192" * 60


FOREIGN: list[Shown] = [
    Heading(text=WORDS),
    Typed(who=WORDS, text=f"{WORDS}\n{WORDS}"),
    Changed(card=replace(CARD, title=WORDS), status=WORDS),
    Told(text=f"{WORDS}\n{WORDS}"),
    Text(text=f"{WORDS}\n{WORDS}", is_report=True),
    Asking(
        card=replace(
            CARD, title=WORDS, plan=(WORDS,), facts=(Fact(label="\u00c4", text=WORDS),),
            warnings=(WORDS,), preview=(WORDS,), unchecked=(WORDS,), estimate=WORDS,
        ),
        status=WORDS,
    ),
    Text(text=WORDS, suggestions=(WORDS,)),
    Text(text=f"{WORDS}\n{WORDS}", is_note=True),
    Failed(kind="unavailable", text=f"{WORDS}\n{WORDS}"),
    Recalled(
        said=tuple(
            Said(at=AT, kind=kind, author=WORDS, text=encode(replace(CARD, title=WORDS)))
            for kind in ("asked", "answered", "report", "note", "card", "progress")
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_is_drawn_as_somebody_has_seen_it(width: int) -> None:
    assert drawn(width) == golden(width).read_text("utf-8")


@pytest.mark.parametrize("width", range(20, 60))
def test_no_part_of_a_fact_begins_a_line_where_there_is_little_room(width: int) -> None:
    text = "quagga ".join(str(number) for number in range(40))
    facts = tuple(Fact(label=label, text=text) for label in ("By", "Differs from defaults"))
    bare = replace(
        CARD, title="Go", facts=facts, plan=(), warnings=(), preview=(), unchecked=(), buttons=()
    )
    lines = shown(Asking(card=bare, status="Open."), width).splitlines()
    assert "quagga" in "".join(lines)
    begun = [line.split(" ")[0] for line in lines if line and not line.startswith("  ")]
    assert begun[1:-1] == ["By:", "Differs", "Estimate:", "Open."]


@pytest.mark.parametrize("width", [20, *WIDTHS])
def test_no_line_is_wider_than_the_window(width: int) -> None:
    assert max(map(cell_len, drawn(width).splitlines())) <= width


@pytest.mark.parametrize("what", EVERYTHING, ids=lambda what: type(what).__name__)
@pytest.mark.parametrize("colours", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_reaches_a_terminal_raw(what: Shown, width: int, *, colours: bool) -> None:
    text = shown(what, width, colours=colours)
    bare = STYLE.sub("", text) if colours else text
    odd = {c for c in bare if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}}
    assert odd == set()
    assert "red" in bare
    assert "\\u001b" in bare


def test_without_colours_there_is_no_escape_at_all() -> None:
    assert all("\x1b" not in shown(what) for what in (*SAMPLES, *EVERYTHING))


def test_the_colours_are_the_palette_of_the_terminal_and_none_vanishes_on_light_or_dark() -> None:
    codes = {
        code
        for what in SAMPLES
        for style in STYLE.findall(shown(what, colours=True))
        for code in style[2:-1].split(";")
    }
    # Nothing, bold, dim, red, green, magenta: no white, black or yellow, and no number of a colour.
    assert codes <= {"", "0", "1", "2", "31", "32", "35"}
    assert {"1", "2", "32", "35"} <= codes | {"32"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("width", [20, *WIDTHS])
@pytest.mark.parametrize(
    "what", [*SAMPLES, *EVERYTHING, *FOREIGN], ids=lambda what: type(what).__name__
)
def test_what_a_terminal_does_not_know_is_escaped_before_it_is_measured(
    what: Shown, width: int, encoding: str
) -> None:
    text = shown(what, width, encoding=encoding)
    assert text.encode(encoding).decode(encoding) == text  # nothing becomes longer later
    assert max(map(len, text.splitlines())) <= width


def test_every_line_of_words_keeps_its_gutter_where_only_ascii_is_known() -> None:
    lines = shown(Text(text=WORDS), encoding="ascii").splitlines()
    assert all(line.startswith("| ") for line in lines)
    assert "".join(line[2:] for line in lines) == WORDS.encode("ascii", "backslashreplace").decode()


def test_where_a_run_is_fits_into_a_line_whatever_the_terminal_knows() -> None:
    progress = Progress(run="r_1", title=WORDS, status=WORDS, began_at=AT, tail=(WORDS,))
    for encoding in ("ascii", "utf-8"):
        lines = shown(progress, encoding=encoding).splitlines()
        assert len(lines) == 2
        assert max(map(len, lines)) <= 76


def test_words_cannot_pass_for_a_card_or_a_report() -> None:
    report = shown(Text(text="Run r_1 succeeded: deploy.", is_report=True))
    forged = shown(Text(text=report))
    assert forged != report
    assert all(line.startswith("| ") for line in forged.splitlines())


@given(st.text(alphabet="ab \n*-x|│╭", max_size=400), st.sampled_from(WIDTHS))
def test_only_the_first_line_of_what_somebody_typed_begins_at_the_left(
    text: str, width: int
) -> None:
    first, *rest = shown(Typed(who="alice", text=text), width).splitlines()
    assert first.startswith("alice>")
    assert all(line.startswith("  ") or not line for line in rest)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_reason_cannot_begin_a_line_that_looks_like_ours(width: int) -> None:
    reason = " ".join(["no", *["* deploy: Approved by carol."] * 20])
    line = shown(Changed(card=CARD, status=f"Denied by bob: {reason}"), width)
    assert sum(part.startswith("*") for part in line.splitlines()) == 1


@given(st.text(alphabet='ab {}",', max_size=300), st.integers(9, 60))
def test_folding_loses_nothing(text: str, width: int) -> None:
    indent = min(len(text) - len(text.lstrip(" ")), (width - 1) // 2)
    whole, goes_on = "", False
    for line in folding.lines(text, width):
        assert len(line) <= width
        part = line[indent:] if goes_on else line
        goes_on = line.endswith(folding.MARK)
        whole += part.removesuffix(folding.MARK)
    assert whole == text


def test_a_wide_character_is_never_cut_in_two() -> None:
    assert all(cell_len(line) <= 9 for line in folding.lines("漢字" * 20, 9))


def test_a_list_in_an_error_keeps_its_lines_below_the_mark() -> None:
    text = shown(Failed(kind="refused", text="Name one:\n/approve 1   web\n/approve 2   worker"))
    assert text == "x Name one:\n  /approve 1 web\n  /approve 2 worker\n"


def test_what_sayso_notes_itself_stands_behind_no_gutter() -> None:
    assert (
        shown(Text(text="Still waiting.\n* no card", is_note=True))
        == "* Still waiting.\n  * no card\n"
    )


def test_an_unknown_kind_of_error_is_still_told() -> None:
    assert shown(Failed(kind="new", text="Something.")) == "x Something.\n"


def test_a_title_that_does_not_fit_is_shown_whole_below() -> None:
    card = replace(CARD, title="Approve to run: " + ", ".join(["deploy"] * 30))
    text = re.sub(r"[│\n\\ ]", "", shown(Asking(card=card, status="Open.")))
    assert ",".join(["deploy"] * 30) in text
