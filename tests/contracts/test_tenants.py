"""I14 over every method of every store: another tenant's id is answered as an unknown one."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from approvals.brakes import Brake, Brakes, Broken
from approvals.factors import Factors
from approvals.grants import Grant, Grants
from approvals.models import Request, Run, State, Verification
from approvals.store import ApprovalStore, Newest, RunStore
from core import ids
from core.conversations import Closing, Conversations, Turn
from core.deliveries import Deliveries
from core.errors import Refused
from core.jobs import Job, LeaseLost
from core.leases import Leases
from core.links import Link, Links
from core.one_time_codes import Secret
from core.principals import Identity
from core.trail import Finished
from tests.builders import (
    CONVERSATION,
    TENANT,
    a_checked,
    a_new_request,
    a_new_turn,
    a_rule,
    a_tool,
)
from tests.fakes.clock import START
from tests.fakes.runner import exited
from tests.grants import a_proposed, a_use, active
from tests.stores import (
    LEASE,
    OTHER_TENANT,
    OWNER,
    SILENT,
    SUCCEEDED,
    TABLES,
    THEIR_CONVERSATION,
    UNKNOWN,
    Contents,
    Stores,
    answering,
    claimed,
    everything,
    opened,
    running,
    stepped,
)

WORD = a_checked("theirs")
SECRET = Secret(base32="GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
CODE = "theirs"
LISTED = Identity(platform="slack", workspace="T1", user="U2")
ACCOUNT = Identity(platform="discord", workspace="G1", user="500")
OTHER_ACCOUNT = replace(ACCOUNT, workspace="G2")


@dataclass(frozen=True)
class Given:
    """What somebody of the other tenant got hold of."""

    request: Request
    run: Run
    turn: Turn
    """One that is being answered."""
    turn_job: Job
    """The claim to its job."""
    job: Job
    """The claim to the request's job."""
    run_job: Job
    """The claim to the run's."""
    grant: Grant
    """One that is active."""
    link: str
    """A link of an account that waits for the last yes; another one is made."""


LATER = START + timedelta(days=1)
Call = Callable[[Stores, Given], Awaitable[object]]


CALLS: Mapping[str, Call] = {
    "ApprovalStore.open": lambda on, given: on.requests.open(
        a_new_request(
            tenant=OTHER_TENANT, conversation=given.request.conversation, requester="alice"
        )
    ),
    "ApprovalStore.open, superseding": lambda on, given: on.requests.open(
        a_new_request(
            WORD,
            request="f" * 32,
            tenant=OTHER_TENANT,
            conversation=THEIR_CONVERSATION,
            supersedes=given.request.id,
        )
    ),
    "ApprovalStore.get": lambda on, given: on.requests.get(OTHER_TENANT, given.request.id),
    "ApprovalStore.took": lambda on, given: on.requests.took(
        OTHER_TENANT, given.request.plan.does, most=5
    ),
    "ApprovalStore.in_doubt": lambda on, given: on.requests.in_doubt(
        OTHER_TENANT, given.request.plan_sha256, again=given.request.id
    ),
    "ApprovalStore.vote": lambda on, given: on.requests.vote(
        OTHER_TENANT, given.request.id, principal="eve"
    ),
    "ApprovalStore.deny": lambda on, given: on.requests.deny(
        OTHER_TENANT, given.request.id, principal="eve", reason="mine"
    ),
    "ApprovalStore.revoke": lambda on, given: on.requests.revoke(
        OTHER_TENANT, given.request.id, principal="eve", reason="mine"
    ),
    "ApprovalStore.spend": lambda on, given: on.requests.spend(
        given.request, job=given.job, run="r_eve"
    ),
    "ApprovalStore.resume": lambda on, given: on.requests.resume(given.request, job=given.run_job),
    "ApprovalStore.edited": lambda on, given: on.requests.edited(OTHER_TENANT, given.request.id),
    "ApprovalStore.remind": lambda on, given: on.requests.remind(
        OTHER_TENANT, given.request.id, "mine"
    ),
    "ApprovalStore.escalate": lambda on, given: on.requests.escalate(
        OTHER_TENANT, given.request.id, text="mine", calls=["eve"]
    ),
    "ApprovalStore.hand_over": lambda on, given: on.requests.hand_over(
        OTHER_TENANT, given.request.id, principal="eve", to="eve"
    ),
    "ApprovalStore.break_glass": lambda on, given: on.requests.break_glass(
        OTHER_TENANT, given.request.id, Broken(by="eve", why="mine", calls=("eve",))
    ),
    "ApprovalStore.expire": lambda on, _: on.requests.expire(),
    "ApprovalStore.open, ending a turn": lambda on, given: on.requests.open(
        a_new_request(
            WORD,
            tenant=OTHER_TENANT,
            conversation=THEIR_CONVERSATION,
            closing=Closing(turn=given.turn, job=given.turn_job, end=SILENT),
        )
    ),
    "ApprovalStore.edit": lambda on, given: on.requests.edit(
        a_new_request(
            WORD,
            tenant=OTHER_TENANT,
            conversation=THEIR_CONVERSATION,
            supersedes=given.request.id,
            edited_by="eve",
        )
    ),
    "ApprovalStore.live": lambda on, given: on.requests.live(
        OTHER_TENANT, given.request.conversation
    ),
    "ApprovalStore.attempt_refused": lambda on, given: on.requests.attempt_refused(
        OTHER_TENANT, principal="eve", request="", why=given.request.tenant
    ),
    "Grants.get": lambda on, given: on.grants.get(OTHER_TENANT, given.grant.id),
    "Grants.made_by": lambda on, given: on.grants.made_by(OTHER_TENANT, given.grant.request),
    "Grants.known": lambda on, _: on.grants.known(OTHER_TENANT),
    "Grants.active": lambda on, given: on.grants.active(
        OTHER_TENANT, given.grant.requester, given.request.conversation
    ),
    "Grants.suspend": lambda on, given: on.grants.suspend(
        OTHER_TENANT, given.grant.id, reason="mine"
    ),
    "Grants.revoke": lambda on, given: on.grants.revoke(
        OTHER_TENANT, given.grant.id, principal="eve"
    ),
    "ApprovalStore.open, under a grant": lambda on, given: on.requests.open(
        a_use(given.grant, WORD, tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION)
    ),
    "RunStore.begin_step": lambda on, given: on.runs.begin_step(given.run, 1),
    "RunStore.end_step": lambda on, given: on.runs.end_step(given.run, 1, SUCCEEDED),
    "RunStore.cancel": lambda on, given: on.runs.cancel(given.run, why="mine"),
    "RunStore.run_of": lambda on, given: on.runs.run_of(OTHER_TENANT, given.run.request),
    "RunStore.live": lambda on, given: on.runs.live(OTHER_TENANT, given.run.conversation),
    "RunStore.stop": lambda on, given: on.runs.stop(given.run, principal="eve"),
    "RunStore.run": lambda on, given: on.runs.run(OTHER_TENANT, given.run.id),
    "RunStore.resolve": lambda on, given: on.runs.resolve(
        OTHER_TENANT, given.run.id, 1, happened=True, principal="eve"
    ),
    "RunStore.show_output": lambda on, given: on.runs.show_output(given.run, 1, principal="eve"),
    "RunStore.verified": lambda on, given: on.runs.verified(
        Verification(run=given.run, index=1, principal="eve", ended=exited())
    ),
    "Newest.runs": lambda on, given: on.newest.runs(
        OTHER_TENANT, most=5, before=replace(given.run, started_at=LATER)
    ),
    "Newest.unknown": lambda on, given: on.newest.unknown(
        OTHER_TENANT, most=5, before=replace(given.run, started_at=LATER)
    ),
    "Newest.ended": lambda on, given: on.newest.ended(
        OTHER_TENANT, given.request.conversation, most=5
    ),
    "Conversations.receive": lambda on, given: on.conversations.receive(
        a_new_turn("t_eve", tenant=OTHER_TENANT, conversation=given.turn.conversation)
    ),
    "Conversations.arrived_before": lambda on, given: on.conversations.arrived_before(
        a_new_turn("t_eve", tenant=OTHER_TENANT, deliveries=(f"of {given.turn.id}",))
    ),
    "Conversations.turn": lambda on, given: on.conversations.turn(OTHER_TENANT, given.turn.id),
    "Conversations.history": lambda on, given: on.conversations.history(given.turn),
    "Conversations.happened": lambda on, given: on.conversations.happened(
        given.turn, given.turn_job, [Finished(reason="mine")]
    ),
    "Conversations.news": lambda on, given: on.conversations.news(given.turn),
    "Conversations.end": lambda on, given: on.conversations.end(
        Closing(turn=given.turn, job=given.turn_job, end=SILENT)
    ),
    "Conversations.at": lambda on, given: on.conversations.at(OTHER_TENANT, given.turn.place),
    "Conversations.waiting": lambda on, given: on.conversations.waiting(
        OTHER_TENANT, given.turn.conversation
    ),
    "Conversations.arrived": lambda on, given: on.conversations.arrived(
        replace(given.turn, tenant=OTHER_TENANT)
    ),
    "Conversations.stop": lambda on, given: on.conversations.stop(given.turn, principal="eve"),
    "Conversations.keep_plan": lambda on, given: on.conversations.keep_plan(
        given.turn, given.turn_job, given.request.plan
    ),
    "Deliveries.entry": lambda on, given: on.deliveries.entry(
        OTHER_TENANT, given.request.conversation, 1
    ),
    "Deliveries.place": lambda on, given: on.deliveries.place(
        OTHER_TENANT, given.request.conversation
    ),
    "Deliveries.opening": lambda on, given: on.deliveries.opening(
        OTHER_TENANT, given.request.conversation
    ),
    "Deliveries.opened": lambda on, given: on.deliveries.opened(
        OTHER_TENANT, given.request.conversation, "mine"
    ),
    "Deliveries.posted": lambda on, given: on.deliveries.posted(
        OTHER_TENANT, given.request.conversation, 1, "mine"
    ),
    "Deliveries.card": lambda on, given: on.deliveries.card(OTHER_TENANT, given.request.id),
    "Deliveries.progress": lambda on, given: on.deliveries.progress(OTHER_TENANT, given.run.id),
    "Factors.check": lambda on, _: on.factors.check(OTHER_TENANT, "bob", "123456", since=None),
    "Factors.enrol": lambda on, _: on.factors.enrol(
        OTHER_TENANT, "bob", SECRET, code="123456", old=None
    ),
    "Factors.enrolled": lambda on, _: on.factors.enrolled(OTHER_TENANT),
    # The operator's: it is about a person, in whichever tenant.
    "Factors.reset": lambda on, given: on.factors.reset(given.request.id, account="eve"),
    "Brakes.now": lambda on, _: on.brakes.now(OTHER_TENANT),
    "Brakes.pause": lambda on, given: on.brakes.pause(
        OTHER_TENANT, principal="eve", reason="", conversation=given.request.conversation
    ),
    "Brakes.resume": lambda on, given: on.brakes.resume(
        OTHER_TENANT, principal="eve", conversation=given.request.conversation
    ),
    "Brakes.windows": lambda on, _: on.brakes.windows(
        OTHER_TENANT, [Brake(name="theirs", since=START)]
    ),
    "Brakes.blocked": lambda on, given: on.brakes.blocked(OTHER_TENANT, given.request.conversation),
    "Brakes.lift": lambda on, given: on.brakes.lift(
        OTHER_TENANT, given.request.conversation, principal="eve"
    ),
    # Leases belong to no tenant: whatever one is called, it gives nobody anything of anybody.
    "Leases.take": lambda on, given: on.leases.take(given.request.id, OTHER_TENANT, LEASE),
    "Leases.give_back": lambda on, given: on.leases.give_back(given.request.id, OWNER),
    "Leases.holder": lambda on, given: on.leases.holder(given.request.id),
    "Links.made": lambda on, _: on.links.made(OTHER_TENANT),
    "Links.get": lambda on, given: on.links.get(OTHER_TENANT, given.link),
    "Links.waiting": lambda on, _: on.links.waiting(OTHER_TENANT, "bob"),
    "Links.offer": lambda on, _: _offered(on, OTHER_TENANT, ids.link_id(), ids.code()),
    "Links.claim": lambda on, _: on.links.claim(OTHER_TENANT, CODE, ACCOUNT),
    "Links.ask": lambda on, given: on.links.ask(OTHER_TENANT, given.link, ACCOUNT),
    "Links.make": lambda on, given: on.links.make(
        OTHER_TENANT, given.link, principal="bob", platform=LISTED.platform
    ),
    "Links.refuse": lambda on, given: on.links.refuse(OTHER_TENANT, given.link, principal="bob"),
    "Links.end": lambda on, _: on.links.end(OTHER_TENANT, "bob"),
    "Links.lose": lambda on, _: on.links.lose(
        OTHER_TENANT, [Link(account=ACCOUNT, principal="bob", rests_on=LISTED)]
    ),
}


def test_i14_every_method_of_the_ports_is_among_those() -> None:
    methods = {
        f"{port.__name__}.{name}"
        for port in (
            ApprovalStore,
            Brakes,
            Grants,
            RunStore,
            Newest,
            Conversations,
            Deliveries,
            Factors,
            Leases,
            Links,
        )
        for name in vars(port)
        if not name.startswith("_")
    }
    assert {name.split(",")[0] for name in CALLS} == methods


async def _offered(on: Stores, tenant: str, name: str, code: str) -> None:
    await on.links.offer(tenant, name, code, principal="bob", rests_on=LISTED)


async def _linked(stores: Stores) -> str:
    """Have bob link one account, and be asked about it once more; return what waits."""
    links = stores.links
    for name, code, account in (("l_1", "made", ACCOUNT), ("l_2", CODE, OTHER_ACCOUNT)):
        await _offered(stores, TENANT, name, code)
        assert await links.claim(TENANT, code, account)
        assert await links.ask(TENANT, name, account)
        if code == "made":
            assert await links.make(TENANT, name, principal="bob", platform=LISTED.platform)
    return "l_2"


async def _theirs(stores: Stores, state: State, run: str) -> Given:
    """Return a request in some state and a run in some state, both of one tenant."""
    request = await opened(stores, a_new_request(rule=a_rule(2)))
    if state is not State.OPEN:
        for voter in ("bob", "carol"):
            request = (await stores.requests.vote(TENANT, request.id, principal=voter)).request
    if state is State.DENIED:
        request = await stores.requests.deny(TENANT, request.id, principal="bob", reason="no")
    long = a_new_request(a_checked("beta", tool=a_tool(steps=3)))
    started = await stepped(stores, await running(stores, long), SUCCEEDED)
    if run != "pending":
        assert await stores.runs.begin_step(started, 1)
    if run == "unknown":
        started = await stores.runs.end_step(started, 1, UNKNOWN)
    spent = await stores.requests.get(TENANT, started.request)
    assert spent is not None
    live = a_new_turn("t_live", conversation=CONVERSATION, deliveries=("of t_live",))
    answers = await answering(stores, live)
    return Given(
        request=request,
        run=started,
        turn=answers.turn,
        turn_job=answers.job,
        job=await claimed(stores, request),
        run_job=await claimed(stores, spent),
        link=await _linked(stores),
        grant=await active(stores, a_proposed(a_checked("gamma"))),
    )


def _claimed(given: Given) -> Given:
    """Return what was got hold of, as the other tenant would claim it."""
    return replace(
        given,
        request=replace(given.request, tenant=OTHER_TENANT),
        run=replace(given.run, tenant=OTHER_TENANT),
        turn=replace(given.turn, tenant=OTHER_TENANT),
    )


def _invented(given: Given) -> Given:
    """Return the same with ids that nobody has."""
    return replace(
        given,
        request=replace(given.request, id="0" * 32, conversation="c_none"),
        run=replace(given.run, id="r_none"),
        grant=replace(given.grant, id="g_none", request="0" * 32),
        turn=replace(given.turn, id="t_none", conversation="c_none"),
        link="l_none",
    )


async def _answer(stores: Stores, call: Call, given: Given) -> object:
    try:
        return await call(stores, given)
    except (Refused, LeaseLost) as refused:
        return refused.shown


def _new_rows(before: Contents, after: Contents) -> list[tuple[str, tuple[object, ...]]]:
    for table in TABLES:
        assert set(before[table]) <= set(after[table]), f"a row of {table} was changed"
    return [(t, row) for t in TABLES for row in after[t] if row not in before[t]]


@pytest.mark.each("call")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("state", [State.OPEN, State.GRANTED, State.DENIED])
@pytest.mark.parametrize("run", ["pending", "running", "unknown"])
async def test_i14_c69_anothers_id_never_succeeds_and_is_answered_as_an_unknown_one(
    stores: Stores, call: str, state: State, run: str
) -> None:
    given = _claimed(await _theirs(stores, state, run))
    before = await everything(stores.database)
    answer = await _answer(stores, CALLS[call], given)
    after = await everything(stores.database)
    for table, row in _new_rows(before, after):
        assert OTHER_TENANT in row or THEIR_CONVERSATION in row, f"{table} got {row}"
        assert not {TENANT, CONVERSATION} & set(row), f"{table} got {row}"
    if call not in {"ApprovalStore.open, superseding", "ApprovalStore.open, under a grant"}:
        assert await _answer(stores, CALLS[call], _invented(given)) == answer
