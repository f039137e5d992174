"""C44 and C48: one message from a person is one run at most, and the same again is the same."""

import pytest

from core.outcomes import Reason
from core.transcript import Say
from tests.fakes.model import ScriptedModel
from tests.hostile import append, call, team, use
from tests.sayso import Sayso

PAIR = """
summary: Append two words.
risk: low
params:
  one: {type: string}
  two: {type: string}
steps:
  - run: [python3, append.py, ledger.txt, "{one}{two}"]
"""


def runs(sayso: Sayso) -> int:
    [(count,)] = sayso.sql("SELECT count(*) FROM run")
    return int(count)


async def test_c44_another_run_takes_another_message_of_a_person(empty: Sayso) -> None:
    async with team(empty) as acme:
        first = await acme.propose(append("one"))
        moves = len(acme.model.seen)
        await acme.approve(first)
        assert (runs(empty), empty.ledger()) == (1, ["one"])
        # Nobody asked the model once more, so it could not go on by itself.
        assert len(acme.model.seen) == moves
        assert empty.sql("SELECT count(*) FROM turn") == [(1,)]
        second = await acme.propose(append("two"), here=first.conversation)
        assert runs(empty) == 1
        await acme.approve(second)
        assert (runs(empty), empty.ledger()) == (2, ["one", "two"])


async def test_c44_nor_does_a_standing_grant_let_a_model_run_more_for_one_message(
    empty: Sayso,
) -> None:
    request = empty.ask("append alpha", "alice")["request"]["id"]
    made = empty.run("grant", request, "--uses", "5", "--for", "1h", as_="bob")
    assert made.json["grant"]["state"] == "active"
    async with team(empty) as acme:
        for number in (1, 2):
            answered = await acme.ask(use(append("alpha")), use(append("alpha")), Say(text="done"))
            assert answered.run is not None
            assert (runs(empty), empty.ledger()) == (number, ["alpha"] * number)
            assert len(acme.model.seen) == number


async def test_c44_where_no_run_is_allowed_a_model_has_the_tool_and_is_refused_and_nobody_is_asked(
    empty: Sayso,
) -> None:
    empty.configure("execution: {runs_per_turn: 0}")
    async with team(empty, ScriptedModel(generative=True)) as acme:
        [told] = await acme.refused_results(append("alpha"))
        assert "no turn may run anything here (execution.runs_per_turn is 0)" in told
        offered = {tool.name for tool in acme.model.prompts[0].tools}
        assert {"append-word", "show-ledger"} <= offered
        acme.nothing_happened()
        assert empty.sql("SELECT count(*) FROM request") == [(0,)]
        answered = await acme.ask(use(call("show-ledger")), Say(text="It is empty."))
        assert answered.reason is Reason.ANSWERED


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
async def test_c48_in_whatever_order_arguments_come_it_is_the_same_plan(
    empty: Sayso, order: tuple[str, ...]
) -> None:
    empty.runbook("pair", PAIR)
    async with team(empty) as acme:
        first = await acme.propose(call("pair", {"one": "a", "two": "b"}))
        again = await acme.propose(
            call("pair", {name: {"one": "a", "two": "b"}[name] for name in order}),
            here=first.conversation,
        )
        assert (again.id, again.plan.sha256) == (first.id, first.plan.sha256)
        other = await acme.propose(call("pair", {"one": "b", "two": "a"}), here=first.conversation)
        assert other.plan.sha256 != first.plan.sha256
