"""The bounded loop: look, look, then an answer or a proposal. It performs no effect and the model controls no exit."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from core.canonical import Json
from core.errors import Incorrect, Refused, SaysoError, Unavailable
from core.jobs import LeaseLost
from core.ports import Ended, Ending, Model, Runner
from core.redaction import Redactor
from core.tools import RESERVED, Checked, Effect, Toolbox
from core.transcript import (
    AgentText,
    Called,
    Entry,
    Heard,
    Move,
    Result,
    Returned,
    Say,
    ToolCall,
    Use,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far one turn may go."""

    turns: int = 8
    tool_calls: int = 16
    seconds: float = 120.0


class Reason(StrEnum):
    """Why a turn ended; each turn has exactly one."""

    ANSWERED = "answered"
    PROPOSED = "proposed"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_SECONDS = "max_seconds"
    MODEL_UNAVAILABLE = "model_unavailable"
    STOPPED = "stopped"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What one turn may use. Who asks is nowhere in here, so no argument can change it."""

    turn: str
    tools: Toolbox
    defaults: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn ended, what to say about it, and the request that it opened, if it did."""

    reason: Reason
    text: str
    suggestions: tuple[str, ...] = ()
    request: str | None = None


Admitted: TypeAlias = Checked | Result
"""A call that may be made, or why it may not."""
Propose: TypeAlias = Callable[[Sequence[Checked], AgentText, str], Awaitable[str]]
"""Freezes gated calls as one plan and returns its request's id; raises `Refused` with the reason.

The text is what the reads of the same step found. Where it returns, the turn has ended.
"""

_ENDED = {
    Reason.MAX_TURNS: "I stopped: this took more steps than one turn may have. Ask for less at once.",
    Reason.MAX_TOOL_CALLS: "I stopped: this needs more tool calls than one turn may make. Ask for less at once.",
    Reason.MAX_SECONDS: "I stopped: this took longer than one turn may take. Nothing was changed.",
    Reason.MODEL_UNAVAILABLE: "The model did not answer. Nothing was changed; try again in a while.",
}


_ENDINGS = {
    Ending.TIMED_OUT: "it ran longer than its time limit",
    Ending.TOO_MUCH_OUTPUT: "it printed more than its output limit",
    Ending.NOT_STARTED: "it could not be started",
}


@dataclass(frozen=True, slots=True)
class Dictated:
    """A `Model` for a command that a person typed: that call, then what came of it."""

    call: ToolCall

    async def next_move(self, entries: Sequence[Entry], tools: Toolbox) -> Move:
        """Make the one call, then say its result as it is."""
        del tools
        last = entries[-1]
        if isinstance(last, Returned):
            return Say(text="\n".join(result.text for result in last.results))
        return Use(calls=(self.call,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Lets a model move until it answers, proposes or runs into a limit."""

    runner: Runner
    redactor: Redactor
    limits: Limits

    async def turn(
        self, heard: Heard, *, model: Model, session: Session, propose: Propose
    ) -> Outcome:
        """Answer one message and return how it ended; failures are outcomes, not exceptions."""
        deadline = asyncio.get_running_loop().time() + self.limits.seconds
        entries: list[Entry] = [heard]
        for _ in range(self.limits.turns):
            try:
                async with asyncio.timeout_at(deadline):
                    move = await model.next_move(tuple(entries), session.tools)
                    if isinstance(move, Say):
                        return self._answer(move)
                    if _calls(entries) + len(move.calls) > self.limits.tool_calls:
                        return _ended(Reason.MAX_TOOL_CALLS)
                    admitted = _all_admitted(move, session)
                    results = await self._look(admitted, session)
            except (TimeoutError, Unavailable) as error:
                late = isinstance(error, TimeoutError)
                return _ended(Reason.MAX_SECONDS if late else Reason.MODEL_UNAVAILABLE)
            # Outside the deadline: a request that was stored must also be reported.
            seen = "\n".join(result.text for result in results.values())
            request, refusals = await _proposed(admitted, move.about, seen, propose)
            if request is not None:
                return Outcome(reason=Reason.PROPOSED, text=seen, request=request)
            entries += [Called(calls=move.calls), _returned(move, {**results, **refusals})]
        return _ended(Reason.MAX_TURNS)

    def _answer(self, move: Say) -> Outcome:
        text = self.redactor.text(move.text)
        return Outcome(reason=Reason.ANSWERED, text=text, suggestions=move.suggestions)

    async def _look(self, admitted: Mapping[str, Admitted], session: Session) -> dict[str, Result]:
        """Run every read at once; return its result, and that of every call that was refused."""
        reads = {
            key: call
            for key, call in admitted.items()
            if isinstance(call, Checked) and call.tool.effect is Effect.READ
        }
        found = await asyncio.gather(
            *(self._result(key, call, f"{session.turn}.{key}") for key, call in reads.items())
        )
        refused = {key: call for key, call in admitted.items() if isinstance(call, Result)}
        return {**refused, **{result.call: result for result in found}}

    async def _result(self, key: str, checked: Checked, step_id: str) -> Result:
        try:
            return await self._read(key, checked, step_id)
        except SaysoError as error:
            return _refusal(key, error)

    async def _read(self, key: str, checked: Checked, step_id: str) -> Result:
        """Run a read to its end or to its first failing step."""
        shown: list[str] = []
        for step in checked.tool.expand(checked.arguments).steps:
            obstacle = self.runner.obstacle(step)
            if obstacle:
                return Result(call=key, text=f"{checked.tool.name}: {obstacle}", failed=True)
            ended = await self.runner.run(step, step_id=step_id)
            shown.append(ended.output.rstrip("\n"))
            if ended.exit_code != 0:
                failure = f"{checked.tool.name} failed: {ending_in_words(ended)}."
                return Result(
                    call=key, text="\n".join([failure, *filter(None, shown)]), failed=True
                )
        text = "\n".join(filter(None, shown)) or f"{checked.tool.name}: done, it printed nothing."
        return Result(call=key, text=text)


def ending_in_words(ended: Ended) -> str:
    """Say how a command ended."""
    if ended.ending is not Ending.EXITED:
        return _ENDINGS[ended.ending]
    code = ended.exit_code or 0
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _calls(entries: Sequence[Entry]) -> int:
    return sum(len(entry.calls) for entry in entries if isinstance(entry, Called))


def _all_admitted(move: Use, session: Session) -> dict[str, Admitted]:
    if len({call.id for call in move.calls}) < len(move.calls):
        text = "Not run: two calls have one id. Make them again, each with an id of its own."
        return {c.id: Result(call=c.id, text=text, failed=True) for c in move.calls}
    return {call.id: _admitted(call, session) for call in move.calls}


def _admitted(call: ToolCall, session: Session) -> Admitted:
    """Check a call; what is wrong with it is its result."""
    own = {name: value for name, value in call.arguments.items() if name not in RESERVED}
    try:
        return session.tools[call.tool].check(own, session.defaults)
    except Refused as refusal:
        return _refusal(call.id, refusal)


async def _proposed(
    admitted: Mapping[str, Admitted], about: AgentText, seen: str, propose: Propose
) -> tuple[str | None, dict[str, Result]]:
    """Propose all gated calls of the step as one plan, or answer each of them with why not."""
    gated = {
        key: call
        for key, call in admitted.items()
        if isinstance(call, Checked) and call.tool.effect is Effect.WRITE
    }
    if not gated:
        return None, {}
    if any(isinstance(call, Result) for call in admitted.values()):
        text = "Not proposed: another call of this step has to be corrected first."
        return None, {key: Result(call=key, text=text, failed=True) for key in gated}
    try:
        return await propose(tuple(gated.values()), about, seen), {}
    except LeaseLost:
        raise  # nothing that this process does counts any more
    except SaysoError as refusal:
        return None, {key: _refusal(key, refusal) for key in gated}


def _refusal(call: str, error: SaysoError) -> Result:
    correctable = isinstance(error, Incorrect)
    return Result(call=call, text=error.shown, failed=True, correctable=correctable)


def _returned(move: Use, results: Mapping[str, Result]) -> Returned:
    return Returned(results=tuple(results[call.id] for call in move.calls))


def _ended(reason: Reason) -> Outcome:
    return Outcome(reason=reason, text=_ENDED[reason])
