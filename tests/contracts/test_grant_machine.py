"""The life of standing grants as a state machine: any order of whatever people, time and processes may do."""

import asyncio
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from adapters.storage.opening import MOST_OPEN
from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import rows
from approvals.grants import GrantState
from approvals.models import LIVE, Request, State
from approvals.proposals import NewRequest
from core import audit
from core.errors import Refused
from tests.builders import CONVERSATION, TENANT, a_checked, a_rule
from tests.fakes.clock import FrozenClock
from tests.grants import a_proposed, a_use
from tests.stores import (
    OTHER_CONVERSATION,
    QUICK,
    Stores,
    begin_conversations,
    facts_of,
    opened,
    spend,
)

T = TypeVar("T")
A_MOMENT = timedelta(microseconds=1)
PLACES = {CONVERSATION: "t_1", OTHER_CONVERSATION: "t_2"}
OPEN = {GrantState.PROPOSED, GrantState.ACTIVE, GrantState.SUSPENDED}
EDGES = {
    "proposed": {"activated", "revoked"},
    "activated": {"suspended", "expired", "revoked", "used"},
    "used": {"suspended", "expired", "revoked", "used"},
    "suspended": {"revoked"},
}


@dataclass
class Expected:
    """What this test itself makes of a grant, from the port's sentences alone."""

    id: str
    request: str
    most: int
    lasts: timedelta
    quorum: int
    proposal_ends: datetime
    state: GrantState = GrantState.PROPOSED
    votes: set[str] = field(default_factory=set[str])
    used: int = 0
    until: datetime | None = None


class Grants(RuleBasedStateMachine):
    """Grants of one plan, and what is asked for while they come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="sayso-", dir=QUICK)
        self.clock = FrozenClock()
        self.known: list[Expected] = []
        self.waiting: list[Request] = []
        """What was opened under a grant and not spent yet; some of it may have ended."""
        self.runs = 0
        path = Path(self.folder.name) / "sayso.db"
        self.database = self.do(SqliteDatabase.open(path, self.clock))
        self.stores = Stores(self.database)
        self.do(begin_conversations(self.stores))

    def do(self, work: Awaitable[T]) -> T:
        """Wait for a store, then let what this test expects grow as old as the store."""

        async def waited() -> T:
            return await work

        self.age()
        return self.loop.run(waited())

    def age(self) -> None:
        """End what is past its time, as the store does before anything else."""
        for one in self.known:
            ends = one.until if one.state is GrantState.ACTIVE else one.proposal_ends
            if one.state in {GrantState.ACTIVE, GrantState.PROPOSED} and ends is not None:
                one.state = GrantState.EXPIRED if ends <= self.clock.now() else one.state

    def opened(self, new: NewRequest, where: str) -> Request | None:
        """Open a request; None where as many as may be wait there already."""
        try:
            return self.do(opened(self.stores, new))
        except Refused:
            assert len(self.do(self.stores.requests.live(TENANT, where))) == MOST_OPEN
            return None

    def pick(self, data: st.DataObject) -> Expected:
        """Choose a grant, more often than not the latest one."""
        return data.draw(st.sampled_from([*self.known, self.known[-1], self.known[-1]]))

    def of(self, name: str) -> Expected:
        """Return what is expected of a grant."""
        return next(one for one in self.known if one.id == name)

    @initialize()
    def start(self) -> None:
        self.propose(2, 30, 1)

    def teardown(self) -> None:
        self.do(self.database.aclose())
        self.loop.close()
        self.folder.cleanup()

    @rule(most=st.integers(1, 3), minutes=st.integers(1, 90), quorum=st.integers(1, 2))
    def propose(self, most: int, minutes: int, quorum: int) -> None:
        lasts = timedelta(minutes=minutes) + A_MOMENT * 1000 * len(self.known)
        new = a_proposed(uses=most, lasts=lasts, rule=a_rule(quorum))
        request, name = self.opened(new, CONVERSATION), new.grant
        if request is None:
            return
        assert name is not None
        expected = Expected(
            id=name, request=request.id, most=most, lasts=lasts, quorum=quorum,
            proposal_ends=request.expires_at,
        )  # fmt: skip
        self.known.append(expected)

    @rule(people=st.lists(st.sampled_from(["bob", "carol"]), max_size=3), data=st.data())
    def approve(self, people: list[str], data: st.DataObject) -> None:
        """Vote for a grant, and have its job run; with too few votes nothing begins."""
        one = self.pick(data)
        for person in people:
            voted = self.do(self.stores.requests.vote(TENANT, one.request, principal=person))
            if one.state is GrantState.PROPOSED and len(one.votes) < one.quorum:
                one.votes.add(person)
            assert voted.request.state is not State.SPENT or one.state is not GrantState.PROPOSED
        found = self.do(self.stores.requests.get(TENANT, one.request))
        assert found is not None
        assert self.do(spend(self.stores, found)) is None
        if one.state is GrantState.PROPOSED and len(one.votes) >= one.quorum:
            one.state, one.until = GrantState.ACTIVE, self.clock.now() + one.lasts

    @rule(data=st.data())
    def deny(self, data: st.DataObject) -> None:
        one = self.pick(data)
        self.do(self.stores.requests.deny(TENANT, one.request, principal="eve", reason="no"))
        if one.state is GrantState.PROPOSED:
            one.state = GrantState.DENIED
        self.do(self.stores.brakes.lift(TENANT, CONVERSATION, principal="eve"))

    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        one = self.pick(data)
        self.do(self.stores.grants.revoke(TENANT, one.id, principal="eve"))
        if one.state in OPEN:
            one.state = GrantState.REVOKED

    @rule(data=st.data())
    def suspend(self, data: st.DataObject) -> None:
        one = self.pick(data)
        self.do(self.stores.grants.suspend(TENANT, one.id, reason="edited"))
        if one.state is GrantState.ACTIVE:
            one.state = GrantState.SUSPENDED

    @rule(where=st.sampled_from(sorted(PLACES)), other=st.booleans(), data=st.data())
    def ask(self, where: str, other: bool, data: st.DataObject) -> None:  # noqa: FBT001 - drawn
        """Ask for what a grant covers, or for something else, as whoever looked for a grant would."""
        one = self.pick(data)
        calls = [a_checked("other")] if other else []
        new = a_use(one.id, *calls, conversation=where, turn=PLACES[where])
        pending = self.pending(one)
        request = self.opened(new, where)
        if request is None or request.id != new.id:
            return  # its twin waits already
        covers = one.state is GrantState.ACTIVE and not other and one.used + pending < one.most
        assert (request.under is not None) is covers
        assert request.state is (State.GRANTED if covers else State.OPEN)
        if covers:
            self.waiting.append(request)
        else:
            self.do(self.stores.requests.revoke(TENANT, request.id, principal="eve", reason="x"))

    def pending(self, one: Expected) -> int:
        """Return how many requests of a grant have not been spent and have not ended."""
        fresh = [self.do(self.stores.requests.get(TENANT, each.id)) for each in self.waiting]
        return len([
            each for each in fresh
            if each and each.under and each.under.grant == one.id and each.state in LIVE
        ])  # fmt: skip

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        """Spend what waits, or what has ended: it runs exactly where its grant still lets it."""
        request = data.draw(st.sampled_from(self.waiting))
        assert request.under
        one = self.of(request.under.grant)
        before = self.do(self.stores.requests.get(TENANT, request.id))
        assert before is not None
        self.runs += 1
        spent = self.do(spend(self.stores, request, f"r_{self.runs}"))
        won = before.state is State.GRANTED and one.state is GrantState.ACTIVE
        assert (spent is not None) is won
        if spent:
            one.used += 1
            assert spent.run.under
            assert (spent.run.under.grant, spent.run.under.number) == (one.id, one.used)
            one.state = GrantState.USED_UP if one.used == one.most else one.state

    @rule(minutes=st.integers(1, 30))
    def time_passes(self, minutes: int) -> None:
        self.clock.pass_by(timedelta(minutes=minutes))

    @rule(offset=st.sampled_from([-A_MOMENT, timedelta(0), A_MOMENT]), data=st.data())
    def time_comes_close_to_an_end(self, offset: timedelta, data: st.DataObject) -> None:
        one = self.pick(data)
        left = (one.until or one.proposal_ends) + offset - self.clock.now()
        if left > timedelta(0):
            self.clock.pass_by(left)

    @invariant()
    def everything_is_as_expected(self) -> None:
        found = {one.id: one for one in self.do(self.stores.grants.known(TENANT))}
        assert set(found) == {one.id for one in self.known}
        for one in self.known:
            grant = found[one.id]
            assert (grant.state, grant.used, grant.until) == (one.state, one.used, one.until)
            assert grant.used <= grant.most

    @invariant()
    def every_run_is_one_use_with_a_number_of_its_own(self) -> None:
        runs = self.do(self.stores.records.runs())
        assert all(run.under for run in runs)
        numbers = [(run.under.grant, run.under.number) for run in runs if run.under]
        expected = [(one.id, number + 1) for one in self.known for number in range(one.used)]
        assert sorted(numbers) == sorted(expected)

    @invariant()
    def the_audit_log_holds_and_tells_only_allowed_moves(self) -> None:
        entries = self.do(self.stores.records.audit())
        assert isinstance(audit.verify(entries), audit.Intact)
        told: dict[object, str] = {}
        for entry in entries:
            if not entry.kind.startswith("grant."):
                continue
            grant, now = facts_of(entry)["grant"], entry.kind.removeprefix("grant.")
            assert (grant not in told) if now == "proposed" else now in EDGES[told[grant]]
            told[grant] = now

    @invariant()
    def nothing_granted_is_without_a_job(self) -> None:
        lost = self.do(
            self.database.transact(
                lambda _: rows(
                    "SELECT id FROM request WHERE state = 'granted' AND NOT EXISTS (SELECT 1 FROM job"
                    " WHERE job.id = 'run:' || request.id AND job.state IN ('queued', 'running'))"
                )
            )
        )
        assert lost == []


def test_whatever_happens_in_whatever_order_a_grant_is_used_only_as_often_as_was_shown() -> None:
    run_state_machine_as_test(
        Grants,
        settings=settings(
            max_examples=60,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
