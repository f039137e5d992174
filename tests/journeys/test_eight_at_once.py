"""Eight processes that want the same thing in the same moment."""

import sys

import pytest

from tests.sayso import Done, Sayso

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def parted(done: list[Done]) -> tuple[list[Done], list[str]]:
    """Return who did something, and what the others were told."""
    return [one for one in done if one.code == 0], [one.refusal for one in done if one.code]


def test_eight_approvals_at_once_have_one_effect_and_seven_are_told_who_decided(
    sayso: Sayso,
) -> None:
    alpha = sayso.id("alpha")
    [winner], told = parted(
        sayso.together(*(["bob", "approve", alpha], ["carol", "approve", alpha]) * 4)
    )
    [voter] = winner.request["voters"]
    assert winner.run["state"] == "succeeded"
    # Who comes between the vote and the spend is told so.
    assert len(told) == 7
    assert {one.replace("; waiting to run", "") for one in told} == {
        f"Already decided. Approved by {voter}."
    }
    assert sayso.ledger() == ["alpha"]
    assert sayso.sql("SELECT request FROM run") == [(alpha,)]
    assert sayso.run("audit", "verify").code == 0


def test_approving_and_denying_at_once_ends_in_one_of_the_two(sayso: Sayso) -> None:
    alpha = sayso.id("alpha")
    winners, told = parted(
        sayso.together(*(["bob", "approve", alpha], ["carol", "deny", alpha]) * 3)
    )
    spent = sayso.state(alpha) == "spent"
    ended = "Approved by bob." if spent else "Denied by carol, no reason given."
    assert {winner.request["state"] for winner in winners} == {"spent" if spent else "denied"}
    # Who denied at the same time as the denial that counts may be told so as if it had been theirs.
    assert len(winners) == 1 if spent else len(winners) >= 1
    # Whose vote granted it may be told that it was denied before it ran.
    plain = {one.removeprefix("Not run. ").replace("; waiting to run", "") for one in told}
    assert plain == {f"Already decided. {ended}"}
    assert len(told) + len(winners) == 6
    assert sayso.state(alpha) in {"spent", "denied"}
    assert sayso.ledger() == (["alpha"] if spent else [])
    assert sayso.sql("SELECT count(*) FROM denial") == [(0 if spent else 1,)]
    ends = ("request.denied", "run.started")
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind IN (?, ?)", *ends) == [(1,)]


def test_the_two_last_votes_at_once_are_one_run(sayso: Sayso) -> None:
    v1 = sayso.id("v1")
    done = sayso.together(*(["bob", "approve", v1], ["carol", "approve", v1]) * 2)
    ran = [one for one in done if one.code == 0 and one.json["run"]]
    assert [one.run["state"] for one in ran] == ["succeeded"]
    voted = [one.request["votes"] for one in done if one.code == 0 and not one.json["run"]]
    assert set(voted) <= {1}
    told = {one.refusal.replace("; waiting to run", "") for one in done if one.code}
    assert told <= {
        "Already decided. Approved by bob and carol.",
        "Already decided. Approved by carol and bob.",
    }
    assert sayso.ledger() == ["build-v1", "release-v1"]


def test_asking_for_the_same_at_once_opens_one_request(sayso: Sayso) -> None:
    there = ["--conversation", sayso.asked["web"]["conversation"]]
    turns = sayso.together(*[["alice", "ask", "append gamma", *there]] * 4)
    assert len({turn.request["id"] for turn in turns}) == 1
    assert max(turn.request["times_asked"] for turn in turns) == 4
    opened = sayso.sql(
        "SELECT count(*) FROM request WHERE plan_sha256 = ?", turns[0].request["plan_sha256"]
    )
    assert opened == [(1,)]
