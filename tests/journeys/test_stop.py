"""P-03: a stop from another process, which never waits for what it ends and tells what it did."""

import sys
from datetime import datetime

import pytest

from tests.sayso import BACKENDS, RUN, Done, Running, Sayso, marked, shaped, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

NOT_YOURS = "You may not stop that. Whoever asked for it may, and whoever has run:stop."
STOPPED = {
    "turns": int,
    "processes": int,
    "steps_unknown": int,
    "requests_revoked": int,
    "messages_kept": int,
}


def begun(sayso: Sayso, request: str, word: str) -> Running:
    """Approve and wait until the step has begun to write."""
    running = sayso.start("approve", request, as_="bob")
    until(lambda: f"begin {word}" in sayso.ledger())
    return running


def counts(done: Done) -> dict[str, int]:
    """Return what a stop counted, without what is zero."""
    assert done.code == 0, done
    assert shaped(done.json, {"stopped": STOPPED}), done
    return {name: count for name, count in done.json["stopped"].items() if count}


def conversation(sayso: Sayso, name: str) -> str:
    return str(sayso.asked[name]["conversation"])


@pytest.mark.parametrize("where", ["here", "conversation", "all"])
@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_p03c_a_running_step_is_killed_from_another_process_within_a_second(
    sayso: Sayso, where: str
) -> None:
    approving = begun(sayso, sayso.id("slow"), "beta")
    named = {"here": [], "conversation": [conversation(sayso, "slow")], "all": ["all"]}[where]
    stopped = sayso.run("stop", *named, as_="carol")
    more = {"requests_revoked": 3} if where == "all" else {}
    assert counts(stopped) == {"processes": 1, "steps_unknown": 1, **more}
    approved = approving.done()
    assert approved.code == 1
    assert approved.request["state"] == "spent"
    assert shaped(approved.run, RUN | {"state": "unknown"} | {"steps": list})
    assert [step["state"] for step in approved.run["steps"]] == ["unknown"]
    assert stopped.json["runs"] == [approved.run]
    assert marked(approved.run["id"]) == []
    assert sayso.ledger() == ["begin beta"]
    [(asked,)] = sayso.sql("SELECT at FROM audit WHERE kind = 'run.stop_asked'")
    [(ended,)] = sayso.sql("SELECT ended_at FROM run")
    took = datetime.fromisoformat(ended) - datetime.fromisoformat(asked)
    assert took.total_seconds() < 1
    waits = [sayso.state(sayso.id(name)) for name in ("alpha", "web", "v1")]
    assert waits == (["revoked"] * 3 if where == "all" else ["open"] * 3)
    assert sayso.run("audit", "verify").json["ok"] is True


def test_p03e_a_card_that_waits_is_withdrawn_and_its_button_is_dead(sayso: Sayso) -> None:
    stopped = sayso.run("stop", conversation(sayso, "alpha"), as_="alice")
    assert counts(stopped) == {"requests_revoked": 1}
    refused, said = sayso.each(
        ["bob", "approve", sayso.id("alpha")], ["", "conversation", conversation(sayso, "alpha")]
    )
    assert refused.refusal.startswith("Revoked: alice stopped it.")
    assert [entry["kind"] for entry in said.json["entries"]] == ["asked", "card", "note"]
    states = [sayso.state(sayso.id(name)) for name in ("alpha", "web", "v1", "slow")]
    assert states == ["revoked", "open", "open", "open"]
    assert sayso.ledger() == []


def test_p03e_what_was_granted_and_waits_for_a_server_is_withdrawn(sayso: Sayso) -> None:
    assert sayso.run("approve", "--no-wait", sayso.id("alpha"), as_="bob").code == 0
    stopped = sayso.run("stop", conversation(sayso, "alpha"), as_="alice")
    assert counts(stopped) == {"requests_revoked": 1}
    server = sayso.start("run").ready()
    until(lambda: sayso.sql("SELECT state FROM job WHERE kind = 'run'") == [("cancelled",)])
    server.end()
    assert sayso.state(sayso.id("alpha")) == "revoked"
    assert sayso.ledger() == []


def test_p03gh_whoever_did_not_ask_and_may_not_stop_is_refused_and_it_goes_on(
    sayso: Sayso,
) -> None:
    approving = begun(sayso, sayso.id("slow"), "beta")
    here = conversation(sayso, "slow")
    seen, *unseen = sayso.each(
        ["alice", "stop", here],
        ["mallory", "stop", here],
        ["mallory", "stop", conversation(sayso, "alpha")],
        ["alice", "stop", "c_0"],
    )
    assert seen.refusal == NOT_YOURS
    assert [counts(done) for done in unseen] == [{}] * 3
    assert len({done.out for done in unseen}) == 1
    nothing = sayso.run("stop", "all", as_="mallory")
    assert counts(nothing) == {}
    stranger = sayso.run("stop", as_="trudy")
    assert "does not know you" in stranger.refusal
    assert sayso.state(sayso.id("alpha")) == "open"
    assert approving.process.poll() is None
    assert sayso.sql("SELECT state FROM run") == [("running",)]


def test_p03i_a_second_stop_is_harmless(sayso: Sayso) -> None:
    approving = begun(sayso, sayso.id("slow"), "beta")
    here = conversation(sayso, "slow")
    both = sayso.together(["bob", "stop", here], ["carol", "stop", here])
    assert approving.done().run["state"] == "unknown"
    told = [counts(done) for done in both]
    assert {"processes": 1, "steps_unknown": 1} in told
    assert all(one in ({}, {"processes": 1, "steps_unknown": 1}) for one in told)
    rows = sayso.sql("SELECT state, ended_at FROM run")
    assert counts(sayso.run("stop", here, as_="bob")) == {}
    assert sayso.sql("SELECT state, ended_at FROM run") == rows
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind = 'run.stop_asked'") == [(1,)]
    assert sayso.ledger() == ["begin beta"]


def test_several_things_run_so_they_are_listed_and_none_is_stopped(sayso: Sayso) -> None:
    second = sayso.ask("slow append gamma 30", "bob")
    running = [
        begun(sayso, sayso.id("slow"), "beta"),
        begun(sayso, second["request"]["id"], "gamma"),
    ]
    listed, plain = sayso.run("stop", as_="bob"), sayso.run("stop", as_="bob", plain=True)
    assert counts(listed) == {}
    here = {conversation(sayso, "slow"), second["conversation"]}
    assert {run["conversation"] for run in listed.json["choices"]} == here
    assert listed.json["runs"] == []
    assert all(f"sayso stop {one}" in plain.out for one in here)
    assert sayso.sql("SELECT state FROM run") == [("running",)] * 2
    everything = sayso.run("stop", "all", as_="bob")
    assert counts(everything) == {"processes": 2, "steps_unknown": 2, "requests_revoked": 3}
    assert [one.done().run["state"] for one in running] == ["unknown"] * 2
    assert sayso.ledger() == ["begin beta", "begin gamma"]


def test_idle_says_so(sayso: Sayso) -> None:
    assert counts(sayso.run("stop", "all", as_="alice")) == {"requests_revoked": 3}
    idle = sayso.run("stop", as_="alice", plain=True)
    assert (idle.code, idle.out, idle.err) == (0, "Nothing to stop.\n", "")
