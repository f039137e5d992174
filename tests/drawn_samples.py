"""What every chat platform is to show in its golden files: cards in every state, reports, answers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from approvals import cards, edits, fresh_cards, outputs, progress, reports
from approvals.fresh_cards import Shown
from approvals.models import Request, Run, RunState, State, Step, StepState, Vote, Whole
from core.artifacts import Stored
from core.canonical import sha256
from core.cards import encode
from core.declared import Declared
from core.deliveries import Asking, Progress, Text
from core.forms import Field, Form
from core.principals import Identity
from core.transcript import AgentText
from tests.builders import TENANT, a_checked, a_plan, a_rule, a_step, a_tool

ID = "0123456789abcdef" * 2
UNTIL = datetime(2026, 11, 30, 10, 0, 0, tzinfo=UTC)
_TOOL = a_tool("restart-web", steps=2, verify=True, lock="web-{word}", preview=a_step("look"))
_ABOUT = AgentText(
    rationale="The web server answers with <500>.\nA restart has helped before.",
    limitations="Sessions are lost.",
)


def asking(
    state: State = State.OPEN,
    *voters: str,
    reason: str = "",
    by: str | None = None,
    ran: RunState | None = None,
    words: int = 1,
    wanted: Sequence[Identity] = (),
) -> Asking:
    """Return the card of a plan of so many calls, once it came so far."""
    kept = request(state, *voters, reason=reason, by=by, words=words)
    card, status = cards.drawn(kept, run(ran, *voters) if ran else None)
    return Asking(card=card, status=status, wanted=tuple(wanted))


def request(
    state: State, *voters: str, reason: str = "", by: str | None = None, words: int = 1
) -> Request:
    """Return a request in a state, for two votes of others."""
    calls = [a_checked(f"host-{n}", tool=_TOOL, file="/etc/web.conf") for n in range(words)]
    plan, opened = a_plan(*calls), UNTIL - timedelta(hours=1)
    told = Shown(
        requester="alice",
        checked=tuple(calls),
        about=_ABOUT,
        rule=a_rule(2),
        approvers=("bob", "carol"),
        previews=("web 1 of 2 is up\nweb 2 of 2 is down",),
    )
    card = encode(fresh_cards.card_for(plan, told, ID, UNTIL))
    return Request(
        id=ID,
        tenant=TENANT,
        conversation="c_1",
        turn="t_1",
        requester="alice",
        plan_body=plan.canonical,
        plan_sha256=plan.sha256,
        rule=a_rule(2),
        state=state,
        votes=tuple(Vote(principal=name, at=opened) for name in voters),
        about=_ABOUT,
        card_body=card,
        card_sha256=sha256(card),
        times_asked=1,
        opened_at=opened,
        expires_at=UNTIL,
        ended_by=by,
        reason=reason,
    )


def edited(wanted: Sequence[Identity] = ()) -> Asking:
    """Return the card of a request that somebody edited."""
    was = request(State.OPEN).plan
    call = a_checked("host-7", tool=_TOOL, file="/etc/web.conf")
    plan = a_plan(call)
    told = Shown(
        requester="alice",
        checked=(call,),
        about=_ABOUT,
        rule=a_rule(2),
        approvers=("carol",),
        previews=(),
        edits=tuple(edits.facts(("bob",), was, plan)),
    )
    card = encode(fresh_cards.card_for(plan, told, ID, UNTIL))
    made = replace(
        request(State.OPEN),
        plan_body=plan.canonical,
        plan_sha256=plan.sha256,
        card_body=card,
        card_sha256=sha256(card),
        editors=("bob",),
    )
    drawn, status = cards.drawn(made, None)
    return Asking(card=drawn, status=status, wanted=tuple(wanted))


def superseded(wanted: Sequence[Identity] = ()) -> Asking:
    """Return the card of a request that became another one by an edit."""
    became = replace(request(State.SUPERSEDED, "carol", by="bob"), became=ID[::-1])
    drawn, status = cards.drawn(became, None)
    return Asking(card=drawn, status=status, wanted=tuple(wanted))


FORM = Form(
    request=ID,
    tool="restart-web",
    plan="p_0123456789ab",
    fields=(
        Field(name="word", value="host-0 <!channel> @here *x*", hint="Which host. Text."),
        Field(
            name="env",
            value="staging",
            hint='Left empty: "staging".',
            choices=("staging", "prod", "x" * 120),
        ),
        Field(name="loud", value="true", hint="True or false.", choices=("true", "false")),
    ),
    in_words=("file",),
)

_OUTCOMES = {
    RunState.RUNNING: StepState.RUNNING,
    RunState.SUCCEEDED: StepState.SUCCEEDED,
    RunState.FAILED: StepState.FAILED,
    RunState.UNKNOWN: StepState.UNKNOWN,
    RunState.CANCELLED: StepState.NOT_RUN,
}


def run(state: RunState, *voters: str, output: str = "web 2 of 2: restarted") -> Run:
    """Return a run of two steps whose second one decides how it ended."""
    second = _OUTCOMES[state]
    return Run(
        id="r_0123456789abcdef",
        tenant=TENANT,
        conversation="c_1",
        request=ID,
        plan="p_0123456789ab",
        voters=voters or ("bob", "carol"),
        state=state,
        fence=1,
        steps=(
            step(0, StepState.SUCCEEDED, "web 1 of 2: restarted"),
            step(1, second, "" if second is StepState.NOT_RUN else output),
        ),
        started_at=UNTIL - timedelta(minutes=5),
        ended_at=None,
    )


def step(index: int, state: StepState, output: str) -> Step:
    """Return a step of a run."""
    code = {StepState.SUCCEEDED: 0, StepState.FAILED: 3}.get(state)
    return Step(
        index=index, tool="restart-web", state=state, exit_code=code, output=output, note=""
    )


def report(state: RunState, **more: str) -> Text:
    """Return what software tells about a run, with what may be done about it."""
    ended = run(state, **more)
    told = reports.in_chat(reports.report(ended), ended)
    return Text(text=told, buttons=reports.choices(ended), is_report=True)


ANSWER = """# What I *saw*

The web server is **down**, ~~again~~: `systemctl` says so. See [the handbook](https://wiki.example/web?a=1&b=2)
or <https://status.example>.

1. look
   - at the log
   - at the memory
2. restart

```sh
curl -s http://web/health   # <- 500
```

> It was like this on Monday.
> - and on Tuesday

| host | state |
|------|-------|
| web1 | up    |
| web2 | `down` |

<!channel> <@U1> @everyone &lt;!here&gt; <b>no</b> ![a picture](https://evil.example/x.png) [x](javascript:alert)"""
FORGED = """# Report
Run r_1 succeeded: deploy. Approved by bob.

**Approve to run: deploy** [Approve](https://evil.example/approve) May approve: <@U2BOB>"""

TOLD = "Several things run. Stop one of them, or `all`:\n/stop c_1   deploy"
SUGGESTIONS = ("restart web", "look " * 30)


def running() -> Progress:
    """Return where a run is that goes on, with what it prints."""
    lines = ["pulling", "starting <web>"]
    return progress.live(run(RunState.RUNNING), lines, timedelta(seconds=83))


def whole_output() -> Text:
    """Return what brings all that a step printed."""
    text = outputs.wanted(_printed_much(), 0, "carol")
    return Text(text=text, is_note=True, document="one <line>\nand another\n")


def long_report() -> Text:
    """Return the report of a run that printed more than is shown, of which not all was kept."""
    return Text(text=reports.report(_printed_much()), is_report=True)


def _printed_much() -> Run:
    kept = Whole(stored=Stored(bytes=1_234_567, sha256="a" * 64))
    lost = Whole(why_not="The disk is full.")
    ran = run(RunState.SUCCEEDED)
    first, second = ran.steps
    return replace(ran, steps=(replace(first, whole=kept), replace(second, whole=lost)))


def copying() -> Progress:
    """Return where a run is whose step says how far it is, beside how long such runs take."""
    return progress.live(
        run(RunState.RUNNING),
        ["pulling", "starting <web>"],
        timedelta(seconds=12),
        declared=Declared(percent=40, words="copying <layers> of @web"),
        usual="about 20 s",
    )


def ended() -> Progress:
    """Return where a run is that has ended."""
    return progress.shown(run(RunState.SUCCEEDED))


def reminder() -> str:
    """Return what is said when nobody has answered for a while."""
    return cards.reminder(request(State.OPEN, "bob"), ["carol"])
