"""`sayso run`: what was approved without waiting runs there, once, whatever dies."""

import signal
import sys
import time

import pytest

from tests.sayso import Sayso, marked, shaped, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def leave(sayso: Sayso, name: str) -> None:
    """Approve without waiting."""
    done = sayso.run("approve", "--no-wait", sayso.id(name), as_="bob")
    assert done.code == 0
    assert shaped(done.json, {"request": {"state": "granted", "voters": ["bob"]}, "run": None})


def ended(sayso: Sayso) -> bool:
    """Whether no run is left; a request's job to expire waits for hours."""
    live = "SELECT 1 FROM job WHERE kind = 'run' AND state IN ('queued', 'running')"
    return sayso.sql(live) == []


def test_what_was_left_is_run_by_a_server_and_by_nobody_before(sayso: Sayso) -> None:
    leave(sayso, "alpha")
    sayso.run("runs")
    assert sayso.state(sayso.id("alpha")) == "granted"
    assert sayso.ledger() == []
    sayso.start("run").ready()
    until(lambda: ended(sayso))
    [run] = sayso.run("runs").json["runs"]
    assert shaped(run, {"state": "succeeded", "request": sayso.id("alpha")})
    assert sayso.ledger() == ["alpha"]


def test_a_server_runs_what_is_approved_while_it_serves(sayso: Sayso) -> None:
    sayso.start("run").ready()
    leave(sayso, "alpha")
    until(lambda: ended(sayso))
    waited = sayso.run("approve", sayso.id("web"), as_="bob")
    assert (waited.code, waited.run["state"]) == (0, "succeeded")
    assert sayso.ledger() == ["alpha", "web-staging"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_server_within_ten_seconds(
    sayso: Sayso, number: signal.Signals
) -> None:
    server = sayso.start("run").ready()
    began = time.monotonic()
    done = server.signal(number)
    assert time.monotonic() - began < 10
    assert (done.code, done.json) == (0, {"served": True})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_that_runs_something_within_ten_seconds(
    sayso: Sayso, number: signal.Signals
) -> None:
    leave(sayso, "slow")
    server = sayso.start("run").ready()
    until(lambda: "begin beta" in sayso.ledger())
    began = time.monotonic()
    done = server.signal(number)
    assert time.monotonic() - began < 10
    assert (done.code, done.json) == (0, {"served": True})
    [run] = sayso.run("runs").json["runs"]
    assert run["state"] == "unknown"
    assert marked(run["id"]) == []
    assert sayso.ledger() == ["begin beta"]


def test_p15_a_killed_server_leaves_an_unknown_step_that_is_never_repeated(sayso: Sayso) -> None:
    leave(sayso, "slow")
    server = sayso.start("run").ready()
    until(lambda: "begin beta" in sayso.ledger())
    server.signal(signal.SIGKILL)
    [(run,)] = sayso.sql("SELECT id FROM run")
    [found] = sayso.run("runs").json["runs"]
    assert shaped(found, {"id": run, "state": "unknown"})
    assert [step["state"] for step in found["steps"]] == ["unknown"]
    assert marked(run) == []
    sayso.start("run").ready()
    leave(sayso, "alpha")
    until(lambda: ended(sayso))
    assert sayso.run("approve", sayso.id("slow"), as_="carol").refusal == (
        "Already decided. Approved by bob."
    )
    assert sayso.ledger() == ["begin beta", "alpha"]
    reports = "SELECT count(*) FROM entry WHERE kind = 'report' AND text LIKE ?"
    assert sayso.sql(reports, f"Run {run} %") == [(1,)]


def test_p29_a_server_that_is_killed_before_the_first_step_has_its_run_taken_up_once(
    sayso: Sayso,
) -> None:
    leave(sayso, "alpha")
    with sayso.locked():
        # It can claim nothing, so this kill comes before anything could begin.
        server = sayso.start("run")
        until(lambda: server.has_come_to(sayso.database.resolve()))
        server.signal(signal.SIGKILL)
    assert sayso.state(sayso.id("alpha")) == "granted"
    sayso.start("run").ready()
    until(lambda: ended(sayso))
    assert sayso.ledger() == ["alpha"]
    assert sayso.sql("SELECT count(*) FROM run") == [(1,)]


def test_two_servers_at_once_have_one_effect_each_request(sayso: Sayso) -> None:
    leave(sayso, "alpha")
    leave(sayso, "web")
    servers = [sayso.start("run"), sayso.start("run")]
    for server in servers:
        server.ready()
    until(lambda: ended(sayso))
    assert sorted(sayso.ledger()) == ["alpha", "web-staging"]
    assert [server.signal(signal.SIGTERM).code for server in servers] == [0, 0]
    assert sayso.sql("SELECT count(*) FROM run") == [(2,)]


def test_a_stop_reaches_a_step_that_a_server_runs(sayso: Sayso) -> None:
    leave(sayso, "slow")
    sayso.start("run").ready()
    until(lambda: "begin beta" in sayso.ledger())
    stopped = sayso.run("stop", as_="bob")
    assert stopped.json["stopped"]["steps_unknown"] == 1
    [run] = stopped.json["runs"]
    assert (run["state"], marked(run["id"])) == ("unknown", [])
    leave(sayso, "alpha")  # the server goes on
    until(lambda: ended(sayso))
    assert sayso.ledger() == ["begin beta", "alpha"]
