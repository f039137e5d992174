"""Messages: answered in order and one at a time, stopped from elsewhere, and not lost with a process."""

import json
import signal
import sys
from collections.abc import Generator
from datetime import datetime
from pathlib import Path

import pytest

from tests.sayso import TURN, Done, Object, Running, Sayso, fresh, marked, shaped, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

LOOK = """
summary: Look at a word for some seconds, and leave a trace of that.
effect: read
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
  seconds: {type: integer}
phrases: ["look at {word} {seconds}"]
steps:
  - run: [python3, append.py, ledger.txt, "{word}", "{seconds}"]
    timeout: 90s
"""
ECHO = """
summary: Say a word.
effect: read
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
phrases: ["say {word}"]
steps:
  - run: [echo, "said {word}"]
"""
MEET = """
summary: Wait for somebody else who looks at the same time.
effect: read
params:
  me: {type: string, pattern: "^[a-z]{1,20}$"}
  other: {type: string, pattern: "^[a-z]{1,20}$"}
phrases: ["meet {other} as {me}"]
steps:
  - run: [python3, meet.py, "{me}", "{other}"]
"""
MEETING = """
import sys, time
from pathlib import Path

me, other = map(Path, sys.argv[1:])
me.touch()
until = time.monotonic() + 20
while not other.exists() and time.monotonic() < until:
    time.sleep(0.01)
print(time.time(), "met" if other.exists() else "alone")
"""


@pytest.fixture
def sayso(tmp_path: Path) -> Generator[Sayso]:
    """Give a folder with reads that take long, and one conversation of alice's."""
    with fresh(tmp_path / "folder") as sayso:
        sayso.runbook("look", LOOK)
        sayso.runbook("echo", ECHO)
        sayso.runbook("meet", MEET)
        (sayso.folder / "work" / "meet.py").write_text(MEETING, "utf-8")
        yield sayso


@pytest.fixture
def here(sayso: Sayso) -> str:
    done = sayso.run("ask", "say hello", as_="alice")
    assert done.json["text"] == "said hello"
    return str(done.json["conversation"])


def looking(sayso: Sayso, word: str, here: str, as_: str = "alice") -> Running:
    """Ask for a look that takes half a minute, and wait until it has begun."""
    running = sayso.start("ask", f"look at {word} 30", "--conversation", here, as_=as_)
    until(lambda: f"begin {word}" in sayso.ledger())
    return running


def queued(sayso: Sayso, text: str, here: str, as_: str = "alice") -> Running:
    """Ask, and wait until the message is kept."""
    before = len(turns(sayso, here))
    running = sayso.start("ask", text, "--conversation", here, as_=as_)
    until(lambda: len(turns(sayso, here)) > before)
    return running


def turns(sayso: Sayso, here: str) -> list[tuple[str, str, str | None]]:
    """Return id, words and reason of the turns of a conversation, in order of arrival."""
    found = sayso.sql(
        "SELECT turn.id, wish, reason FROM turn JOIN job ON job.id = 'turn:' || turn.id"
        " WHERE conversation = ? ORDER BY job.seq",
        here,
    )
    return [(name, json.loads(wish)["text"], reason) for name, wish, reason in found]


def entries(sayso: Sayso, here: str) -> list[tuple[str, str]]:
    """Return kind and text of what was said, without the first question and its answer."""
    said = sayso.run("conversation", here).json["entries"]
    return [(entry["kind"], entry["text"]) for entry in said][2:]


def counts(done: Done) -> dict[str, int]:
    """Return what a stop counted, without what is zero."""
    assert done.code == 0, done
    return {name: count for name, count in done.json["stopped"].items() if count}


def stopped(running: Running) -> Object:
    """Return the turn that an `ask` prints whose answer was stopped."""
    done = running.done()
    assert done.code == 0, done
    assert shaped(done.json, TURN | {"reason": "stopped"}), done
    assert marked(done.json["turn"]) == []
    return done.json


def ended(sayso: Sayso) -> bool:
    return not sayso.sql("SELECT 1 FROM job WHERE kind = 'turn' AND state IN ('queued', 'running')")


# P-14: at once


def test_p14_c14_twenty_at_once_are_each_answered_in_order_of_arrival(
    sayso: Sayso, here: str
) -> None:
    words = [f"w{number}" for number in range(20)]
    texts = [f"say {w}" if number % 5 else f"append {w}" for number, w in enumerate(words)]
    done = sayso.each(*(["alice", "ask", text, "--conversation", here] for text in texts))
    for word, text, one in zip(words, texts, done, strict=True):
        assert one.code == 0, one
        assert one.json["conversation"] == here
        if text.startswith("say"):
            assert shaped(one.json, TURN | {"reason": "answered", "text": f"said {word}"}), one
        else:
            assert f'"{word}"' in one.request["card"], one
    asked = [text for _, text, _ in turns(sayso, here)][1:]
    assert sorted(asked) == sorted(texts)
    said = entries(sayso, here)
    assert [text for kind, text in said if kind == "asked"] == asked
    assert len(said) == 2 * 20
    for question, (kind, answer) in zip(said[::2], said[1::2], strict=True):
        text = question[1]
        assert question[0] == "asked"
        assert kind == ("answered" if text.startswith("say") else "card")
        word = text.split()[1]
        assert (f"said {word}" == answer) if kind == "answered" else (f'"{word}"' in answer)
    assert sayso.run("audit", "verify").json["ok"] is True


def test_p14_c14_two_conversations_are_answered_side_by_side(sayso: Sayso) -> None:
    # Each of them ends only once the other has begun.
    done = sayso.each(["alice", "ask", "meet b as a"], ["alice", "ask", "meet a as b"])
    assert [one.json["text"].split()[1] for one in done] == ["met", "met"]
    assert len({one.json["conversation"] for one in done}) == 2


def test_p14_one_conversation_is_never_answered_twice_at_once(sayso: Sayso, here: str) -> None:
    sayso.edit("work/meet.py", "+ 20", "+ 0.5")
    done = sayso.each(
        ["alice", "ask", "meet b as a", "--conversation", here],
        ["alice", "ask", "meet a as b", "--conversation", here],
    )
    assert sorted(one.json["text"].split()[1] for one in done) == ["alone", "met"]


def test_p14_who_has_to_wait_is_told_so(sayso: Sayso, here: str) -> None:
    first = looking(sayso, "one", here)
    second = queued(sayso, "say two", here)
    assert counts(sayso.run("stop", here, as_="alice"))["messages_kept"] == 1
    stopped(first)
    done = second.done()
    assert done.json["text"] == "said two"
    assert done.err == "Queued: 1 message of this conversation comes first.\n"


# P-03: stops


@pytest.mark.parametrize("where", ["here", "conversation", "all"])
def test_p03b_a_look_is_killed_from_another_process_within_a_second(
    sayso: Sayso, here: str, where: str
) -> None:
    asking = looking(sayso, "one", here)
    named = {"here": [], "conversation": [here], "all": ["all"]}[where]
    done = sayso.run("stop", *named, as_="alice")
    assert counts(done) == {"turns": 1, "processes": 1}
    turn = stopped(asking)
    [told] = done.json["turns"]
    assert (told["turn"], told["reason"]) == (turn["turn"], "stopped")
    assert sayso.ledger() == ["begin one"]
    [(asked,)] = sayso.sql("SELECT at FROM audit WHERE kind = 'turn.stop_asked'")
    [(over,)] = sayso.sql("SELECT ended_at FROM turn WHERE reason = 'stopped'")
    took = datetime.fromisoformat(over) - datetime.fromisoformat(asked)
    assert took.total_seconds() < 1
    assert entries(sayso, here) == [("asked", "look at one 30"), ("answered", turn["text"])]
    assert sayso.run("audit", "verify").json["ok"] is True


def test_p05_the_conversation_goes_on_after_a_stop(sayso: Sayso, here: str) -> None:
    asking = looking(sayso, "one", here)
    sayso.run("stop", here, as_="alice")
    stopped(asking)
    again = sayso.run("ask", "say two", "--conversation", here, as_="alice")
    assert shaped(again.json, TURN | {"reason": "answered", "text": "said two"})
    proposed = sayso.ask("append three", "alice", here)
    assert proposed["request"]["state"] == "open"


def test_p03d_a_message_that_waits_behind_is_kept_and_answered_next(
    sayso: Sayso, here: str
) -> None:
    first = looking(sayso, "one", here)
    second = queued(sayso, "say two", here)
    done = sayso.run("stop", here, as_="alice")
    assert counts(done) == {"turns": 1, "processes": 1, "messages_kept": 1}
    stopped(first)
    assert shaped(second.done().json, TURN | {"reason": "answered", "text": "said two"})


def test_p03d_stopping_everything_takes_what_waits_too(sayso: Sayso, here: str) -> None:
    first = looking(sayso, "one", here)
    second = queued(sayso, "append two", here)
    assert counts(sayso.run("stop", "all", as_="alice")) == {"turns": 2, "processes": 1}
    assert [stopped(one)["request"] for one in (first, second)] == [None, None]
    assert sayso.sql("SELECT count(*) FROM request") == [(0,)]


def test_p03h_whoever_did_not_ask_and_may_not_stop_there_is_refused_and_it_goes_on(
    sayso: Sayso, here: str
) -> None:
    asking = looking(sayso, "one", here, as_="bob")
    told, unknown = sayso.each(["alice", "stop", here], ["alice", "stop", "c_0"])
    assert told.refusal == (
        "You may not stop that. Whoever asked for it may, and whoever has run:stop."
    )
    assert counts(unknown) == {}
    assert counts(sayso.run("stop", "all", as_="mallory")) == {}
    assert "does not know you" in sayso.run("stop", as_="trudy").refusal
    assert asking.process.poll() is None
    assert counts(sayso.run("stop", as_="carol")) == {"turns": 1, "processes": 1}
    stopped(asking)


def test_p03i_a_second_stop_is_harmless(sayso: Sayso, here: str) -> None:
    asking = looking(sayso, "one", here)
    both = sayso.together(["alice", "stop", here], ["carol", "stop", here])
    stopped(asking)
    told = [counts(done) for done in both]
    assert {"turns": 1, "processes": 1} in told
    assert all(one in ({}, {"turns": 1, "processes": 1}) for one in told)
    before = sayso.sql("SELECT reason, ended_at FROM turn")
    assert counts(sayso.run("stop", here, as_="alice")) == {}
    assert sayso.sql("SELECT reason, ended_at FROM turn") == before
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind = 'turn.stop_asked'") == [(1,)]


def test_p03_the_word_stop_in_a_message_stops_nothing(sayso: Sayso, here: str) -> None:
    asking = looking(sayso, "one", here)
    waits = queued(sayso, "stop the deploy", here)
    assert asking.process.poll() is None
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind = 'turn.stop_asked'") == [(0,)]
    sayso.run("stop", here, as_="alice")
    stopped(asking)
    assert shaped(waits.done().json, TURN | {"reason": "answered"})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_ask_as_stopped(sayso: Sayso, here: str, number: signal.Signals) -> None:
    asking = looking(sayso, "one", here)
    asking.process.send_signal(number)
    turn = stopped(asking)
    assert turns(sayso, here)[-1] == (turn["turn"], "look at one 30", "stopped")
    assert sayso.ledger() == ["begin one"]


def test_a_signal_ends_an_ask_that_waits_and_not_what_it_waits_for(sayso: Sayso, here: str) -> None:
    first = looking(sayso, "one", here)
    second = queued(sayso, "append two", here)
    second.process.send_signal(signal.SIGINT)
    assert stopped(second)["request"] is None
    assert first.process.poll() is None
    assert [reason for _, _, reason in turns(sayso, here)][1:] == [None, "stopped"]


@pytest.mark.parametrize("word", ["stop", "!stop"])
def test_c16_the_word_as_the_whole_text_stops_the_conversation(
    sayso: Sayso, here: str, word: str
) -> None:
    first = looking(sayso, "one", here)
    done = sayso.run("ask", word, "--conversation", here, as_="alice")
    assert counts(done) == {"turns": 1, "processes": 1}
    stopped(first)
    assert [text for _, text, _ in turns(sayso, here)] == ["say hello", "look at one 30"]


# P-15: deaths


def killed(sayso: Sayso, here: str) -> str:
    """Kill an `ask` in the middle of a look; return the turn."""
    assert looking(sayso, "one", here).signal(signal.SIGKILL).code == -signal.SIGKILL
    name, _, reason = turns(sayso, here)[-1]
    assert reason is None
    # So that the look, begun again, comes to an end.
    sayso.edit("work/append.py", "time.sleep(float(sys.argv[3]))", "pass")
    return name


def test_p15_c52_a_turn_whose_process_was_killed_is_answered_by_a_server(
    sayso: Sayso, here: str
) -> None:
    turn = killed(sayso, here)
    [waits] = sayso.run("conversation", here).json["waiting"]
    assert shaped(
        waits, {"turn": turn, "asked": "look at one 30", "asked_by": "alice", "reason": None}
    )
    assert (
        "alice asked, not answered yet:\n  look at one 30"
        in sayso.run("conversation", here, plain=True).out
    )
    sayso.start("run").ready()
    until(lambda: ended(sayso))
    assert marked(turn) == []
    assert turns(sayso, here)[-1] == (turn, "look at one 30", "answered")
    assert entries(sayso, here) == [("asked", "look at one 30"), ("answered", "appended one")]
    assert sayso.ledger() == ["begin one", "begin one", "one"]
    assert sayso.sql("SELECT state, attempt FROM job WHERE id = ?", f"turn:{turn}") == [("done", 2)]


def test_p15_c52_the_next_ask_of_the_conversation_answers_what_was_left_first(
    sayso: Sayso, here: str
) -> None:
    turn = killed(sayso, here)
    done = sayso.run("ask", "say two", "--conversation", here, as_="alice")
    assert shaped(done.json, TURN | {"reason": "answered", "text": "said two"})
    assert marked(turn) == []
    assert entries(sayso, here) == [
        ("asked", "look at one 30"),
        ("answered", "appended one"),
        ("asked", "say two"),
        ("answered", "said two"),
    ]


def test_p15_c52_a_command_elsewhere_notices_and_runs_nothing_of_it(
    sayso: Sayso, here: str
) -> None:
    turn = killed(sayso, here)
    assert sayso.run("ask", "say two", as_="alice").json["text"] == "said two"
    assert marked(turn) == []
    assert sayso.ledger() == ["begin one"]
    assert turns(sayso, here)[-1][2] is None
    assert sayso.sql("SELECT state FROM job WHERE id = ?", f"turn:{turn}") == [("queued",)]
    assert counts(sayso.run("stop", "all", as_="alice")) == {"turns": 1}
    assert turns(sayso, here)[-1][2] == "stopped"


# Requests that nobody looks at


def test_p06_a_request_expires_while_a_server_runs_though_nobody_looks(
    sayso: Sayso, here: str
) -> None:
    sayso.edit("sayso.yml", "expires: 24h", "expires: 1s")
    request = sayso.ask("append two", "alice", here)["request"]["id"]
    sayso.start("run").ready()
    until(lambda: sayso.state(request) != "open")
    assert sayso.state(request) == "expired"
    kinds = [kind for kind, _ in entries(sayso, here)]
    assert kinds == ["asked", "card", "note"]
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind = 'request.expired'") == [(1,)]
