"""A run whose process is killed in a step: look with the runbook's `verify`, then say what happened."""

import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sayso import Object, Sayso, shaped, until, waiting

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="kills a process by its descriptors"
)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Generator[Sayso]:
    """Give a folder in which `slow append beta` was running when its process was killed."""
    folder = tmp_path_factory.mktemp("killed") / "folder"
    with waiting(tmp_path_factory.getbasetemp(), folder) as sayso:
        running = sayso.start("approve", sayso.id("slow"), as_="bob")
        until(lambda: "begin beta" in sayso.ledger())
        running.signal(signal.SIGKILL)
        yield sayso


@pytest.fixture
def crashed(killed: Sayso, tmp_path: Path) -> Generator[Sayso]:
    sayso = killed.copied(tmp_path / "crashed")
    yield sayso
    sayso.end()


def run_of(sayso: Sayso) -> str:
    [(run,)] = sayso.sql("SELECT id FROM run")
    return str(run)


def notes(sayso: Sayso) -> list[Object]:
    said = sayso.run("conversation", sayso.asked["slow"]["conversation"]).json["entries"]
    return [entry for entry in said if entry["kind"] == "note"]


@pytest.mark.parametrize(
    ("written", "looked", "answer", "state"),
    [
        ("", {"exit_code": 1, "output": ""}, "--did-not", "failed"),
        # As if the process had been killed between the effect and its record.
        ("beta\n", {"exit_code": 0, "output": "beta\n"}, "--happened", "succeeded"),
    ],
)
def test_what_verify_finds_is_shown_and_a_person_decides(
    crashed: Sayso, written: str, looked: Object, answer: str, state: str
) -> None:
    run = run_of(crashed)
    with (crashed.folder / "work" / "ledger.txt").open("a", encoding="utf-8") as ledger:
        ledger.write(written)
    before = crashed.ledger()

    done = crashed.run("resolve", run, "0", "--verify", as_="bob")
    assert done.code == 0
    assert shaped(done.json, {"run": {"id": run, "state": "unknown"}, "verify": looked})
    assert crashed.sql("SELECT state FROM run") == [("unknown",)]
    assert crashed.sql("SELECT state FROM step") == [("unknown",)]
    [note] = notes(crashed)
    told = f"bob verified step 0 of run {run}, slow-append: exit code {looked['exit_code']}."
    assert note["text"].startswith(told)
    assert ("     beta" in note["text"].splitlines()) is bool(written)
    plain = crashed.run("resolve", run, "0", "--verify", as_="bob", plain=True)
    assert (plain.code, plain.out) == (0, f"{note['text']}\n")
    assert crashed.sql("SELECT count(*) FROM audit WHERE kind = 'step.verified'") == [(2,)]

    resolved = crashed.run("resolve", run, "0", answer, as_="bob")
    assert (resolved.code, resolved.run["state"]) == (0, state)
    again = crashed.run("resolve", run, "0", "--verify", as_="bob")
    assert again.refusal == "That step is not unknown, so there is nothing to verify."
    assert crashed.ledger() == before
    assert crashed.run("audit", "verify").json["ok"] is True


def test_only_who_may_resolve_may_look(crashed: Sayso) -> None:
    run = run_of(crashed)
    asked, *refused = crashed.each(
        ["alice", "resolve", run, "0", "--verify"],
        ["mallory", "resolve", run, "0", "--verify"],
        ["mallory", "resolve", run, "0", "--happened"],
        ["bob", "resolve", "r_0", "0", "--verify"],
    )
    # Whoever asked for it knows of it, and is told who may.
    assert asked.refusal == "You may not resolve this run (run:resolve); bob and carol may."
    assert {done.refusal for done in refused} == {
        "There is no run of that id that you may resolve. /runs in a chat or `sayso runs` lists them."
    }
    assert notes(crashed) == []


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--happened", "--did-not"],
        ["--verify", "--happened"],
        ["--verify", "--did-not"],
        ["--verify", "--happened", "--did-not"],
    ],
)
def test_exactly_one_thing_is_done_about_a_step(crashed: Sayso, flags: list[str]) -> None:
    done = crashed.run("resolve", run_of(crashed), "0", *flags, as_="bob")
    assert (done.code, done.error[0]) == (2, "invalid")
    assert "exactly one of --verify, --happened and --did-not" in done.error[1]
