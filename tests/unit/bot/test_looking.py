"""What somebody may look at: the newest of what they may know of, however much of others' lies before."""

from dataclasses import replace
from datetime import timedelta

import pytest

from approvals.models import Run, StepEnd, StepState, Whole
from bot.looking import MOST, Looking
from core.errors import Refused, Unavailable
from core.events import WantOutput
from core.ids import run_id
from core.principals import Identity
from core.terminal import Seat
from tests.builders import CONVERSATION, PLACE, TENANT, a_checked, a_new_request
from tests.fakes.clock import FrozenClock
from tests.fakes.roster import FakeRoster
from tests.gates import EVE, World, who
from tests.stores import (
    SUCCEEDED,
    UNKNOWN,
    WHOLE,
    Stores,
    granted,
    opened,
    running,
    spend,
    stepped,
)

A_MOMENT = timedelta(microseconds=1)
OTHERS = 45
"""More than are read at once, and again."""


@pytest.fixture
def looking(stores: Stores) -> Looking:
    world = World(stores)
    return Looking(
        gate=world.gate,
        undoing=world.undoing,
        requests=stores.requests,
        run_store=stores.runs,
        newest=stores.newest,
        records=stores.records,
    )


async def ran(stores: Stores, clock: FrozenClock, requester: str, number: int, end: StepEnd) -> str:
    """Return a run of what somebody asked for."""
    new = a_new_request(a_checked(f"word-{number}"), requester=requester)
    run = await stepped(stores, await running(stores, new), end)
    clock.pass_by(A_MOMENT)
    return run.id


@pytest.mark.parametrize("end", [SUCCEEDED, UNKNOWN], ids=["runs", "unknown steps"])
async def test_what_others_ran_hides_nobodys_own(
    stores: Stores, clock: FrozenClock, looking: Looking, end: StepEnd
) -> None:
    own = [await ran(stores, clock, "dave", number, end) for number in range(MOST + 1)]
    others = [await ran(stores, clock, "alice", 100 + n, end) for n in range(OTHERS)]
    read = looking.unknown if end.state is StepState.UNKNOWN else looking.ran
    assert [run.id for run, _ in await read(who("dave"))] == own[::-1][:MOST]
    assert [run.id for run, _ in await read(who("bob"))] == others[::-1][:MOST]
    assert await read(EVE) == []
    assert {request.requester for _, request in await read(who("dave"))} == {"dave"}


async def test_what_others_asked_for_hides_nothing_that_may_be_asked_for_again(
    stores: Stores, clock: FrozenClock, looking: Looking
) -> None:
    async def denied(requester: str, number: int) -> str:
        await stores.brakes.lift(TENANT, CONVERSATION, principal="bob")
        new = a_new_request(a_checked(f"word-{number}"), requester=requester)
        request = await opened(stores, new)
        await stores.requests.deny(TENANT, request.id, principal="bob", reason="")
        clock.pass_by(A_MOMENT)
        return request.id

    async def found(identity: Identity, conversation: str | None) -> list[str]:
        seat = Seat(identity=identity, place=PLACE, conversation=conversation)
        return [one.id for one in await looking.ended(seat)]

    own = await denied("dave", 0)
    others = [await denied("alice", 100 + number) for number in range(OTHERS)]
    assert await found(who("dave"), CONVERSATION) == [own]
    assert await found(who("bob"), CONVERSATION) == others[::-1][:MOST]
    # I14: of another tenant's conversation, and of none, there is nothing to be told.
    for nothing in (EVE, "c_none"), (EVE, CONVERSATION), (who("bob"), "c_none"), (who("bob"), None):
        assert await found(*nothing) == []


async def test_a_decision_that_names_none_waits_for_no_platform_that_cannot_be_asked(
    stores: Stores,
) -> None:
    world = World(stores)
    world.rosters = {"slack": FakeRoster(down="it does not answer")}
    looking = Looking(
        gate=world.gate,
        undoing=world.undoing,
        requests=stores.requests,
        run_store=stores.runs,
        newest=stores.newest,
        records=stores.records,
    )
    request = await opened(stores, a_new_request())
    assert [one.id for one in await looking.decidable(who("bob"))] == [request.id]
    with pytest.raises(Unavailable, match="could not be asked about bob"):
        await looking.waiting(who("bob"))


async def printed(stores: Stores, whole: Whole | None) -> Run:
    """Return a run in a thread whose only step has printed more than is shown."""
    new = a_new_request(requester="alice")
    request = await granted(stores, new)
    spent = await spend(stores, request, run_id())
    assert spent
    return await stepped(stores, spent.run, replace(SUCCEEDED, whole=whole))


def wants(run: Run | str, identity: Identity, index: int = 0) -> WantOutput:
    name = run if isinstance(run, str) else run.id
    return WantOutput(identity=identity, place=PLACE, run=name, index=index)


async def test_c85_whoever_may_know_of_a_run_can_have_all_that_it_printed(
    stores: Stores, looking: Looking
) -> None:
    run = await printed(stores, WHOLE)
    said = await looking.output(wants(run, who("bob")))
    assert said == (f"It comes where that run was asked for. In a shell: sayso output {run.id} 0")
    [told] = [one for one in await stores.records.said(run.conversation) if one.kind == "note"]
    assert told.text == (
        f"bob asked for all that step 0 of run {run.id}, append-word, printed: 100.0 kB, sha256 "
        f"{'a' * 64}. In a shell: sayso output {run.id} 0"
    )


async def test_i14_for_anybody_else_there_is_no_such_step(stores: Stores, looking: Looking) -> None:
    run = await printed(stores, WHOLE)
    for identity in (EVE, who("dave")):
        answers = set[str]()
        for name in (run.id, run_id(), "nonsense"):
            with pytest.raises(Refused) as refused:
                await looking.output(wants(name, identity))
            answers.add(refused.value.shown)
        assert len(answers) == 1
    with pytest.raises(Refused) as refused:
        await looking.output(wants(run, who("bob"), 1))
    assert {refused.value.shown} == answers
    assert [one for one in await stores.records.said(run.conversation) if one.kind == "note"] == []


@pytest.mark.parametrize(
    ("whole", "why"),
    [
        (None, "The report of that run shows all that is kept of what this step printed."),
        (Whole(why_not="The disk is full."), "was kept. The disk is full."),
    ],
)
async def test_what_is_nowhere_is_not_promised(
    stores: Stores, looking: Looking, whole: Whole | None, why: str
) -> None:
    run = await printed(stores, whole)
    with pytest.raises(Refused, match=why):
        await looking.output(wants(run, who("bob")))


async def test_what_is_not_kept_any_more_is_not_promised(
    stores: Stores, looking: Looking, clock: FrozenClock
) -> None:
    run = await printed(stores, WHOLE)
    clock.pass_by(timedelta(days=1))
    await stores.kept.outlived()
    with pytest.raises(Refused, match="not kept any more"):
        await looking.output(wants(run, who("bob")))
