"""`approvals.factors.Factors`: each sentence of the port, on every database (C41)."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from adapters.storage.factors import Factors as Kept
from adapters.storage.transactions import rows
from approvals import factors
from approvals.factors import CodeSpent, Failed, RightCode
from approvals.models import Request, State
from approvals.receipts import check as checked
from core.errors import Refused
from core.one_time_codes import STEP, Secret, begin_of
from core.signatures import Key
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_rule
from tests.codes import APP, OTHER_APP, code, enrolled, wrong
from tests.fakes.clock import FrozenClock
from tests.fakes.keys import FakeKeys
from tests.receipts import Change, Values, forged, issued, note, say
from tests.stores import (
    IN_A_FILE,
    OTHER_TENANT,
    SUCCEEDED,
    Connect,
    Stores,
    everything,
    facts_of,
    log_of,
    logged_by,
    now,
    opened,
    spend,
    stepped,
)

A_MOMENT = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)


async def check(
    stores: Stores, given: str, who: str = "bob", *, since: datetime | None = None
) -> RightCode | Failed:
    return await stores.factors.check(TENANT, who, given, since=since)


async def held(stores: Stores, clock: FrozenClock) -> RightCode:
    found = await check(stores, code(clock))
    assert isinstance(found, RightCode), found
    return found


def why(found: RightCode | Failed | None) -> str:
    assert isinstance(found, Failed), found
    return found.why


async def guarded(stores: Stores, word: str = "alpha") -> Request:
    """Return an open request whose votes take a second factor."""
    return await opened(stores, a_new_request(a_checked(word), rule=a_rule(1, second_factor=True)))


async def vote(stores: Stores, request: Request, given: RightCode | None) -> Request:
    voted = await stores.requests.vote(TENANT, request.id, principal="bob", held=given)
    return voted.request


def written_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


# Enrolling


async def test_who_enrolled_is_known_by_tenant(stores: Stores, clock: FrozenClock) -> None:
    await enrolled(stores, clock)
    await enrolled(stores, clock, "eve", tenant=OTHER_TENANT)
    assert set(await stores.factors.enrolled(TENANT)) == {"bob"}
    assert set(await stores.factors.enrolled(OTHER_TENANT)) == {"eve"}


@pytest.mark.parametrize("given", ["", "12345", "nonsense"])
async def test_nothing_is_kept_without_a_code_of_it(
    stores: Stores, clock: FrozenClock, given: str
) -> None:
    before = await everything(stores.database)
    for one in (given, wrong(clock), code(clock, OTHER_APP), code(clock, ahead=2)):
        failed = await stores.factors.enrol(TENANT, "bob", APP, code=one, old=None)
        assert why(failed) == factors.NOT_OF_NEW
    assert await everything(stores.database) == before


async def test_the_code_that_enrolled_is_used_up(stores: Stores, clock: FrozenClock) -> None:
    given = code(clock)
    await enrolled(stores, clock)
    assert why(await check(stores, given)) == factors.USED


async def test_to_enrol_again_takes_a_code_of_the_old_one(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)

    async def again(old: str | None) -> Failed | None:
        given = code(clock, OTHER_APP)
        return await stores.factors.enrol(TENANT, "bob", OTHER_APP, code=given, old=old)

    assert why(await again(None)) == why(await again("")) == factors.ALREADY
    assert "That code is wrong" in why(await again(wrong(clock)))
    stale = await check(stores, code(clock, ahead=1))
    assert isinstance(stale, RightCode)
    assert await again(code(clock)) is None
    clock.pass_by(STEP)
    assert "That code is wrong" in why(await check(stores, code(clock)))
    assert isinstance(await check(stores, code(clock, OTHER_APP)), RightCode)
    request = await guarded(stores)
    with pytest.raises(CodeSpent):
        await vote(stores, request, stale)


async def test_of_two_who_enrol_at_once_one_is_kept(connect: Connect, clock: FrozenClock) -> None:
    several = [Stores(await connect()).factors for _ in range(4)]
    apps = [Secret.new() for _ in several]
    found = await asyncio.gather(
        *(
            one.enrol(TENANT, "bob", app, code=code(clock, app), old=None)
            for one, app in zip(several, apps, strict=True)
        )
    )
    assert [one is None for one in found].count(True) == 1


async def test_i11_enrolling_is_on_record_whole_or_not_at_all_and_without_the_secret(
    stores: Stores, clock: FrozenClock
) -> None:
    given = code(clock)

    async def enrol(on: Stores) -> None:
        assert await on.factors.enrol(TENANT, "bob", APP, code=given, old=None) is None

    [entry] = await logged_by(stores, enrol)
    assert (entry.kind, facts_of(entry)) == (
        "factor.enrolled",
        {"principal": "bob", "again": False},
    )


async def test_an_operator_forgets_it_in_every_tenant(stores: Stores, clock: FrozenClock) -> None:
    await enrolled(stores, clock)
    await enrolled(stores, clock, tenant=OTHER_TENANT)
    await enrolled(stores, clock, "carol")

    async def reset(on: Stores) -> None:
        assert await on.factors.reset("bob", account="root") == 2

    entries = await logged_by(stores, reset)
    assert [(e.kind, e.tenant) for e in entries] == [
        ("factor.reset", TENANT), ("factor.reset", OTHER_TENANT),
    ]  # fmt: skip
    assert facts_of(entries[0]) == {"principal": "sayso", "person": "bob", "account": "root"}
    assert set(await stores.factors.enrolled(TENANT)) == {"carol"}
    assert await stores.factors.reset("bob", account="root") == 0
    assert why(await check(stores, code(clock))) == factors.NOT_ENROLLED


# Codes


async def test_a_right_code_is_held_and_used_up_only_with_a_vote(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    first, second = await held(stores, clock), await held(stores, clock)
    assert first == second
    assert first.at == begin_of(first.step) <= clock.now()
    assert first.sealed not in repr(first)


async def test_c41_a_code_has_to_begin_after_the_request(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    given, begun = code(clock), clock.now()
    clock.pass_by(MINUTE / 6)
    for since in (begun, begun + A_MOMENT, clock.now()):
        assert why(await check(stores, given, since=since)) == factors.STALE
    assert isinstance(await check(stores, given, since=begun - A_MOMENT), RightCode)
    ahead = code(clock, ahead=1)
    assert isinstance(await check(stores, ahead, since=clock.now()), RightCode)


async def test_c41_a_code_counts_once(stores: Stores, clock: FrozenClock) -> None:
    await enrolled(stores, clock)
    one, other = await guarded(stores), await guarded(stores, "beta")
    given = await held(stores, clock)
    voted = await vote(stores, one, given)
    assert [v.second_factor for v in voted.votes] == [True]
    before = await everything(stores.database)
    with pytest.raises(CodeSpent):
        await vote(stores, other, given)
    assert await everything(stores.database) == before
    assert why(await check(stores, code(clock))) == factors.USED
    assert why(await check(stores, code(clock, ahead=-1))) == factors.USED
    clock.pass_by(STEP)
    assert (await vote(stores, other, await held(stores, clock))).voters == ("bob",)


async def test_c41_of_two_votes_at_once_with_one_code_exactly_one_counts(
    connect: Connect, stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    asked = [await guarded(stores, word) for word in ("alpha", "beta", "gamma", "delta")]
    several = [Stores(await connect()) for _ in asked]
    given = await held(stores, clock)
    found = await asyncio.gather(
        *(vote(on, one, given) for on, one in zip(several, asked, strict=True)),
        return_exceptions=True,
    )
    assert [isinstance(one, CodeSpent) for one in found].count(True) == len(asked) - 1
    voted = [one for one in asked if (await now(stores, one)).votes]
    assert len(voted) == 1


async def test_a_double_click_uses_one_code_and_is_told_that_it_counts(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    request = await opened(stores, a_new_request(rule=a_rule(2, second_factor=True)))
    given = await held(stores, clock)
    await vote(stores, request, given)
    assert (await vote(stores, request, given)).voters == ("bob",)


async def test_the_vote_the_code_and_the_entry_are_one_transaction(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    request, given = await guarded(stores), await held(stores, clock)

    async def act(on: Stores) -> None:
        await vote(on, request, given)

    entry = (await logged_by(stores, act))[0]
    assert entry.kind == "vote.cast"
    assert facts_of(entry) == {"principal": "bob", "request": request.id, "second_factor": True}


async def test_no_vote_counts_without_a_code_where_the_rule_demands_one(stores: Stores) -> None:
    request = await guarded(stores)
    before = await everything(stores.database)
    with pytest.raises(Refused):
        await vote(stores, request, None)
    assert await everything(stores.database) == before


async def test_i2_a_vote_that_came_without_a_code_is_never_spent(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    granted = await vote(stores, await guarded(stores), await held(stores, clock))
    assert granted.state is State.GRANTED
    await stores.database.transact(lambda _: rows("UPDATE vote SET code_step = NULL"))
    assert await spend(stores, granted) is None
    assert (await now(stores, granted)).state is State.GRANTED


# Guessing


async def test_five_wrong_codes_lock_for_ten_minutes(
    stores: Stores, connect: Connect, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    told = [why(await check(stores, wrong(clock))) for _ in range(5)]
    left = [
        "4 more wrong ones lock",
        "3 more wrong ones",
        "2 more wrong ones",
        "one more wrong one",
    ]
    assert all(words in one for words, one in zip(left, told, strict=False))
    assert "Try again in 10m;" in told[4]
    clock.pass_by(9 * MINUTE)
    elsewhere = Stores(await connect())
    assert "Try again in 1m;" in why(await check(elsewhere, code(clock)))
    clock.pass_by(MINUTE - A_MOMENT)
    last = code(clock)
    assert "Try again in 1s;" in why(await check(stores, last))
    clock.pass_by(A_MOMENT)
    assert isinstance(await check(stores, last), RightCode)  # in the lock it was not used up


async def test_after_a_lock_there_are_five_guesses_again(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    for _ in range(5):
        await check(stores, wrong(clock))
    clock.pass_by(10 * MINUTE)
    assert "4 more wrong ones" in why(await check(stores, wrong(clock)))


async def test_only_a_code_that_was_used_ends_the_count(stores: Stores, clock: FrozenClock) -> None:
    await enrolled(stores, clock)
    request = await guarded(stores)
    await check(stores, wrong(clock))
    given = await held(stores, clock)
    assert "3 more" in why(await check(stores, wrong(clock)))
    await vote(stores, request, given)
    assert "4 more" in why(await check(stores, wrong(clock)))


async def test_what_was_right_once_is_no_guess(stores: Stores, clock: FrozenClock) -> None:
    given = code(clock)
    await enrolled(stores, clock)
    for _ in range(9):
        assert why(await check(stores, given)) == factors.USED
        assert why(await check(stores, code(clock), since=clock.now())) == factors.STALE
    assert isinstance(await check(stores, code(clock)), RightCode)


async def test_guesses_at_once_are_counted_one_by_one(
    connect: Connect, stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    several = [Stores(await connect()) for _ in range(4)]
    found = await asyncio.gather(*(check(on, wrong(clock)) for on in several for _ in range(3)))
    told = [why(one) for one in found]
    assert len([one for one in told if one.startswith("That code is wrong")]) == 4
    assert len([e for e in await log_of(stores) if e.kind == "factor.wrong"]) == 5


async def test_a_code_that_was_held_does_not_count_in_a_lock(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    request, given = await guarded(stores), await held(stores, clock)
    for _ in range(5):
        await check(stores, wrong(clock))
    with pytest.raises(CodeSpent):
        await vote(stores, request, given)


async def test_each_person_is_locked_alone(stores: Stores, clock: FrozenClock) -> None:
    for who, tenant in (("bob", TENANT), ("carol", TENANT), ("bob", OTHER_TENANT)):
        await enrolled(stores, clock, who, tenant=tenant)
    for _ in range(5):
        await check(stores, wrong(clock))
    assert isinstance(await check(stores, code(clock), "carol"), RightCode)
    theirs = await stores.factors.check(OTHER_TENANT, "bob", code(clock), since=None)
    assert isinstance(theirs, RightCode)


async def test_i11_a_wrong_code_and_a_lock_are_on_record(
    stores: Stores, clock: FrozenClock
) -> None:
    await enrolled(stores, clock)
    given = wrong(clock)
    for left in (4, 3, 2, 1):
        [entry] = await logged_by(stores, lambda on: check(on, given))
        assert (entry.kind, facts_of(entry)) == ("factor.wrong", {"principal": "bob", "left": left})
    last, locked = await logged_by(stores, lambda on: check(on, given))
    assert facts_of(last)["left"] == 0
    assert locked.kind == "factor.locked"
    assert facts_of(locked)["until"] == f"{clock.now() + 10 * MINUTE:%Y-%m-%dT%H:%M:%S.%fZ}"


# Keys


@pytest.mark.parametrize("keys", [FakeKeys(), FakeKeys(made=Key(seed=b"x" * 32))])
async def test_without_the_right_key_no_code_counts_and_none_is_a_guess(
    stores: Stores, clock: FrozenClock, keys: FakeKeys
) -> None:
    await enrolled(stores, clock)
    there = keys.made
    for _ in range(6):
        for given in (code(clock), wrong(clock)):
            found = await Kept(stores.database, keys).check(TENANT, "bob", given, since=None)
            assert why(found) == factors.UNREADABLE
    assert keys.made is there, "a vote makes no key"
    assert isinstance(await check(stores, code(clock)), RightCode)


@pytest.mark.parametrize("victim", [(TENANT, "carol"), (OTHER_TENANT, "bob")])
async def test_nobody_can_be_given_anothers(
    stores: Stores, clock: FrozenClock, victim: tuple[str, str]
) -> None:
    tenant, name = victim
    await enrolled(stores, clock)
    await enrolled(stores, clock, name, tenant=tenant, app=OTHER_APP)
    await stores.database.transact(
        lambda _: rows(
            "UPDATE factor SET sealed = (SELECT sealed FROM factor WHERE tenant = :mine"
            " AND principal = 'bob') WHERE tenant = :tenant AND principal = :name",
            mine=TENANT, tenant=tenant, name=name,
        )
    )  # fmt: skip
    found = await stores.factors.check(tenant, name, code(clock), since=None)
    assert why(found) == factors.UNREADABLE


@IN_A_FILE
async def test_i12_no_secret_and_no_code_lies_in_any_table_or_file(
    stores: Stores, clock: FrozenClock, quick_path: Path
) -> None:
    await enrolled(stores, clock)
    request, given = await guarded(stores), code(clock)
    await check(stores, wrong(clock))
    await vote(stores, request, await held(stores, clock))
    rows_of = repr(await everything(stores.database))
    files = await asyncio.to_thread(written_in, quick_path)
    for canary in (APP.base32, given):
        assert canary not in rows_of
        assert canary.encode() not in files
    assert CONVERSATION in rows_of
    assert CONVERSATION.encode() in files


# Receipts


async def receipt(stores: Stores, clock: FrozenClock) -> str:
    """Return a receipt of a run whose one vote came with a code."""
    await enrolled(stores, clock)
    request = await guarded(stores)
    clock.pass_by(STEP)
    granted = await vote(stores, request, await held(stores, clock))
    spent = await spend(stores, granted)
    assert spent is not None
    run = await stepped(stores, spent.run, SUCCEEDED)
    return (await issued(stores, run.id)).text


async def test_x10_a_receipt_tells_that_a_second_factor_was_given(
    stores: Stores, clock: FrozenClock
) -> None:
    text = await receipt(stores, clock)
    found = checked(text)
    assert found.request.rule.second_factor
    assert [vote.second_factor for vote in found.votes] == [True]
    assert APP.base32 not in text


def _rule(values: Values) -> None:
    del values["request"]["rule"]["second_factor"]


def _rule_noted(values: Values) -> None:
    _rule(values)
    note(values)


def _vote(values: Values) -> None:
    del values["votes"][0]["second_factor"]


def _vote_and_entry(values: Values) -> None:
    _vote(values)
    say(values, "vote.cast", second_factor=...)


LIES: Mapping[str, tuple[Change, str]] = {
    "no rule": (_rule, "does not fit"),
    "no vote": (_vote, "A yes came without the code"),
    "neither vote nor entry": (_vote_and_entry, "A yes came without the code"),
    "no entry": (lambda v: say(v, "vote.cast", second_factor=...), "The votes are not those"),
    "one": (lambda v: say(v, "vote.cast", second_factor=1), "The votes are not those"),
    "no in a vote": (lambda v: v["votes"][0].update(second_factor=False), '"votes.0.second_factor"'),
    "no in the rule": (
        lambda v: v["request"]["rule"].update(second_factor=False), '"request.rule.second_factor"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
async def test_x10_no_receipt_holds_that_tells_otherwise(
    stores: Stores, clock: FrozenClock, name: str
) -> None:
    (change, told), text = LIES[name], await receipt(stores, clock)
    with pytest.raises(Refused) as refused:
        checked(forged(text, change))
    assert told in refused.value.shown


async def test_a_code_that_nobody_demanded_may_be_told_of(
    stores: Stores, clock: FrozenClock
) -> None:
    """Whether a rule demands it stands in the digest of the rules, which people have seen."""
    found = checked(forged(await receipt(stores, clock), _rule_noted))
    assert not found.request.rule.second_factor
    assert found.votes[0].second_factor
