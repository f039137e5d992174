"""What software says to whoever typed, in a terminal that is a conversation."""

from collections.abc import Sequence

from approvals import cards
from approvals.models import Request, Run
from bot.stop import Stopped
from core.conversations import Turn
from core.display import one_line

HELP = """Ask in words, or by name as in: !restart web. What you can ask for: help
/approve [ID]     approve what waits; name it where several requests wait
/deny [ID] WHY    deny it, and say why
/again [ID]       ask once more for what was denied, has expired or was withdrawn
/stop             stop what runs here; /stop all takes everything that you may stop
/resolve HOW      end an unknown step: verify (only looks), happened or did-not;
                  with RUN and INDEX before HOW where several are unknown
/requests, /runs  what waits, and what ran
/history          what was said here
/new              begin another conversation
/quit             leave; so does Ctrl-D. Ctrl-C stops what runs, and twice leaves"""
HELP_AS = "/as NAME          let somebody else type: this keyboard has no password"
_PENDING = "told to end, and not gone yet; what became of it is told here within 15 seconds"


def counted(request: Request) -> str:
    """Return what a yes did."""
    votes, quorum = len(request.votes), request.rule.quorum
    return f"Your yes counts: {votes} of {quorum} vote{'s' if quorum > 1 else ''}."


def stopped(one: Stopped) -> str:
    """Return what a stop did, by the numbers: the reports tell the rest."""
    if one.choices:
        lines = [f"/stop {each.conversation}   {_named(each)}" for each in one.choices]
        return "\n".join(["Several things run or wait. Stop one of them, or `all`:", *lines])
    if not (one.turns or one.runs or one.requests or one.pending or one.kept):
        return "Nothing to stop."
    parts = [
        _many(len(one.turns), "answer", "stopped"),
        _many(len(one.runs), "run", "stopped"),
        _many(one.killed, "command", "killed"),
        _many(one.steps_cut, "step", "unknown"),
        _many(len(one.requests), "request", "withdrawn"),
        _many(len(one.kept), "message", "kept and answered next"),
    ]
    told = [", ".join(filter(None, parts))]
    return "\n".join(
        [*filter(None, told), *(f"{_named(each)}: {_PENDING}" for each in one.pending)]
    )


def requests(found: Sequence[Request]) -> str:
    """Return what waits, two lines each."""
    lines = [
        f"{one.id} {one.card.title}, asked by {one.requester}\n  {cards.status(one)}"
        for one in found
    ]
    return "\n".join(lines) or "Nothing waits that you may know of."


def runs(found: Sequence[Run]) -> str:
    """Return what ran, newest first."""
    return "\n\n".join(map(cards.report, found)) or "Nothing ran that you may know of."


def which(found: Sequence[Request], verb: str) -> str:
    """Say why a decision without an id does not stand."""
    if not found:
        return "Nothing waits that this could be about. /requests lists what you may know of."
    lines = [f"/{verb} {one.id}   {one.card.title}" for one in found]
    return "\n".join(["Several requests could be meant. Name one of them:", *lines])


def unseen(request: Request, verb: str) -> str:
    """Say why a decision without an id does not stand for what nobody has seen here."""
    return (
        f"The one request that waits was never shown here: {request.card.title}, asked by "
        f"{request.requester}. If you mean it: /{verb} {request.id}"
    )


def _many(number: int, what: str, done: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''} {done}" if number else ""


def _named(one: Turn | Run | Request) -> str:
    match one:
        case Run():
            return ", ".join(one.tools)
        case Request():
            return one.card.title
        case Turn():
            return one_line(one.wish.shown, 80)
