"""Somebody at a terminal: every line is answered visibly, whatever it leads to."""

import asyncio
import logging
import os
import re
import signal
from collections.abc import AsyncGenerator

import pytest

from adapters.console.inbound import read
from approvals import cards, reports
from approvals.models import RUN, RunState
from bot import wiring
from bot.conversing import Conversing, Left
from bot.looking import MOST
from bot.wiring import Seams
from core.deliveries import Asking, Text
from core.errors import OutcomeUnknown, Unavailable
from core.terminal import Line, Seat, Typed
from tests.fakes.terminal import FakeTerminal
from tests.jobs import PATIENCE, soon
from tests.sayso import Sayso

CTRL_C = Line(interrupted=True)


@pytest.fixture
def terminal() -> FakeTerminal:
    return FakeTerminal()


@pytest.fixture
async def conversing(empty: Sayso, terminal: FakeTerminal) -> AsyncGenerator[Conversing]:
    seams = Seams(chats={"console": terminal.chat})
    async with wiring.opened(empty.folder / "sayso.yml", seams) as app:
        yield Conversing(app=app, terminal=terminal, read=read, who="alice", one_by_one=True)


def at_another(conversing: Conversing, terminal: FakeTerminal) -> Conversing:
    """Return somebody else who sits over the same configuration, at another terminal."""
    return Conversing(
        app=conversing.app, terminal=terminal, read=read, who="alice", one_by_one=True
    )


def type_in(terminal: FakeTerminal, *lines: str | Line) -> None:
    """Have these be typed, one after another."""
    terminal.lines += [Line(text=line) if isinstance(line, str) else line for line in lines]


async def test_lines_are_answered_until_the_input_ends(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "show ledger", "append alpha", "/as bob", "/approve")
    await conversing.hold()
    assert terminal.names == ["alice", "alice", "alice", "bob", "bob"]
    assert terminal.shown == ["You are bob.", "Your yes counts: 1 of 1 vote."]
    kinds = [type(message) for message in terminal.chat.messages]
    assert kinds == [Text, Asking, Text]
    assert "succeeded: append-word." in str(terminal.chat.messages[2])


async def test_a_standing_grant_is_proposed_used_listed_and_revoked(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "append alpha")
    await conversing.hold()
    [card] = [one for one in terminal.chat.messages if isinstance(one, Asking)]
    type_in(terminal, "/as bob", f"/grant {card.card.buttons[0].request} 2 1h", "/grants")
    await conversing.hold()
    [grant] = re.findall("(g_[0-9a-f]{32}) active: append-word", terminal.shown[-1])
    type_in(terminal, "/as alice", "/new", "append alpha", "/as bob", f"/revoke {grant}", "/grants")
    await conversing.hold()
    told = str(terminal.chat.messages)
    assert f"Ran under standing grant {grant}, use 1 of 2, until" in told
    assert f"Standing grant {grant} is revoked. It lets nothing run any more." in terminal.shown
    assert f"{grant} revoked: append-word" in terminal.shown[-1]


async def test_an_empty_line_is_no_message(conversing: Conversing, terminal: FakeTerminal) -> None:
    type_in(terminal, "", "   ", "/quit", "show ledger")
    await conversing.hold()
    assert (terminal.shown, terminal.chat.messages) == ([], [])
    assert len(terminal.lines) == 1


async def test_another_conversation_has_a_thread_of_its_own(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "append alpha", "/new", "/history", "append alpha", "/history")
    await conversing.hold()
    threads = {place.thread for place, _ in terminal.chat.shown.values()}
    assert len(threads) == 2
    assert "refused: Nothing was said here yet." in terminal.shown
    assert [said.kind for said in terminal.recalled] == ["asked", "card"]


async def test_c64_what_nobody_foresaw_is_a_sentence_here_and_a_traceback_in_the_log(
    conversing: Conversing, terminal: FakeTerminal, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [ValueError("secret detail"), Unavailable("Busy."), OutcomeUnknown("Look.")]

    def fails(line: str, seat: Seat) -> Typed | None:
        if line == "fail":
            raise errors.pop(0)
        return read(line, seat)

    conversing.read = fails
    type_in(terminal, "fail", "fail", "fail", "/requests")
    with caplog.at_level(logging.ERROR):
        await conversing.hold()
    unexpected, *rest = terminal.shown
    assert unexpected.startswith("unavailable: Something went wrong inside Sayso")
    assert rest == [
        "unavailable: Busy.",
        "unknown_outcome: Look.",
        "Nothing waits that you may know of.",
    ]
    assert "secret detail" not in "".join(terminal.shown)
    assert "secret detail" in caplog.text


async def test_ctrl_c_leaves_only_where_it_is_pressed_twice(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, CTRL_C, "/requests", CTRL_C, CTRL_C, "never read")
    await conversing.hold()
    hint = "Nothing runs here. Ctrl-C once more leaves."
    assert terminal.shown == [hint, "Nothing waits that you may know of.", hint]
    assert [line.text for line in terminal.lines] == ["never read"]


async def test_a_stop_in_a_conversation_of_its_own_touches_no_other(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "/stop", "append alpha", "/new", "/stop", "/requests")
    await conversing.hold()
    nothing, _, listed, waiting = terminal.shown
    assert nothing.endswith("nothing runs here. You may stop nothing elsewhere.")
    told, line = listed.split("\n")
    assert told.startswith("Nothing was asked here, so nothing runs here.")
    [request] = await conversing.app.records.requests()
    assert line.startswith(f'/stop {request.conversation}   append-word {{"word": "alpha"}}')
    assert waiting.startswith(request.id)


async def test_whoever_looks_at_a_card_may_then_decide_it_without_its_id(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "append alpha")
    await conversing.hold()
    terminal.chat.posted.clear()  # as in a terminal in which nothing of it was shown
    [request] = await conversing.app.records.requests()
    type_in(terminal, "/as bob", "/approve", f"/show {request.id}", "/approve")
    await conversing.hold()
    _, refused, counted = terminal.shown
    assert refused.startswith("refused: The one request that waits was never shown here")
    assert refused.endswith(f"Look at it first: /show {request.id}")
    [card] = terminal.cards
    assert (card.card, card.status[:6]) == (cards.drawn(request, None)[0], "Open: ")
    assert counted == "Your yes counts: 1 of 1 vote."


async def test_a_card_is_shown_without_its_id_only_where_one_waits(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "/show", "append alpha", "/show", "append beta", "/show")
    await conversing.hold()
    nothing, several, *_ = terminal.shown
    assert nothing.startswith("refused: Nothing waits")
    assert len(terminal.cards) == 1
    assert '   append-word {"word": "beta"' in several


async def test_lists_tell_what_was_asked_for_apart(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "append alpha", "/requests", "/as bob", "/approve", "/runs")
    await conversing.hold()
    waits, *_, ran = terminal.shown
    for listed in (waits, ran):
        assert 'append-word {"word": "alpha"' in listed
    assert re.search(r"asked by alice at \d{4}-\d\d-\d\d .* UTC in c_", waits)
    assert waits.endswith("\n/show ID shows the card of one.")
    assert re.match(r"\d{4}-\d\d-\d\d .* UTC append-word .*\nRun r_\w+ succeeded", ran)


async def test_whoever_approves_from_elsewhere_is_told_in_a_line_how_it_ended(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    elsewhere = FakeTerminal()
    asking = at_another(conversing, elsewhere)
    for word in ("alpha", "beta"):
        type_in(elsewhere, f"append {word}", "/new")
    await asking.hold()
    beta, alpha = await conversing.app.records.requests()
    type_in(terminal, "/as bob", f"/approve {alpha.id}", f"/approve {beta.id}", "/runs")
    await conversing.hold()
    told = [one for one in terminal.shown if " /runs has the report." in one]
    for one, word in zip(told, ("alpha", "beta"), strict=True):
        assert one.startswith(f'append-word {{"word": "{word}"')
        assert re.search(r": Approved by bob\. Run r_\w+: succeeded\. /runs", one)


async def test_whoever_asked_here_is_told_by_card_and_report_alone(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "append alpha", "/new", "/as bob", "/approve")
    await conversing.hold()
    assert not [one for one in terminal.shown if "has the report" in one]


async def test_a_yes_that_is_not_enough_is_told_once_somebody_else_decides(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    asking = at_another(conversing, FakeTerminal())
    await asking.take("deploy v1")
    async with asking.serving():
        await asking.rest()
    [request] = await conversing.app.records.requests()
    conversing.sit("bob")
    await conversing.take(f"/approve {request.id}")
    await conversing.rest()
    assert terminal.shown == ["Your yes counts: 1 of 2 votes."]
    conversing.sit("carol")
    await conversing.take(f"/deny {request.id} not now")
    await conversing.rest()
    assert terminal.shown[-1].endswith(": Denied by carol: not now.")


async def test_nobody_cuts_a_run_by_leaving_before_they_were_told(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    conversing.one_by_one = False
    goodbye = await held_until_it_runs(conversing, terminal, "/quit", "/help")
    assert goodbye == "You left. A run was going on: sayso runs tells how it ended."
    cuts = [told for told in terminal.shown if told.startswith("A run goes on in this process.")]
    assert len(cuts) == 2
    assert [line.text for line in terminal.lines] == ["never read"]


async def test_a_process_that_is_told_to_end_asks_nobody(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    conversing.one_by_one = False
    told = Line(told=True)
    assert "A run was going on" in await held_until_it_runs(conversing, terminal, told)
    assert not [one for one in terminal.shown if one.startswith("A run goes on")]


async def test_goodbye_speaks_of_what_waits_only_where_something_does(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "/quit")
    assert (await conversing.hold()).goodbye == "You left."
    type_in(terminal, "append alpha", "/quit")
    left = await conversing.hold()
    assert left.goodbye == "You left. What waits goes on waiting: sayso requests"


async def held_until_it_runs(
    conversing: Conversing, terminal: FakeTerminal, *lines: str | Line
) -> str:
    """Have something run that takes long, and these lines be typed while it does."""
    await conversing.take("slow append beta 30")
    async with conversing.serving():
        await conversing.rest()
    conversing.sit("bob")
    await conversing.take("/approve")

    async def runs() -> bool:
        return conversing.app.engine.holds(RUN)

    terminal.first = lambda: soon(runs)
    type_in(terminal, *lines, "/quit", "/quit", "never read")
    return (await conversing.hold()).goodbye


async def a_slow_run(
    conversing: Conversing, terminal: FakeTerminal, seconds: int, *after: str
) -> "asyncio.Task[Left]":
    """Pipe in lines of which one begins to run for so long; return the conversation once it does."""
    type_in(terminal, f"slow append beta {seconds}", "/as bob", "/approve", *after)
    holding = asyncio.create_task(conversing.hold())

    async def runs() -> bool:
        return conversing.app.engine.holds(RUN)

    await soon(runs)
    return holding


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_a_pipe_at_once_and_no_line_behind_it_is_done(
    conversing: Conversing, terminal: FakeTerminal, number: signal.Signals
) -> None:
    holding = await a_slow_run(conversing, terminal, 30, "append alpha", "/quit")
    os.kill(os.getpid(), number)
    left = await asyncio.wait_for(holding, PATIENCE)
    assert left.code == 128 + number
    assert left.goodbye == "You left. A run was going on: sayso runs tells how it ended."
    assert [line.text for line in terminal.lines if line.text] == ["append alpha", "/quit"]
    assert "A run goes on" not in " ".join(terminal.shown)
    assert len(await conversing.app.records.requests()) == 1


async def test_a_reader_who_is_gone_ends_it_as_a_signal_does(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    holding = await a_slow_run(conversing, terminal, 30, "append alpha")
    terminal.reader_left.set()
    left = await asyncio.wait_for(holding, PATIENCE)
    assert left.code == 128 + signal.SIGPIPE
    assert [line.text for line in terminal.lines if line.text] == ["append alpha"]


async def test_a_line_that_takes_long_does_not_keep_a_signal_from_ending_it(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    async def is_at_it() -> bool:
        return bool(terminal.names)

    async with terminal.answering():  # so that no line is answered
        type_in(terminal, "append alpha", "append beta")
        holding = asyncio.create_task(conversing.hold())
        await soon(is_at_it)
        os.kill(os.getpid(), signal.SIGTERM)
        left = await asyncio.wait_for(holding, PATIENCE)
    assert left.code == 128 + signal.SIGTERM
    assert await conversing.app.records.requests() == []


async def test_a_pipe_that_ends_sees_somebody_elses_run_through_that_it_took_over(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    await approved_elsewhere(conversing, 1)
    terminal.first = lambda: soon(lambda: holds_a_run(conversing))
    type_in(terminal, "/quit")
    left = await asyncio.wait_for(conversing.hold(), PATIENCE)
    assert (left.code, left.goodbye) == (0, "You left.")
    assert terminal.shown == ["A run goes on in this process, and is waited for. A signal cuts it."]
    [run] = await conversing.app.records.runs()
    assert run.state is RunState.SUCCEEDED


async def test_and_a_signal_cuts_that_too(conversing: Conversing, terminal: FakeTerminal) -> None:
    await approved_elsewhere(conversing, 30)
    terminal.first = lambda: soon(lambda: holds_a_run(conversing))
    type_in(terminal, "/quit")
    holding = asyncio.create_task(conversing.hold())

    async def is_told() -> bool:
        return bool(terminal.shown)

    await soon(is_told)
    os.kill(os.getpid(), signal.SIGTERM)
    left = await asyncio.wait_for(holding, PATIENCE)
    assert left.code == 128 + signal.SIGTERM
    assert left.goodbye == "You left. A run was going on: sayso runs tells how it ended."


async def holds_a_run(conversing: Conversing) -> bool:
    """Whether this process runs something."""
    return conversing.app.engine.holds(RUN)


async def approved_elsewhere(conversing: Conversing, seconds: int) -> None:
    """Have others ask for and approve something that nobody runs yet."""
    asking = at_another(conversing, FakeTerminal())
    await asking.take(f"slow append beta {seconds}")
    async with asking.serving():
        await asking.rest()
    [request] = await conversing.app.records.requests()
    asking.sit("bob")
    await asking.take(f"/approve {request.id}")


async def test_nobody_sits_down_whom_sayso_does_not_know(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "/as nobody", "/as bob")
    await conversing.hold()
    refused, _ = terminal.shown
    assert refused.startswith("refused: Sayso knows nobody of that name here.")
    assert terminal.names == ["alice", "alice", "bob"]


async def test_a_second_yes_is_told_to_be_none(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "deploy v1", "/as bob", "/approve", "/approve")
    await conversing.hold()
    assert terminal.shown[1:] == [
        "Your yes counts: 1 of 2 votes.",
        "Your yes was there already: 1 of 2 votes.",
    ]


async def unknown_of(conversing: Conversing, empty: Sayso, word: str) -> str:
    """Have a run end with an unknown step, and return its request."""
    request = await asked(conversing, f"append {word}")
    conversing.sit("bob")
    await conversing.take(f"/approve {request}")
    await served(conversing)
    [run] = [one for one in await conversing.app.records.runs() if one.request == request]
    empty.sql(f"UPDATE step SET state = 'unknown' WHERE run = '{run.id}'")
    empty.sql(f"UPDATE run SET state = 'unknown' WHERE id = '{run.id}'")
    return request


ENDS = {"happened": RunState.SUCCEEDED, "did-not": RunState.FAILED}


@pytest.mark.parametrize("word", [*ENDS, "verify"])
async def test_a_bare_word_about_an_unknown_step_stands_only_for_what_was_shown_here(
    conversing: Conversing, empty: Sayso, terminal: FakeTerminal, word: str
) -> None:
    request = await unknown_of(conversing, empty, "alpha")
    terminal.chat.posted.clear()  # as in a terminal in which nothing of it was shown
    await conversing.take(f"/resolve {word}")
    told = terminal.shown[-1]
    assert told.startswith(
        'refused: The one step that is unknown is of append-word {"word": "alpha"'
    )
    assert f"/show {request}. Or name it: /resolve r_" in told
    [run] = await conversing.app.records.runs()
    assert run.state is RunState.UNKNOWN
    await conversing.take(f"/show {request}")
    assert terminal.cards[-1].card.buttons == reports.choices(run)
    await conversing.take(f"/resolve {word}")
    assert "was never shown here" not in terminal.shown[-1]
    [now] = await conversing.app.records.runs()
    assert now.state is (RunState.UNKNOWN if word == "verify" else ENDS[word])


async def test_a_bare_word_about_an_unknown_step_names_them_where_several_are(
    conversing: Conversing, empty: Sayso, terminal: FakeTerminal
) -> None:
    for word in ("alpha", "beta"):
        await unknown_of(conversing, empty, word)
    for _ in range(MOST):  # those that came after it do not hide it
        request = await asked(conversing, "append gamma")
        conversing.sit("bob")
        await conversing.take(f"/approve {request}")
        await served(conversing)
    await conversing.take("/resolve happened")
    several, *lines = terminal.shown[-1].split("\n")
    assert several == "refused: Several steps are unknown. Name one of them:"
    for line, run, word in zip(
        lines, [*await conversing.app.records.runs()][MOST:], ("beta", "alpha"), strict=True
    ):
        assert line.startswith(f"/resolve {run.id} 0 verify (or happened, or did-not)   append")
        assert f'"word": "{word}"' in line
    await conversing.take(lines[0].partition(" verify")[0] + " did-not")
    await conversing.take("/resolve happened")
    assert terminal.shown[-1] == "Your word ends it."
    await conversing.take("/resolve happened")
    assert terminal.shown[-1].startswith("refused: No step that you may know of is unknown.")


async def test_what_was_erased_hides_no_other_run_from_a_list(
    conversing: Conversing, empty: Sayso, terminal: FakeTerminal
) -> None:
    for word in ("alpha", "beta"):
        request = await asked(conversing, f"append {word}")
        conversing.sit("bob")
        await conversing.take(f"/approve {request}")
        await served(conversing)
        await conversing.take("/new")
    empty.sql("UPDATE plan SET body = '' WHERE body LIKE '%alpha%'")
    await conversing.take("/runs")
    assert 'append-word {"word": "beta"' in terminal.shown[-1]


async def test_p27_every_decision_that_comes_too_late_is_told_so(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    async def told(who: str, line: str) -> str:
        conversing.sit(who)
        await conversing.take(line)
        return terminal.shown[-1]

    alpha = await asked(conversing, "append alpha")
    late = f"/approve {alpha}"
    assert await told("bob", "/approve") == "Your yes counts: 1 of 1 vote."
    assert await told("bob", "/approve") == "Your yes was there already: 1 of 1 vote."
    assert await told("carol", late) == "Your yes was not needed any more: approved by bob."
    await served(conversing)
    for line in (late, f"/deny {alpha} no"):
        assert await told("carol", line) == "refused: Already decided. Approved by bob."


async def test_a_no_counts_until_the_run_begins_and_the_first_no_ends_it(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    beta = await asked(conversing, "append beta")
    for who, line in (("bob", "/approve"), ("carol", "/deny not now")):
        conversing.sit(who)
        await conversing.take(line)
    assert terminal.shown[-1] == "Your no counts: nothing of it runs."
    for who in ("bob", "carol"):
        conversing.sit(who)
        await conversing.take(f"/approve {beta}")
        await conversing.take(f"/deny {beta} again")
    told = "refused: Already decided. Denied by carol: not now."
    assert terminal.shown[-4:] == [told] * 4
    assert list(await conversing.app.records.runs()) == []


async def asked(conversing: Conversing, text: str) -> str:
    """Have alice ask for something, and return the request that came of it."""
    conversing.sit("alice")
    await conversing.take(text)
    await served(conversing)
    request, *_ = await conversing.app.records.requests()
    return request.id


async def served(conversing: Conversing) -> None:
    """Serve until nothing is left to be done."""
    async with conversing.serving():
        await conversing.rest()


async def test_what_cannot_be_asked_for_again_here_says_why(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "/again", "append alpha", "/as bob", "/deny no")
    await conversing.hold()
    [request] = await conversing.app.records.requests()
    type_in(terminal, "/new", f"/again {request.id}", "/as alice", f"/again {request.id}")
    await conversing.hold()
    refused = [told.removeprefix("refused: ") for told in terminal.shown if "refused: " in told]
    nothing, elsewhere, denied = refused
    assert nothing == "Nothing of this conversation was denied, withdrawn or has expired."
    assert elsewhere.startswith("That was asked for in another conversation, and only there")
    assert denied.endswith("may ask for it again: bob and carol may.")


async def test_no_line_of_the_help_is_folded_in_a_usual_window(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    type_in(terminal, "/help")
    await conversing.hold()
    [told] = terminal.shown
    assert max(map(len, told.split("\n"))) <= 80 - len("- ")


async def test_a_message_that_waits_is_told_so(
    conversing: Conversing, terminal: FakeTerminal
) -> None:
    await conversing.take("show ledger")  # nobody serves yet
    await conversing.take("show ledger")
    assert terminal.shown == ["Queued: 1 message of this conversation comes first."]
    async with conversing.serving():
        await conversing.rest()
    assert len(terminal.chat.messages) == 2
