"""The contract's journey on PostgreSQL: processes that share nothing but the database."""

import asyncio
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.postgres import Server
from tests.sayso import REQUEST, RUN, TURN, Sayso, fresh, shaped, until

UNANSWERED = "The database does not answer."
LOUD = """
summary: s
risk: low
phrases: [loud]
steps: [{run: [python3, -c, "print('x' * 100000)"]}]
"""
PRINTED = "x" * 100_000 + "\n"


@pytest.fixture
def shared(tmp_path: Path, postgres: Server) -> Generator[Sayso]:
    """Give a copy of the contract's folder whose database is an empty one of PostgreSQL."""
    with postgres.empty() as url, fresh(tmp_path / "shared") as sayso:
        sayso.edit("sayso.yml", "sqlite:data/sayso.db", url)
        yield sayso


def test_a_write_is_asked_approved_and_run_once_and_the_log_holds(shared: Sayso) -> None:
    url = shared.run("migrate").json["storage"]
    assert url.startswith("postgresql://")
    turn = shared.ask("append alpha", "alice")
    assert shaped(turn, TURN | {"reason": "proposed", "request": REQUEST})
    request = turn["request"]
    assert shared.ledger() == []

    approved = shared.run("approve", request["id"], as_="bob")
    assert shaped(approved.request, {"id": request["id"], "state": "spent", "votes": 1})
    assert shaped(approved.run, RUN | {"state": "succeeded"})
    assert shared.ledger() == ["alpha"]

    again = shared.run("approve", request["id"], as_="bob")
    assert again.code == 1
    assert shared.ledger() == ["alpha"]
    assert shared.run("audit", "verify").code == 0
    assert not (shared.folder / "data" / "sayso.db").exists()


def test_c37_of_many_who_approve_at_once_one_runs_it(shared: Sayso) -> None:
    request = shared.ask("append alpha", "alice")["request"]["id"]
    shared.each(*(["bob", "approve", request] for _ in range(4)))
    assert shared.ledger() == ["alpha"]
    assert len(shared.run("runs").json["runs"]) == 1


def test_what_is_erased_is_gone(shared: Sayso) -> None:
    turn = shared.ask("append alpha", "alice")
    shared.run("deny", turn["request"]["id"], "--reason", "no", as_="bob")
    assert shared.run("erase", turn["conversation"]).code == 0
    assert "alpha" not in shared.run("conversation", turn["conversation"], "--export").out
    assert shared.run("audit", "verify").code == 0


def test_whoever_serves_goes_on_after_a_restart_of_the_server(
    shared: Sayso, postgres: Server
) -> None:
    request = shared.ask("append alpha", "alice")["request"]["id"]
    sayso = shared.start("run").ready()
    asyncio.run(postgres.restart())
    assert shared.run("approve", request, "--no-wait", as_="bob").code == 0
    until(lambda: shared.run("runs").json["runs"][0]["state"] == "succeeded")
    assert shared.ledger() == ["alpha"]
    assert sayso.signal(signal.SIGTERM).json == {"served": True}


def test_c85_what_a_step_prints_is_kept_beside_where_a_file_would_be_until_it_is_erased(
    shared: Sayso,
) -> None:
    shared.runbook("loud", LOUD)
    turn = shared.ask("loud", "bob")
    run = shared.run("approve", turn["request"]["id"], as_="bob").run["id"]
    kept = shared.folder / "data" / "artifacts" / f"{run}.0"
    assert shared.run("output", run, "0", plain=True).out == kept.read_text("utf-8") == PRINTED
    assert shared.run("erase", turn["conversation"]).json["removed"]["artifact"] == 1
    assert not kept.exists()


def test_a_server_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with fresh(tmp_path / "alone") as sayso:
        sayso.edit(
            "sayso.yml", "sqlite:data/sayso.db", f"postgresql://sayso@/sayso?host={tmp_path}"
        )
        kind, message = sayso.run("requests").error
    assert kind == "unavailable"
    assert message.startswith(UNANSWERED)
