"""The life of requests as a state machine: any order of whatever people, time and processes may do."""

import asyncio
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
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

from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import rows
from approvals.models import LIVE, Denial, Request, RunState, State, Vote, job_of
from core import audit
from tests.builders import TENANT, a_new_request, a_rule
from tests.fakes.clock import FrozenClock
from tests.stores import QUICK, Stores, begin_conversations, facts_of, spend

T = TypeVar("T")
VOTES = st.lists(st.sampled_from(["bob", "carol", "dave"]), max_size=4)
A_MOMENT = timedelta(microseconds=1)
EDGES = {
    State.OPEN: {State.GRANTED, State.DENIED, State.EXPIRED, State.REVOKED, State.SUPERSEDED},
    State.GRANTED: {State.SPENT, State.DENIED, State.EXPIRED, State.REVOKED, State.SUPERSEDED},
}


_TELL = {"request.opened": "open", "run.started": "spent", "grant.activated": "spent"}


@dataclass
class Expected:
    """What this test itself makes of a request, from the port's sentences alone."""

    id: str
    quorum: int
    expires_at: datetime
    state: State = State.OPEN
    votes: set[str] = field(default_factory=set[str])
    times_asked: int = 1
    refuses: bool = False
    """Whether its denial still holds."""
    held: list[Request] = field(default_factory=list[Request])
    """What callers read of it at some time and may still act upon."""


class Requests(RuleBasedStateMachine):
    """Requests for one plan by one person: at most one of them lives."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="sayso-", dir=QUICK)
        self.clock = FrozenClock()
        self.known: list[Expected] = []
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
        """Expire what is past its time, as the store does before anything else."""
        for expected in self.known:
            if expected.state in LIVE and expected.expires_at <= self.clock.now():
                expected.state = State.EXPIRED

    def pick(self, data: st.DataObject) -> Expected:
        """Choose a request, more often than not the latest one."""
        return data.draw(st.sampled_from([*self.known, self.known[-1], self.known[-1]]))

    @initialize(quorum=st.integers(1, 3))
    def start(self, quorum: int) -> None:
        self.propose(quorum)

    def teardown(self) -> None:
        try:
            # Both tables are only ever added to, so that their end tells of every moment before.
            self.every_spent_request_has_one_run_and_no_other_has_any()
            self.the_audit_log_holds_and_tells_only_allowed_moves()
        finally:
            self.do(self.database.aclose())
            self.loop.close()
            self.folder.cleanup()

    @rule(quorum=st.integers(1, 3))
    def propose(self, quorum: int) -> None:
        self.open(quorum, None)

    @rule(quorum=st.integers(1, 3), data=st.data())
    def supersede(self, quorum: int, data: st.DataObject) -> None:
        self.open(quorum, self.pick(data))

    def open(self, quorum: int, old: Expected | None) -> None:
        """Ask, and compare with what must come of it."""
        new = a_new_request(rule=a_rule(quorum), supersedes=old.id if old else None)
        answer = self.do(self.stores.requests.open(new))
        if any(known.refuses for known in self.known if known is not old):
            assert isinstance(answer, Denial)
            return
        if old:
            old.refuses = False
            old.state = State.SUPERSEDED if old.state in LIVE else old.state
        assert isinstance(answer, Request)
        twins = [known for known in self.known if known.state in LIVE]
        if twins:
            twins[0].times_asked += 1
            assert answer.id == twins[0].id
        else:
            expires_at = self.clock.now() + new.rule.expires
            self.known.append(Expected(id=new.id, quorum=quorum, expires_at=expires_at))
            assert answer.id == new.id

    @rule(people=VOTES, data=st.data())
    def vote(self, people: list[str], data: st.DataObject) -> None:
        self.vote_on(self.pick(data), people)

    def vote_on(self, expected: Expected, people: list[str]) -> None:
        """Vote, and expect what must come of it."""
        for person in people:
            self.do(self.stores.requests.vote(TENANT, expected.id, principal=person))
            if expected.state is State.OPEN:
                expected.votes.add(person)
                if len(expected.votes) >= expected.quorum:
                    expected.state = State.GRANTED

    @rule(how=st.sampled_from([State.DENIED, State.REVOKED]), data=st.data())
    def end(self, how: State, data: st.DataObject) -> None:
        expected = self.pick(data)
        store = self.stores.requests
        end = store.deny if how is State.DENIED else store.revoke
        self.do(end(TENANT, expected.id, principal="eve", reason="no"))
        if expected.state in LIVE:
            expected.state, expected.refuses = how, how is State.DENIED

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        """Hold on to what a request is now, to act upon it later."""
        expected = self.pick(data)
        found = self.do(self.stores.requests.get(TENANT, expected.id))
        assert found is not None
        expected.held.append(found)

    @rule(people=VOTES, claimed=st.none() | VOTES, data=st.data())
    def spend(self, people: list[str], claimed: list[str] | None, data: st.DataObject) -> None:
        """Spend a request as it is after these votes; or with votes that may not be there."""
        expected = self.pick(data)
        self.vote_on(expected, people)
        fresh = self.do(self.stores.requests.get(TENANT, expected.id))
        assert fresh is not None
        votes = [Vote(principal=voter, at=self.clock.now()) for voter in claimed or ()]
        self.spend_as(expected, fresh if claimed is None else replace(fresh, votes=tuple(votes)))

    @precondition(lambda self: any(known.held for known in self.known))
    @rule(data=st.data())
    def spend_late(self, data: st.DataObject) -> None:
        """Spend a request as somebody read it some time ago."""
        expected = data.draw(st.sampled_from([known for known in self.known if known.held]))
        self.spend_as(expected, data.draw(st.sampled_from(expected.held)))

    def spend_as(self, expected: Expected, held: Request) -> None:
        self.runs += 1
        run = f"r_{self.runs}"
        spent = self.do(spend(self.stores, held, run))
        won = expected.state is State.GRANTED and sorted(held.voters) == sorted(expected.votes)
        assert (spent is not None) is won
        if won:
            expected.state = State.SPENT

    @rule(minutes=st.integers(1, 20))
    def time_passes(self, minutes: int) -> None:
        self.clock.pass_by(timedelta(minutes=minutes))

    @rule(offset=st.sampled_from([-A_MOMENT, timedelta(0), A_MOMENT]))
    def time_comes_close_to_the_latest_end(self, offset: timedelta) -> None:
        left = self.known[-1].expires_at + offset - self.clock.now()
        if left > timedelta(0):
            self.clock.pass_by(left)

    @invariant()
    def everything_is_as_expected(self) -> None:
        found = {request.id: request for request in self.do(self.stores.records.requests())}
        assert set(found) == {known.id for known in self.known}
        for known in self.known:
            request = found[known.id]
            assert request.state is known.state
            assert len(request.voters) == len(set(request.voters))
            assert set(request.voters) == known.votes
            assert request.times_asked == known.times_asked
            assert request.expires_at == known.expires_at
        assert sum(request.state in LIVE for request in found.values()) <= 1

    def every_spent_request_has_one_run_and_no_other_has_any(self) -> None:
        runs = self.do(self.stores.records.runs())
        assert sorted(run.request for run in runs) == sorted(
            known.id for known in self.known if known.state is State.SPENT
        )
        assert {run.state for run in runs} <= {RunState.RUNNING}

    @invariant()
    def every_request_that_was_ever_granted_has_one_job_and_no_other_has_any(self) -> None:
        if not self.known:
            return
        found = self.do(
            self.stores.database.transact(
                lambda _: rows("SELECT id FROM job WHERE id LIKE 'run:%'")
            )
        )
        granted = [known.id for known in self.known if len(known.votes) >= known.quorum]
        assert sorted(row["id"] for row in found) == sorted(job_of(name) for name in granted)

    @invariant()
    def the_audit_log_holds_and_tells_only_allowed_moves(self) -> None:
        entries = self.do(self.stores.records.audit())
        assert isinstance(audit.verify(entries), audit.Intact)
        told: dict[str, State] = {}
        for entry in entries:
            said = state_told(entry)
            if said is None:
                continue
            request, state = said
            if state is State.OPEN:
                assert request not in told
            else:
                assert state in EDGES[told[request]]
            told[request] = state
        assert told == {known.id: known.state for known in self.known}


def state_told(entry: audit.Entry) -> tuple[str, State] | None:
    """Return which state of which request an audit entry tells about."""
    facts = facts_of(entry)
    kind = _TELL.get(entry.kind) or entry.kind.removeprefix("request.")
    if kind not in set(State):
        return None
    request = facts["request"]
    assert isinstance(request, str)
    return request, State.GRANTED if "under" in facts else State(kind)


def test_whatever_happens_in_whatever_order_a_request_is_spent_at_most_once() -> None:
    run_state_machine_as_test(
        Requests,
        settings=settings(
            max_examples=100,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
