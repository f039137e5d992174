"""What audit entries tell about a request and its run, one after another.

It is the machine of `approvals.models` once more, driven by nothing but the entries: whatever could
not have followed what was told before is no true story.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import cast

from approvals.models import RunState, StepState
from approvals.receipts.document import MADE, Asked, Ran, asked_digest
from approvals.run_ends import end_of, lets_on
from core import canonical
from core.audit import Entry
from core.canonical import Json, JsonObject
from core.errors import Refused
from core.plans import OnFailure

REFUSED = "attempt.refused"
BROKEN = "request.broken"
"""Somebody let it run without what its rule demands."""
_NO_OUTPUT = canonical.sha256("")
_ENDS = (StepState.SUCCEEDED, StepState.FAILED, StepState.UNKNOWN, StepState.CANCELLED)
"""How a step can end by itself."""


@dataclass
class ToldStep:
    """A step as it was told. `exit_code` and `output` are what its own end said."""

    is_codeless: bool = False
    """Whether it is no command, so that it has no exit code however it ends."""
    state: StepState = StepState.PENDING
    exit_code: int | None = None
    output_sha256: Json = _NO_OUTPUT
    on_failure: OnFailure = "stop"
    started_at: str | None = None
    ended_at: str | None = None


@dataclass
class Telling:
    """What was told so far."""

    request: Asked
    plan_sha256: str
    run: Ran
    steps: list[ToldStep]
    votes: dict[str, str] = field(default_factory=dict[str, str])
    """When each person said yes, in order."""
    coded: set[str] = field(default_factory=set[str])
    """Whose yes came with a code of their second factor."""
    card_sha256: Json = None
    times_asked: int = 0
    is_edited: bool = False
    is_granted: bool = False
    broken_by: str | None = None
    """Who let it run without what its rule demands."""
    state: RunState | None = None
    """Of the run; None before it began."""
    started_at: str = ""
    ended_at: str = ""

    def hear(self, entry: Entry) -> None:
        """Take in one more entry; raise `Refused` where it cannot follow."""
        if not _KINDS[entry.kind](self, entry, facts_of(entry)):
            raise Refused(
                f"Audit entry {entry.seq} ({entry.kind}) does not fit what was told before it, or "
                "what the receipt says."
            )

    @property
    def is_open(self) -> bool:
        """Whether people may still vote."""
        return self.times_asked > 0 and not self.is_granted

    @property
    def is_live(self) -> bool:
        """Whether it waits for people, or for its run to begin."""
        return self.times_asked > 0 and self.state is None


def facts_of(entry: Entry) -> JsonObject:
    """Return what an entry says; nothing where its body is no object."""
    try:
        body = canonical.parse(entry.body)
    except Refused:
        return {}
    return body if isinstance(body, Mapping) else {}


def _opened(told: Telling, entry: Entry, facts: JsonObject) -> bool:
    request, who = told.request, str(facts.get("principal"))
    fits = told.times_asked == 0 and _says(
        facts,
        principal=who,
        request=request.id,
        conversation=request.conversation,
        plan_sha256=told.plan_sha256,
        quorum=request.rule.quorum,
        request_sha256=asked_digest(asdict(request)),
    )
    told.times_asked, told.card_sha256 = 1, facts.get("card_sha256")
    asked = who in {request.requester, *request.editors}
    return fits and asked and entry.at == request.opened_at


def _repeated(told: Telling, _: Entry, facts: JsonObject) -> bool:
    is_live = told.is_live
    told.times_asked, told.card_sha256 = told.times_asked + 1, facts.get("card_sha256")
    return is_live and _says(facts, principal=told.request.requester, request=told.request.id)


def _edited(told: Telling, _: Entry, facts: JsonObject) -> bool:
    is_news = told.is_live and not told.is_edited
    told.is_edited = True
    return is_news and _says(facts, principal=told.request.requester, request=told.request.id)


def _reminded(told: Telling, _: Entry, facts: JsonObject) -> bool:
    return told.is_open and _says(facts, request=told.request.id)


def _cast(told: Telling, entry: Entry, facts: JsonObject) -> bool:
    who = str(facts.get("principal"))
    fits = told.is_open and who not in told.votes and entry.at < told.request.expires_at
    told.votes[who] = entry.at
    if facts.get("second_factor") is True:
        told.coded.add(who)
    return fits and _says(facts, principal=who, request=told.request.id)


def _granted(told: Telling, _: Entry, facts: JsonObject) -> bool:
    enough = len(told.votes) >= told.request.rule.quorum or told.broken_by in told.votes
    fits = told.is_open and enough
    told.is_granted = True
    return fits and _says(facts, request=told.request.id)


def _broken(told: Telling, _: Entry, facts: JsonObject) -> bool:
    is_news = told.is_live and told.broken_by is None
    told.broken_by = str(facts.get("principal"))
    return is_news and _says(facts, request=told.request.id)


def _waits(told: Telling, _: Entry, facts: JsonObject) -> bool:
    return told.is_open and _says(facts, request=told.request.id)


def _started(told: Telling, entry: Entry, facts: JsonObject) -> bool:
    fits = told.is_granted and told.state is None and entry.at < told.request.expires_at
    told.state, told.started_at = RunState.RUNNING, entry.at
    return (
        fits
        and _says(facts, request=told.request.id, run=told.run.id, plan_sha256=told.plan_sha256)
        and _names(facts.get("voters")) == sorted(told.votes)
    )


def _names(value: Json) -> list[str]:
    """Return names in one order; none where anything else is among them."""
    if not isinstance(value, list) or not all(type(name) is str for name in value):
        return []
    return sorted(cast("list[str]", value))


def _resumed(told: Telling, _: Entry, facts: JsonObject) -> bool:
    untouched = all(step.state is StepState.PENDING for step in told.steps)
    is_running = told.state is RunState.RUNNING
    return is_running and untouched and _says(facts, request=told.request.id, run=told.run.id)


def _begun(told: Telling, entry: Entry, facts: JsonObject) -> bool:
    index = _index(told, facts)
    if index is None or told.state is not RunState.RUNNING:
        return False
    before, step = told.steps[:index], told.steps[index]
    fits = step.state is StepState.PENDING and all(
        lets_on(one.state, one.on_failure) for one in before
    )
    step.state, step.started_at = StepState.RUNNING, entry.at
    return fits


def _ended(told: Telling, entry: Entry, facts: JsonObject) -> bool:
    index, exit_code = _index(told, facts), facts.get("exit_code")
    end = next((state for state in _ENDS if _says(facts, state=state.value)), None)
    if index is None or told.steps[index].state is not StepState.RUNNING or end is None:
        return False
    if exit_code is not None and type(exit_code) is not int:
        return False  # true and false are no exit codes, though they equal 1 and 0
    step = told.steps[index]
    step.state, step.ended_at = end, entry.at
    step.exit_code, step.output_sha256 = exit_code, facts.get("output_sha256")
    if step.is_codeless:
        return exit_code is None
    return (end is StepState.SUCCEEDED) is (exit_code == 0)


def _run_ended(told: Telling, entry: Entry, facts: JsonObject) -> bool:
    if told.state is not RunState.RUNNING or not _says(facts, run=told.run.id):
        return False
    told.state, told.ended_at = _end_of(told.steps), entry.at
    for step in told.steps:
        if step.state is StepState.RUNNING:
            step.state, step.ended_at = StepState.UNKNOWN, entry.at
        if step.state is StepState.PENDING:
            step.state = StepState.NOT_RUN
    return _says(facts, state=told.state.value)


def _end_of(steps: list[ToldStep]) -> RunState:
    """Return what a run comes to whose steps are like this when it ends."""
    states = [step.state for step in steps]
    return RunState.UNKNOWN if StepState.RUNNING in states else end_of(steps) or RunState.CANCELLED


def _resolved(told: Telling, _: Entry, facts: JsonObject) -> bool:
    index, happened = _index(told, facts), facts.get("happened")
    if index is None or told.state is not RunState.UNKNOWN or not isinstance(happened, bool):
        return False
    step = told.steps[index]
    fits = step.state is StepState.UNKNOWN
    step.state = StepState.SUCCEEDED if happened else StepState.NOT_RUN
    told.state = end_of(told.steps) or RunState.FAILED
    return fits


def _verified(told: Telling, _: Entry, facts: JsonObject) -> bool:
    return _has_ended(told) and _index(told, facts) is not None


def _stop_asked(told: Telling, _: Entry, facts: JsonObject) -> bool:
    return told.state is RunState.RUNNING and _says(facts, run=told.run.id)


def _refused(told: Telling, _: Entry, facts: JsonObject) -> bool:
    given = canonical.sha256(told.request.id)
    return told.times_asked > 0 and _says(facts, given_sha256=given)


def _made(told: Telling, _: Entry, facts: JsonObject) -> bool:
    return _has_ended(told) and _says(facts, request=told.request.id, run=told.run.id)


def _has_ended(told: Telling) -> bool:
    return told.state not in {None, RunState.RUNNING}


def _index(told: Telling, facts: JsonObject) -> int | None:
    """Return which step of this run an entry is about; None where it is about none of them."""
    index = facts.get("index")
    is_ours = (
        type(index) is int and index in range(len(told.steps)) and _says(facts, run=told.run.id)
    )
    return cast("int", index) if is_ours else None


def _says(facts: JsonObject, **expected: str | int) -> bool:
    """Whether an entry says exactly this, whatever else it says: true is no 1."""
    return all(type(facts.get(n)) is type(v) and facts[n] == v for n, v in expected.items())


_KINDS: Mapping[str, Callable[[Telling, Entry, JsonObject], bool]] = {
    "request.opened": _opened,
    "request.repeated": _repeated,
    "request.reminded": _reminded,
    "request.edited": _edited,
    "request.escalated": _waits,
    "request.handed_over": _waits,
    BROKEN: _broken,
    "vote.cast": _cast,
    "request.granted": _granted,
    "run.started": _started,
    "run.resumed": _resumed,
    "run.stop_asked": _stop_asked,
    "step.begun": _begun,
    "step.ended": _ended,
    "run.ended": _run_ended,
    "step.resolved": _resolved,
    "step.verified": _verified,
    REFUSED: _refused,
    MADE: _made,
}
KINDS = frozenset(_KINDS)
"""What may be told about a request that was spent, and its run."""
