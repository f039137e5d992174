"""What somebody wrote into the database, or said on another card, cannot make a plan run."""

from dataclasses import replace

import pytest

from adapters.storage.transactions import rows
from approvals import cards
from approvals.denials import effect
from approvals.models import State
from core.canonical import JsonObject
from core.errors import Refused
from core.plans import RunStep
from core.principals import Identity
from core.tools import Tool, Work
from tests.builders import a_proposal, a_step
from tests.gates import APPEND, HIGH, LOW, SECRET, World, who
from tests.stores import Stores


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


async def tamper(world: World, statement: str) -> None:
    await world.stores.database.transact(lambda _: rows(statement))


async def test_i13_a_denial_ends_every_card_of_the_conversation_that_asks_for_the_same(
    world: World,
) -> None:
    world.groups["erin"] = {"dev"}
    mine = await world.propose(LOW, "evil")
    twin = await world.ask(replace(a_proposal(LOW.check({"word": "evil"}, {})), requester="erin"))
    both = await world.ask(
        a_proposal(LOW.check({"word": "ok"}, {}), LOW.check({"word": " evil "}, {}))
    )
    other = await world.propose(LOW, "ok")
    await world.deny("bob", mine, "never")
    for ended in (twin, both):
        now = await world.now(ended)
        assert now.state is State.REVOKED
        assert "bob denied note with these arguments" in now.reason
        with pytest.raises(Refused, match="bob denied note"):
            await world.approve("carol", ended)
    assert (await world.now(other)).state is State.OPEN


async def test_i13_an_altered_card_does_not_keep_a_denial_from_ending_the_others(
    world: World,
) -> None:
    world.groups["erin"] = {"dev"}
    mine = await world.propose(LOW, "evil")
    twin = await world.ask(replace(a_proposal(LOW.check({"word": "evil"}, {})), requester="erin"))
    await tamper(world, f"UPDATE request SET card = '{{}}' WHERE id = '{twin.id}'")
    await world.deny("bob", mine)
    with pytest.raises(Refused, match="not the one that was shown"):
        await world.approve("carol", twin)


async def test_i13_a_denial_that_comes_before_the_spend_wins(world: World) -> None:
    request = await world.granted(LOW)
    await tamper(
        world,
        "INSERT INTO denial SELECT tenant, conversation, '"
        + effect("note", request.plan.calls[0].arguments)
        + f"', 'note', id, 'carol', 'no', NULL FROM request WHERE id = '{request.id}'",
    )
    with pytest.raises(Refused, match="carol denied note"):
        await world.spend(request)
    assert await world.runs() == []


async def test_i6_a_card_that_was_altered_is_not_what_anybody_approved(world: World) -> None:
    request = await world.propose(LOW)
    await tamper(world, "UPDATE request SET card = replace(card, 'alpha', 'omega')")
    altered = await world.now(request)
    assert altered.card.title == "The stored card is not the one that was shown"
    with pytest.raises(Refused, match="not the one that was shown"):
        await world.approve("bob", request)
    assert (await world.now(request)).state is State.REVOKED
    with pytest.raises(Refused, match="can never run"):
        assert altered.plan


async def test_i3_a_quorum_that_was_lowered_in_the_database_lets_nothing_run(world: World) -> None:
    request = await world.propose(HIGH)
    await tamper(world, "UPDATE request SET quorum = 1")
    granted = await world.approve("bob", request)
    assert granted.state is State.GRANTED
    with pytest.raises(Refused):
        await world.spend(granted)
    assert await world.runs() == []


async def test_i3_a_rule_that_was_altered_in_the_database_revokes(world: World) -> None:
    request = await world.propose(HIGH)
    await tamper(world, "UPDATE request SET quorum = 1, rule = replace(rule, ':2', ':1')")
    with pytest.raises(Refused, match="the rules that decide it changed"):
        await world.approve("bob", request)


def doing(*steps: RunStep, file: str = "words.txt", lock: str | None = None) -> Tool:
    """Return a tool that comes down to these steps, whatever its arguments."""

    def expand(_: JsonObject) -> Work:
        return Work(steps=steps, fingerprints=(file,), lock=lock)

    return replace(LOW, expand=expand)


@pytest.mark.parametrize(
    "tool",
    [
        doing(a_step("echo", SECRET)),
        doing(a_step("curl", "-H", "Authorization: Bearer abcdefghijklmnop1234")),
        doing(a_step("mysql", "--password=swordfish")),
        doing(file=f"{SECRET}.txt"),
        doing(lock=f"web/{SECRET}"),
    ],
)
async def test_p25_a_secret_in_what_would_run_is_refused_before_anybody_is_asked(
    world: World, tool: Tool
) -> None:
    with pytest.raises(Refused, match="looks like a secret") as refusal:
        await world.propose(tool)
    assert SECRET not in refusal.value.shown
    assert await world.requests() == []


async def test_p09_what_a_stranger_tries_is_on_record_where_the_workspace_is_known(
    world: World,
) -> None:
    request = await world.propose(APPEND)
    for stranger in (who("nobody"), Identity(platform="slack", workspace="T9", user="U9")):
        with pytest.raises(Refused, match="does not know you"):
            await world.approve(stranger, request)
    [entry] = await world.attempts()
    assert "(unknown)" in entry.body


@pytest.mark.parametrize("state", ["denied", "expired", "revoked"])
async def test_what_is_not_there_any_more_as_it_was_shown_offers_no_button_that_only_refuses(
    world: World, state: str
) -> None:
    request = await world.propose(LOW)
    await tamper(
        world,
        f"UPDATE request SET state = '{state}', ended_by = 'bob', reason = 'x', card = '{{}}'",
    )
    ended = await world.now(request)
    card, status = cards.drawn(ended, None)
    assert card.buttons == ()
    assert state == "denied" or status.endswith(f" {cards.IN_WORDS}")
    with pytest.raises(Refused) as refusal:
        await world.again("bob", request)
    assert "Ask again" not in refusal.value.shown
