"""The card of a new request: what would run, and all that people have to know of it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import assert_never

from approvals import estimates, grants
from approvals.cards import APPROVERS, at, rule_in_words
from approvals.models import Rule
from core.cards import Button, Card, Fact, Verb
from core.display import json_text, odd_characters, output, quoted
from core.durations import words
from core.plans import Answer, Call, Header, HttpStep, Plan, PythonStep, RunStep, Step, ToolStep
from core.sizes import ADDRESS_SPACE, OUTPUT
from core.tools import Checked
from core.transcript import AgentText

_ASKS = ("Approve to run", "Approve a standing grant to run")
_COUNTLESS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a card says besides the plan itself."""

    requester: str
    checked: tuple[Checked, ...]
    about: AgentText
    rule: Rule
    approvers: tuple[str, ...]
    """Who may vote now, as the policy says: the requester is left out where the rule says so."""
    previews: tuple[str, ...]
    edits: tuple[Fact, ...] = ()
    """Who has edited it, and what that changed."""
    undoes: str | None = None
    """The run that this would undo."""
    doubts: tuple[str, ...] = ()
    """Runs of which a step may have done already what this would do."""
    lacking: str | None = None
    """Why too few of them could give the code that the rule demands, where that is so."""
    took: tuple[timedelta, ...] = ()
    """How long the newest runs took that did the same."""
    denied_by: str | None = None
    """Who denied it before it was asked for again, if anybody did."""


def card_for(
    plan: Plan, shown: Shown, request: str, expires_at: datetime, *, room: int = _COUNTLESS
) -> Card:
    """Return the card of a plan. `room` is how many characters of plan the platform can show.

    A plan that does not fit has no Approve button, only one to review all of it.
    """
    lines = tuple(_plan_lines(plan))
    fits = sum(len(line) + 1 for line in lines) <= room
    verb: Verb = "approve_code" if shown.rule.second_factor else "approve"
    approve = Button(label="Approve", verb=verb, request=request)
    review = Button(label="Review full plan", verb="review", request=request)
    return Card(
        title=f"{_ASKS[plan.standing is not None]}: {', '.join(plan.tools)}",
        plan=lines if fits else (f"{len(plan.calls)} calls; the full plan does not fit here",),
        facts=tuple(_facts(plan, shown, expires_at)),
        warnings=tuple(_warnings(plan, shown)),
        estimate=estimates.told(shown.took),
        preview=tuple(line for text in shown.previews for line in _printed(text)),
        unchecked=tuple(_unchecked(shown.about)),
        buttons=(
            approve if fits else review,
            Button(label="Deny", verb="deny", request=request),
        ),
    )


def _printed(text: str) -> list[str]:
    return output(text).expandtabs(4).splitlines()


def _plan_lines(plan: Plan) -> Iterator[str]:
    index = count()  # as the run counts its steps, over all calls
    for call in plan.calls:
        yield f"{call.tool} {json_text(call.arguments)}"
        yield from (f"  {next(index)}. {_step_line(step)}" for step in call.steps)
        if call.verify:
            yield f"  to verify an unknown step: {_step_line(call.verify)}"


def _step_line(step: Step) -> str:
    limit = words(timedelta(milliseconds=step.timeout_ms))
    secrets = f", secrets {json_text(list(step.secrets))}" if step.secrets else ""
    return f"{_deed(step)}, at most {limit}{_bounds(step)}{secrets}{_care(step)}"


def _care(step: Step) -> str:
    """Say what is done where it fails, if that is not to stop there."""
    retry = step.retry
    wait = words(timedelta(milliseconds=retry.wait_ms)) if retry else ""
    again = f", up to {retry.most} tries {wait} apart" if retry else ""
    return again + (", and if it fails the rest runs all the same" * (step.on_failure != "stop"))


def _deed(step: Step) -> str:
    match step:
        case RunStep():
            return f"run {json_text(list(step.argv))}"
        case HttpStep():
            return f"{step.method} {json_text(step.url)}{''.join(_request(step))}"
        case PythonStep():
            code = f" (code {step.source[:12]})" if step.source else ""
            return f"call {json_text(step.function)}{code} with {json_text(dict(step.arguments))}"
        case ToolStep():
            return f"{_server(step)} and call {json_text(step.tool)} with {json_text(dict(step.arguments))}"
        case _:
            assert_never(step)


def _server(step: ToolStep) -> str:
    started = json_text(list(step.argv))
    return f"start the MCP server {json_text(step.server)}, {started},"


def _bounds(step: Step) -> str:
    if isinstance(step, HttpStep):
        return ""
    memory = "" if step.memory_bytes == ADDRESS_SPACE else f", {step.memory_bytes} bytes of memory"
    if not isinstance(step, ToolStep) and step.output_bytes != OUTPUT:
        memory += f", {step.output_bytes} bytes of output"
    return memory + (", with the network" if step.network else "")


def _request(step: HttpStep) -> Iterator[str]:
    yield from (f", header {_header(header)}" for header in step.headers)
    if step.body is not None:
        yield f", body {json_text(step.body)}"
    yield f", expecting {' or '.join(map(str, step.statuses))}"
    yield from (f" and {_answer(answer)}" for answer in step.answers)


def _header(header: Header) -> str:
    secret = f" and the secret {json_text(header.secret)}" if header.secret else ""
    return f"{json_text(header.name)} {json_text(header.text)}{secret}"


def _answer(answer: Answer) -> str:
    return f"{json_text(answer.path)} being {json_text(answer.equals)}"


def _facts(plan: Plan, shown: Shown, expires_at: datetime) -> Iterator[Fact]:
    if plan.standing:
        yield Fact(label="Would run without a card", text=grants.terms(plan.standing))
        yield Fact(label="Proposed by", text=plan.standing.proposer)
    if shown.undoes:
        yield Fact(label="What for", text=f"Undo of run {shown.undoes}")
    differing = dict.fromkeys(text for checked in shown.checked for text in _differing(checked))
    filled = dict.fromkeys(f"{c.tool.name} {name}" for c in shown.checked for name in c.filled)
    yield Fact(label="Differs from defaults", text="; ".join(differing) or "nothing")
    if filled:
        yield Fact(label="Filled in by default", text="; ".join(filled))
    yield Fact(label="Where", text=f"folder {json_text(plan.folder)}, sandbox {plan.sandbox}")
    watched = [_watched(call) for call in plan.calls if call.fingerprints]
    if watched:
        yield Fact(label="Depends on", text="; ".join(watched))
    if plan.locks:
        yield Fact(label="Waits for", text=f"other runs that hold {_listed(plan.locks)}")
    yield Fact(label="Asked by", text=shown.requester)
    if shown.denied_by:
        yield Fact(label="Denied before", text=f"by {shown.denied_by}")
    yield from shown.edits
    counts = shown.requester in shown.approvers
    yield Fact(label="Risk", text=f"{shown.rule.name}: {rule_in_words(shown.rule, counts=counts)}")
    yield Fact(label=APPROVERS, text=", ".join(shown.approvers) or "nobody")
    yield Fact(label="Until", text=at(expires_at))
    yield Fact(label="Plan", text=f"{plan.id} sha256 {plan.sha256}")


def _differing(checked: Checked) -> Iterator[str]:
    defaults = checked.tool.defaults
    for name, value in checked.arguments.items():
        if name in defaults and defaults[name] != value:
            yield f"{checked.tool.name} {name} is {json_text(value)}, not {json_text(defaults[name])}"


def _watched(call: Call) -> str:
    return ", ".join(
        f"{json_text(f.file)} ({f.sha256[:12] if f.sha256 else 'missing'})"
        for f in call.fingerprints
    )


def _listed(locks: Sequence[str]) -> str:
    return ", ".join(json_text(lock) for lock in locks)


def _warnings(plan: Plan, shown: Shown) -> Iterator[str]:
    yield from (f"A step of run {run} may have happened already." for run in shown.doubts)
    if plan.sandbox == "none":
        yield "No sandbox: this runs with all the rights of Sayso's own account."
    for call in plan.calls:
        for name in odd_characters(call.arguments):
            yield f"{call.tool}: an argument contains {name}."
    if shown.edits and any(_unchecked(shown.about)):
        yield "What the agent says was written before it was edited."
    if len(shown.approvers) < shown.rule.quorum:
        people = "person" if len(shown.approvers) == 1 else "people"
        who = f"Only {len(shown.approvers)} {people}" if shown.approvers else "Nobody"
        yield f"{who} may approve this now; {shown.rule.quorum} must."
    if shown.lacking:
        yield shown.lacking


def _unchecked(about: AgentText) -> Iterator[str]:
    for label, text in (
        ("why", about.rationale),
        ("limits", about.limitations),
        ("instead", about.alternatives),
    ):
        yield from (f"{label}: {line}" for line in quoted(text))
