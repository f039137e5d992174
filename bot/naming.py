"""What something is about, in a line that tells it from others of its kind."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from approvals import cards, reports
from approvals.models import Request, Run
from core.conversations import Turn
from core.display import one_line

Thing: TypeAlias = Turn | Run | Request
_LONGEST = 160


def calls(request: Request) -> str:
    """Return what a request would call and with what, as its card says it."""
    named = [line for line in request.card.plan if line and not line.startswith(" ")]
    kind = "standing grant: " if cards.asks_to_grant(request) else ""
    return kind + one_line("; ".join(named) or request.card.title, _LONGEST - len(kind))


def report(run: Run, request: Request | None) -> str:
    """Return the report of a run below what it was called with, and when it began."""
    about = calls(request) if request else ", ".join(run.tools)
    return f"{cards.at(run.started_at)} {about}\n{reports.report(run)}"


def named(one: Thing, asked: Mapping[str, Request]) -> str:
    """Return what a thing is; `asked` are the requests of runs, by id."""
    match one:
        case Run():
            request = asked.get(one.request)
            about = calls(request) if request else ", ".join(one.tools)
            return f"{about} (runs since {cards.at(one.started_at)})"
        case Request():
            return f"{calls(one)} (asked by {one.requester}, waits)"
        case Turn():
            return one_line(one.wish.shown, 80)


def choices(command: str, found: Sequence[Thing], asked: Mapping[str, Request]) -> list[str]:
    """Return a line for each conversation: what stops it, and what that would end."""
    about: dict[str, list[str]] = {}
    for one in found:
        about.setdefault(one.conversation, []).append(named(one, asked))
    return [f"{command} {where}   {', '.join(each)}" for where, each in about.items()]
