"""What happens when somebody stops: never queued, and answered with what it did."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from approvals import entitlement
from approvals.cards import STOPPED
from approvals.gate import Gate
from approvals.models import Request, Run, RunState, State, StepState
from approvals.policy import Authority
from approvals.store import ApprovalStore, RunStore
from core.conversations import Conversations, Turn
from core.events import Stop, StopRun
from core.outcomes import Reason
from core.ports import Processes
from core.principals import Identity, Principal
from core.roster import Freshness

T = TypeVar("T")
_NOT_YOURS = "You may not stop that. Whoever asked for it may, and whoever has run:stop."
_PATIENCE = 3.0
"""Seconds to wait for what was stopped to be gone, so that the answer can tell what became of it."""
_SOON = 0.7
"""Seconds in which whoever runs it ends it by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What a stop did, counted after it was done."""

    turns: tuple[Turn, ...] = ()
    runs: tuple[Run, ...] = ()
    requests: tuple[Request, ...] = ()
    kept: tuple[Turn, ...] = ()
    """Messages that wait behind what was stopped, and are answered next."""
    pending: tuple[Turn | Run, ...] = ()
    """What was told to end and is not gone yet."""
    choices: tuple[Turn | Run | Request, ...] = ()
    """Several things that run or wait, of which none was stopped: the person has to say which."""
    asked: Mapping[str, Request] = field(default_factory=dict[str, Request], compare=False)
    """The requests of runs, by id."""

    @property
    def steps_cut(self) -> int:
        """Return how many steps of runs were cut, each of them killed and unknown."""
        steps = (step for run in self.runs for step in run.steps)
        return sum(step.state is StepState.UNKNOWN for step in steps)

    @property
    def killed(self) -> int:
        """Return how many commands were killed: steps of runs, and what turns looked at."""
        return self.steps_cut + sum(turn.killed for turn in self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Live:
    """What somebody may stop."""

    turns: tuple[Turn, ...]
    """Those that are being answered."""
    queued: tuple[Turn, ...]
    runs: tuple[Run, ...]
    requests: tuple[Request, ...]
    asked: Mapping[str, Request] = field(default_factory=dict[str, Request])
    """The requests of these runs, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Ends turns and runs, and withdraws requests."""

    conversations: Conversations
    requests: ApprovalStore
    runs: RunStore
    gate: Gate
    processes: Processes

    async def stop(self, event: Stop) -> Stopped:
        """Stop a conversation, or what the person may stop here.

        In a conversation, what is being answered, runs and requests end, and messages that wait are
        kept; `everything` takes those too, and so does a stop that finds nothing else. Otherwise the
        one thing that runs is stopped or, only if nothing runs, the one request that waits is
        withdrawn; several are only listed. Idle is no failure, so a second stop is harmless; nor is
        a conversation that this person may not know of.
        """
        authority, principal = await self.gate.acting.who(event.identity, Freshness.HELD)
        live = await self._live(authority, principal, event)
        if event.conversation is None and not event.everything:
            running: tuple[Turn | Run, ...] = (*live.turns, *live.runs)
            some: tuple[Turn | Run | Request, ...] = running or live.requests
            if len(some) > 1:
                return Stopped(choices=some, asked=live.asked)
            live = replace(live, requests=()) if running else live
        nothing_else = not (live.turns or live.runs or live.requests)
        return await self._stopped(
            authority, principal, live, all_turns=event.everything or nothing_else
        )

    async def elsewhere(self, identity: Identity) -> Stopped:
        """Return what this person may stop, wherever it is, as choices; stop none of it."""
        authority, principal = await self.gate.acting.who(identity, Freshness.HELD)
        live = await self._live(authority, principal, Stop(identity=identity))
        return Stopped(choices=(*live.turns, *live.runs, *live.requests), asked=live.asked)

    async def stop_run(self, event: StopRun) -> Stopped:
        """Stop exactly the run of a request, and nothing where it has ended."""
        authority, principal, request = await self.gate.seen(
            event.identity, event.request, Freshness.HELD
        )
        if not entitlement.may_stop(authority, principal, request):
            await self.gate.acting.refuse(principal, request.id, _NOT_YOURS)
        run = await self.runs.run_of(principal.tenant, request.id)
        runs = (run,) if run and run.state is RunState.RUNNING else ()
        live = _Live(turns=(), queued=(), runs=runs, requests=())
        return await self._stopped(authority, principal, live, all_turns=False)

    async def _live(self, authority: Authority, principal: Principal, event: Stop) -> _Live:
        tenant, where = principal.tenant, event.conversation
        turns = await self.conversations.waiting(tenant, where)
        asked = [one for one in turns if entitlement.may_stop_turn(authority, principal, one.turn)]
        work = [*await self._running(tenant, where), *await self._open(tenant, where)]
        theirs = [one for one in work if entitlement.may_stop(authority, principal, one[0])]
        seen = [one for one in work if entitlement.may_see(authority, principal, one[0])]
        heard = [one for one in turns if entitlement.may_chat(authority, principal, one.turn.place)]
        if where and (seen or heard) and not (theirs or asked):
            await self.gate.acting.refuse(principal, where, _NOT_YOURS)
        return _Live(
            turns=tuple(one.turn for one in asked if one.runs),
            queued=tuple(one.turn for one in asked if not one.runs),
            runs=tuple(run for _, run in theirs if run),
            requests=tuple(request for request, run in theirs if not run),
            asked={request.id: request for request, run in theirs if run},
        )

    async def _running(
        self, tenant: str, conversation: str | None
    ) -> Sequence[tuple[Request, Run | None]]:
        found = list[tuple[Request, Run | None]]()
        for run in await self.runs.live(tenant, conversation):
            request = await self.requests.get(tenant, run.request)
            if request:
                found.append((request, run))
        return found

    async def _open(
        self, tenant: str, conversation: str | None
    ) -> Sequence[tuple[Request, Run | None]]:
        return [(request, None) for request in await self.requests.live(tenant, conversation)]

    async def _stopped(
        self, authority: Authority, principal: Principal, live: _Live, *, all_turns: bool
    ) -> Stopped:
        """Tell everything first and wait afterwards, so that nothing outlives the wait for another."""
        turns = (*live.turns, *(live.queued if all_turns else ()))
        for turn in turns:
            await self.conversations.stop(turn, principal=principal.id)
        for run in live.runs:
            await self.runs.stop(run, principal=principal.id)
        withdrawn, begun = await self._withdrawn(principal, live.requests)
        ended, gone = await asyncio.gather(
            asyncio.gather(*map(self._turn_gone, turns)),
            asyncio.gather(*map(self._run_gone, (*live.runs, *begun))),
        )
        late = await self._proposed_meanwhile(authority, principal, ended)
        more, begun_late = await self._withdrawn(principal, late)
        gone += await asyncio.gather(*map(self._run_gone, begun_late))
        runs = (*live.runs, *begun, *begun_late)
        touched: tuple[Turn | Run | Request, ...] = (*turns, *runs, *withdrawn)
        places = {one.conversation for one in touched}
        kept = () if all_turns else tuple(t for t in live.queued if t.conversation in places)
        return Stopped(
            turns=tuple(one for one in ended if one.reason is Reason.STOPPED),
            runs=tuple(one for one in gone if one.state is not RunState.RUNNING),
            requests=(*withdrawn, *more),
            kept=kept,
            pending=(
                *(one for one in ended if one.reason is None),
                *(one for one in gone if one.state is RunState.RUNNING),
            ),
            asked=live.asked,
        )

    async def _proposed_meanwhile(
        self, authority: Authority, principal: Principal, ended: Iterable[Turn]
    ) -> tuple[Request, ...]:
        """Return what turns that could no longer be told have opened, as far as it may be stopped."""
        opened = [
            await self.requests.get(principal.tenant, turn.request)
            for turn in ended
            if turn.request
        ]
        return tuple(
            one for one in opened if one and entitlement.may_stop(authority, principal, one)
        )

    async def _withdrawn(
        self, principal: Principal, requests: Iterable[Request]
    ) -> tuple[tuple[Request, ...], tuple[Run, ...]]:
        """Return what was withdrawn, and what began before it could be and was told to end."""
        withdrawn, begun = list[Request](), list[Run]()
        for request in requests:
            ended = await self.requests.revoke(
                principal.tenant,
                request.id,
                principal=principal.id,
                reason=f"{principal.id}{STOPPED}",
            )
            run = await self.runs.run_of(principal.tenant, request.id)
            if ended.state is State.REVOKED and ended.ended_by == principal.id:
                withdrawn.append(ended)
            elif run and run.state is RunState.RUNNING:
                await self.runs.stop(run, principal=principal.id)
                begun.append(run)
        return tuple(withdrawn), tuple(begun)

    async def _turn_gone(self, turn: Turn) -> Turn:
        async def now() -> Turn:
            return await self.conversations.turn(turn.tenant, turn.id) or turn

        return await self._settled(turn.id, now, lambda one: one.reason is not None)

    async def _run_gone(self, run: Run) -> Run:
        async def now() -> Run:
            return await self.runs.run(run.tenant, run.id) or run

        return await self._settled(run.id, now, lambda one: one.state is not RunState.RUNNING)

    async def _settled(
        self, name: str, look: Callable[[], Awaitable[T]], is_over: Callable[[T], bool]
    ) -> T:
        """Look until it is over, or for as long as anybody would wait.

        What its own process does not end soon is killed here: that process may be paused.
        """
        now = asyncio.get_running_loop().time
        begin = now()
        while True:
            found = await look()
            if is_over(found) or now() >= begin + _PATIENCE:
                return found
            if now() >= begin + _SOON:
                self.processes.kill(name)
            await asyncio.sleep(0.02)
