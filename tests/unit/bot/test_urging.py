"""X6: reminder, escalation, expiry: each once, at its minute, after a restart too; and who is asked to decide."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.transactions import rows
from approvals import cards
from approvals.models import ESCALATE, Request, State
from approvals.policy import Escalation, Policy
from bot.remind import Reminding
from bot.ruling import Rulings
from core.conversations import NewTurn
from core.errors import Refused
from core.rulings import BreakGlass, HandOver
from tests.bots import Bots
from tests.builders import CONVERSATION, TENANT, a_new_turn, a_rule
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.gates import BOB_ON_SLACK, HIGH, HOUR, LOW, World, allow, who
from tests.jobs import soon
from tests.stores import Stores, answering, claimed, jobs_of, log_of, said_in

LEADS = Escalation(part=0.75, groups=frozenset({"leads"}))
MINUTE = timedelta(minutes=1)
TOLD = (
    "Still nobody decided it, so carol and erin should know. It waits until 2026-03-01 10:30:00 UTC; "
    "may approve: bob and carol."
)


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores, reminders={"medium": 0.5}, escalations={"medium": LEADS})
    world.groups["carol"] |= {"leads"}
    world.groups["erin"] = {"leads"}
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def notes(bots: Bots) -> list[str]:
    return await said_in(bots.world.stores, CONVERSATION, "note")


async def called(bots: Bots) -> list[str]:
    found = await bots.world.stores.database.transact(
        lambda _: rows("SELECT principal FROM called ORDER BY seq, principal")
    )
    return [row["principal"] for row in found]


async def due(bots: Bots, owner: str) -> None:
    """Have a process do what is due, and end."""

    async def none_is() -> bool:
        now = "SELECT 1 FROM job WHERE state IN ('queued', 'running') AND kind IN"
        kinds = "('remind', 'escalate', 'expire') AND run_at <= :now"
        return not await bots.world.stores.database.transact(
            lambda at: rows(f"{now} {kinds}", now=f"{at:%Y-%m-%dT%H:%M:%S.%fZ}")
        )

    async with bots.serving(owner):
        await soon(none_is)


async def test_x6_each_step_comes_once_at_its_minute_and_after_a_restart(
    bots: Bots, clock: FrozenClock
) -> None:
    request = await bots.world.propose()
    seen = list[tuple[int, int]]()
    for minute in range(61):
        # Another process each time: nothing of it is kept in memory.
        if minute % 15 in {0, 14}:
            await due(bots, f"process {minute}")
            seen.append((minute, len(await notes(bots))))
        clock.pass_by(MINUTE)
    assert seen == [
        (0, 0), (14, 0), (15, 0), (29, 0), (30, 1), (44, 1), (45, 2), (59, 2), (60, 3),
    ]  # fmt: skip
    reminded, escalated, expired = await notes(bots)
    assert reminded.startswith("Still waiting: 0 of 1 vote")
    assert escalated == TOLD
    assert expired == cards.expired(await bots.world.now(request))
    assert await called(bots) == ["carol", "erin", "alice"]
    kinds = [entry.kind for entry in await log_of(bots.world.stores)]
    for kind in ("request.reminded", "request.escalated", "request.expired"):
        assert kinds.count(kind) == 1


async def test_x6_steps_that_were_missed_while_nothing_served_come_late_and_once(
    bots: Bots, clock: FrozenClock
) -> None:
    await bots.world.propose()
    clock.pass_by(50 * MINUTE)
    await due(bots, "late")
    await due(bots, "later")
    assert len(await notes(bots)) == 2


async def test_x6_to_be_told_gives_nobody_a_right(bots: Bots, clock: FrozenClock) -> None:
    request = await bots.world.propose()
    clock.pass_by(45 * MINUTE)
    await due(bots, "a")
    with pytest.raises(Refused, match="There is no such request"):
        await bots.world.approve("erin", request)
    assert (await bots.world.now(request)).state is State.OPEN


@pytest.mark.parametrize("end", ["granted", "denied", "altered", "nobody"])
async def test_what_waits_no_more_is_told_to_nobody_else(
    bots: Bots, clock: FrozenClock, end: str
) -> None:
    world = bots.world
    request = await world.propose()
    if end == "granted":
        await world.approve("bob", request)
    if end == "denied":
        await world.deny("bob", request)
    if end == "altered":
        await world.stores.database.transact(lambda _: rows("UPDATE request SET card = '{}'"))
    if end == "nobody":
        world.escalations = {}
    clock.pass_by(45 * MINUTE)
    [job] = await jobs_of(world.stores, ESCALATE)
    hold = FakeHold(await claimed(world.stores, request))
    hold = FakeHold(replace(hold.job, id=job["id"], payload={"request": request.id}))
    await Reminding(store=world.stores.requests, gate=world.gate).escalate(hold)
    await world.stores.requests.escalate(TENANT, "0" * 32, text="of nothing", calls=["carol"])
    assert await called(bots) == []


async def test_an_escalation_that_is_begun_twice_is_said_once(bots: Bots) -> None:
    request = await bots.world.propose()
    for _ in range(2):
        await bots.world.stores.requests.escalate(TENANT, request.id, text="told", calls=["carol"])
    assert await notes(bots) == ["told"]


async def test_a_risk_that_names_no_other_groups_tells_nobody(bots: Bots) -> None:
    await bots.world.propose(LOW)
    assert await jobs_of(bots.world.stores, ESCALATE) == []


def test_the_earliest_escalation_of_several_risks_tells_all_their_groups() -> None:
    risks = {name: a_rule(name=name) for name in ("low", "medium", "high")}
    told = {"medium": LEADS, "high": Escalation(part=0.5, groups=frozenset({"ops"}))}
    policy = Policy(rules=(), risks=risks, escalations=told)
    assert policy.escalation(["low"]) is None
    assert policy.escalation(["medium"]) == LEADS
    assert policy.escalation(["medium", "high", "low"]) == Escalation(
        part=0.5, groups=frozenset({"leads", "ops"})
    )


# When nobody answers


async def test_x6_the_agent_is_told_that_nobody_answered_and_that_this_is_no_denial(
    bots: Bots, clock: FrozenClock
) -> None:
    world = bots.world
    await world.propose()
    clock.pass_by(HOUR)
    await due(bots, "a")
    new: NewTurn = a_new_turn("t_next", conversation=CONVERSATION)
    turn = (await answering(world.stores, new)).turn
    told = await world.stores.conversations.news(turn)
    assert told[-1].text == (
        "Nobody decided it in 1h: expired with 0 of 1 vote, and not run. That is no denial. Press "
        "Ask again to get a new card."
    )
    await world.propose()  # what nobody denied may be proposed again


# Hand-over


def rulings(bots: Bots) -> Rulings:
    stores = bots.world.stores
    return Rulings(
        gate=bots.world.gate,
        brakes=stores.brakes,
        requests=stores.requests,
        conversations=stores.conversations,
        deciding=bots.deciding(),
    )


async def hand_over(bots: Bots, by: str, request: Request | str, to: str) -> str:
    name = request if isinstance(request, str) else request.id
    return await rulings(bots).rule(HandOver(identity=who(by), request=name, to=to))


async def refusal(bots: Bots, by: str, request: Request | str, to: str) -> str:
    with pytest.raises(Refused) as told:
        await hand_over(bots, by, request, to)
    return told.value.shown


async def test_x6_who_may_approve_is_asked_once(bots: Bots) -> None:
    request = await bots.world.propose()
    assert await hand_over(bots, "alice", request, "CAROL") == "carol is asked where the card is."
    assert await notes(bots) == [
        "alice asks carol to decide append-word: 0 of 1 vote, not the requester."
    ]
    assert await called(bots) == ["carol"]
    told = await hand_over(bots, "bob", request, "carol")
    assert told.startswith("carol was asked before.")
    assert len(await notes(bots)) == 1
    kinds = [entry.kind for entry in await log_of(bots.world.stores)]
    assert kinds.count("request.handed_over") == 1


@pytest.mark.parametrize("to", ["dave", "alice", "nobody", "eve"])
async def test_x6_who_may_not_approve_is_not_asked_and_it_is_said_who_may(
    bots: Bots, to: str
) -> None:
    request = await bots.world.propose()
    assert await refusal(bots, "alice", request, to) == (
        "Nobody was asked: they may not approve this, or did so already; bob and carol may."
    )
    assert await called(bots) == []
    assert len(await bots.world.attempts()) == 1


async def test_an_account_of_the_place_names_somebody_too(bots: Bots) -> None:
    request = await bots.world.propose()
    event = HandOver(identity=replace(BOB_ON_SLACK, user="U9"), request=request.id, to="U2")
    with pytest.raises(Refused, match="does not know you here"):
        await rulings(bots).rule(event)
    bots.world.on_slack["alice"] = replace(BOB_ON_SLACK, user="U9")
    assert (await rulings(bots).rule(event)).startswith("bob is asked")


async def test_where_nobody_may_approve_that_is_said(bots: Bots) -> None:
    request = await bots.world.propose()
    bots.world.rules = tuple(r for r in bots.world.rules if r.action != "plan:approve")
    assert (await refusal(bots, "alice", request, "bob")).endswith("nobody may right now.")


async def test_i14_who_may_not_know_of_it_hands_nothing_over(bots: Bots) -> None:
    request = await bots.world.propose()
    unknown = await refusal(bots, "dave", "0" * 32, "bob")
    assert await refusal(bots, "dave", request, "bob") == unknown
    assert await refusal(bots, "dave", "no id", "bob") == unknown


async def test_what_is_decided_is_handed_to_nobody(bots: Bots) -> None:
    denied = await bots.world.deny("carol", await bots.world.propose())
    told = await refusal(bots, "alice", denied, "bob")
    assert told.startswith("Already decided. Denied by carol")
    assert not await bots.world.stores.requests.hand_over(
        TENANT, denied.id, principal="alice", to="bob"
    )


# Breaking the glass from a chat


async def test_x6_who_breaks_the_glass_in_a_chat_is_told_what_became_of_it(bots: Bots) -> None:
    world = bots.world
    world.rules += (allow("plan:break_glass", "ops"),)
    request = await world.propose(HIGH)
    event = BreakGlass(identity=who("bob"), request=request.id, reason="it burns")
    told = await rulings(bots).rule(event)
    assert told.startswith("You broke the glass:")
    assert "Glass broken by bob: it burns." in told
    again = replace(event, identity=who("carol"))
    assert (await rulings(bots).rule(again)).startswith("Already decided. Approved by bob")
    async with bots.serving("a"):
        await soon(lambda: _ran(bots))
    assert len(world.effects()) == 2


async def _ran(bots: Bots) -> bool:
    return bool([run for run in await bots.world.runs() if run.ended_at])
