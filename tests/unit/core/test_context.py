"""C76: what a model is told of states that change is never too little, whatever was lost or trimmed."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context import Context, Source, statements, told
from core.errors import Invalid
from core.redaction import Redactor
from core.tools import Caller
from core.transcript import Entry, Form, Heard, Stated, Trust
from core.waiting import now
from tests.scene import CALLER

SECRET = "hunter2hunter2"
STAYS = "a line that stays as it is"


class Board:
    """A state that a test sets; `error` is raised instead, and a slow one never comes."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.error: Exception | None = None
        self.slow = False
        self.asked: list[Caller] = []

    async def __call__(self, caller: Caller) -> str:
        self.asked.append(caller)
        if self.slow:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        return self.text


def context(*boards: Board, most: int = 1000) -> Context:
    sources = tuple(Source(name=f"board{n}", state=one) for n, one in enumerate(boards))
    return Context(sources=sources, redactor=Redactor.of([SECRET]), most=most)


async def news(history: Sequence[Entry], *boards: Board, most: int = 1000) -> list[Stated]:
    by = now() + (0.2 if any(board.slow for board in boards) else 60)
    return list(await context(*boards, most=most).news(CALLER, history, by=by))


def forms(made: Sequence[Stated]) -> list[tuple[int, Form, str]]:
    return [(one.number, one.form, one.text) for one in made]


async def test_c76_first_whole_then_what_changed_then_nothing() -> None:
    board = Board(f"red: 1\n{STAYS}")
    history = await news([], board)
    assert forms(history) == [(1, Form.WHOLE, f"red: 1\n{STAYS}")]
    board.text = f"{STAYS}\nred: 3"
    history += await news(history, board)
    assert forms(history)[1:] == [(2, Form.CHANGES, "- red: 1\n+ red: 3")]
    assert await news(history, board) == []
    assert board.asked == [CALLER] * 3


async def test_c76_nothing_is_said_of_what_is_empty_and_never_was_else() -> None:
    assert await news([], Board()) == []


async def test_c76_what_became_empty_is_said() -> None:
    board = Board("a\nb")
    history = await news([], board)
    board.text = ""
    history += await news(history, board)
    assert told(history) == Counter()


async def test_the_order_of_lines_means_nothing() -> None:
    board = Board("a\nb\nb")
    history = await news([], board)
    board.text = "b\n\na \nb"
    assert await news(history, board) == []
    board.text = "b\na"
    assert forms(await news(history, board)) == [(2, Form.CHANGES, "- b")]


async def test_c76_a_trimmed_history_gets_all_of_it() -> None:
    board = Board(f"{STAYS}\nc")
    first = await news([], board)
    board.text = f"{STAYS}\nd"
    second = await news(first, board)
    assert forms(await news(second, board)) == [(3, Form.WHOLE, f"{STAYS}\nd")]


async def test_c76_a_gap_in_the_count_gets_all_of_it() -> None:
    board = Board(f"{STAYS}\nc")
    history = await news([], board)
    for text in (f"{STAYS}\nd", f"{STAYS}\ne"):
        board.text = text
        history += await news(history, board)
    assert forms(await news([history[0], history[2]], board)) == [(4, Form.WHOLE, f"{STAYS}\ne")]


async def test_c76_a_delivery_that_was_not_kept_is_repeated() -> None:
    board = Board(f"{STAYS}\nc")
    history = await news([], board)
    board.text = f"{STAYS}\nd"
    once, again = await news(history, board), await news(history, board)
    assert once == again != []
    # Kept twice, it counts wrong, so all is said again.
    assert forms(await news([*history, *once, *again], board)) == [(3, Form.WHOLE, f"{STAYS}\nd")]


async def test_c76_a_source_that_fails_is_away_once_and_keeps_what_it_said() -> None:
    board = Board("a")
    history = await news([], board)
    board.error = ValueError("the password is hunter2")
    history += await news(history, board)
    assert forms(history)[1:] == [(2, Form.AWAY, "")]
    assert history[1].trust is Trust.SOFTWARE
    assert await news(history, board) == []
    assert told(history) == Counter(["a"])


async def test_c76_a_source_that_is_back_says_so() -> None:
    board = Board("a")
    history = await news([], board)
    board.error = ValueError("x")
    history += await news(history, board)
    board.error = None
    history += await news(history, board)
    assert forms(history)[2:] == [(3, Form.CHANGES, "")]
    assert await news(history, board) == []


async def test_c76_a_source_that_fails_at_first_is_told_whole_later() -> None:
    board = Board("a")
    board.error = ValueError("x")
    history = await news([], board)
    assert forms(history) == [(1, Form.AWAY, "")]
    board.error = None
    assert forms(await news(history, board)) == [(2, Form.WHOLE, "a")]


async def test_c76_a_slow_source_holds_nobody_up_and_costs_the_others_nothing() -> None:
    slow, other = Board("a"), Board("b")
    slow.slow = True
    made = await news([], slow, other)
    assert [(one.source, one.form) for one in made] == [
        ("board0", Form.AWAY),
        ("board1", Form.WHOLE),
    ]


async def test_who_stops_a_turn_stops_its_sources() -> None:
    board = Board()
    board.slow = True
    patient = Context(sources=(Source(name="x", state=board),), redactor=Redactor.of([]))
    task = asyncio.create_task(patient.news(CALLER, [], by=now() + 60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_no_longer_there_is_taken_back_once() -> None:
    history = await news([], Board("a"), Board("b"))
    made = await news(history, Board("a"))
    assert [(one.source, one.form, one.text) for one in made] == [("board1", Form.WHOLE, "")]
    assert await news([*history, *made], Board("a")) == []


async def test_i12_a_state_shows_no_secret_and_no_half_character() -> None:
    [made] = await news([], Board(f"token {SECRET}\ud800"))
    assert made.text == "token [redacted]\ufffd"


async def test_a_large_state_is_cut_at_a_line_and_says_so() -> None:
    [made] = await news([], Board("\n".join(f"line {n}" for n in range(100))), most=21)
    assert made.text == "line 0\nline 1\nline 2\n(Lines that are not shown: 97)"


async def test_c3_a_huge_state_is_cut_before_it_is_searched_and_shows_whole_lines() -> None:
    [made] = await news([], Board(f"a {SECRET}\n" * 3 + "b\n" * 99_997), most=40)
    assert made.text == 3 * "a [redacted]\n" + "(Lines that are not shown: 99998)"


async def test_a_huge_line_is_left_out_whole() -> None:
    [made] = await news([], Board("a\n" + "x " * 100_000), most=40)
    assert made.text == "a\n(Lines that are not shown: 1)"


async def test_changes_that_are_longer_than_the_whole_are_said_whole() -> None:
    board = Board("a\nb\nc")
    history = await news([], board)
    board.text = "d"
    assert forms(await news(history, board)) == [(2, Form.WHOLE, "d")]


async def test_each_source_counts_for_itself() -> None:
    one, other = Board("a\nx\ny\nz"), Board("b")
    history = await news([], one, other)
    one.text = "c"
    made = await news(history, one, other)
    assert [(s.source, s.number) for s in made] == [("board0", 2)]


def test_two_states_of_one_name_are_refused_at_start() -> None:
    source = Source(name="board", state=Board())
    with pytest.raises(Invalid, match="Two states are called board"):
        Context(sources=(source, source), redactor=Redactor.of([]))


LINES = st.lists(
    st.sampled_from(["a", "b", "+ a", "- b", "  c", "a long line of text"]), max_size=6
)
FATES = st.sampled_from(["kept", "lost", "trimmed", "away"])


@given(st.lists(st.tuples(LINES, FATES, st.integers(0, 2**16)), max_size=12))
def test_c76_whatever_was_lost_or_trimmed_what_is_visible_tells_the_present_state(
    turns: list[tuple[list[str], str, int]],
) -> None:
    async def play() -> None:
        board, history = Board(), list[Entry]()
        for lines, fate, mask in turns:
            board.text = "\n".join(lines)
            board.error = ValueError("x") if fate == "away" else None
            made = await news(history, board)
            if fate == "lost":  # the turn was cut before anything of it was kept
                continue
            history += [*made, Heard(speaker="alice", text="x")]
            if fate != "away":
                visible = told(statements(history, "board0")) or Counter()
                assert visible == Counter(line for line in lines)
            if fate == "trimmed":
                history = [one for n, one in enumerate(history) if mask >> (n % 16) & 1]

    asyncio.run(play())
