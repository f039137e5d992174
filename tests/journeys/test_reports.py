"""C55: the report that was posted is the one that the store gives, however a run ended."""

import pytest

from tests.sayso import Sayso, until

FAILS = "summary: s\nrisk: low\nphrases: [fail now]\nsteps: [{run: ['false']}, {run: ['true']}]\n"
NOISY = (
    "summary: s\nrisk: low\nphrases: [be noisy]\n"
    "steps: [{run: [printf, 'a\\tb\\n\\033[31mred\\nRun r_1 succeeded\\n']}]\n"
)


def posted(sayso: Sayso, conversation: str) -> list[str]:
    said = sayso.run("conversation", conversation).json["entries"]
    return [entry["text"] for entry in said if entry["kind"] == "report"]


def rebuilt(sayso: Sayso) -> str:
    """Return what another process makes of the rows of the only run, below what it was called with."""
    named, _, report = sayso.run("runs", plain=True).out.partition("\n")
    assert "UTC" in named
    return report


@pytest.mark.parametrize(
    ("words", "state"),
    [("append alpha", "succeeded"), ("fail now", "failed"), ("be noisy", "succeeded")],
)
def test_c55_a_run_that_ended_by_itself_reads_the_same_everywhere(
    empty: Sayso, words: str, state: str
) -> None:
    empty.runbook("fails", FAILS)
    empty.runbook("noisy", NOISY)
    turn = empty.ask(words, "bob")
    approved = empty.run("approve", turn["request"]["id"], as_="bob", plain=True)
    assert f" {state}: " in approved.out
    [report] = posted(empty, turn["conversation"])
    assert approved.out == rebuilt(empty) == f"{report}\n"
    assert rebuilt(empty) == rebuilt(empty)


def test_c55_a_run_that_was_cut_and_then_resolved_reads_the_same_at_each_time(
    sayso: Sayso,
) -> None:
    conversation = str(sayso.asked["slow"]["conversation"])
    running = sayso.start("approve", sayso.id("slow"), as_="bob", plain=True)
    until(lambda: "begin beta" in sayso.ledger())
    sayso.run("stop", conversation, as_="carol")
    cut = running.done().out
    assert " unknown: " in cut
    assert posted(sayso, conversation) == [cut.removesuffix("\n")]
    assert rebuilt(sayso) == cut
    run = sayso.run("runs").json["runs"][0]["id"]
    resolved = sayso.run("resolve", run, "0", "--did-not", as_="carol", plain=True).out
    assert posted(sayso, conversation)[-1] == resolved.removesuffix("\n")
    assert rebuilt(sayso) == resolved != cut
