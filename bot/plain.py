"""What people read on a terminal: plain text, in ASCII wherever software wrote it."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from approvals import cards, reports
from approvals.models import Request, Run, State
from bot import naming
from bot.ask import Answered
from bot.contract import Draw, text_of
from bot.stop import Stopped
from core.audit import Broken, Intact
from core.conversations import Said, Turn
from core.display import one_line
from core.erasing import Erased

_PENDING = (
    "told to end, and what it had started was killed, but its process does not answer; what became "
    "of it is told when its lease ends, within 15 seconds"
)

_KEPT_IN: Mapping[str, tuple[str, str]] = MappingProxyType({
    "plan": ("plan", "plans"),
    "frozen": ("plan for export", "plans for export"),
    "entry": ("entry", "entries"),
    "transcript": ("part of the transcript", "parts of the transcript"),
    "turn": ("message", "messages"),
    "request": ("request", "requests"),
    "step": ("output of a step", "outputs of steps"),
    "artifact": ("whole output of a step", "whole outputs of steps"),
    "denial": ("reason of a denial", "reasons of denials"),
    "memory": ("memory", "memories"),
    "reminder": ("reminder", "reminders"),
    "draft": ("draft of an answer", "drafts of answers"),
    "frame": ("task", "tasks"),
    "happening": ("record of what a turn did", "records of what turns did"),
})  # fmt: skip
"""What each table holds, in words: one of it, and several."""


def answered(turn: Answered, draw: Draw, *, asking: str = "sayso ask ") -> str:
    """Return an answer, a card, or both; `asking` begins what can be typed to ask."""
    lines = [turn.text] if turn.text else []
    if turn.suggestions:
        lines += ["You could ask:", *(f"  {_asking(asking, s)}" for s in turn.suggestions)]
    if turn.request:
        card, told = cards.drawn(turn.request, None)
        lines += [draw(card), told]
        lines += (
            [f"Asked {turn.request.times_asked} times."] if turn.request.times_asked > 1 else []
        )
    return "\n".join(lines)


def queued(ahead: int) -> str:
    """Return that a message waits, and for how many."""
    come = (
        "messages of this conversation come" if ahead > 1 else "message of this conversation comes"
    )
    return f"Queued: {ahead} {come} first."


def decided(request: Request, run: Run | None) -> str:
    """Return what a decision led to."""
    if run:
        return reports.report(run)
    begun = request.state is State.SPENT and cards.asks_to_grant(request)
    then = " The standing grant is active. Look at: sayso grants" if begun else ""
    return f"{cards.status(request)}{then}"


def stopped(one: Stopped) -> str:
    """Return what a stop did."""
    if one.choices:
        lines = naming.choices("  sayso stop", one.choices, one.asked)
        return "\n".join(["Several things run or wait. Stop one of them, or `all`:", *lines])
    if not (one.turns or one.runs or one.requests or one.pending):
        return "Nothing to stop."
    lines = [f"Stopped: {one_line(turn.wish.shown, 80)}" for turn in one.turns]
    lines += [reports.report(run) for run in one.runs]
    lines += [f"Withdrawn: {request.card.title} ({request.id})" for request in one.requests]
    lines += [f"{naming.named(each, one.asked)}: {_PENDING}" for each in one.pending]
    lines += [f"Kept, and answered next: {one_line(turn.wish.shown, 80)}" for turn in one.kept]
    return "\n".join(lines)


def requests(found: Sequence[Request], *, is_open: bool = False) -> str:
    """Return a list of requests, some lines each."""
    none = "No request waits." if is_open else "No requests yet."
    return "\n".join(_request(one) for one in found) or none


def _request(one: Request) -> str:
    return (
        f"{one.id} {one.state.value:<10} {naming.calls(one)}\n"
        f"  asked by {one.requester} at {cards.at(one.opened_at)} in {one.conversation}\n"
        f"  {cards.status(one)}"
    )


def card(one: Request, run: Run | None, draw: Draw) -> str:
    """Return a card as it is now, what has become of its request, and the conversation it is in."""
    drawn, told = cards.drawn(one, run)
    return "\n".join([draw(drawn), told, f"({one.conversation})"])


def runs(found: Sequence[Run], asked: Mapping[str, Request]) -> str:
    """Return the reports of runs, each below what it was called with; `asked` are requests by id."""
    lines = [naming.report(one, asked.get(one.request)) for one in found]
    return "\n\n".join(lines) or "No runs yet."


def conversation(said: Sequence[Said], waiting: Sequence[Turn], draw: Draw) -> str:
    """Return what was said, oldest first, and then what is not answered yet."""
    lines = [line for one in said for line in _said(one, draw)]
    for turn in waiting:
        lines += [f"{turn.principal} asked, not answered yet:"]
        lines += [f"  {line}" for line in turn.wish.shown.splitlines()]
    return "\n".join(lines)


def _said(one: Said, draw: Draw) -> Iterator[str]:
    yield f"{cards.at(one.at)} {one.author} {one.kind}:"
    yield from (f"  {line}" for line in text_of(one, draw).splitlines())


def audit(verdict: Intact | Broken, *, noted: str | None = None) -> str:
    """Return whether the audit log holds, and the head that somebody noted with it."""
    match verdict:
        case Intact(entries=entries, head=head):
            held = " It holds the head that you noted." if noted else ""
            return f"The audit log is whole: {entries} entries, head {head}.{held}"
        case Broken(first_bad=first_bad, why=why):
            return f"The audit log is broken at entry {first_bad}: {why}."


def erased(one: Erased) -> str:
    """Return what an erasure removed."""
    if not one.removed:
        return "Nothing was left to erase. The files were cleared once more."
    parts = ", ".join(_removed(table, number) for table, number in one.removed.items())
    return (
        f"Erased, and cleared out of the files: {parts}. The audit log keeps digests: {one.sha256}."
    )


def _removed(table: str, number: int) -> str:
    one, more = _KEPT_IN[table]
    return f"{number} {one if number == 1 else more}"


def _asking(command: str, text: str) -> str:
    return f"{command}{_quoted(text)}" if command else text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
