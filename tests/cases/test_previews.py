"""X5 and P-08: what a dry run printed is on the card and bound; all calls of a step are one card."""

import pytest

from core.errors import Refused
from tests.hostile import append, call, team
from tests.sayso import Sayso

MOVE = """
summary: Move the fleet to a place.
risk: low
params:
  place: {type: string, pattern: "^[a-z0-9-]{1,20}$"}
phrases: ["move to {place}"]
preview: {run: [cat, fleet.txt, "{place}.txt"], bind: BIND}
steps:
  - run: [python3, append.py, ledger.txt, "{place}"]
"""
SHOWN = "Preview (what a dry run printed):\n    web worker\n    3 move, 1 stays\n"
HASHES = "SELECT plan_sha256 FROM request ORDER BY opened_at"


def moving(sayso: Sayso, bind: str) -> str:
    """Let there be a runbook with a dry run that binds or does not; ask for it, return the id."""
    sayso.runbook("move", MOVE.replace("BIND", bind))
    write(sayso, "3 move, 1 stays")
    turn = sayso.ask("move to east", "alice")
    assert SHOWN in turn["request"]["card"]
    return str(turn["request"]["id"])


def write(sayso: Sayso, text: str) -> None:
    """Have the dry run print something else from now on."""
    (sayso.folder / "work" / "east.txt").write_text(f"{text}\n", "utf-8")


def test_x5_what_a_preview_printed_stands_on_the_card_and_is_in_the_hash(empty: Sayso) -> None:
    moving(empty, "exact")
    moving(empty, "exact")
    write(empty, "4 move")
    other = empty.ask("move to east", "alice")["request"]
    assert "  4 move\n" in other["card"]
    (first,), (same,), (changed,) = empty.sql(HASHES)
    assert first == same
    assert changed not in {first, same}
    assert empty.run("approve", other["id"], as_="bob").run["state"] == "succeeded"
    assert empty.ledger() == ["east"]


def test_x5_a_changed_preview_revokes_and_runs_nothing(empty: Sayso) -> None:
    request = moving(empty, "exact")
    write(empty, "4 move")
    told = empty.run("approve", request, as_="bob").refusal
    assert told == (
        "Not run. Revoked: the preview of move changed. Ask again to see it as it is now."
    )
    assert (empty.state(request), empty.ledger()) == ("revoked", [])
    assert empty.sql("SELECT * FROM run") == empty.sql("SELECT * FROM vote") == []
    kinds = [kind for (kind,) in empty.sql("SELECT kind FROM audit ORDER BY seq")]
    assert kinds[-1] == "request.revoked"
    write(empty, "3 move, 1 stays")
    assert "the preview of move changed" in empty.run("approve", request, as_="bob").refusal
    assert empty.ledger() == []


def test_x5_a_preview_that_is_only_shown_is_not_in_the_hash_and_revokes_nothing(
    empty: Sayso,
) -> None:
    request = moving(empty, "shown")
    write(empty, "4 move")
    assert "  4 move\n" in empty.ask("move to east", "alice")["request"]["card"]
    (first,), (second,) = empty.sql(HASHES)
    assert first == second
    assert empty.run("approve", request, as_="bob").run["state"] == "succeeded"
    assert empty.ledger() == ["east"]


async def test_p08_fifty_calls_of_one_step_are_one_card_and_run_all_or_not_at_all(
    empty: Sayso,
) -> None:
    empty.configure("profiles: {default: {max_tool_calls: 60}}")
    empty.runbook("move", MOVE.replace("BIND", "exact"))
    write(empty, "3 move")
    words = [f"w{number}" for number in range(49)]
    moves = call("move", {"place": "east"}, id="move")
    async with team(empty) as acme:
        calls = [*(append(word, id=word) for word in words), moves]
        request = await acme.propose(*calls)
        assert [line.split(" ")[0] for line in request.card.plan if line[0] != " "] == [
            *["append-word"] * 49,
            "move",
        ]
        assert request.card.preview == ("web worker", "3 move")
        assert [button.verb for button in request.card.buttons] == ["approve", "deny"]
        # The dry run of the last call alone prints something else: none of the fifty runs.
        write(empty, "4 move")
        acme.files = acme.found()
        with pytest.raises(Refused, match="the preview of move changed"):
            await acme.approve(request)
        acme.nothing_happened()
        again = await acme.propose(*calls, here=request.conversation)
        await acme.approve(again)
        acme.ran(again)
    assert empty.ledger() == [*words, "east"]


async def test_p08_one_call_that_cannot_be_prepared_leaves_no_card_for_the_others(
    empty: Sayso,
) -> None:
    empty.runbook("move", MOVE.replace("BIND", "exact"))
    async with team(empty) as acme:
        calls = [append("first"), call("move", {"place": "nowhere"}, id="2")]
        told = await acme.refused_results(*calls)
        assert any("the preview failed" in text for text in told)
        acme.nothing_happened()
        assert empty.sql("SELECT * FROM request") == []
        await acme.runs_once_approved()
