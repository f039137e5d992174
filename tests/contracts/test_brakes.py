"""`approvals.brakes.Brakes`: each sentence of the port, on every database."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.transactions import rows
from approvals import brakes
from approvals.brakes import MOST_DENIALS, Brake
from approvals.models import RUN, Denial, Request, State
from core.errors import Refused, Unavailable
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    THEIR_CONVERSATION,
    Connect,
    Stores,
    claimed,
    everything,
    granted,
    jobs_of,
    log_of,
    now,
    opened,
    running,
    said_in,
    spend,
)

HOUR = timedelta(hours=1)
WINDOW = Brake(
    name="weekend",
    since=START,
    until=START + HOUR,
    set_by="sayso.yml",
    spares=frozenset({"low"}),
)


async def pause(stores: Stores, by: str = "bob", why: str = "an incident") -> Brake:
    return await stores.brakes.pause(TENANT, principal=by, reason=why)


async def kinds(stores: Stores) -> list[str]:
    return [entry.kind for entry in await log_of(stores)]


# pause and resume


async def test_x6_a_pause_is_there_for_every_process_until_somebody_ends_it(
    stores: Stores, connect: Connect
) -> None:
    assert (await stores.brakes.now(TENANT)).pause is None
    made = await pause(stores)
    assert made == Brake(since=START, set_by="bob", reason="an incident")
    other = Stores(await connect())
    assert (await other.brakes.now(TENANT)).pause == made
    assert await other.brakes.resume(TENANT, principal="carol") == made
    assert (await stores.brakes.now(TENANT)).pause is None
    assert await stores.brakes.resume(TENANT, principal="carol") is None


async def test_i14_a_pause_holds_back_its_own_tenant_alone(stores: Stores) -> None:
    await pause(stores)
    assert (await stores.brakes.now(OTHER_TENANT)).pause is None
    assert await stores.brakes.resume(OTHER_TENANT, principal="eve") is None
    theirs = a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION)
    assert (await opened(stores, theirs)).brakes == ()


async def test_of_two_at_once_the_first_pause_stands_and_is_logged_once(
    stores: Stores, connect: Connect
) -> None:
    other = Stores(await connect())
    first, second = await asyncio.gather(pause(stores, "bob"), pause(other, "carol"))
    assert first == second
    assert (await kinds(stores)).count("tenant.paused") == 1


async def test_i11_the_log_has_a_digest_of_the_reason_and_no_words(stores: Stores) -> None:
    await pause(stores, why="quagga")
    await stores.brakes.resume(TENANT, principal="carol")
    paused, resumed = (await log_of(stores))[-2:]
    assert (paused.kind, resumed.kind) == ("tenant.paused", "tenant.resumed")
    assert json.loads(paused.body)["principal"] == "bob"
    assert json.loads(resumed.body)["principal"] == "carol"
    assert "quagga" not in paused.body + resumed.body


async def test_every_conversation_in_which_something_waits_is_told_once(stores: Stores) -> None:
    await opened(stores)
    await opened(stores, a_new_request(a_checked("beta")))
    made = await pause(stores)
    await pause(stores, "carol")
    assert await said_in(stores, CONVERSATION, "note") == [brakes.paused(made)]
    assert "an incident" in brakes.paused(made)
    assert await said_in(stores, OTHER_CONVERSATION, "note") == []
    await stores.brakes.resume(TENANT, principal="carol")
    assert (await said_in(stores, CONVERSATION, "note"))[1:] == [brakes.resumed("carol")]


async def test_the_conversation_in_which_it_was_said_is_told_and_no_other_tenants(
    stores: Stores,
) -> None:
    for conversation in (OTHER_CONVERSATION, THEIR_CONVERSATION):
        await stores.brakes.pause(TENANT, principal="bob", reason="", conversation=conversation)
        await stores.brakes.resume(TENANT, principal="bob", conversation=conversation)
    assert len(await said_in(stores, OTHER_CONVERSATION, "note")) == 2
    assert await said_in(stores, THEIR_CONVERSATION, "note") == []


async def test_a_card_says_why_it_waits_as_long_as_it_does(stores: Stores) -> None:
    request = await opened(stores)
    made = await pause(stores)
    assert (await now(stores, request)).brakes == (made,)
    denied = await stores.requests.deny(TENANT, request.id, principal="bob", reason="")
    assert denied.brakes == ()


async def test_nothing_is_opened_while_everything_is_paused(stores: Stores) -> None:
    await pause(stores)
    before = await everything(stores.database)
    with pytest.raises(Refused, match=r"Not proposed: bob paused everything at .* \(an incident\)"):
        await opened(stores)
    assert await everything(stores.database) == before


async def test_i03_a_pause_between_the_last_yes_and_the_spend_holds_it_back(
    stores: Stores,
) -> None:
    request = await granted(stores)
    job = await claimed(stores, request)
    await pause(stores)
    with pytest.raises(Unavailable, match="Not run yet: bob paused everything"):
        await stores.requests.spend(request, job=job, run="r_1")
    assert (await now(stores, request)).state is State.GRANTED
    await stores.brakes.resume(TENANT, principal="bob")
    assert await stores.requests.spend(await now(stores, request), job=job, run="r_1")


async def test_i03_a_freeze_that_begins_before_the_spend_holds_it_back(
    stores: Stores, clock: FrozenClock
) -> None:
    request = await granted(stores)
    job = await claimed(stores, request)
    begins = clock.now() + HOUR / 2
    clock.pass_by(HOUR / 2)
    with pytest.raises(Unavailable, match="a freeze has begun"):
        await stores.requests.spend(request, job=job, run="r_1", before=begins)
    later = begins + timedelta(microseconds=1)
    assert await stores.requests.spend(request, job=job, run="r_1", before=later)


async def test_a_run_none_of_whose_steps_began_is_not_taken_over_in_a_pause(
    stores: Stores,
) -> None:
    run = await running(stores)
    request = await stores.requests.get(TENANT, run.request)
    assert request
    job = await claimed(stores, request)
    await pause(stores)
    with pytest.raises(Unavailable):
        await stores.requests.resume(request, job=job)


async def test_what_was_put_off_is_tried_at_once_after_a_pause(stores: Stores) -> None:
    request = await granted(stores)
    late = "UPDATE job SET run_at = '2026-03-01T11:00:00.000000Z', tries = 1 WHERE kind = 'run'"
    await stores.database.transact(lambda _: rows(late))
    await pause(stores)
    await stores.brakes.resume(TENANT, principal="bob")
    [job] = await jobs_of(stores, RUN)
    assert (job["run_at"], request.state) == ("", State.GRANTED)


# windows


async def test_a_window_is_told_of_once_when_it_begins_and_when_it_ends(
    stores: Stores, connect: Connect
) -> None:
    request = await opened(stores)
    for _ in range(2):
        await stores.brakes.windows(TENANT, [WINDOW])
    after_a_restart = Stores(await connect())
    await after_a_restart.brakes.windows(TENANT, [WINDOW])
    kept = replace(WINDOW, set_by="sayso")
    assert (await now(stores, request)).brakes == (kept,)
    assert await said_in(stores, CONVERSATION, "note") == [brakes.began(WINDOW)]
    for _ in range(2):
        await stores.brakes.windows(TENANT, [])
    assert (await said_in(stores, CONVERSATION, "note"))[1:] == [brakes.over("weekend")]
    told = [kind for kind in await kinds(stores) if kind.startswith("freeze.")]
    assert told == ["freeze.began", "freeze.ended"]


async def test_a_window_whose_end_is_changed_is_told_with_the_new_one(stores: Stores) -> None:
    request = await opened(stores)
    await stores.brakes.windows(TENANT, [WINDOW])
    longer = replace(WINDOW, until=START + 2 * HOUR)
    await stores.brakes.windows(TENANT, [longer])
    [brake] = (await now(stores, request)).brakes
    assert brake.until == longer.until
    assert len(await said_in(stores, CONVERSATION, "note")) == 1


async def test_a_pause_is_no_window_and_outlives_all_of_them(stores: Stores) -> None:
    made = await pause(stores)
    await stores.brakes.windows(TENANT, [])
    assert (await stores.brakes.now(TENANT)).pause == made


# denials


async def deny(stores: Stores, *words: str, conversation: str = CONVERSATION) -> list[Request]:
    found = list[Request]()
    for word in words:
        new = a_new_request(a_checked(word), conversation=conversation)
        request = await opened(stores, new)
        found.append(await stores.requests.deny(TENANT, request.id, principal="bob", reason="no"))
    return found


async def test_p04_after_three_denials_nothing_is_proposed_there_until_that_is_lifted(
    stores: Stores, clock: FrozenClock
) -> None:
    await deny(stores, "a", "b")
    assert await stores.brakes.blocked(TENANT, CONVERSATION) is None
    assert not await stores.brakes.lift(TENANT, CONVERSATION, principal="bob")
    clock.pass_by(timedelta(seconds=1))
    [last] = await deny(stores, "c")
    with pytest.raises(Refused, match="3 requests of this conversation were denied"):
        await opened(stores, a_new_request(a_checked("other")))
    await opened(stores, a_new_request(a_checked("other"), conversation=OTHER_CONVERSATION))
    assert await stores.brakes.blocked(TENANT, CONVERSATION) == last.id
    assert await stores.brakes.lift(TENANT, CONVERSATION, principal="carol")
    assert not await stores.brakes.lift(TENANT, CONVERSATION, principal="carol")
    await opened(stores, a_new_request(a_checked("other")))
    assert (await kinds(stores)).count("conversation.lifted") == 1


async def test_p04_what_was_denied_stays_refused_after_that(stores: Stores) -> None:
    await deny(stores, "a", "b", "c")
    await stores.brakes.lift(TENANT, CONVERSATION, principal="bob")
    assert isinstance(await stores.requests.open(a_new_request(a_checked("b"))), Denial)


async def test_p04_the_third_denial_is_told_to_people_and_to_models(stores: Stores) -> None:
    await deny(stores, *"abc")
    notes = await said_in(stores, CONVERSATION, "note")
    [told] = [note for note in notes if "3 requests" in note]
    assert "however it is worded" in told
    await stores.brakes.lift(TENANT, CONVERSATION, principal="bob")
    assert (await said_in(stores, CONVERSATION, "note"))[-1].startswith("bob allowed")


async def test_what_was_denied_may_be_asked_for_again_where_much_was_denied(
    stores: Stores,
) -> None:
    *_, last = await deny(stores, *"abc")
    await opened(stores, a_new_request(a_checked("c"), supersedes=last.id))
    with pytest.raises(Refused, match="3 requests"):
        await opened(stores, a_new_request(a_checked("other")))


@pytest.mark.parametrize("other", ["expired", "elsewhere"])
async def test_p04_asking_again_for_anything_else_goes_round_no_denial(
    stores: Stores, clock: FrozenClock, other: str
) -> None:
    if other == "elsewhere":
        [old] = await deny(stores, "old", conversation=OTHER_CONVERSATION)
    else:
        old = await opened(stores, a_new_request(a_checked("old")))
        clock.pass_by(HOUR)
    await deny(stores, *"abc")
    with pytest.raises(Refused, match="3 requests"):
        await opened(stores, a_new_request(a_checked("old"), supersedes=old.id))


async def test_i14_nobody_else_lifts_or_knows_of_it(stores: Stores) -> None:
    await deny(stores, *"abc")
    assert await stores.brakes.blocked(OTHER_TENANT, CONVERSATION) is None
    assert not await stores.brakes.lift(OTHER_TENANT, CONVERSATION, principal="eve")
    assert MOST_DENIALS == 3
    assert await stores.brakes.blocked(TENANT, CONVERSATION)


async def test_a_spend_is_not_held_back_where_nothing_is_paused(stores: Stores) -> None:
    request = await granted(stores)
    assert await spend(stores, request, "r_1")
