"""`core.links.Links`, on every database: each step holds once, in its turn, for whom and while it may."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from core.canonical import sha256
from core.links import LASTS, LINK, Link, LinkState
from core.principals import STRANGER, Identity
from tests.builders import TENANT
from tests.fakes.clock import FrozenClock
from tests.stores import (
    OTHER_TENANT,
    Connect,
    Stores,
    everything,
    facts_of,
    jobs_of,
    log_of,
    principal_of,
    whole_or_nothing,
)

MICROSECOND = timedelta(microseconds=1)
BOB = Identity(platform="slack", workspace="T1", user="U2")
ALSO_BOB = Identity(platform="discord", workspace="G1", user="500")
OTHER = Identity(platform="discord", workspace="G1", user="501")
ELSEWHERE = Identity(platform="discord", workspace="G2", user="500")
CODE = sha256("code")
NAME = "l_" + "1" * 32
LINKED = Link(account=ALSO_BOB, principal="bob", rests_on=BOB)


async def offer(on: Stores, name: str = NAME, code: str = CODE, whose: str = "bob") -> object:
    return await on.links.offer(TENANT, name, code, principal=whose, rests_on=BOB)


async def claim(on: Stores, account: Identity = ALSO_BOB, code: str = CODE) -> object:
    return await on.links.claim(TENANT, code, account)


async def ask(on: Stores, account: Identity = ALSO_BOB) -> object:
    return await on.links.ask(TENANT, NAME, account)


async def make(on: Stores, whose: str = "bob", platform: str = "slack") -> object:
    return await on.links.make(TENANT, NAME, principal=whose, platform=platform)


async def refuse(on: Stores) -> object:
    return await on.links.refuse(TENANT, NAME, principal="bob")


async def refuse_it(on: Stores) -> object:
    return await on.links.refuse(TENANT, NAME, account=ALSO_BOB)


async def end(on: Stores) -> object:
    return await on.links.end(TENANT, "bob")


Step = Callable[[Stores], Awaitable[object]]
STEPS: tuple[Step, ...] = (offer, claim, ask, make)


async def after(stores: Stores, *steps: Step) -> None:
    for step in steps:
        assert await step(stores), step


async def state(stores: Stores) -> LinkState | None:
    found = await stores.links.get(TENANT, NAME)
    return found.state if found else None


async def test_a_link_is_there_after_all_four_steps_and_not_before(stores: Stores) -> None:
    for step in STEPS:
        assert await stores.links.made(TENANT) == []
        assert await step(stores)
    assert await stores.links.made(TENANT) == [LINKED]
    assert await state(stores) is LinkState.MADE
    log = [e for e in await log_of(stores) if e.kind.startswith("link.")]
    kinds = [(e.kind, principal_of(e)) for e in log]
    assert kinds == [
        ("link.offered", "bob"),
        ("link.claimed", STRANGER),
        ("link.asked", STRANGER),
        ("link.made", "bob"),
    ]
    assert facts_of(log[-1])["account"] == "discord/G1/500"
    told = [job["payload"] for job in await jobs_of(stores, LINK)]
    assert told == [
        f'{{"link":"{NAME}","state":"asked"}}',
        f'{{"link":"{NAME}","state":"made"}}',
    ]


async def test_the_code_itself_is_nowhere(stores: Stores) -> None:
    await after(stores, *STEPS)
    assert "code" not in {
        str(row) for rows in (await everything(stores.database)).values() for row in rows
    }


@pytest.mark.parametrize("done", range(4))
@pytest.mark.parametrize("step", [claim, ask, make])
async def test_each_step_holds_in_its_turn_alone(stores: Stores, done: int, step: Step) -> None:
    await after(stores, *STEPS[: done + 1])
    before = await everything(stores.database)
    if done + 1 < len(STEPS) and step is STEPS[done + 1]:
        assert await step(stores)
    else:
        assert await step(stores) is None
        assert await everything(stores.database) == before


@pytest.mark.parametrize("done", range(3))
async def test_at_its_time_it_is_over(stores: Stores, clock: FrozenClock, done: int) -> None:
    await after(stores, *STEPS[: done + 1])
    clock.pass_by(LASTS)
    assert await state(stores) is None
    assert await STEPS[done + 1](stores) is None
    assert await refuse(stores) is None
    clock.pass_by(-MICROSECOND)
    assert await STEPS[done + 1](stores)


async def test_who_confirms_has_as_long_again(stores: Stores, clock: FrozenClock) -> None:
    await after(stores, offer, claim)
    clock.pass_by(LASTS - MICROSECOND)
    await after(stores, ask)
    clock.pass_by(LASTS - MICROSECOND)
    await after(stores, make)


async def test_only_the_account_that_gave_the_code_goes_on_with_it(stores: Stores) -> None:
    await after(stores, offer, claim)
    assert await ask(stores, OTHER) is None
    assert await ask(stores, ELSEWHERE) is None
    assert await stores.links.refuse(TENANT, NAME, account=OTHER) is None
    await after(stores, ask)
    assert await make(stores, "carol") is None
    assert await make(stores, platform="discord") is None
    assert await stores.links.refuse(TENANT, NAME, principal="carol") is None
    await after(stores, make)


async def test_i14_nothing_of_another_tenant_is_found(stores: Stores) -> None:
    await after(stores, offer)
    links = stores.links
    assert await links.claim(OTHER_TENANT, CODE, ALSO_BOB) is None
    await after(stores, claim)
    assert await links.get(OTHER_TENANT, NAME) is None
    assert await links.ask(OTHER_TENANT, NAME, ALSO_BOB) is None
    await after(stores, ask)
    assert await links.make(OTHER_TENANT, NAME, principal="bob", platform="slack") is None
    assert await links.refuse(OTHER_TENANT, NAME, principal="bob") is None
    assert await links.waiting(OTHER_TENANT, "bob") == []
    await after(stores, make)
    assert await links.made(OTHER_TENANT) == []
    assert await links.end(OTHER_TENANT, "bob") == []
    await links.lose(OTHER_TENANT, [LINKED])
    assert await links.made(TENANT) == [LINKED]


@pytest.mark.parametrize("no", [refuse, refuse_it])
@pytest.mark.parametrize("done", [1, 2])
async def test_a_no_of_either_side_ends_it(stores: Stores, done: int, no: Step) -> None:
    await after(stores, *STEPS[: done + 1], no)
    assert await state(stores) is LinkState.REFUSED
    assert await STEPS[done + 1](stores) is None
    assert await no(stores) is None
    assert await stores.links.made(TENANT) == []


async def test_a_new_code_ends_what_was_on_its_way(stores: Stores) -> None:
    await after(stores, offer, claim, ask)
    assert [one.id for one in await stores.links.waiting(TENANT, "bob")] == [NAME]
    assert await offer(stores, "l_" + "2" * 32, sha256("another"))
    assert await make(stores) is None
    assert await stores.links.waiting(TENANT, "bob") == []


async def test_an_account_is_linked_once_and_a_person_has_one_in_a_workspace(
    stores: Stores,
) -> None:
    await after(stores, *STEPS)
    again, code = "l_" + "3" * 32, sha256("again")
    assert await offer(stores, again, code, "carol")
    assert await claim(stores, ALSO_BOB, code) is None
    # Both claimed before either was made: the second is too late.
    await stores.links.end(TENANT, "bob")
    first, second = "l_" + "4" * 32, "l_" + "5" * 32
    assert await offer(stores, first, sha256("1"), "bob")
    assert await offer(stores, second, sha256("2"), "carol")
    links = stores.links
    for name, text in ((first, "1"), (second, "2")):
        assert await links.claim(TENANT, sha256(text), ALSO_BOB)
        assert await links.ask(TENANT, name, ALSO_BOB)
    assert await links.make(TENANT, first, principal="bob", platform="slack")
    assert await links.make(TENANT, second, principal="carol", platform="slack") is None
    third = "l_" + "6" * 32
    assert await offer(stores, third, sha256("3"), "bob")
    assert await links.claim(TENANT, sha256("3"), OTHER)
    assert await links.ask(TENANT, third, OTHER)
    assert await links.make(TENANT, third, principal="bob", platform="slack") is None
    assert await links.made(TENANT) == [LINKED]


async def test_unlinking_ends_what_is_named_and_what_is_on_its_way(stores: Stores) -> None:
    await after(stores, *STEPS)
    links = stores.links
    assert await links.end(TENANT, "bob", platform="slack") == []
    assert await links.end(TENANT, "bob", account=OTHER) == []
    assert await links.end(TENANT, "carol") == []
    assert await offer(stores, "l_" + "2" * 32, sha256("more"))
    assert await links.end(TENANT, "bob", platform="discord") == [LINKED]
    assert await links.claim(TENANT, sha256("more"), OTHER) is None
    assert await links.made(TENANT) == []
    [entry] = [e for e in await log_of(stores) if e.kind == "link.ended"]
    assert (principal_of(entry), facts_of(entry)["account"]) == ("bob", "discord/G1/500")


async def test_what_is_lost_is_lost_once_and_only_as_it_was_seen(stores: Stores) -> None:
    await after(stores, *STEPS)
    other = Link(account=ALSO_BOB, principal="bob", rests_on=OTHER)
    await stores.links.lose(TENANT, [other])
    assert await stores.links.made(TENANT) == [LINKED]
    for _ in range(2):
        await stores.links.lose(TENANT, [LINKED])
    assert await stores.links.made(TENANT) == []
    assert [e.kind for e in await log_of(stores)].count("link.lost") == 1


async def test_what_is_over_for_a_day_is_not_kept(stores: Stores, clock: FrozenClock) -> None:
    await after(stores, offer)
    clock.pass_by(LASTS + timedelta(days=1))
    assert await offer(stores, "l_" + "2" * 32, sha256("another"))
    assert len((await everything(stores.database))["linking"]) == 1


@pytest.mark.parametrize("done", range(5))
async def test_i11_each_step_and_its_entry_are_one(stores: Stores, done: int) -> None:
    steps = (*STEPS, end)
    await after(stores, *STEPS[:done])
    assert await whole_or_nothing(stores, steps[done]) > 0


async def offer_another(on: Stores) -> object:
    return await offer(on, "l_" + "2" * 32, sha256("another"))


@pytest.mark.parametrize("step", [end, offer_another])
@pytest.mark.parametrize("done", [1, 2, 3])
async def test_i11_what_is_given_up_on_its_way_is_in_the_log(
    stores: Stores, clock: FrozenClock, done: int, step: Step
) -> None:
    await after(stores, *STEPS[:done])
    await step(stores)
    dropped = [e for e in await log_of(stores) if e.kind == "link.dropped" and NAME in e.body]
    assert [principal_of(entry) for entry in dropped] == ["bob"]
    await offer(stores, "l_" + "3" * 32, sha256("third"))
    before = len(await log_of(stores))
    clock.pass_by(LASTS)
    await end(stores)
    assert len(await log_of(stores)) == before


async def race(connect: Connect, *acts: Step) -> list[object]:
    each = [Stores(await connect()) for _ in acts]
    return await asyncio.gather(*(act(on) for act, on in zip(acts, each, strict=True)))


async def test_of_two_who_claim_one_code_at_once_one_does(stores: Stores, connect: Connect) -> None:
    await after(stores, offer)
    found = await race(connect, claim, lambda on: claim(on, OTHER), claim)
    assert sum(map(bool, found)) == 1


@pytest.mark.parametrize("no", [refuse, refuse_it])
async def test_a_yes_and_a_no_at_once_are_one_of_them(
    stores: Stores, connect: Connect, no: Step
) -> None:
    await after(stores, offer, claim, ask)
    yes, refused = await race(connect, make, no)
    assert bool(yes) != bool(refused)
    assert bool(await stores.links.made(TENANT)) == bool(yes)
