"""I3 between the card and the run: any difference revokes the request, says why, and runs nothing."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NoReturn

import pytest

from adapters.storage.transactions import Row, Transaction, rows
from approvals.models import State
from approvals.switches import Switches
from core.errors import Invalid, Refused, Unavailable
from core.runbooks import tool as runbook
from core.tools import Tool
from tests.builders import a_proposal, a_step, a_tool
from tests.fakes.runner import exited
from tests.gates import APPEND, HIGH, LOW, World, allow, edited
from tests.stores import Stores, holding, log_of, said_in

Change = Callable[[World], None]


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


def switched_off(world: World) -> None:
    world.switches = Switches(plan_only=True)


def removed(world: World) -> None:
    world.tools = tuple(tool for tool in world.tools if tool.name != "append-word")


def unreadable(world: World) -> None:
    world.files.unreadable.add("words.txt")


def not_startable(world: World) -> None:
    world.runner.obstacles["append-word",] = "There is no program append-word."


def preview_fails(world: World) -> None:
    world.runner.endings["preview",] = exited(2)


def risk_unknown(world: World) -> None:
    world.risks = world.risks[:1]


def runbook_edited(world: World) -> None:
    world.edit("append-word", edited)


def file_changed(world: World) -> None:
    world.files.digests["words.txt"] = "1" * 64


def file_missing(world: World) -> None:
    del world.files.digests["words.txt"]


def preview_changed(world: World) -> None:
    world.runner.endings["preview",] = exited(output="something else")


def sandbox_changed(world: World) -> None:
    world.runner.backend = "none"


def folder_changed(world: World) -> None:
    world.folder = "elsewhere"


def rules_changed(world: World) -> None:
    world.rules = (*world.rules, allow("plan:approve", "guests"))


def quorum_changed(world: World) -> None:
    world.risks = tuple(replace(rule, quorum=3) for rule in world.risks)


def requester_lost_it(world: World) -> None:
    world.groups["alice"] = {"ops"}


def requester_gone(world: World) -> None:
    del world.groups["alice"]


PREPARED = "it can no longer be prepared as it was shown"
WITHOUT_VOTES: Sequence[tuple[Change, str]] = [
    (switched_off, "execution is switched off here (execution.plan_only)"),
    (
        removed,
        f"{PREPARED} (There is no such tool here. Use one of those that are listed)",
    ),
    (
        risk_unknown,
        f"{PREPARED} (There is no rule for the risk 'medium'. An operator has to add one to `approvals`)",
    ),
    (not_startable, f"{PREPARED} (append-word: There is no program append-word)"),
    (
        preview_fails,
        f"{PREPARED} (append-word: the preview failed (exit code 2, often wrong arguments), so nobody was asked)",
    ),
    (unreadable, f"{PREPARED} (A file that this depends on cannot be read)"),
    (rules_changed, "the rules that decide it changed"),
    (quorum_changed, "the rules that decide it changed"),
    (sandbox_changed, "the place where it would run changed"),
    (folder_changed, "the place where it would run changed"),
    (runbook_edited, "the runbook append-word was edited"),
    (file_changed, "the file words.txt changed"),
    (file_missing, "the file words.txt changed"),
    (preview_changed, "the preview of append-word changed"),
    (requester_lost_it, "alice may no longer ask for it"),
    (requester_gone, "alice may no longer ask for it"),
]


def voter_lost_it(world: World) -> None:
    world.groups["bob"] = {"dev"}


def voter_gone(world: World) -> None:
    del world.groups["bob"]


ALL = [
    *WITHOUT_VOTES,
    (voter_lost_it, "bob may no longer approve it"),
]


ORDER = [
    (switched_off, "execution is switched off here (execution.plan_only)"),
    (removed, f"{PREPARED} (There is no such tool here. Use one of those that are listed)"),
    (not_startable, f"{PREPARED} (append-word: There is no program append-word)"),
    (runbook_edited, "the runbook append-word was edited"),
    (file_changed, "the file words.txt changed"),
    (preview_changed, "the preview of append-word changed"),
    (requester_lost_it, "alice may no longer ask for it"),
    (voter_lost_it, "bob may no longer approve it"),
]


ASK = "Ask again to see it as it is now."
NEXT: dict[str, str] = dict.fromkeys(
    ("execution is switched off here (execution.plan_only)", "alice may no longer ask for it"),
    "Asking again helps once that is changed.",
)
"""What to do, where a new card would be refused as well."""


async def refused(what: Awaitable[object]) -> str:
    with pytest.raises(Refused) as refusal:
        await what
    return refusal.value.shown


@pytest.mark.parametrize(("change", "reason"), ALL, ids=[c.__name__ for c, _ in ALL])
async def test_i3_a_change_before_the_spend_revokes_with_its_reason_and_runs_nothing(
    world: World, change: Change, reason: str
) -> None:
    granted = await world.granted()
    change(world)
    told = await refused(world.spend(granted))
    assert told == f"Not run. Revoked: {reason}. {NEXT.get(reason, ASK)}"
    ended = await world.now(granted)
    assert (ended.state, ended.reason) == (State.REVOKED, reason)
    assert await world.runs() == []
    assert world.effects() == []


@pytest.mark.parametrize(
    ("change", "reason"), WITHOUT_VOTES, ids=[c.__name__ for c, _ in WITHOUT_VOTES]
)
async def test_i3_a_change_before_the_click_revokes_with_its_reason_and_counts_no_vote(
    world: World, change: Change, reason: str
) -> None:
    request = await world.propose()
    change(world)
    told = await refused(world.approve("bob", request))
    assert told == f"Not run. Revoked: {reason}. {NEXT.get(reason, ASK)}"
    ended = await world.now(request)
    assert (ended.state, ended.reason, ended.votes) == (State.REVOKED, reason, ())


@pytest.mark.parametrize("first", range(len(ORDER)))
async def test_i3_of_several_changes_the_first_of_the_order_is_the_reason(
    world: World, first: int
) -> None:
    granted = await world.granted()
    for change, _ in reversed(ORDER[first:]):
        change(world)
    await refused(world.spend(granted))
    assert (await world.now(granted)).reason == ORDER[first][1]


def another_runbook_edited(world: World) -> None:
    world.edit("note", edited)


def another_runbook_added(world: World) -> None:
    world.tools = (*world.tools, a_tool("new"))


def somebody_else_joins(world: World) -> None:
    world.groups["dave"] = {"ops"}


def somebody_who_did_not_vote_leaves(world: World) -> None:
    world.groups["carol"] = set()


def another_file_changed(world: World) -> None:
    world.files.digests["other.txt"] = "2" * 64


def a_rule_that_decides_nothing_here(world: World) -> None:
    world.rules = (*world.rules, allow("tool:read", "guests"))


@pytest.mark.parametrize(
    "harmless",
    [
        another_runbook_edited,
        another_runbook_added,
        somebody_else_joins,
        somebody_who_did_not_vote_leaves,
        another_file_changed,
        a_rule_that_decides_nothing_here,
    ],
)
async def test_a_change_of_something_else_revokes_nothing(world: World, harmless: Change) -> None:
    granted = await world.granted()
    harmless(world)
    assert (await world.spend(granted)).request.state is State.SPENT


async def test_a_preview_that_does_not_bind_may_print_something_else(world: World) -> None:
    shown = a_tool(preview=a_step("preview"))
    world.tools = (shown,)
    granted = await world.granted(shown)
    preview_changed(world)
    assert (await world.spend(granted)).request.state is State.SPENT


async def test_a_file_that_appears_where_there_was_none_is_a_change(world: World) -> None:
    file_missing(world)
    granted = await world.granted()
    world.files.digests["words.txt"] = "0" * 64
    await refused(world.spend(granted))
    assert (await world.now(granted)).reason == "the file words.txt changed"


async def test_p32_every_voter_is_looked_at_again_and_not_only_the_last(world: World) -> None:
    granted = await world.granted(HIGH, "bob", "carol")
    voter_lost_it(world)
    await refused(world.spend(granted))
    assert (await world.now(granted)).reason == "bob may no longer approve it"
    assert await world.runs() == []


async def test_a_runbook_that_takes_one_argument_more_cannot_run_what_was_shown(
    world: World,
) -> None:
    text = "name: note\nsummary: s\nrisk: low\nsteps: [{run: [echo]}]\n"
    before = runbook(text, "note.yml")
    world.tools = (before,)
    request = await world.ask(a_proposal(before.check({}, {})))
    world.tools = (runbook(f"{text}params: {{word: {{type: string}}}}\n", "note.yml"),)
    told = await refused(world.approve("bob", request))
    assert "`word`: it is required and has no default" in told
    assert (await world.now(request)).state is State.REVOKED


async def test_i11_a_revocation_is_on_record_and_told_in_the_conversation(world: World) -> None:
    granted = await world.granted()
    runbook_edited(world)
    await refused(world.spend(granted))
    last = (await log_of(world.stores))[-1]
    assert last.kind == "request.revoked"
    assert '"principal":"bob"' in last.body
    [note] = await said_in(world.stores, granted.conversation, "note")
    assert note.startswith("Revoked: the runbook append-word was edited.")


# What is stored is believed only where it hashes to what was shown.


async def tamper(world: World) -> None:
    """Change the argument of every stored plan behind the gate's back."""

    def change(_: datetime) -> Transaction[list[Row]]:
        found = yield from rows("UPDATE plan SET body = replace(body, 'alpha', 'omega')")
        return found

    await world.stores.database.transact(change)


@pytest.mark.parametrize("tool", [APPEND, LOW])
async def test_i3_an_altered_plan_in_the_database_is_revoked_at_the_click(
    world: World, tool: Tool
) -> None:
    request = await world.propose(tool)
    await tamper(world)
    told = await refused(world.approve("bob", request))
    assert told.startswith("Not run. Revoked: its stored plan is not the one that was shown")
    ended = await world.now(request)
    assert (ended.state, ended.votes) == (State.REVOKED, ())
    assert world.effects() == []


async def test_an_altered_plan_cannot_be_read(world: World) -> None:
    request = await world.propose()
    await tamper(world)
    altered = await world.now(request)
    assert not altered.is_intact
    with pytest.raises(Refused, match="The stored plan is not the one that was shown"):
        _ = altered.plan


async def test_a_catalogue_that_is_being_written_keeps_the_votes_of_what_was_granted(
    world: World,
) -> None:
    granted = await world.granted()

    def half_written() -> NoReturn:
        raise Invalid("runbooks/append.yml:1: it is half written.")

    gate = replace(world.gate, toolbox=half_written)
    async with holding(world.stores, granted) as job:
        with pytest.raises(Unavailable, match="half written"):
            await gate.spend(granted, job)
    assert (await world.now(granted)).state is State.GRANTED
    assert (await world.spend(granted)).run
