"""Keeps secrets out of plans: a card has to show what runs, so a plan may only name them. Pure."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from core.canonical import encode
from core.display import strings
from core.plans import HttpStep, PythonStep, RunStep, Step, ToolStep
from core.redaction import Redactor
from core.tools import Checked
from core.transcript import AgentText


def exposed(calls: Sequence[Checked], redactor: Redactor) -> str | None:
    """Say which call would show a secret: in an argument, or in what its arguments expand to."""
    for checked in calls:
        where = next(
            (place for place, text in _texts(checked) if redactor.text(text) != text), None
        )
        if where:
            return (
                f"{checked.tool.name}: {where} looks like a secret. A card has to show what runs, "
                "so let the runbook name the secret instead (`secrets:`)."
            )
    return None


def masked(about: AgentText, redactor: Redactor) -> AgentText:
    """Return the agent's words without any secret."""
    return AgentText(
        rationale=redactor.text(about.rationale),
        limitations=redactor.text(about.limitations),
        alternatives=redactor.text(about.alternatives),
    )


def _texts_of(step: Step) -> Iterator[str]:
    match step:
        case RunStep():
            yield from (*step.argv, " ".join(step.argv))
        case HttpStep():
            yield from (step.url, step.body or "")
            yield from (f"{header.name}: {header.text}" for header in step.headers)
        case ToolStep():
            yield from (*step.argv, " ".join(step.argv), encode(dict(step.arguments)))
            yield from strings(dict(step.arguments))
        case PythonStep():
            yield encode(dict(step.arguments))
            yield from strings(dict(step.arguments))
        case _:
            assert_never(step)


def _texts(checked: Checked) -> Iterator[tuple[str, str]]:
    """Yield every text that a card would show, and where it stands."""
    texts = {name: value for name, value in checked.arguments.items() if isinstance(value, str)}
    for name, text in texts.items():
        yield f"`{name}`", text
        yield f"`{name}`", f"{name}={text}"
    work = checked.tool.expand(checked.arguments)
    for step in (*work.steps, work.verify, work.preview):
        for text in _texts_of(step) if step else ():
            yield "what it would run", text
    for file in work.fingerprints:
        yield "a file it depends on", file
    if work.lock is not None:
        yield "its lock", work.lock
