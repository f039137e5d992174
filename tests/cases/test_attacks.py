"""Attacks on approvals that no other test makes; `attack_table` says which test holds each of them.

What has an effect is counted, and what is on record is read, after each.
"""

import copy
import json
from collections.abc import Awaitable, Mapping
from datetime import timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.findings import Ignored
from adapters.discord.inbound import read as seen_on_discord
from adapters.slack.inbound import Act, read
from adapters.storage.transactions import Database, rows
from approvals.models import State
from core.canonical import sha256
from core.errors import Refused
from tests import discord_seen as on_discord
from tests.fakes.clock import FrozenClock
from tests.gates import HIGH, HOUR, World
from tests.sayso import Sayso
from tests.slack_payloads import BOT, ID, Body, press, submitted
from tests.stores import OTHER_CONVERSATION, Stores, facts_of, log_of

NOT_SHOWN = (
    "it can no longer be prepared as it was shown (The stored plan is not the one that was shown, so"
    " it can never run)"
)
RULES = "the rules that decide it changed"


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


async def behind(database: Database, statement: str) -> None:
    """Run a statement behind the gate's back."""
    await database.transact(lambda _: rows(statement))


async def refused(what: Awaitable[object]) -> str:
    with pytest.raises(Refused) as refusal:
        await what
    return refusal.value.shown


async def kinds(world: World) -> list[str]:
    """Return what the audit log is about, oldest first."""
    return [entry.kind for entry in await log_of(world.stores)]


# 1: what was approved is changed before it runs

CHANGED: Mapping[str, tuple[str, str]] = {
    "the arguments": ("UPDATE plan SET body = replace(body, 'alpha', 'omega')", NOT_SHOWN),
    "a byte of white space": ("UPDATE plan SET body = body || ' '", NOT_SHOWN),
    "the definition": ("UPDATE plan SET body = replace(body, 'definition', 'definitiom')", NOT_SHOWN),
    "the hash of the plan": (f"UPDATE request SET plan_sha256 = '{'0' * 64}'", NOT_SHOWN),
    "the card": ("UPDATE request SET card = replace(card, 'alpha', 'omega')", NOT_SHOWN),
    "the rule": ("UPDATE request SET rule = replace(rule, ':false', ':true')", RULES),
    "who asked": ("UPDATE request SET requester = 'dave'", "dave may no longer ask for it"),
    "who voted": ("UPDATE vote SET principal = 'dave'", "dave may no longer approve it"),
    "a yes of who asked": ("UPDATE vote SET principal = 'alice'", "alice may no longer approve it"),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "why"), CHANGED.values(), ids=CHANGED)
async def test_attack_01_what_is_changed_in_the_database_after_the_yes_revokes_on_record(
    world: World, statement: str, why: str
) -> None:
    granted = await world.granted()
    await behind(world.stores.database, statement)
    told = await refused(world.spend(await world.now(granted)))
    assert told.startswith(f"Not run. Revoked: {why}.")
    assert (await world.runs(), world.effects()) == ([], [])
    last = (await log_of(world.stores))[-1]
    assert (last.kind, facts_of(last)["reason_sha256"]) == ("request.revoked", sha256(why))
    assert "run.started" not in await kinds(world)


async def test_attack_01_what_was_approved_in_one_conversation_is_not_spent_for_another(
    world: World,
) -> None:
    granted = await world.granted()
    moved = f"UPDATE request SET conversation = '{OTHER_CONVERSATION}'"
    await behind(world.stores.database, moved)
    with pytest.raises(Refused):
        await world.spend(granted)
    assert (await world.runs(), world.effects()) == ([], [])
    assert "run.started" not in await kinds(world)


# 10: a button that carries more than an id

TEMPTING = (
    "role", "roles", "args", "arguments", "request", "request_id", "plan", "plan_sha256", "tool", "approved",
    "principal", "as", "acting_as", "quorum", "votes", "voters", "requester", "tenant", "groups", "policy", "run",
)  # fmt: skip
VALUES = (ID[::-1], "U0ALICE", "ops", True, 99, {"id": "U0ALICE"}, ["ops"])
CLICKS = (
    press("sayso:approve"),
    press("sayso:stop"),
    press("sayso:happened"),
    submitted("sayso:review", json.dumps({"request": ID, "channel": "C0OPS"})),
    submitted("sayso:deny", json.dumps({"request": ID, "channel": "C0OPS"}), "not now"),
)


def dicts(value: object) -> list[Body]:
    """Return every object inside a payload, itself included."""
    if isinstance(value, list):
        return [found for item in cast("list[object]", value) for found in dicts(item)]
    if not isinstance(value, dict):
        return []
    here = cast("Body", value)
    return [here, *(found for item in here.values() for found in dicts(item))]


@pytest.mark.parametrize("body", CLICKS)
@pytest.mark.parametrize("name", TEMPTING)
def test_attack_10_nothing_that_is_added_to_a_payload_of_slack_changes_what_it_means(
    body: Body, name: str
) -> None:
    before = read(body, BOT)
    assert isinstance(before, Act)
    for value in VALUES:
        tampered = copy.deepcopy(body)
        for part in dicts(tampered):
            part.setdefault(name, value)
        assert read(tampered, BOT) == before


@given(
    st.text(), st.sampled_from([f":{ID}", f"?as={ID}", ':{"role": "ops"}', ";role=ops", "\n", " "])
)
def test_attack_10_a_button_of_discord_means_one_request_or_nothing(noise: str, more: str) -> None:
    approve = f"sayso:approve:{ID}"
    assert not isinstance(seen_on_discord(on_discord.press(approve), on_discord.SAYSO), Ignored)
    for custom_id in (f"{approve}{more}{noise}", f"{noise}{more}{approve}"):
        assert isinstance(seen_on_discord(on_discord.press(custom_id), on_discord.SAYSO), Ignored)


# 16: stop and a click at once, as processes


def test_attack_16_a_stop_and_a_yes_at_once_end_in_one_of_the_two(sayso: Sayso) -> None:
    alpha, here = sayso.id("alpha"), str(sayso.asked["alpha"]["conversation"])
    done = sayso.together(*(["bob", "approve", alpha], ["alice", "stop", here]) * 3)
    runs = sayso.sql("SELECT state FROM run WHERE request = ?", alpha)
    kept = sayso.sql("SELECT kind FROM audit WHERE kind IN ('run.started', 'request.revoked')")
    told = " ".join(one.refusal for one in done if one.code == 1 and "error" in one.json)
    if sayso.state(alpha) == "revoked":
        assert (runs, kept, sayso.ledger()) == ([], [("request.revoked",)], [])
        assert "alice stopped it" in told
    else:
        # The spend was first: the step ended, or was cut and nobody knows.
        [(state,)] = runs
        assert (sayso.state(alpha), kept) == ("spent", [("run.started",)])
        assert state in {"succeeded", "unknown", "cancelled"}
        assert len(sayso.ledger()) <= 1
    assert sayso.run("audit", "verify").code == 0


# 40: a clock that goes back


@pytest.mark.parametrize("votes", [0, 1, 2])
async def test_attack_40_a_clock_that_goes_back_brings_no_request_back(
    world: World, clock: FrozenClock, votes: int
) -> None:
    request = await world.propose(HIGH)
    for voter in ("bob", "carol")[:votes]:
        request = await world.approve(voter, request)
    clock.pass_by(HOUR)
    assert (await world.now(request)).state is State.EXPIRED
    clock.pass_by(-1.5 * HOUR)
    for late in (world.approve("bob", request), world.deny("bob", request), world.spend(request)):
        assert (await refused(late)).startswith("Expired at 2026-03-01 10:30:00 UTC")
    assert (await world.runs(), world.effects()) == ([], [])
    assert (await kinds(world)).count("request.expired") == 1


async def test_attack_40_a_clock_that_jumps_ahead_ends_what_was_granted(
    world: World, clock: FrozenClock
) -> None:
    granted = await world.granted()
    clock.pass_by(timedelta(days=400))
    assert (await refused(world.spend(granted))).startswith("Expired at")
    clock.pass_by(timedelta(days=-400))
    assert (await refused(world.spend(granted))).startswith("Expired at")
    assert (await world.runs(), world.effects()) == ([], [])
    assert (await kinds(world)).count("request.expired") == 1


# P-50: a team of one person


def test_p50_whoever_approves_for_themselves_may_only_where_the_rule_says_so_and_it_shows(
    sayso: Sayso,
) -> None:
    sayso.edit("sayso.yml", '"plan:approve", resource: "runbook:*", groups: [sre]',
               '"plan:approve", resource: "runbook:*", groups: [sre, eng]')  # fmt: skip
    request = sayso.ask("append own", "alice")["request"]
    web = sayso.ask("restart web in prod", "alice")["request"]["id"]
    alone, barred = sayso.each(["alice", "approve", request["id"]], ["alice", "approve", web])
    assert alone.run["state"] == "succeeded"
    assert barred.refusal.startswith("You asked for this, so somebody else has to approve it")
    assert sayso.ledger() == ["own"]
    own = "SELECT body FROM audit WHERE kind = ? AND body LIKE ?"
    for kind in ("request.opened", "vote.cast", "run.started"):
        [(body,)] = sayso.sql(own, kind, f"%{request['id']}%")
        assert json.loads(body)["principal"] == "alice"
    [(tried,)] = sayso.sql("SELECT body FROM audit WHERE kind = 'attempt.refused'")
    assert json.loads(tried)["principal"] == "alice"
