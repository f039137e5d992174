"""`sayso chat`: one's own configuration, as a conversation; the same doors as everywhere."""

import re
import sys

import pytest

from tests.sayso import Sayso, until
from tests.terminal import typing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

CARD = r"Approve: /approve ([0-9a-f]{32})"


def chat(sayso: Sayso, *lines: str, as_: str = "alice") -> str:
    """Pipe lines into a conversation and return what it shows."""
    done = sayso.run("chat", as_=as_, plain=True, stdin="".join(f"{line}\n" for line in lines))
    assert (done.code, done.err) == (0, ""), done
    return done.out


@pytest.fixture
def alone(empty: Sayso) -> Sayso:
    """Give a folder in which everybody at the keyboard is who they are: no `--as`, no `/as`."""
    empty.edit("sayso.yml", "console: {allow_as: true}", "console: {allow_as: false}")
    return empty


def test_c93_without_a_terminal_a_request_stays_open_until_somebody_decides(empty: Sayso) -> None:
    told = chat(empty, "append alpha", "y", "yes", "approve", "/quit")
    assert "Approve to run: append-word" in told
    assert "No text approves anything." in told
    [request] = empty.run("requests").json["requests"]
    assert request["state"] == "open"
    assert empty.ledger() == []


def test_what_was_decided_elsewhere_is_told_here(empty: Sayso) -> None:
    with typing("chat", "--as", "alice", folder=empty.folder) as alice:
        alice.sees("alice>")
        alice.types("restart web in staging")
        request = alice.finds(CARD)
        assert empty.run("approve", request, as_="bob").code == 0
        alice.sees("Approved by bob. Run ")
        alice.sees("succeeded: restart-web.")
        alice.types("/quit")
        assert alice.leaves() == 0
    assert empty.ledger() == ["web-staging"]


def test_a_server_beside_it_does_not_take_what_is_for_the_terminal(empty: Sayso) -> None:
    server = empty.start("run").ready()
    with typing("chat", "--as", "alice", folder=empty.folder) as alice:
        alice.sees("alice>")
        for word in ("alpha", "beta", "gamma"):
            alice.types(f"append {word}")
            request = alice.finds(CARD)
            empty.run("approve", "--no-wait", request, as_="bob")
            alice.sees("succeeded: append-word.", seconds=10)
        alice.types("/quit")
        assert alice.leaves() == 0
    server.end()


def test_what_nobody_reads_any_more_is_dropped_and_stays_in_the_conversation(
    empty: Sayso,
) -> None:
    told = chat(empty, "append alpha", "/quit")
    found = re.search(r"/approve ([0-9a-f]{32})", told)
    assert found is not None
    empty.run("approve", "--no-wait", found[1], as_="bob")
    server = empty.start("run").ready()
    left = (
        "SELECT 1 FROM job WHERE kind IN ('post', 'edit', 'run') AND state IN ('queued', 'running')"
    )
    until(lambda: empty.sql(left) == [])
    failed = "SELECT id FROM job WHERE state = 'failed'"
    assert empty.sql(failed) == []
    server.end()
    assert empty.ledger() == ["alpha"]


def test_nobody_becomes_somebody_else_where_that_is_not_allowed(alone: Sayso) -> None:
    named = alone.run("chat", as_="bob", plain=True, stdin="/quit\n")
    assert (named.code, named.err.partition(":")[0]) == (1, "--as is not allowed here")
    done = alone.run("chat", plain=True, stdin="/as bob\n/quit\n")
    assert "x /as is not allowed here: `console.allow_as` is not true" in done.out
    assert "You are bob" not in done.out


def test_a_configuration_that_is_wrong_is_one_sentence(empty: Sayso) -> None:
    empty.edit("sayso.yml", "tenants:", "tenantz:")
    done = empty.run("chat", plain=True, stdin="")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


def test_c64_every_kind_of_error_is_a_sentence_and_the_conversation_goes_on(empty: Sayso) -> None:
    told = chat(
        empty,
        "/approve " + "0" * 32,
        "/resolve r_none 0 happened",
        "/resolve verify",
        "/again " + "0" * 32,
        "/deny",
        "/stop",
        "/stop c_none",
        "x" * 17_000,
        "/history",
        "/runs",
        "\x1b]0;owned\x07 \u202egnp.exe",
        "/quit",
    )
    for part in (
        "x There is no such request.",
        "x There is no run of that id that you may resolve.",
        "x No step that you may know of is unknown",
        "x Nothing waits that this could be about.",
        "- Nothing to stop.",
        "x That is 17,000 characters; 16,000 is the most.",
        "x Nothing was said here yet.",
        "- Nothing ran that you may know of.",
        "\\u001b]0;owned\\u0007 \\u202egnp.exe",
    ):
        assert part in told, part
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "Traceback" not in told


def test_output_that_would_move_the_cursor_is_shown_as_characters(empty: Sayso) -> None:
    ledger = empty.folder / "work" / "ledger.txt"
    ledger.write_text("\x1b[2J\x1b[31mred \u202etxt\u200b\n* deploy: Approved by bob.\n", "utf-8")
    told = chat(empty, "show the ledger", "/quit")
    assert "| \\u001b[2J\\u001b[31mred \\u202etxt\\u200b\n| * deploy: Approved by bob.\n" in told


def test_several_requests_are_listed_and_none_of_them_is_decided_by_a_bare_word(
    empty: Sayso,
) -> None:
    told = chat(empty, "append alpha", "append beta", "/as bob", "/approve", "/deny no", "/quit")
    assert told.count("x Several requests could be meant.") == 2
    states = {request["state"] for request in empty.run("requests").json["requests"]}
    assert states == {"open"}


def test_a_bare_word_never_decides_what_was_not_shown_here(sayso: Sayso) -> None:
    for name in ("web", "v1", "slow"):
        assert sayso.run("deny", sayso.id(name), as_="bob").code == 0
    told = chat(sayso, "/approve", f"/show {sayso.id('alpha')}", "/approve", "/quit", as_="bob")
    assert "x The one request that waits was never shown here" in told
    assert "Approve to run: append-word" in told
    assert "- Your yes counts: 1 of 1 vote." in told


def test_no_rate_holds_back_a_no_without_an_id(empty: Sayso) -> None:
    empty.edit("sayso.yml", "model: {provider: grammar}", "rates: {messages: {most: 2, per: 1h}}")
    told = chat(
        empty, "append alpha", "/as bob", "/requests", "/requests", "/requests", "/deny", "/quit"
    )
    assert "x Too fast" in told
    assert "- Your no counts: nothing of it runs." in told


def test_a_denial_may_be_asked_for_again_by_who_may_approve(empty: Sayso) -> None:
    told = chat(
        empty, "append alpha", "/as bob", "/deny not now", "/again", "/approve", "/runs", "/quit"
    )
    parts = ("Denied by bob: not now.", "Approve to run: append-word", "succeeded: append-word.")
    assert all(part in told for part in parts)
    assert told.count("Denied by bob: not now.") == 1
    assert empty.ledger() == ["alpha"]


def test_who_approves_and_looks_from_elsewhere_is_told_what_came_of_it(empty: Sayso) -> None:
    empty.edit("runbooks/slow-append.yml", "timeout: 90s", "timeout: 500ms")
    asked = chat(empty, "slow append beta 30", "/quit")
    [request] = re.findall(CARD, asked)
    lines = ("/resolve happened", f"/show {request}", "/resolve verify", "/resolve did-not")
    told = chat(empty, f"/approve {request}", *lines, "/quit", as_="bob")
    parts = (
        "- Your yes counts: 1 of 1 vote.",
        "- slow-append {",
        "Run r_",
        "x The one step that is unknown is of slow-append {",
        "It did not: /resolve did-not",
        "- bob verified step 0 of run r_",
        "then say which with /resolve r_",
        "- Your word ends it. Run r_",
    )
    words = " ".join(told.split())
    places = [words.index(part) for part in parts]
    assert places == sorted(places)
    assert "sayso resolve" not in told
