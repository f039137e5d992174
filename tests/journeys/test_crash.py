"""A run whose process is killed, stopped or cut: what may have happened is never repeated."""

import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sayso import BACKENDS, Running, Sayso, fresh, marked, shaped, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

TWICE = """
summary: Append a word slowly, then another one.
risk: low
params:
  word: {type: string}
  seconds: {type: integer}
phrases: ["twice {word} {seconds}"]
steps:
  - run: [python3, append.py, ledger.txt, "{word}", "{seconds}"]
  - run: [python3, append.py, ledger.txt, later]
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Generator[Sayso]:
    """Give a folder in which the first of two steps was running when its process was killed."""
    with fresh(tmp_path_factory.mktemp("killed") / "folder") as sayso:
        sayso.runbook("twice", TWICE)
        request = sayso.ask("twice gamma 30", "alice")["request"]["id"]
        begun(sayso, request, "gamma").signal(signal.SIGKILL)
        yield sayso


@pytest.fixture
def crashed(killed: Sayso, tmp_path: Path) -> Generator[Sayso]:
    sayso = killed.copied(tmp_path / "crashed")
    yield sayso
    sayso.end()


def begun(sayso: Sayso, request: str, word: str) -> Running:
    """Approve and wait until the step has begun to write."""
    running = sayso.start("approve", request, as_="bob")
    until(lambda: f"begin {word}" in sayso.ledger())
    return running


def run_of(sayso: Sayso) -> str:
    [(run,)] = sayso.sql("SELECT id FROM run")
    return str(run)


def states(run: dict[str, list[dict[str, str]]]) -> list[str]:
    return [step["state"] for step in run["steps"]]


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_c47_a_killed_approval_leaves_an_unknown_step_that_is_never_repeated(sayso: Sayso) -> None:
    killed = begun(sayso, sayso.id("slow"), "beta").signal(signal.SIGKILL)
    assert (killed.code, killed.out) == (-signal.SIGKILL, "")
    run = run_of(sayso)
    until(lambda: not marked(run), 5)  # so nobody is left who could still write the word

    [found] = sayso.run("runs").json["runs"]
    assert shaped(found, {"id": run, "state": "unknown"})
    [step] = found["steps"]
    assert shaped(step, {"index": 0, "tool": "slow-append", "state": "unknown", "exit_code": None})

    again, said = sayso.each(
        ["carol", "approve", sayso.id("slow")],
        ["", "conversation", sayso.asked["slow"]["conversation"]],
    )
    assert again.refusal == "Already decided. Approved by bob."
    assert sayso.state(sayso.id("slow")) == "spent"
    report = said.json["entries"][-1]
    assert report["kind"] == "report"
    assert f"/resolve {run} 0 happened (or did-not) in a chat" in report["text"]
    assert f"sayso resolve {run} 0 --happened (or --did-not) in a shell" in report["text"]
    assert sayso.ledger() == ["begin beta"]

    # It happened, says somebody who looked: this was the last step.
    resolved = sayso.run("resolve", run, "0", "--happened", as_="bob")
    assert resolved.code == 0
    assert shaped(resolved.run, {"id": run, "state": "succeeded"})
    assert states(resolved.run) == ["succeeded"]
    assert sayso.run("audit", "verify").json["ok"] is True


def test_whatever_looks_first_notices_and_later_steps_did_not_run(crashed: Sayso) -> None:
    refused = crashed.run("approve", "0" * 32, as_="bob")
    assert "no such request" in refused.refusal
    assert crashed.sql("SELECT state FROM run") == [("unknown",)]
    steps = crashed.sql("SELECT state FROM step ORDER BY number")
    assert steps == [("unknown",), ("not_run",)]
    assert crashed.sql("SELECT count(*) FROM entry WHERE kind = 'report'") == [(1,)]
    assert crashed.sql("SELECT state FROM request") == [("spent",)]
    assert crashed.ledger() == ["begin gamma"]


def test_what_did_not_happen_fails_the_run(crashed: Sayso) -> None:
    run = run_of(crashed)
    resolved = crashed.run("resolve", run, "0", "--did-not", as_="bob")
    assert resolved.run["state"] == "failed"
    assert states(resolved.run) == ["not_run", "not_run"]
    again = crashed.run("resolve", run, "0", "--happened", as_="bob")
    assert "not unknown" in again.refusal
    assert crashed.ledger() == ["begin gamma"]


def test_what_happened_before_other_steps_does_not_make_the_run_whole(crashed: Sayso) -> None:
    resolved = crashed.run("resolve", run_of(crashed), "0", "--happened", as_="bob")
    assert resolved.run["state"] == "failed"
    assert states(resolved.run) == ["succeeded", "not_run"]
    assert crashed.ledger() == ["begin gamma"]


def test_only_who_may_resolves_and_no_other_step(crashed: Sayso) -> None:
    run = run_of(crashed)
    other, asked, *unknown = crashed.each(
        ["bob", "resolve", run, "1", "--did-not"],
        ["alice", "resolve", run, "0", "--happened"],
        ["mallory", "resolve", run, "0", "--happened"],
        ["bob", "resolve", "r_0", "0", "--happened"],
    )
    assert "not unknown" in other.refusal
    # Whoever asked for it knows of it, and is told who may.
    assert asked.refusal == "You may not resolve this run (run:resolve); bob and carol may."
    [message] = {done.refusal for done in unknown}
    assert message.startswith("There is no run of that id that you may resolve.")
    assert crashed.sql("SELECT state FROM run") == [("unknown",)]


def never_began(sayso: Sayso) -> None:
    """Make it as if the process had been killed between the spend and the first step."""
    sayso.sql("UPDATE step SET state = 'pending', started_at = NULL WHERE number = 0")


def test_a_run_that_never_began_waits_and_a_stop_cancels_it(crashed: Sayso) -> None:
    never_began(crashed)
    [found] = crashed.run("runs").json["runs"]
    assert found["state"] == "running"
    assert states(found) == ["pending", "pending"]
    [stopped] = crashed.run("stop", as_="alice").json["runs"]
    assert (stopped["id"], stopped["state"]) == (found["id"], "cancelled")
    assert states(stopped) == ["not_run", "not_run"]
    crashed.start("run").ready().signal(signal.SIGTERM)
    assert crashed.sql("SELECT state FROM run") == [("cancelled",)]
    assert crashed.sql("SELECT state FROM job WHERE kind = 'run'") == [("cancelled",)]
    assert crashed.ledger() == ["begin gamma"]


def test_a_run_that_never_began_is_taken_up_by_a_server(crashed: Sayso) -> None:
    never_began(crashed)
    run = run_of(crashed)
    server = crashed.start("run").ready()
    until(lambda: crashed.ledger() == ["begin gamma"] * 2)  # the first is of what never began
    assert crashed.sql("SELECT id, state FROM run") == [(run, "running")]
    assert crashed.sql("SELECT count(*) FROM audit WHERE kind = 'run.resumed'") == [(1,)]
    server.signal(signal.SIGKILL)


def test_what_was_granted_and_never_spent_still_runs_once(sayso: Sayso) -> None:
    # As if bob's process had been killed between his vote and the spend.
    alpha = sayso.id("alpha")
    assert sayso.run("approve", "--no-wait", alpha, as_="bob").request["state"] == "granted"
    assert sayso.ledger() == []
    done = sayso.run("approve", alpha, as_="carol")
    assert done.run["state"] == "succeeded"
    assert done.request["voters"] == ["bob"]
    assert sayso.ledger() == ["alpha"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_stopping_while_waiting_prints_the_object_and_kills_the_step(
    sayso: Sayso, number: signal.Signals
) -> None:
    stopped = begun(sayso, sayso.id("slow"), "beta").signal(number)
    assert stopped.code == 1
    assert stopped.request["state"] == "spent"
    assert stopped.run["state"] == "unknown"
    assert states(stopped.run) == ["unknown"]
    assert marked(stopped.run["id"]) == []
    assert sayso.ledger() == ["begin beta"]
    assert sayso.sql("SELECT state FROM run") == [("unknown",)]


@pytest.mark.parametrize(
    ("step", "note"),
    [
        ('run: [sleep, "60"]\n    timeout: 200ms', "time limit"),
        ('run: [head, -c, "9000000", /dev/zero]', "output limit"),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_step_that_is_cut_by_its_own_limits_is_unknown(
    empty: Sayso, step: str, note: str
) -> None:
    empty.runbook(
        "cut",
        f'summary: Cut.\nrisk: low\nphrases: [cut]\nsteps:\n  - {step}\n  - run: ["true"]\n',
    )
    request = empty.ask("cut", "bob")["request"]["id"]
    done = empty.run("approve", request, as_="bob")
    assert (done.code, done.run["state"]) == (1, "unknown")
    assert states(done.run) == ["unknown", "not_run"]
    assert note in done.run["steps"][0]["note"]
    assert marked(done.run["id"]) == []
