"""I3 before the card: whatever would be refused later is refused before anybody is asked."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from approvals.preparing import MOST_CALLS
from approvals.switches import Switches
from core.errors import Invalid, Refused, SaysoError
from core.ports import Ending
from core.runbooks import tool as runbook
from tests.builders import a_plan, a_proposal
from tests.fakes.runner import ended, exited
from tests.gates import APPEND, HIGH, LOW, SECRET, World, allow, edited, without
from tests.stores import Stores, everything, kept_plan

Change = Callable[[World], None]


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


def plan_only(world: World) -> None:
    world.switches = Switches(plan_only=True)


def no_runs(world: World) -> None:
    world.switches = Switches(runs_per_turn=0)


def nobody_may_propose(world: World) -> None:
    world.rules = without(world.rules, "run:propose dev")


def the_requester_is_gone(world: World) -> None:
    del world.groups["alice"]


def people_cannot_be_read(world: World) -> None:
    world.unreadable = Invalid("sayso.yml:3: people: this cannot be read.")


def no_rule_for_the_risk(world: World) -> None:
    world.risks = world.risks[:1]


def a_step_cannot_start(world: World) -> None:
    world.runner.obstacles["append-word",] = "There is no program append-word."


def verify_cannot_start(world: World) -> None:
    world.runner.obstacles["verify",] = "There is no program verify."


def the_preview_cannot_start(world: World) -> None:
    world.runner.obstacles["preview",] = "There is no program preview."


def the_preview_fails(world: World) -> None:
    world.runner.endings["preview",] = exited(1, "no")


def the_preview_takes_too_long(world: World) -> None:
    world.runner.endings["preview",] = ended(Ending.TIMED_OUT)


def a_file_cannot_be_read(world: World) -> None:
    world.files.unreadable.add("words.txt")


CHECKS: Sequence[tuple[Change, str]] = [
    (plan_only, "Not proposed: execution is switched off here (execution.plan_only)."),
    (no_runs, "Not proposed: no turn may run anything here (execution.runs_per_turn is 0)."),
    (people_cannot_be_read, "sayso.yml:3: people: this cannot be read."),
    (nobody_may_propose, "Not proposed: you may not ask for this."),
    (the_requester_is_gone, "Not proposed: you may not ask for this."),
    (
        no_rule_for_the_risk,
        "There is no rule for the risk 'medium'. An operator has to add one to `approvals`.",
    ),
    (a_step_cannot_start, "append-word: There is no program append-word."),
    (verify_cannot_start, "append-word: There is no program verify."),
    (
        the_preview_cannot_start,
        "append-word: the preview cannot run. There is no program preview.",
    ),
    (
        the_preview_fails,
        "append-word: the preview failed (exit code 1), so nobody was asked.",
    ),
    (
        the_preview_takes_too_long,
        "append-word: the preview failed (it ran longer than its time limit), so nobody was asked.",
    ),
    (a_file_cannot_be_read, "A file that this depends on cannot be read."),
]


@pytest.mark.parametrize(("change", "reason"), CHECKS, ids=[c.__name__ for c, _ in CHECKS])
async def test_c35_each_failing_check_leaves_no_request_and_says_why(
    world: World, change: Change, reason: str
) -> None:
    change(world)
    with pytest.raises(SaysoError) as refusal:
        await world.propose()
    assert refusal.value.shown == reason
    assert await world.requests() == []
    assert world.effects() == []


@pytest.mark.parametrize("first", range(len(CHECKS)))
async def test_i3_the_first_check_of_the_order_is_the_one_that_is_told(
    world: World, first: int
) -> None:
    for change, _ in reversed(CHECKS[first:]):
        change(world)
    with pytest.raises(SaysoError) as refusal:
        await world.propose()
    assert refusal.value.shown == CHECKS[first][1]


async def test_c39_a_refused_proposal_is_on_record_with_its_reason(world: World) -> None:
    nobody_may_propose(world)
    with pytest.raises(Refused):
        await world.propose()
    [attempt] = await world.attempts()
    assert '"principal":"alice"' in attempt.body
    assert "Not proposed: you may not ask for this." in attempt.body


async def test_one_plan_may_hold_so_many_calls_and_not_one_more(world: World) -> None:
    calls = [LOW.check({"word": str(number)}, {}) for number in range(MOST_CALLS + 1)]
    assert len((await world.ask(a_proposal(*calls[:-1]))).plan.calls) == MOST_CALLS
    with pytest.raises(Refused, match="One plan may hold 50 calls"):
        await world.ask(a_proposal(*calls))
    assert len(await world.requests()) == 1


async def test_a_plan_without_calls_is_refused(world: World) -> None:
    with pytest.raises(Refused):
        await world.ask(replace(a_proposal(), calls=()))


async def test_who_may_propose_only_one_of_two_calls_may_not_propose_the_plan(
    world: World,
) -> None:
    world.rules = (*without(world.rules, "run:propose dev"), allow("run:propose", "dev", "*note"))
    await world.propose(LOW)
    with pytest.raises(Refused):
        await world.ask(a_proposal(LOW.check({"word": "a"}, {}), APPEND.check({"word": "a"}, {})))


@pytest.mark.parametrize(
    "word",
    [
        SECRET,
        f"prefix-{SECRET}-suffix",
        "aHVudGVyMmh1bnRlcjI",
        "ghp_" + "a" * 36,
        "password=swordfish",
    ],
)
async def test_i12_a_secret_in_an_argument_is_refused_by_name_and_kept_nowhere(
    world: World, word: str
) -> None:
    with pytest.raises(Refused) as refusal:
        await world.propose(word=word)
    assert refusal.value.shown.startswith("append-word: `word` looks like a secret.")
    assert word not in refusal.value.shown
    assert word not in repr(await everything(world.stores.database))
    assert world.runner.ran == []


async def test_a_plan_of_several_calls_takes_the_strictest_rule_of_each(world: World) -> None:
    request = await world.ask(
        a_proposal(LOW.check({"word": "a"}, {}), HIGH.check({"word": "a"}, {}))
    )
    assert (request.rule.quorum, request.rule.requester_may_vote) == (2, False)


async def test_c45_an_exported_plan_is_proposed_only_while_it_still_means_the_same(
    world: World,
) -> None:
    calls = [APPEND.check({"word": "alpha"}, {})]
    plan = await world.gate.freeze(a_proposal(*calls))
    assert (await world.ask(a_proposal(*calls, expects=plan))).plan == plan
    changed = a_proposal(edited(APPEND).check({"word": "alpha"}, {}), expects=plan)
    with pytest.raises(Refused) as refusal:
        await world.ask(changed)
    assert refusal.value.shown == (
        "Not proposed: since this plan was made, the runbook append-word was edited."
    )
    assert len(await world.requests()) == 1


async def test_c45_freezing_for_export_works_while_nothing_may_run_and_asks_nobody(
    world: World,
) -> None:
    plan_only(world)
    plan = await world.gate.freeze(a_proposal(LOW.check({"word": "alpha"}, {})))
    assert plan.tools == ("note",)
    assert await world.requests() == []


async def test_c30_the_agents_words_are_no_part_of_the_hash(world: World) -> None:
    one = await world.propose()
    other = await world.ask(
        replace(
            a_proposal(APPEND.check({"word": "alpha"}, {})),
            about=replace(one.about, rationale="another"),
        )
    )
    assert other.plan_sha256 == one.plan_sha256
    assert "another" not in one.plan_body + other.plan_body


async def test_c90_what_a_default_filled_in_is_hashed_and_marked_on_the_card(world: World) -> None:
    tool = runbook(
        "name: note\nsummary: s\nrisk: low\nparams:\n  word: {type: string}\n"
        "  env: {type: string, default: staging}\nsteps: [{run: [echo, '{env}', '{word}']}]\n",
        "note.yml",
    )
    checked = tool.check({"word": "hi"}, {"env": "prod"})
    request = await world.ask(a_proposal(checked))
    facts = {fact.label: fact.text for fact in request.card.facts}
    assert facts["Filled in by default"] == "note env"
    assert facts["Differs from defaults"] == 'note env is "prod", not "staging"'
    assert request.plan.calls[0].arguments == {"word": "hi", "env": "prod"}


async def test_c32_a_forced_collision_of_short_ids_is_refused(world: World) -> None:
    plan = await world.gate.freeze(a_proposal(LOW.check({"word": "alpha"}, {})))
    other = a_plan()
    await kept_plan(world.stores, "acme", plan.id, other.sha256, other.canonical)
    with pytest.raises(Refused, match="Another plan has the same short id"):
        await world.propose(LOW)
    assert await world.requests() == []
