"""I3 between the card and the run: any difference revokes the request, says why, and runs nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from adapters.storage.transactions import Row, Transaction, rows
from approvals.gate import Switches
from approvals.models import State
from core.errors import Refused
from core.runbooks import tool as runbook
from tests.builders import a_proposal, a_tool
from tests.fakes.runner import exited
from tests.gates import APPEND, HIGH, LOW, World, allow, edited, without
from tests.stores import Stores, everything, log_of, said_in

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
        f"{PREPARED} (append-word: the preview failed (exit code 2), so nobody was asked)",
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


async def refused(what: Callable[[], object]) -> str:
    with pytest.raises(Refused) as refusal:
        await what()  # type: ignore[misc]  # a coroutine function
    return refusal.value.shown
