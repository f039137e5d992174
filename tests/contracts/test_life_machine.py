"""The whole life of requests, as a state machine: people on three platforms, time, restarts, a changing world.

Everything goes through the real gate, stores and execution. What may be is judged by this test's own
knowledge of the world, so that a yes which should not have counted is seen wherever it comes from.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from adapters.storage import jobs
from adapters.storage.opening import MOST_OPEN
from adapters.storage.sqlite import SqliteDatabase
from approvals.brakes import MOST_DENIALS
from approvals.execution import Execution
from approvals.granting import Granting
from approvals.grants import GrantState
from approvals.models import (
    LIVE,
    RUN,
    Request,
    Rule,
    Run,
    RunState,
    Spent,
    State,
    StepState,
    Yes,
    job_of,
)
from approvals.switches import Switches
from core import audit
from core.errors import SaysoError
from core.events import ProposeGrant
from core.ids import step_id
from core.jobs import Job, JobState
from core.principals import Identity
from core.rulings import BreakGlass
from core.standing import Why
from core.tools import Tool
from tests.builders import CONVERSATION, TENANT, a_proposal
from tests.contracts.test_request_machine import EDGES, state_told
from tests.fakes.artifacts import keeping
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.roster import FakeRoster
from tests.fakes.runner import exited, for_ever, words_of
from tests.fakes.watch import FakeWatch
from tests.gates import APPEND, HIGH, LOW, RISKS, TOOLS, World, allow, edited, who
from tests.stores import (
    LEASE,
    OTHER_CONVERSATION,
    QUICK,
    Stores,
    at_rest,
    begin_conversations,
    notice,
)

T = TypeVar("T")
Platform: TypeAlias = Literal["console", "slack", "discord"]
Effect: TypeAlias = tuple[str, str]
"""A tool and its word."""
PEOPLE = ("alice", "bob", "carol", "dave")
PLATFORMS: tuple[Platform, ...] = ("console", "slack", "discord")
WORKSPACES: Mapping[Platform, str] = {"console": "local", "slack": "T1", "discord": "G1"}
TURNS = {CONVERSATION: "t_1", OTHER_CONVERSATION: "t_2"}
Death: TypeAlias = Literal["unspent", "spent", "in step 0", "in step 1"]
DEATHS: tuple[Death, ...] = ("unspent", "spent", "in step 0", "in step 1")
A_MOMENT = timedelta(microseconds=1)
people = st.sampled_from(PEOPLE)
breakers = st.sampled_from(["carol", "dave", "dave", *PEOPLE])
platforms = st.sampled_from(PLATFORMS)
_ballots = st.tuples(st.sampled_from(["alice", "bob", "bob", "carol", "dave"]), platforms)
votes = st.lists(_ballots, min_size=1, max_size=4)
enough = st.just([("bob", "slack"), ("carol", "discord"), ("dave", "slack")])
words = st.sampled_from(["alpha", "beta"])
tools = st.sampled_from([tool.name for tool in TOOLS])
LASTS = timedelta(minutes=45)
deaths = st.none() | st.none() | st.sampled_from(DEATHS)


def account(person: str, platform: Platform) -> Identity:
    """Return as whom a platform knows somebody."""
    if platform == "console":
        return who(person)
    return Identity(platform=platform, workspace=WORKSPACES[platform], user=f"{person}@{platform}")


@dataclass
class Known:
    """A request, as this test saw it come and be decided."""

    id: str
    conversation: str
    requester: str
    effect: Effect
    rule: Rule
    rests_on: object
    """What its plan came from when it was shown."""
    votes: set[str] = field(default_factory=set[str])
    editors: frozenset[str] = frozenset()
    lets: str | None = None
    """The standing grant that it asks for, where it asks for one."""
    under: str | None = None
    """The standing grant under which nobody is asked for it."""
    broken_by: str | None = None
    """Who let it run alone."""

    @property
    def decided_by(self) -> set[str]:
        """Return by whose word it may run."""
        return self.votes | ({self.broken_by} if self.broken_by else set[str]())

    @property
    def asked_by(self) -> frozenset[str]:
        """Return who may not vote where the rule keeps a requester from it."""
        return self.editors | {self.requester}


@dataclass
class Allowed:
    """A standing grant, as this test saw it come and be used."""

    asked: Known
    uses: int
    used: int = 0
    until: datetime | None = None
    is_over: bool = False

    @property
    def votes(self) -> set[str]:
        """Return by whose yes it lets anything run."""
        return self.asked.votes

    def covers(self, known: Known, now: datetime) -> bool:
        """Whether it lets this run: exactly what was shown, for whoever asked, while it lasts."""
        return (
            (known.effect, known.requester) == (self.asked.effect, self.asked.requester)
            and known.rests_on == self.asked.rests_on
            and self.until is not None
            and now < self.until
            and self.used < self.uses
            and not self.is_over
        )


def begin_with() -> dict[str, set[str]]:
    """Return who is in which group at first."""
    return {
        "alice": {"dev"},
        "bob": {"dev", "ops"},
        "carol": {"ops", "breakers"},
        "dave": {"breakers"},
    }


class Town(World):
    """Four people with an account on every platform, and what is true of them."""

    def __init__(self, stores: Stores, clock: FrozenClock) -> None:
        self.on = {
            "slack": FakeRoster(clock, {"sre": {"dave@slack"}}),
            "discord": FakeRoster(clock, {"sre": set()}),
        }
        super().__init__(
            stores,
            groups=begin_with(),
            on_slack={name: account(name, "slack") for name in PEOPLE},
            on_discord={name: account(name, "discord") for name in PEOPLE},
            rosters=dict(self.on),
        )
        self.rules += (
            allow("plan:approve", "sre"),
            allow("plan:deny", "sre"),
            allow("plan:edit", "dev"),
            allow("grant:propose", "dev"),
            allow("plan:break_glass", "breakers"),
        )
        self.ever_broke = {"carol", "dave"}
        self.ever_approved = {"bob", "carol", "dave"}
        """Who could approve at some time: a click may go by what a platform said a minute ago."""

    def is_here(self, person: str) -> bool:
        """Whether every platform says that somebody is there."""
        return not any(
            roster.down or f"{person}@{name}" in roster.gone for name, roster in self.on.items()
        )

    def may_approve(self, person: str) -> bool:
        """Whether somebody may, at this moment."""
        by_role = any(f"{person}@{name}" in one.members["sre"] for name, one in self.on.items())
        return self.is_here(person) and (by_role or "ops" in self.groups[person])

    def may_break(self, person: str) -> bool:
        """Whether somebody may let something run alone, at this moment."""
        return self.is_here(person) and "breakers" in self.groups[person]

    def may_ask(self, person: str) -> bool:
        """Whether somebody may propose, at this moment."""
        return self.is_here(person) and "dev" in self.groups[person]

    def tool(self, name: str) -> Tool:
        """Return a tool as its file has it now."""
        return next(one for one in self.tools if one.name == name)

    def rule(self, tool: str) -> Rule:
        """Return the rule that decides a tool now."""
        return next(one for one in self.risks if one.name == self.tool(tool).risk)

    def rests_on(self, effect: Effect) -> object:
        """Return all that a plan comes from, as it is now."""
        name = effect[0]
        looked_at = (self.files.digests["words.txt"], self.runner.endings.get(("preview",)))
        now = (self.tool(name).definition, self.rule(name), self.folder)
        return (*now, *(looked_at if name == APPEND.name else ()))

    def may_run(self, known: Known) -> bool:
        """Whether what was granted may run at this moment."""
        return (
            not self.switches.plan_only
            and known.rests_on == self.rests_on(known.effect)
            and all(map(self.may_ask, known.asked_by))
            and (len(known.votes) >= known.rule.quorum or known.broken_by is not None)
            and all(map(self.may_approve, known.votes - {known.broken_by}))
            and (known.broken_by is None or self.may_break(known.broken_by))
            and (known.rule.requester_may_vote or not known.asked_by & known.decided_by)
        )

    @property
    def granting(self) -> Granting:
        """Return what proposes standing grants."""
        return Granting(gate=self.gate, conversations=self.stores.conversations)

    def back_to_normal(self) -> None:
        """Have everybody and everything be as at first."""
        self.groups = begin_with()
        for name, roster in self.on.items():
            roster.members = {"sre": {"dave@slack"} if name == "slack" else set()}
            roster.gone, roster.down = {}, ""
        self.files.digests["words.txt"] = "0" * 64
        self.runner.endings = {}
        self.tools, self.risks, self.switches = TOOLS, RISKS, Switches()

    def change_group(self, person: str, group: str) -> None:
        """Have the file put somebody into a group, or take them out."""
        self.groups[person] = self.groups[person] ^ {group}
        self._note_approvers()

    def change_role(self, person: str, platform: str) -> None:
        """Have a platform do that."""
        members = self.on[platform].members
        members["sre"] = members["sre"] ^ {f"{person}@{platform}"}
        self._note_approvers()

    def change_account(self, person: str, platform: str) -> None:
        """Have an account be deactivated, or be there again."""
        gone = self.on[platform].gone
        if gone.pop(f"{person}@{platform}", None) is None:
            gone[f"{person}@{platform}"] = Why.DEACTIVATED

    def change_platform(self, platform: str) -> None:
        """Have a platform be out of reach, or back."""
        self.on[platform].down = "" if self.on[platform].down else "it is down"

    def change_what_plans_come_from(self, what: str) -> None:
        """Have something be otherwise that a plan may rest on."""
        match what:
            case "file":
                self.files.digests["words.txt"] = "1" * 64
            case "preview":
                self.runner.endings["preview",] = exited(output="otherwise")
            case "definition":
                self.tools = (edited(APPEND), LOW, HIGH)
            case "rule":
                self.risks = tuple(replace(one, quorum=one.quorum + 1) for one in RISKS)
            case _:
                self.switches = Switches(plan_only=True)

    def _note_approvers(self) -> None:
        self.ever_approved |= {one for one in PEOPLE if self.may_approve(one)}
        self.ever_broke |= {one for one in PEOPLE if self.may_break(one)}


Change: TypeAlias = Callable[[Town], None]
_hosts = st.sampled_from(["slack", "discord"])
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(
        partial,
        st.just(Town.change_group),
        person=people,
        group=st.sampled_from(["dev", "ops", "breakers"]),
    ),
    st.builds(partial, st.just(Town.change_role), person=people, platform=_hosts),
    st.builds(partial, st.just(Town.change_account), person=people, platform=_hosts),
    st.builds(partial, st.just(Town.change_platform), platform=_hosts),
    st.builds(
        partial,
        st.just(Town.change_what_plans_come_from),
        what=st.sampled_from(["file", "preview", "definition", "rule", "switch"]),
    ),
)


class Lives(RuleBasedStateMachine):
    """Requests in two conversations."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="sayso-", dir=QUICK)
        self.clock = FrozenClock()
        self.processes = 0
        self.hangs = asyncio.Event()
        self.known: dict[str, Known] = {}
        self.denied: set[tuple[str, Effect]] = set()
        self.denials = dict.fromkeys(TURNS, 0)
        """In each conversation, since somebody lifted them."""
        self.is_paused = False
        self.grants: dict[str, Allowed] = {}
        self.ended: dict[str, State] = {}
        self.town = Town(self.stores_anew(), self.clock)
        self.do(begin_conversations(self.town.stores))

    def do(self, work: Awaitable[T]) -> T:
        async def waited() -> T:
            return await work

        return self.loop.run(waited())

    def stores_anew(self) -> Stores:
        path = Path(self.folder.name) / "sayso.db"
        self.database = self.do(SqliteDatabase.open(path, self.clock))
        self.processes += 1
        return Stores(self.database, f"process {self.processes}")

    def teardown(self) -> None:
        try:
            self.the_audit_log_tells_of_every_move_and_of_none_that_may_not_be()
        finally:
            self.do(self.database.aclose())
            self.loop.close()
            self.folder.cleanup()

    def now(self, known: Known) -> Request:
        found = self.do(self.town.stores.requests.get(TENANT, known.id))
        assert found is not None
        return found

    def pick(self, data: st.DataObject) -> Known:
        """Choose a request, more often than not one that lives."""
        every = list(self.known.values())
        live = [one for one in every if one.id not in self.ended]
        return data.draw(st.sampled_from(live or every) | st.sampled_from([*every, *live, *live]))

    # What people do.

    @initialize()
    def somebody_asks(self) -> None:
        self.propose("alice", (APPEND.name, "alpha"), CONVERSATION)
        assert self.known

    @rule(
        person=st.sampled_from(["alice", "alice", "bob", "carol"]),
        tool=st.sampled_from([tool.name for tool in TOOLS]),
        word=words,
        conversation=st.sampled_from(sorted(TURNS)),
    )
    def ask(self, person: str, tool: str, word: str, conversation: str) -> None:
        self.propose(person, (tool, word), conversation)

    def propose(
        self, person: str, effect: Effect, conversation: str, old: Known | None = None
    ) -> None:
        proposal = a_proposal(
            self.town.tool(effect[0]).check({"word": effect[1]}, {}),
            turn=TURNS[conversation],
            conversation=conversation,
            requester=person,
            supersedes=old.id if old else None,
        )
        try:
            request = self.do(self.town.ask(proposal))
        except SaysoError as error:
            note(f"not asked: {error.shown}")
            return
        if old:
            self.denied.discard((conversation, effect))
        assert old or self.denials[conversation] < MOST_DENIALS
        self.keep(request, effect, old.editors if old else frozenset())

    def keep(self, request: Request, effect: Effect, editors: frozenset[str]) -> Known:
        """Note a request that somebody was just asked about, or that needs nobody."""
        assert (request.conversation, effect) not in self.denied, "I13"
        assert not self.town.switches.plan_only
        assert not self.is_paused
        assert "dev" in self.town.groups[request.requester]
        known = self.known.setdefault(
            request.id,
            Known(
                id=request.id,
                conversation=request.conversation,
                requester=request.requester,
                effect=effect,
                rule=self.town.rule(effect[0]),
                rests_on=self.town.rests_on(effect),
                editors=editors,
                under=request.under.grant if request.under else None,
            ),
        )
        if request.under:
            known.votes = self.grants[request.under.grant].votes
            assert self.grants[request.under.grant].covers(known, self.clock.now())
        return known

    @rule(person=people, platform=platforms, word=words, data=st.data())
    def edit(self, person: str, platform: Platform, word: str, data: st.DataObject) -> None:
        known = self.pick(data)
        was = self.now(known).state
        try:
            request = self.do(self.town.edited(account(person, platform), known.id, word=word))
        except SaysoError as error:
            note(f"not edited: {error.shown}")
            return
        assert was is State.OPEN
        assert self.now(known).state is State.SUPERSEDED
        assert request.voters == ()
        self.keep(request, (known.effect[0], word), known.editors | {person})

    @rule(person=people, platform=platforms, uses=st.integers(1, 3), data=st.data())
    def propose_grant(
        self, person: str, platform: Platform, uses: int, data: st.DataObject
    ) -> None:
        """Have people be asked for a standing grant of what a request showed."""
        self.propose_one(self.pick(data), account(person, platform), uses)

    def propose_one(self, known: Known, identity: Identity, uses: int) -> Known | None:
        event = ProposeGrant(identity=identity, request=known.id, uses=uses, lasts=LASTS)
        try:
            grant, _ = self.do(self.town.granting.propose(event))
        except SaysoError as error:
            note(f"no grant proposed: {error.shown}")
            return None
        asked = self.do(self.town.stores.requests.get(TENANT, grant.request))
        assert asked
        made = self.keep(asked, known.effect, frozenset())
        made.lets = grant.id
        self.grants.setdefault(grant.id, Allowed(asked=made, uses=uses))
        return made

    @rule(uses=st.integers(1, 3), times=st.integers(1, 4), votes=enough, data=st.data())
    def use_a_grant(
        self, uses: int, times: int, votes: list[tuple[str, Platform]], data: st.DataObject
    ) -> None:
        """Have a grant be allowed, and ask for what it covers more often than it lets that run."""
        known = self.pick(data)
        made = self.propose_one(known, account("alice", "slack"), uses)
        if made is None:
            return
        self.run_one(made, votes)
        change = data.draw(st.none() | changes)
        for time in range(times):
            self.propose(known.requester, known.effect, known.conversation)
            newest = list(self.known.values())[-1]
            self.run_one(newest, change=change if time == 1 else None)

    @rule(data=st.data())
    def revoke_grant(self, data: st.DataObject) -> None:
        if self.grants:
            name = data.draw(st.sampled_from(list(self.grants)))
            if self.do(self.town.stores.grants.revoke(TENANT, name, principal="bob")):
                self.grants[name].is_over = True

    @rule(person=people)
    def pause_or_resume(self, person: str) -> None:
        brakes = self.town.stores.brakes
        if self.is_paused:
            self.do(brakes.resume(TENANT, principal=person))
        else:
            self.do(brakes.pause(TENANT, principal=person, reason=""))
        self.is_paused = not self.is_paused

    @rule(conversation=st.sampled_from(sorted(TURNS)))
    def lift(self, conversation: str) -> None:
        if self.do(self.town.stores.brakes.lift(TENANT, conversation, principal="bob")):
            self.denials[conversation] = 0

    @rule(votes=votes, data=st.data())
    def approve(self, votes: list[tuple[str, Platform]], data: st.DataObject) -> None:
        known = self.pick(data)
        for person, platform in votes:
            self.approve_one(known, person, platform)

    def approve_one(self, known: Known, person: str, platform: Platform) -> None:
        before = self.now(known)
        try:
            self.do(self.town.approve(account(person, platform), known.id))
        except SaysoError as error:
            note(f"not approved: {error.shown}")
            assert self.now(known).voters == before.voters
            return
        assert known.rule.requester_may_vote or person not in known.asked_by
        assert person in self.town.ever_approved
        assert not self.is_paused
        if before.state is State.OPEN:
            known.votes.add(person)

    @rule(person=breakers, platform=platforms, change=st.none() | changes, data=st.data())
    def break_glass(
        self, person: str, platform: Platform, change: Change | None, data: st.DataObject
    ) -> None:
        """Have somebody let a new request run alone, or any other, and run it where they did."""
        if data.draw(st.booleans()):
            self.propose("alice", (data.draw(tools), data.draw(words)), CONVERSATION)
            known = list(self.known.values())[-1]
        else:
            known = self.pick(data)
        self.break_one(known, person, platform)
        if known.broken_by:
            lost = partial(Town.change_group, person=person, group="breakers")
            self.run_one(known, change=data.draw(st.just(change) | st.just(lost)))

    def break_one(self, known: Known, person: str, platform: Platform) -> None:
        before = self.now(known)
        click = BreakGlass(identity=account(person, platform), request=known.id, reason="it burns")
        try:
            voted = self.do(self.town.gate.break_glass(click))
        except SaysoError as error:
            note(f"glass not broken: {error.shown}")
            after = self.now(known)
            assert (after.broken_by, after.voters) == (before.broken_by, before.voters)
            return
        if voted.yes is Yes.LATE:
            assert before.broken_by
            return
        assert person in self.town.ever_broke
        assert before.state in LIVE
        assert not self.is_paused
        assert (before.broken_by, known.lets) == (None, None)
        assert known.rule.requester_may_vote or person not in known.asked_by
        known.broken_by = person
        if before.state is State.OPEN:
            known.votes.add(person)

    @rule(person=people, platform=platforms, data=st.data())
    def deny(self, person: str, platform: Platform, data: st.DataObject) -> None:
        known = self.pick(data)
        was_live = self.now(known).state in LIVE
        try:
            self.do(self.town.deny(account(person, platform), known.id, "no"))
        except SaysoError as error:
            note(f"not denied: {error.shown}")
            return
        assert was_live
        assert person in self.town.ever_approved
        self.denials[known.conversation] += 1
        if known.lets:
            self.grants[known.lets].is_over = True
        else:
            self.denied.add((known.conversation, known.effect))

    @rule(person=people, platform=platforms, data=st.data())
    def ask_again(self, person: str, platform: Platform, data: st.DataObject) -> None:
        known = self.pick(data)
        try:
            old = self.do(self.town.again(account(person, platform), known.id))
        except SaysoError as error:
            note(f"not asked again: {error.shown}")
            return
        own = person == known.requester and old.state is not State.DENIED
        assert own or person in self.town.ever_approved
        self.propose(person, known.effect, known.conversation, known)

    # What runs.

    @rule(votes=enough | votes, change=st.none() | changes, death=deaths, data=st.data())
    def run(
        self,
        votes: list[tuple[str, Platform]],
        change: Change | None,
        death: Death | None,
        data: st.DataObject,
    ) -> None:
        """Agree to a request and run it as the job of a process, which may die at any moment of it."""
        self.run_one(self.pick(data), votes, change, death)

    def run_one(
        self,
        known: Known,
        votes: Sequence[tuple[str, Platform]] = (),
        change: Change | None = None,
        death: Death | None = None,
    ) -> None:
        for person, platform in votes:
            self.approve_one(known, person, platform)
        if change:
            change(self.town)
        job = self.do(self.claimed(known))
        if job is None:
            assert self.now(known).state is not State.GRANTED, "nobody will ever run it"
            return
        if death != "unspent":
            spent = self.spent(known, job)
            if spent and death != "spent":
                self.do(self.executed(spent, job, death))
        if death:
            self.restart()
        elif self.now(known).state is State.GRANTED:  # as the engine does with what waits
            self.do(self.database.transact(lambda now: jobs.put_back(now, job, None)))
        else:
            self.do(self.database.transact(lambda now: jobs.finish(now, job, JobState.DONE)))

    async def claimed(self, known: Known) -> Job | None:
        owner, name = self.town.stores.owner, job_of(known.id)
        found = await self.database.transact(
            lambda now: jobs.claim(now, owner, LEASE, [RUN], most=1, only=name)
        )
        return found[0] if found else None

    def spent(self, known: Known, job: Job) -> Spent | None:
        """Spend it as its job does: then, and only then, where it may run."""
        request = self.now(known)
        if request.state is State.SPENT:
            return self.do(self.town.stores.requests.resume(request, job=job))
        if request.state is not State.GRANTED:
            return None
        may_run = self.town.may_run(known) and self.still_allowed(known)
        try:
            spent = self.do(self.town.gate.spend(request, job))
        except SaysoError as error:
            note(f"not run: {error.shown}")
            spent = None
        expected = State.SPENT if may_run else State.REVOKED
        assert self.now(known).state is (State.GRANTED if self.is_paused else expected)
        assert (spent is not None) is (may_run and not self.is_paused and not known.lets)
        if may_run and not self.is_paused:
            self.count(known)
        return spent

    def still_allowed(self, known: Known) -> bool:
        """Whether the standing grant that something rests on still lets it run."""
        if known.under is None:
            return True
        stored = self.do(self.town.stores.grants.get(TENANT, known.under))
        assert stored
        is_active = stored.state is GrantState.ACTIVE
        return is_active and self.grants[known.under].covers(known, self.clock.now())

    def count(self, known: Known) -> None:
        """Note what was just spent on, or under, a standing grant."""
        if known.lets:
            self.grants[known.lets].until = self.clock.now() + LASTS
        if known.under:
            self.grants[known.under].used += 1

    async def executed(self, spent: Spent, job: Job, death: Death | None) -> None:
        """Run its steps; a process that dies is one that is never heard of again."""
        execution = Execution(
            store=self.town.stores.runs, runner=self.town.counted, keeping=keeping()
        )
        dies_in = step_id(spent.run.id, int(death[-1])) if death else ""
        self.town.runner.meanwhile[()] = partial(self.maybe_hang, dies_in)
        running = asyncio.create_task(execution.execute(spent, FakeHold(job), FakeWatch()))
        self.hangs.clear()
        hanging = asyncio.create_task(self.hangs.wait())
        await asyncio.wait({running, hanging}, return_when=asyncio.FIRST_COMPLETED)
        hanging.cancel()
        running.cancel()  # does nothing to one that is done
        await asyncio.wait({running})

    async def maybe_hang(self, dies_in: str) -> None:
        if self.town.runner.step_ids[-1] == dies_in:
            self.hangs.set()
            await for_ever()

    @rule(happened=st.booleans(), data=st.data())
    def resolve(self, data: st.DataObject, *, happened: bool) -> None:
        known = self.pick(data)
        run = self.do(self.town.stores.runs.run_of(TENANT, known.id))
        unknown = [s.index for s in run.steps if s.state is StepState.UNKNOWN] if run else []
        if run and unknown:
            self.do(
                self.town.stores.runs.resolve(
                    TENANT, run.id, unknown[0], happened=happened, principal="bob"
                )
            )

    # What happens around them.

    @rule()
    def restart(self) -> None:
        """Kill the process and start another, which notices."""
        dead = self.town.stores.owner
        self.do(self.database.aclose())
        self.town.stores = self.stores_anew()
        self.do(notice(self.town.stores, dead, by=self.town.stores.owner))

    @rule(change=changes)
    def something_changes(self, change: Change) -> None:
        change(self.town)

    @rule()
    def all_is_well_again(self) -> None:
        self.town.back_to_normal()

    @rule(minutes=st.integers(1, 20))
    def time_passes(self, minutes: int) -> None:
        self.clock.pass_by(timedelta(minutes=minutes))

    @rule(offset=st.sampled_from([-A_MOMENT, timedelta(0), A_MOMENT]), data=st.data())
    def time_comes_close_to_an_end(self, offset: timedelta, data: st.DataObject) -> None:
        left = self.now(self.pick(data)).expires_at + offset - self.clock.now()
        if left > timedelta(0):
            self.clock.pass_by(left)

    # What holds whatever happens.

    @invariant()
    def every_request_is_decided_by_distinct_people_and_ends_once(self) -> None:
        found = {one.id: one for one in self.do(self.town.stores.records.requests())}
        assert found.keys() == self.known.keys()
        for name, request in found.items():
            voters = request.voters
            assert len(voters) == len(set(voters))
            assert set(voters) == self.known[name].votes
            assert name not in self.ended or self.ended[name] is request.state
            if request.state not in LIVE:
                self.ended[name] = request.state
            elif request.state is State.GRANTED:
                is_enough = len(voters) >= self.known[name].rule.quorum
                assert is_enough or request.broken_by
            assert request.broken_by == self.known[name].broken_by
            assert bool(request.under) is bool(self.known[name].under)
        live = [one for one in found.values() if one.state in LIVE]
        assert all(one.expires_at > self.clock.now() for one in live)
        plans = [self.known[one.id] for one in live if not self.known[one.id].lets]
        assert not {(one.conversation, one.effect) for one in plans} & self.denied
        for conversation in TURNS:
            assert sum(one.conversation == conversation for one in live) <= MOST_OPEN
        for grant in self.grants.values():
            assert grant.used <= grant.uses

    @invariant()
    def i1_i4_only_what_was_spent_ran_exactly_as_shown_and_no_step_twice(self) -> None:
        runs = self.do(self.town.stores.records.runs())
        spent = [
            name
            for name, state in self.ended.items()
            if state is State.SPENT and not self.known[name].lets
        ]
        assert sorted(run.request for run in runs) == sorted(spent)
        shown = dict[str, tuple[str, ...]]()
        for run in runs:
            request = self.now(self.known[run.request])
            steps = [words_of(step) for call in request.plan.calls for step in call.steps]
            shown |= {step_id(run.id, number): argv for number, argv in enumerate(steps)}
            self.no_step_ran_that_did_not_begin(run)
        effects = [(name, words_of(step)) for name, step in self.town.runner.steps if name in shown]
        assert len(dict(effects)) == len(effects)
        assert all(shown[name] == argv for name, argv in effects)
        assert len(effects) == len(self.town.effects())

    def no_step_ran_that_did_not_begin(self, run: Run) -> None:
        ran = set(self.town.runner.step_ids)
        never = {StepState.PENDING, StepState.NOT_RUN, StepState.CANCELLED}
        for step in run.steps:
            began = step_id(run.id, step.index) in ran
            assert began or step.state in never
            # What a person says did not happen is not run, whatever was begun.
            assert not (began and step.state in never - {StepState.NOT_RUN})
        if run.state is RunState.SUCCEEDED:
            assert {step.state for step in run.steps} == {StepState.SUCCEEDED}

    @invariant()
    def nothing_is_lost(self) -> None:
        self.do(at_rest(self.town.stores))

    def the_audit_log_tells_of_every_move_and_of_none_that_may_not_be(self) -> None:
        entries = self.do(self.town.stores.records.audit())
        assert isinstance(audit.verify(entries), audit.Intact)
        told: dict[str, State] = {}
        for entry in entries:
            said = state_told(entry)
            if said:
                request, state = said
                if request in told:
                    assert state in EDGES[told[request]]
                else:
                    assert (state is State.GRANTED) is bool(self.known[request].under)
                told[request] = state
        now = {name: self.now(known).state for name, known in self.known.items()}
        assert told == now


def test_whatever_happens_to_requests_over_their_whole_life_the_invariants_hold() -> None:
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=80,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
