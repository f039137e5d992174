"""What software says to whoever typed, in a terminal that is a conversation."""

from collections.abc import Sequence

from approvals import cards
from approvals.models import Request, Run, RunState, StepState, Yes
from bot import naming
from bot.stop import Stopped

HELP = """Ask in words, or by name: !NAME and its arguments. What for: help
/show [ID]        see the card of a request: what it would do, who may decide
/approve [ID]     approve what waits; name it where several requests wait
/deny [ID] WHY    deny it, and say why
/edit ID WHAT     give it other arguments, as NAME=VALUE: votes begin anew
/again [ID]       ask once more for what was denied, expired or withdrawn
/undo RUN         propose what undoes a run that succeeded
/output RUN INDEX how to have all that a step printed
/link, /links     have another account be you too; /unlink ends that
/ask TEXT         ask with a text that begins with a /
/stop             stop what runs in this conversation, and withdraw what waits
/stop WHERE       stop another conversation, or `all` that you may stop
/resolve HOW      end an unknown step: verify (looks), happened or did-not;
                  RUN and INDEX stand before HOW where several are unknown
/grant ID 5 1h    have what it showed run without a card, so often, so long
/grants           what runs without a card; /revoke ID ends one of them
/pause [WHY]      hold back everything that would run; /resume ends that
/break-glass ID WHY   let it run alone, for a reason that everybody is told
/handover ID NAME     ask somebody to decide it
/lift             let this conversation propose again after three denials
/requests, /runs  what waits, and what ran
/history          what was said here
/new              begin another conversation
/quit             leave; so does Ctrl-D. Ctrl-C stops what runs; twice leaves"""
HELP_AS = "/as NAME          let somebody else type: this keyboard has no password"
CUTS = (
    "A run goes on in this process. To leave now cuts it, and nobody could tell whether its step "
    "happened: wait for it, or leave with /quit once more."
)
_PENDING = "told to end, and not gone yet; what became of it is told here within 15 seconds"


def counted(request: Request, yes: Yes) -> str:
    """Return what a yes did; of one that came too late, who had decided."""
    votes, quorum = len(request.votes), request.rule.quorum
    if yes is Yes.LATE:
        return f"Your yes was not needed any more: approved by {cards.names(request.voters)}."
    what = "was there already" if yes is Yes.AGAIN else "counts"
    return f"Your yes {what}: {votes} of {quorum} vote{'s' if quorum > 1 else ''}."


def edited(became: Request) -> str:
    """Return what an edit did."""
    votes = cards.rule_in_words(became.rule)
    return f"Your edit stands, as another request: {became.id}. It begins with {votes}."


def ended(request: Request, run: Run | None) -> str:
    """Tell how something ended that was approved here and asked for elsewhere."""
    _, told = cards.drawn(request, run)
    more = " /runs has the report." if run else ""
    return f"{naming.calls(request)}: {told}{more}"


def stopped(one: Stopped) -> str:
    """Return what a stop did, by the numbers: the reports tell the rest."""
    if one.choices:
        lines = naming.choices("/stop", one.choices, one.asked)
        return "\n".join(["Several things run or wait. Stop one of them, or `all`:", *lines])
    if not (one.turns or one.runs or one.requests or one.pending or one.kept):
        return "Nothing to stop."
    over = sum(run.state is RunState.SUCCEEDED for run in one.runs)
    parts = [
        _many(len(one.turns), "answer", "stopped"),
        _many(len(one.runs) - over, "run", "stopped"),
        _many(over, "run", "over before the stop: all of it ran"),
        _many(one.killed, "command", "killed"),
        _many(one.steps_cut, "step", "unknown"),
        _many(len(one.requests), "request", "withdrawn"),
        _many(len(one.kept), "message", "kept and answered next"),
    ]
    told = [", ".join(filter(None, parts))]
    return "\n".join(
        [
            *filter(None, told),
            *(f"{naming.named(each, one.asked)}: {_PENDING}" for each in one.pending),
        ]
    )


def resolving(run: str, index: int) -> str:
    """Return what is typed to end an unknown step."""
    return f"/resolve {run} {index} happened (or did-not)"


def left(*, ran: bool, waits: bool) -> str:
    """Say goodbye, and where to look for what goes on."""
    parts = [
        "You left.",
        "A run was going on: sayso runs tells how it ended." if ran else "",
        "What waits goes on waiting: sayso requests" if waits else "",
    ]
    return " ".join(filter(None, parts))


def nothing_here(elsewhere: Stopped) -> str:
    """Say that a conversation in which nothing was asked has nothing to stop, and what has."""
    lines = naming.choices("/stop", elsewhere.choices, elsewhere.asked)
    if not lines:
        return "Nothing was asked here, so nothing runs here. You may stop nothing elsewhere."
    told = "Nothing was asked here, so nothing runs here. Elsewhere you may stop this, or `all`:"
    return "\n".join([told, *lines])


def requests(found: Sequence[Request]) -> str:
    """Return what waits, some lines each, and how to look at one."""
    lines = [
        f"{one.id} {naming.calls(one)}\n  asked by {one.requester} at {cards.at(one.opened_at)}"
        f" in {one.conversation}\n  {cards.status(one)}"
        for one in found
    ]
    if not lines:
        return "Nothing waits that you may know of."
    return "\n".join([*lines, "/show ID shows the card of one."])


def runs(found: Sequence[tuple[Run, Request]]) -> str:
    """Return what ran, newest first."""
    lines = [naming.report(run, request) for run, request in found]
    return "\n\n".join(lines) or "Nothing ran that you may know of."


def which(found: Sequence[Request], verb: str) -> str:
    """Say why a decision without an id does not stand."""
    if not found:
        if verb == "again":
            return "Nothing of this conversation was denied, withdrawn or has expired."
        return "Nothing waits that this could be about. /requests lists what you may know of."
    lines = [f"/{verb} {one.id}   {naming.calls(one)}" for one in found]
    return "\n".join(["Several requests could be meant. Name one of them:", *lines])


def unknown_step(run: Run) -> int:
    """Return which step of a run is unknown: with it the run ended, so it is one."""
    return next(step.index for step in run.steps if step.state is StepState.UNKNOWN)


def which_unknown(found: Sequence[tuple[Run, Request]]) -> str:
    """Say why a word about an unknown step does not stand without its run."""
    if not found:
        return "No step that you may know of is unknown. /runs lists what ran."
    lines = [f"{_typed(run)}   {naming.calls(request)}" for run, request in found]
    return "\n".join(["Several steps are unknown. Name one of them:", *lines])


def unseen_unknown(run: Run, request: Request) -> str:
    """Say why a word about an unknown step does not stand where nobody has seen what ran."""
    return (
        f"The one step that is unknown is of {naming.calls(request)}, which was never shown here. "
        f"Look at it first: /show {request.id}. Or name it: {_typed(run)}"
    )


def _typed(run: Run) -> str:
    return f"/resolve {run.id} {unknown_step(run)} verify (or happened, or did-not)"


def unseen(request: Request) -> str:
    """Say why a decision without an id does not stand for what nobody has seen here."""
    return (
        f"The one request that waits was never shown here; {request.requester} asked for it. "
        f"Look at it first: /show {request.id}"
    )


def _many(number: int, what: str, done: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''} {done}" if number else ""
