"""C41: somebody enrols at a terminal, and approves with codes of an authenticator app."""

import json
import re

import pytest

from core.one_time_codes import Secret
from tests.authenticator import SHOWN, code, enrol, everywhere, forget_use, guard, wrong
from tests.sayso import Sayso
from tests.terminal import Typist, typing


@pytest.fixture
def guarded(empty: Sayso) -> Sayso:
    """Give a folder in which what is of low risk takes a second factor."""
    guard(empty)
    return empty


def ask(sayso: Sayso, text: str = "append alpha") -> str:
    """Have alice ask for something; return the request's id."""
    return str(sayso.ask(text, "alice")["request"]["id"])


def approve(sayso: Sayso, request: str, given: str) -> str:
    """Return what bob is told whose code counts for nothing."""
    return sayso.run("approve", request, "--code", given, as_="bob").refusal


def test_c41_from_enrolling_to_a_run_and_its_receipt(guarded: Sayso) -> None:
    app, request = enrol(guarded), ask(guarded)
    told = guarded.run("approve", request, as_="bob").refusal
    assert told.startswith("This needs a code of your second factor.")
    assert "and you have none yet" in guarded.run("approve", request, as_="alice").refusal
    assert "That code is wrong" in approve(guarded, request, wrong(app))
    assert guarded.ledger() == []
    given = code(app, ahead=1)
    done = guarded.run("approve", request, "--code", given, as_="bob")
    assert (done.code, done.run["state"], guarded.ledger()) == (0, "succeeded", ["alpha"])
    assert "used already" in approve(guarded, ask(guarded, "append beta"), given)
    receipt = guarded.run("receipt", done.run["id"], "--output", "receipt.json")
    assert receipt.code == 0, receipt
    text = (guarded.folder / "receipt.json").read_text("utf-8")
    assert json.loads(text)["votes"][0]["second_factor"] is True
    assert guarded.run("verify", "receipt.json").code == 0
    assert guarded.run("audit", "verify").code == 0
    left = everywhere(guarded.folder)
    assert b"append" in left
    for canary in (app.base32, given):
        assert canary.encode() not in left


def test_c41_a_code_that_is_older_than_the_request_is_refused(guarded: Sayso) -> None:
    app = enrol(guarded)
    forget_use(guarded)
    given = code(app)
    assert "older than the request" in approve(guarded, ask(guarded), given)
    assert guarded.ledger() == []


def test_c41_of_two_processes_with_one_code_one_counts(guarded: Sayso) -> None:
    app = enrol(guarded)
    asked = [ask(guarded), ask(guarded, "append beta")]
    given = code(app, ahead=1)
    done = guarded.together(*(["bob", "approve", one, "--code", given] for one in asked))
    assert sorted(one.code for one in done) == [0, 1]
    assert "used already" in next(one for one in done if one.code).refusal
    assert len(guarded.ledger()) == 1


def test_c41_five_wrong_codes_lock_over_processes(guarded: Sayso) -> None:
    app, request = enrol(guarded), ask(guarded)
    told = [approve(guarded, request, wrong(app)) for _ in range(5)]
    assert "5 wrong codes locked your second factor" in told[-1]
    assert re.search(r"Try again in (10m|9m\d+s);", approve(guarded, request, code(app, ahead=1)))
    guarded.sql("UPDATE factor SET locked_until = '2026-01-01T00:00:00.000000Z'")
    assert guarded.run("approve", request, "--code", code(app, ahead=1), as_="bob").code == 0
    kinds = [kind for (kind,) in guarded.sql("SELECT kind FROM audit")]
    assert (kinds.count("factor.wrong"), kinds.count("factor.locked")) == (5, 1)


def test_c41_at_a_terminal_the_code_is_asked_for_and_not_shown(guarded: Sayso) -> None:
    app, request = enrol(guarded), ask(guarded)
    with typing("approve", request, "--as", "bob", folder=guarded.folder) as terminal:
        terminal.sees("The code of your second factor")
        given = code(app, ahead=1)
        terminal.types(given, "succeeded")
        assert terminal.leaves() == 0
        assert given not in terminal.seen
    assert guarded.ledger() == ["alpha"]


def test_at_a_terminal_no_code_is_asked_for_where_none_helps(guarded: Sayso) -> None:
    guarded.run("runbooks", "list")
    plain = ask(guarded, "restart web in staging")
    for request, told in (
        (plain, "succeeded"),
        (ask(guarded), "and you have none yet"),
        ("f" * 32, "There is no such request"),
    ):
        with typing("approve", request, "--as", "bob", folder=guarded.folder) as terminal:
            terminal.sees(told)
            assert "The code of" not in terminal.seen


def leaves(terminal: Typist, told: str) -> None:
    terminal.sees(told)
    assert terminal.leaves() == 1


def test_enrolling_that_is_not_finished_keeps_nothing(guarded: Sayso) -> None:
    ask(guarded)
    for typed, told in (
        ("", "since no code was typed"),
        ("123", "not a code of what was just shown"),
    ):
        with typing("enrol", "--as", "bob", folder=guarded.folder) as terminal:
            terminal.sees("The code that the app shows now")
            terminal.types(typed)
            leaves(terminal, told)
    with typing("enrol", "--as", "bob", folder=guarded.folder) as terminal:
        terminal.sees("The code that the app shows now")
        terminal.presses("\x03")
        leaves(terminal, "since no code was typed")
    assert guarded.sql("SELECT * FROM factor") == []


def test_enrolling_again_takes_a_code_of_the_old_one_or_an_operator(guarded: Sayso) -> None:
    app = enrol(guarded)
    with typing("enrol", "--as", "bob", folder=guarded.folder) as terminal:
        terminal.sees("A code of the second factor that you have now")
        terminal.types(wrong(app))
        other = Secret(base32=terminal.finds(SHOWN))
        terminal.types(code(other))
        leaves(terminal, "That code is wrong")
    with typing("enrol", "--as", "bob", folder=guarded.folder) as terminal:
        terminal.sees("A code of the second factor that you have now")
        terminal.types(code(app, ahead=1))
        other = Secret(base32=terminal.finds(SHOWN))
        terminal.types(code(other), "bob has a second factor now")
    request = ask(guarded)
    assert "That code is wrong" in approve(guarded, request, code(app, ahead=1))
    done = guarded.run("enrol", "--reset", "bob")
    assert done.json == {"reset": {"principal": "bob", "tenants": 1}}
    assert "bob has no second factor" in guarded.run("enrol", "--reset", "bob").refusal
    assert "you have none yet" in approve(guarded, request, code(other, ahead=1))
    enrol(guarded)


def test_i12_enrolling_shows_nothing_where_nobody_looks(guarded: Sayso) -> None:
    for plain in (True, False):
        done = guarded.run("enrol", as_="bob", plain=plain, stdin="123456\n")
        assert done.code == 1
        assert "otpauth" not in done.out + done.err
        assert "Run this in a terminal" in done.out + done.err
    assert "Sayso does not know you" in guarded.run("approve", "f" * 32, as_="nobody").refusal


def test_with_another_key_no_code_counts(guarded: Sayso) -> None:
    app, request = enrol(guarded), ask(guarded)
    key = guarded.folder / "data" / "sayso.key"
    key.rename(key.with_name("elsewhere"))
    assert "cannot be read with the key" in approve(guarded, request, code(app, ahead=1))
    assert not key.exists()
    key.with_name("elsewhere").rename(key)
    assert guarded.run("approve", request, "--code", code(app, ahead=1), as_="bob").code == 0


def test_anothers_second_factor_is_nobodys(guarded: Sayso) -> None:
    app = enrol(guarded)
    enrol(guarded, "carol")
    guarded.sql(
        "UPDATE factor SET sealed = (SELECT sealed FROM factor WHERE principal = 'bob'), last_step = 0"
    )
    request = ask(guarded)
    done = guarded.run("approve", request, "--code", code(app, ahead=1), as_="carol")
    assert "cannot be read with the key" in done.refusal


def test_c41_in_a_chat_at_a_terminal_the_code_stands_behind_the_id(guarded: Sayso) -> None:
    app, request = enrol(guarded), ask(guarded)
    given = code(app, ahead=1)
    with typing("chat", "--as", "bob", folder=guarded.folder) as terminal:
        terminal.sees("bob>")
        terminal.types(f"/approve {request}", "This needs a code of your second factor.")
        terminal.types(f"/approve {request} {given}", "Your yes counts", "succeeded")
        terminal.types("/quit")
        assert terminal.leaves() == 0
    assert guarded.state(request) == "spent"
    assert given.encode() not in everywhere(guarded.folder)
