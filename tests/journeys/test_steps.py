"""Steps that call a function, that are tried again and that are passed over, as a team meets them."""

import signal
import sys
import sysconfig
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.pythons import interpreter
from tests.sayso import BACKENDS, Running, Sayso, fresh, marked, shaped, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

COUNT = """
summary: Call something until it has happened often enough.
risk: low
params:
  enough: {type: integer, maximum: 9}
phrases: ["count to {enough}"]
steps:
  - python: team.deeds:counts
    with: {file: keys.txt, enough: "{enough}"}
    timeout: 30s
    retry: {times: 2, wait: 1ms}
  - python: team.deeds:counts
    with: {file: others.txt, enough: 1}
    timeout: 30s
"""
CALLS = """
summary: Call something that takes long.
risk: low
phrases: ["call long"]
steps:
  - python: team.deeds:slow
    with: {seconds: 60, file: begun}
    timeout: 90s
    retry: {times: 2, wait: 1ms}
  - {python: "team.deeds:counts", with: {file: keys.txt, enough: 1}}
"""
SLOW = """
summary: Fail once, then take long.
risk: low
phrases: ["take long"]
steps:
  - run: [sh, -c, 'if test -e tried; then touch begun; sleep 60; else touch tried; exit 1; fi']
    timeout: 90s
    retry: {times: 2, wait: 1ms}
    on_failure: continue
  - run: [touch, after]
"""
WAITS = """
summary: Fail, and wait for long before the next try.
risk: low
phrases: ["wait long"]
steps:
  - run: [sh, -c, 'touch begun; exit 1']
    retry: {times: 1, wait: 10m}
"""
PAST = """
summary: Go on behind what fails.
risk: low
phrases: ["go past"]
steps:
  - {run: [sh, -c, 'echo no; exit 3'], on_failure: continue}
  - run: [touch, after]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of an interpreter that has Sayso and a package of the team's."""
    folder = tmp_path_factory.mktemp("python")
    site = interpreter(folder).path[-1]
    (site / "sayso.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    return folder


@pytest.fixture
def team(python: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Sayso]:
    """Give a folder whose Sayso is run by that interpreter."""
    backend = getattr(request, "param", "none")
    with fresh(tmp_path / "folder", backend) as sayso:
        sayso.runbook("count-to", COUNT)
        yield replace(sayso, python=str(python / "bin" / "python"))


@pytest.fixture
def failing(empty: Sayso) -> Sayso:
    """Give a folder with runbooks of which something fails."""
    for name, text in (("take-long", SLOW), ("wait-long", WAITS), ("go-past", PAST)):
        empty.runbook(name, text)
    return empty


def keys(sayso: Sayso, file: str = "keys.txt") -> list[str]:
    """Return under which names something was called."""
    return (sayso.folder / "work" / file).read_text("utf-8").splitlines()


def begun(sayso: Sayso, text: str) -> Running:
    """Ask and approve, and wait until the step has begun."""
    request = sayso.ask(text, "alice")["request"]["id"]
    running = sayso.start("approve", request, as_="bob")
    until((sayso.folder / "work" / "begun").exists)
    return running


@pytest.mark.parametrize("team", BACKENDS, indirect=True)
def test_c94_a_step_has_one_key_at_every_try_and_no_other_step_or_run_has_it(team: Sayso) -> None:
    runs: list[str] = []
    for enough in (2, 4):
        request = team.ask(f"count to {enough}", "alice")["request"]
        assert ", up to 3 tries 1ms apart\n" in request["card"]
        assert '"team.deeds:counts" (code ' in request["card"]
        done = team.run("approve", request["id"], as_="bob")
        assert (done.code, done.run["state"]) == (0, "succeeded"), done
        runs.append(done.run["id"])
        assert [step["note"] for step in done.run["steps"]] == ["try 2 of 3", ""]
        assert done.run["steps"][0]["output"].startswith("[try 1 of 3: exit code 1]\nRuntimeError ")
    first, second = runs
    assert keys(team) == [f"{first}.0"] * 2 + [f"{second}.0"] * 2
    assert keys(team, "others.txt") == [f"{first}.1", f"{second}.1"]


@pytest.mark.parametrize("team", BACKENDS, indirect=True)
def test_p29_p51_a_kill_while_a_function_runs_leaves_it_unknown_ends_it_and_is_reported(
    team: Sayso,
) -> None:
    team.runbook("take-long", CALLS)
    killed = begun(team, "call long").signal(signal.SIGKILL)
    assert killed.code == -signal.SIGKILL
    [found] = team.run("runs").json["runs"]
    until(lambda: not marked(found["id"]), 5)
    assert (found["state"], [s["state"] for s in found["steps"]]) == (
        "unknown",
        ["unknown", "not_run"],
    )
    assert not (team.folder / "work" / "keys.txt").exists()
    entries = team.run("conversation", found["conversation"]).json["entries"]
    [told] = [one["text"] for one in entries if one["kind"] == "report"]
    assert told.startswith(f"Run {found['id']} unknown: take-long.")


def test_c30_an_edit_of_the_code_revokes_what_is_open_and_nothing_is_called(
    team: Sayso, python: Path
) -> None:
    request = team.ask("count to 1", "alice")["request"]["id"]
    [file] = python.rglob("deeds.py")
    text = file.read_text("utf-8")
    try:
        file.write_text(f"{text}# edited\n", "utf-8")
        done = team.run("approve", request, as_="bob")
    finally:
        file.write_text(text, "utf-8")
    assert "the code of team.deeds:counts changed" in done.refusal
    assert team.state(request) == "revoked"
    assert not (team.folder / "work" / "keys.txt").exists()


def test_a_function_that_is_not_there_is_told_before_anybody_is_asked(team: Sayso) -> None:
    team.runbook("lost", COUNT.replace("deeds:counts", "deeds:nobody").replace("count", "lose"))
    asked = team.run("ask", "lose to 3", as_="alice").json
    assert (asked["reason"], asked["request"]) == ("answered", None)
    assert "lost: The module team.deeds has no function nobody." in asked["text"]
    linted = team.run("runbooks", "lint", plain=True)
    assert "python: The module team.deeds has no function nobody." in linted.out


def test_a_plan_with_all_of_it_is_exported_and_proposed_again_to_the_same_hash(
    team: Sayso, tmp_path: Path
) -> None:
    team.runbook(
        "all-of-it",
        COUNT.replace("retry:", "on_failure: continue\n    retry:", 1).replace(
            "count to", "do all of"
        ),
    )
    request = team.ask("do all of 1", "alice")["request"]
    exported = team.run("plan", "export", request["plan"], plain=True).out
    steps = yaml.safe_load(exported)["plan"]["calls"][0]["steps"]
    assert shaped(
        steps[0], {"kind": "python", "on_failure": "continue", "retry": {"times": 2, "wait_ms": 1}}
    )
    assert not {"retry", "on_failure"} & steps[1].keys()
    file = tmp_path / "plan.yml"
    file.write_text(exported, "utf-8")
    again = team.run("ask", "--plan", str(file), as_="alice").json["request"]
    assert again["plan_sha256"] == request["plan_sha256"]


def test_c49_a_kill_in_the_second_try_leaves_it_unknown_and_nothing_is_tried_or_run_again(
    failing: Sayso,
) -> None:
    killed = begun(failing, "take long").signal(signal.SIGKILL)
    assert killed.code == -signal.SIGKILL
    [found] = failing.run("runs").json["runs"]
    until(lambda: not marked(found["id"]), 5)
    assert (found["state"], [s["state"] for s in found["steps"]]) == (
        "unknown",
        ["unknown", "not_run"],
    )
    assert not (failing.folder / "work" / "after").exists()
    [told] = [
        one["text"]
        for one in failing.run("conversation", found["conversation"]).json["entries"]
        if one["kind"] == "report"
    ]
    assert f"sayso resolve {found['id']} 0 --happened" in told


def test_c49_a_stop_in_the_second_try_leaves_it_unknown(failing: Sayso) -> None:
    running = begun(failing, "take long")
    stopped = failing.run("stop", "all", as_="alice").json["stopped"]
    assert (stopped["processes"], stopped["steps_unknown"]) == (1, 1)
    run = running.done().run
    assert (run["state"], [s["state"] for s in run["steps"]]) == ("unknown", ["unknown", "not_run"])
    assert run["steps"][0]["note"] == "try 2 of 3: it was cut while it ran"
    assert not (failing.folder / "work" / "after").exists()


def test_a_stop_between_two_tries_ends_the_run_at_once_and_nothing_is_unknown(
    failing: Sayso,
) -> None:
    running = begun(failing, "wait long")
    [(run,)] = failing.sql("SELECT id FROM run")
    until(lambda: not marked(str(run)))
    stopped = failing.run("stop", "all", as_="alice").json["stopped"]
    assert (stopped["processes"], stopped["steps_unknown"]) == (0, 0)
    done = running.done()
    assert (done.code, done.run["state"]) == (1, "failed")
    [step] = done.run["steps"]
    assert (step["state"], step["exit_code"]) == ("failed", 1)
    assert step["note"] == "stopped before it was tried again"


def test_a_run_that_went_past_a_failed_step_has_failed_and_its_receipt_holds(
    failing: Sayso, tmp_path: Path
) -> None:
    request = failing.ask("go past", "alice")["request"]
    assert "and if it fails the rest runs all the same" in request["card"]
    done = failing.run("approve", request["id"], as_="bob")
    assert (done.code, done.run["state"]) == (1, "failed")
    assert [(s["state"], s["exit_code"]) for s in done.run["steps"]] == [
        ("failed", 3),
        ("succeeded", 0),
    ]
    assert (failing.folder / "work" / "after").exists()
    told = failing.run("approve", request["id"], as_="carol")
    assert told.code == 1
    entries = failing.run("conversation", done.run["conversation"]).json["entries"]
    assert "Of its 2 steps, 1 succeeded, 1 failed." in entries[-1]["text"]
    file = tmp_path / "receipt.json"
    assert failing.run("receipt", done.run["id"], "--output", str(file)).code == 0
    assert failing.run("verify", str(file), plain=True).code == 0
