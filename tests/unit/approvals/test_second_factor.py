"""C41, C67: a rule may demand a one-time code of each yes, newer than the request, used once."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NoReturn

import pytest

from adapters.storage.factors import Factors as Kept
from adapters.storage.rates import Rates as Counted
from adapters.storage.requests import Requests
from adapters.storage.transactions import rows
from approvals import factors
from approvals.brakes import Broken
from approvals.factors import CodeSpent, Failed, RightCode
from approvals.gate import UNKNOWN, Gate
from approvals.granting import Granting
from approvals.models import Request, Rule, State
from approvals.policy import Action, Authority, Policy
from approvals.receipts import check
from core.errors import Refused
from core.events import Approve, ProposeGrant
from core.one_time_codes import STEP, begin_of
from core.rates import NoRoom, Rate, RateRules
from core.rulings import BreakGlass
from tests.builders import TENANT
from tests.codes import OTHER_APP, code, enrolled, wrong
from tests.fakes.clock import START, FrozenClock
from tests.gates import HIGH, HOUR, LOW, PLENTY, RISKS, World, allow, who
from tests.receipts import issued
from tests.stores import SUCCEEDED, Stores, facts_of, log_of, stepped

MINUTE = timedelta(minutes=1)
GUARDED = tuple(replace(rule, second_factor=rule.name != "medium") for rule in RISKS)


@pytest.fixture
async def world(stores: Stores, clock: FrozenClock) -> World:
    """Give a gate whose rules of low and of high risk demand a code; bob and carol have enrolled."""
    await enrolled(stores, clock)
    await enrolled(stores, clock, "carol", app=OTHER_APP)
    return World(stores, risks=GUARDED)


async def refusal(world: World, person: str, request: Request | str, given: str = "") -> str:
    """Return what somebody is told whose yes counts for nothing; that is on record."""
    before = len(await world.attempts())
    with pytest.raises(Refused) as refused:
        await world.approve(person, request, given)
    assert len(await world.attempts()) == before + 1
    return refused.value.shown


def broken(request: Request, given: str = "") -> BreakGlass:
    return BreakGlass(identity=who("bob"), request=request.id, reason="it burns", code=given)


async def asked(world: World, clock: FrozenClock) -> Request:
    """Return a request that is older than the codes shown now."""
    request = await world.propose(LOW)
    clock.pass_by(STEP)
    return request


# What a yes takes


async def test_c41_a_yes_with_a_fresh_code_counts_and_the_run_comes_of_it(
    world: World, clock: FrozenClock
) -> None:
    request = await asked(world, clock)
    voted = await world.approve("bob", request, code(clock))
    assert voted.state is State.GRANTED
    assert [(v.principal, v.second_factor) for v in voted.votes] == [("bob", True)]
    assert (await world.spend(voted)).run.voters == ("bob",)


async def test_who_breaks_the_glass_gives_a_code_too_and_it_is_used_up(
    world: World, clock: FrozenClock
) -> None:
    world.rules += (allow("plan:break_glass", "ops"),)
    request = await world.propose(HIGH)
    clock.pass_by(STEP)
    with pytest.raises(Refused) as told:
        await world.gate.break_glass(broken(request))
    assert told.value.shown == factors.WANTED_OF_A_BREAKER
    voted = await world.gate.break_glass(broken(request, code(clock)))
    assert [(v.principal, v.second_factor) for v in voted.request.votes] == [("bob", True)]
    assert (await world.spend(voted.request)).run.broken_by == "bob"
    other = await world.propose(LOW)
    assert "already" in await refusal(world, "bob", other, code(clock))


async def test_what_was_approved_already_takes_a_code_as_well_where_the_glass_is_broken(
    world: World, clock: FrozenClock
) -> None:
    world.rules += (allow("plan:break_glass", "ops"),)
    request = await world.propose(LOW)
    clock.pass_by(STEP)
    await world.approve("bob", request, code(clock))
    click = BreakGlass(
        identity=who("carol"), request=request.id, reason="it burns", code=code(clock, OTHER_APP)
    )
    voted = await world.gate.break_glass(click)
    assert (voted.request.voters, voted.request.broken_by) == (("bob",), "carol")
    other = await world.propose(HIGH)
    assert "already" in await refusal(world, "carol", other, code(clock, OTHER_APP))


async def test_whose_yes_was_proved_already_gives_a_newer_code_to_break_the_glass(
    world: World, clock: FrozenClock
) -> None:
    world.rules += (allow("plan:break_glass", "ops"),)
    request = await world.propose(HIGH)
    clock.pass_by(STEP)
    await world.approve("bob", request, code(clock))
    for given, told in (("", factors.WANTED_OF_A_BREAKER), (code(clock), factors.USED)):
        with pytest.raises(Refused) as refused:
            await world.gate.break_glass(broken(request, given))
        assert refused.value.shown == told
        assert (await world.now(request)).broken_by is None
    clock.pass_by(STEP)
    voted = await world.gate.break_glass(broken(request, code(clock)))
    assert (voted.request.voters, voted.request.broken_by) == (("bob",), "bob")
    [entry] = [e for e in await log_of(world.stores) if e.kind == "request.broken"]
    assert facts_of(entry)["second_factor"] is True
    spent = await world.spend(voted.request)
    run = await stepped(world.stores, spent.run, SUCCEEDED, SUCCEEDED)
    assert (run.broken_by, check((await issued(world.stores, run.id)).text).run.id) == (
        "bob",
        run.id,
    )
    other = await world.propose(LOW)
    assert "already" in await refusal(world, "bob", other, code(clock))


@pytest.mark.parametrize("votes", [(), ("bob",)])
async def test_the_store_lets_nobody_break_the_glass_without_a_code(
    world: World, clock: FrozenClock, votes: Sequence[str]
) -> None:
    request = await asked(world, clock)
    for voter in votes:
        await world.approve(voter, request, code(clock))
    word = Broken(by="bob", why="it burns", calls=())
    with pytest.raises(Refused, match="needs a code of your second factor"):
        await world.stores.requests.break_glass(TENANT, request.id, word)
    assert (await world.now(request)).broken_by is None


async def test_a_code_used_up_meanwhile_breaks_no_glass(
    world: World, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.rules += (allow("plan:break_glass", "ops"),)
    request = await world.propose(HIGH)
    clock.pass_by(STEP)

    async def late(*_: object, **__: object) -> NoReturn:
        raise CodeSpent("That code was used already.")

    monkeypatch.setattr(Requests, "break_glass", late)
    with pytest.raises(Refused, match="used already"):
        await world.gate.break_glass(broken(request, code(clock)))
    assert (await world.now(request)).state is State.OPEN


async def test_no_standing_grant_goes_round_a_second_factor(world: World) -> None:
    request = await world.propose(LOW)
    world.rules += (allow("grant:propose", "ops"),)
    granting = Granting(gate=world.gate, conversations=world.stores.conversations)
    event = ProposeGrant(identity=who("bob"), request=request.id, uses=2, lasts=HOUR)
    with pytest.raises(Refused, match="second factor with every yes"):
        await granting.propose(event)
    assert await world.stores.grants.known(TENANT) == []


async def test_c41_without_a_code_nothing_is_approved(world: World, clock: FrozenClock) -> None:
    request = await asked(world, clock)
    assert await refusal(world, "bob", request) == factors.WANTED
    assert await refusal(world, "alice", request) == factors.NOT_ENROLLED
    assert await refusal(world, "alice", request, code(clock)) == factors.NOT_ENROLLED
    assert (await world.now(request)).votes == ()


async def test_c41_a_code_older_than_the_request_proves_nothing(
    world: World, clock: FrozenClock
) -> None:
    request = await world.propose(LOW)
    clock.pass_by(timedelta(seconds=29))
    assert await refusal(world, "bob", request, code(clock)) == factors.STALE
    clock.pass_by(timedelta(seconds=1))
    assert await refusal(world, "bob", request, code(clock, ahead=-1)) == factors.STALE
    assert (await world.approve("bob", request, code(clock))).state is State.GRANTED


async def test_c41_a_code_is_used_once_over_requests(world: World, clock: FrozenClock) -> None:
    one, other = await world.propose(LOW), await world.propose(LOW, "beta")
    clock.pass_by(STEP)
    await world.approve("bob", one, code(clock))
    assert await refusal(world, "bob", other, code(clock)) == factors.USED
    assert (await world.now(other)).votes == ()


async def test_c41_two_votes_at_once_with_one_code_are_one(
    world: World, clock: FrozenClock
) -> None:
    asked = [await world.propose(LOW, word) for word in ("a", "b", "c")]
    clock.pass_by(STEP)
    given = code(clock)
    found = await asyncio.gather(
        *(world.approve("bob", one, given) for one in asked), return_exceptions=True
    )
    refused = [one.shown for one in found if isinstance(one, Refused)]
    assert refused == [factors.USED] * 2
    assert [bool((await world.now(one)).votes) for one in asked].count(True) == 1


async def test_a_code_that_is_used_up_between_look_and_vote_is_refused_on_record(
    world: World, clock: FrozenClock
) -> None:
    request = await asked(world, clock)

    @dataclass
    class Overtaken(Recorded):
        async def check(
            self, tenant: str, principal: str, code: str, *, since: datetime | None
        ) -> RightCode | Failed:
            found = await super().check(tenant, principal, code, since=since)
            await world.stores.database.transact(
                lambda _: rows("UPDATE factor SET last_step = last_step + 9")
            )
            return found

    gate = replace(world.gate, factors=Overtaken(world.factors))
    with pytest.raises(Refused) as refused:
        await gate.approve(Approve(identity=who("bob"), request=request.id, code=code(clock)))
    assert refused.value.shown == factors.USED
    assert (facts_of((await world.attempts())[-1]))["why"] == factors.USED


async def test_two_people_each_give_a_code_of_their_own(world: World, clock: FrozenClock) -> None:
    request = await world.propose(HIGH)
    clock.pass_by(STEP)
    await world.approve("bob", request, code(clock))
    assert "That code is wrong" in await refusal(world, "carol", request, code(clock))
    granted = await world.approve("carol", request, code(clock, OTHER_APP))
    assert granted.state is State.GRANTED


async def test_who_has_voted_is_told_so_and_gives_no_code_again(
    world: World, clock: FrozenClock
) -> None:
    request = await world.propose(HIGH)
    clock.pass_by(STEP)
    given = code(clock)
    await world.approve("bob", request, given)
    for again in ("", given, "nonsense"):
        assert (await world.approve("bob", request, again)).voters == ("bob",)


async def test_a_rule_without_it_takes_no_code_and_uses_none_up(
    world: World, clock: FrozenClock
) -> None:
    plain = await world.propose()
    clock.pass_by(STEP)
    voted = await world.approve("bob", plain, code(clock))
    assert [vote.second_factor for vote in voted.votes] == [False]
    request = await asked(world, clock)
    assert (await world.approve("bob", request, code(clock))).state is State.GRANTED


async def test_a_no_takes_no_code(world: World, clock: FrozenClock) -> None:
    request = await asked(world, clock)
    assert (await world.deny("bob", request)).state is State.DENIED


async def test_what_the_policy_refuses_uses_up_no_code(world: World, clock: FrozenClock) -> None:
    world.risks = tuple(replace(rule, requester_may_vote=False) for rule in GUARDED)
    await enrolled(world.stores, clock, "alice")
    request = await asked(world, clock)
    given = code(clock)
    assert "You asked for this" in await refusal(world, "alice", request, given)
    found = await world.factors.check(TENANT, "alice", given, since=request.opened_at)
    assert isinstance(found, RightCode)


async def test_in_a_lock_a_right_code_is_refused_and_left(world: World, clock: FrozenClock) -> None:
    request = await asked(world, clock)
    for _ in range(5):
        await refusal(world, "bob", request, wrong(clock, OTHER_APP))
    assert "Try again in 10m" in await refusal(world, "bob", request, code(clock))
    assert (await world.approve("carol", request, code(clock, OTHER_APP))).voters == ("carol",)


async def test_i14_nothing_of_a_foreign_request_is_told_by_a_code(
    world: World, clock: FrozenClock
) -> None:
    request = await asked(world, clock)
    for given in ("", code(clock), wrong(clock)):
        assert await refusal(world, "dave", request, given) == UNKNOWN
        assert await refusal(world, "bob", "f" * 32, given) == UNKNOWN
    assert not [e for e in await log_of(world.stores) if e.kind == "factor.wrong"]


async def test_i12_no_code_is_on_record(world: World, clock: FrozenClock) -> None:
    request = await asked(world, clock)
    given = [wrong(clock), code(clock, ahead=-1), code(clock)]
    for one in given[:2]:
        await refusal(world, "bob", request, one)
    await world.approve("bob", request, given[2])
    click = Approve(identity=who("bob"), request=request.id, code=given[2])
    told = f"{await log_of(world.stores)} {click}"
    assert not [one for one in given if one in told]


# C67: rate limit, admission, second factor, policy


@dataclass
class Recorded:
    """Implements `Factors`, and remembers that it was asked."""

    kept: Kept
    asked: list[str] = field(default_factory=list[str])

    async def check(
        self, tenant: str, principal: str, code: str, *, since: datetime | None
    ) -> RightCode | Failed:
        self.asked.append("second factor")
        return await self.kept.check(tenant, principal, code, since=since)

    async def enrolled(self, tenant: str) -> frozenset[str]:
        self.asked.append("second factor")
        return await self.kept.enrolled(tenant)

    async def enrol(self, *_: object, **__: object) -> Failed | None:
        raise AssertionError("nobody enrols by voting")

    async def reset(self, *_: object, **__: object) -> int:
        raise AssertionError("nobody resets by voting")


@dataclass
class RecordedRates:
    """Implements `Rates`, and remembers that it was asked."""

    kept: Counted
    asked: list[str]

    async def take(self, tenant: str, principal: str, rates: Sequence[Rate]) -> Sequence[NoRoom]:
        self.asked.append("rate limit")
        return await self.kept.take(tenant, principal, rates)


def recorded(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Gate, list[str]]:
    """Return the gate, and what it asked, in order: the first time of each."""
    asked, gate = list[str](), world.gate
    get, holders = Requests.get, Authority.holders

    async def looked(self: Requests, tenant: str, request: str) -> Request | None:
        asked.append("admission")
        return await get(self, tenant, request)

    def held(
        self: Authority, tenant: str, action: Action, resources: Iterable[str]
    ) -> tuple[str, ...]:
        asked.append("policy")
        return holders(self, tenant, action, resources)

    monkeypatch.setattr(Requests, "get", looked)
    monkeypatch.setattr(Authority, "holders", held)
    acting = replace(gate.acting, rates=RecordedRates(Counted(world.stores.database), asked))
    return replace(gate, acting=acting, factors=Recorded(world.factors, asked)), asked


async def test_c67_rate_limit_then_admission_then_second_factor_then_policy(
    world: World, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await asked(world, clock)
    gate, order = recorded(world, monkeypatch)
    await gate.approve(Approve(identity=who("bob"), request=request.id, code=code(clock)))
    assert list(dict.fromkeys(order)) == ["rate limit", "admission", "second factor", "policy"]


async def test_c67_whoever_fails_at_all_of_it_is_told_of_the_first_and_each_is_on_record(
    world: World, clock: FrozenClock
) -> None:
    request = await asked(world, clock)
    world.rates = RateRules(messages=Rate(name="messages", most=1, per=MINUTE))
    assert await refusal(world, "dave", request) == UNKNOWN  # the one that there was room for
    assert "Too fast" in await refusal(world, "dave", request)
    clock.pass_by(MINUTE)
    world.rates = PLENTY
    assert await refusal(world, "dave", request) == UNKNOWN
    world.rules = (*world.rules, allow("run:stop", "guests"))
    assert await refusal(world, "dave", request) == factors.NOT_ENROLLED
    await enrolled(world.stores, clock, "dave")
    assert await refusal(world, "dave", request) == factors.WANTED
    assert "That code is wrong" in await refusal(world, "dave", request, wrong(clock))
    assert "You may not approve this" in await refusal(world, "dave", request, code(clock))


# Rules and cards


def test_the_strictest_of_several_demands_it_and_it_is_among_the_rules_that_decide() -> None:
    policy, plain = (Policy(rules=(), risks={r.name: r for r in all_}) for all_ in (GUARDED, RISKS))
    assert policy.strictest(["medium", "high"]).second_factor
    assert policy.strictest(["low", "medium"]).second_factor
    assert not policy.strictest(["medium"]).second_factor
    assert policy.digest(["x"], ["low"]) != plain.digest(["x"], ["low"])
    assert policy.digest(["x"], ["medium"]) == plain.digest(["x"], ["medium"])


async def test_a_rule_that_begins_to_demand_it_revokes_what_was_shown_without(
    world: World, clock: FrozenClock
) -> None:
    world.risks = RISKS
    request = await asked(world, clock)
    world.risks = GUARDED
    with pytest.raises(Refused, match="the rules that decide it changed"):
        await world.approve("bob", request, code(clock))


async def test_the_card_tells_and_its_button_asks_for_a_code(world: World) -> None:
    card = (await world.propose(LOW)).card
    assert [button.verb for button in card.buttons] == ["approve_code", "deny"]
    assert "0 of 1 vote, the requester may vote, each with a second factor" in str(card.facts)
    assert not [line for line in card.warnings if "second factor" in line]
    assert [button.verb for button in (await world.propose()).card.buttons] == ["approve", "deny"]


@pytest.mark.parametrize(
    ("left", "told"),
    [((), "and nobody of those who may has enrolled one; 2 must"), (("bob",), "and only bob of")],
)
async def test_the_card_warns_where_too_few_could_give_a_code(
    world: World, left: tuple[str, ...], told: str
) -> None:
    for name in {"bob", "carol"} - {*left}:
        await world.factors.reset(name, account="root")
    [warning] = [w for w in (await world.propose(HIGH)).card.warnings if "second factor" in w]
    assert told in warning
    assert warning.endswith("must. Those who have none write in a terminal: sayso enrol")
    assert not [w for w in (await world.propose()).card.warnings if "second factor" in w]


@pytest.mark.parametrize(
    ("wait", "told"),
    [(timedelta(), "1s"), (timedelta(microseconds=1), "1s"), (timedelta(seconds=61), "1m1s")],
)
def test_how_long_a_lock_lasts_is_told_in_whole_seconds(wait: timedelta, told: str) -> None:
    assert f"Try again in {told};" in factors.locked(wait)


def test_a_right_code_counts_unless_it_was_used_or_is_stale() -> None:
    begun = begin_of(9)
    assert factors.judged(9, 9, since=None, now=START) == factors.USED
    assert factors.judged(9, 8, since=begun, now=START) == factors.STALE
    assert factors.judged(9, 8, since=None, now=START) is None
    assert factors.judged(9, 8, since=begun - STEP, now=START) is None


def test_a_rule_says_so_only_where_it_is_so() -> None:
    rule = Rule(name="low", quorum=1, requester_may_vote=True, expires=HOUR)
    assert rule.extras() == {}
    assert replace(rule, second_factor=True).extras() == {"second_factor": True}
