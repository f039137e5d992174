"""What Slack is to show in the golden files. Run this module to write those again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.slack import messages, views
from adapters.slack.messages import Drawn
from approvals import cards, progress, reports
from approvals.cards import Shown
from approvals.models import Request, Run, RunState, State, Step, StepState, Vote
from core.canonical import JsonObject, sha256
from core.cards import encode
from core.deliveries import Asking, Opening, Text
from core.errors import Invalid, OutcomeUnknown, Refused, Unavailable
from core.platforms import Home, Told
from core.principals import Identity
from core.transcript import AgentText
from tests.builders import TENANT, a_checked, a_plan, a_rule, a_step, a_tool

GOLDEN = Path(__file__).parent / "golden" / "slack"
TEAM = "T1"
ID = "0123456789abcdef" * 2
UNTIL = datetime(2026, 11, 30, 10, 0, 0, tzinfo=UTC)
PRIVATE = json.dumps({"request": ID, "channel": "C1", "thread": "17.1"})
ALICE = Identity(platform="slack", workspace=TEAM, user="U0ALICE")
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
) -> Asking:
    """Return the card of a plan of so many calls, once it came so far."""
    kept = request(state, *voters, reason=reason, by=by, words=words)
    card, status = cards.drawn(kept, run(ran, *voters) if ran else None)
    wanted = [Identity(platform="slack", workspace=TEAM, user=user) for user in ("U2BOB", "U3")]
    elsewhere = Identity(platform="slack", workspace="T9", user="U4")
    return Asking(card=card, status=status, wanted=(*wanted, elsewhere))


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
    card = encode(cards.card_for(plan, told, ID, UNTIL))
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

SAMPLES: Mapping[str, Sequence[Drawn] | Drawn | JsonObject] = {
    "card-open": messages.draw(asking(), team=TEAM),
    "card-one-of-two": messages.draw(asking(State.OPEN, "bob"), team=TEAM),
    "card-granted": messages.draw(asking(State.GRANTED, "bob", "carol"), team=TEAM),
    **{
        f"card-{state.value}": messages.draw(
            asking(State.SPENT, "bob", "carol", ran=state), team=TEAM
        )
        for state in RunState
    },
    "card-denied": messages.draw(
        asking(State.DENIED, by="bob", reason="Not before <!here> the weekend."), team=TEAM
    ),
    "card-expired": messages.draw(asking(State.EXPIRED, "bob"), team=TEAM),
    "card-revoked": messages.draw(
        asking(State.REVOKED, reason="alice may no longer ask for it"), team=TEAM
    ),
    "card-superseded": messages.draw(asking(State.SUPERSEDED, by="alice"), team=TEAM),
    "card-too-long": messages.draw(asking(words=40), team=TEAM),
    "progress-running": messages.draw(
        replace(
            progress.live(
                run(RunState.RUNNING), ["pulling", "starting <web>"], timedelta(seconds=83)
            )
        ),
        team=TEAM,
    ),
    "progress-ended": messages.draw(progress.shown(run(RunState.SUCCEEDED)), team=TEAM),
    "report-succeeded": messages.draw(report(RunState.SUCCEEDED), team=TEAM),
    "report-failed": messages.draw(report(RunState.FAILED), team=TEAM),
    "report-cancelled": messages.draw(report(RunState.CANCELLED), team=TEAM),
    "report-unknown": messages.draw(report(RunState.UNKNOWN), team=TEAM),
    "answer": messages.draw(
        Text(text=ANSWER, suggestions=("restart web", "look " * 30), turn="t_1"), team=TEAM
    ),
    "answer-forged": messages.draw(Text(text=FORGED), team=TEAM),
    "note": messages.draw(
        Text(text=cards.reminder(request(State.OPEN, "bob"), ["carol"]), is_note=True), team=TEAM
    ),
    "opening": messages.draw(
        Opening(author="alice", text="restart web\nnow & <fast>", asker=ALICE), team=TEAM
    ),
    "told": messages.told(
        Told(text="Several things run. Stop one of them, or `all`:\n/stop c_1   deploy")
    ),
    "told-card": messages.told(Told(card=asking())),
    "failed-refused": messages.failed(Refused("You may not approve this; bob and carol may.")),
    "failed-invalid": messages.failed(Invalid("people: it must hold names with values.")),
    "failed-unavailable": messages.failed(Unavailable("The database is busy. Try again.")),
    "failed-unknown-outcome": messages.failed(OutcomeUnknown("Look at /runs.")),
    "view-deny": views.deny(ID, PRIVATE, "Approve to run: restart-web"),
    "view-review": views.review(asking(), PRIVATE),
    "view-review-ended": views.review(asking(State.EXPIRED), PRIVATE),
    "view-review-long": views.review(asking(words=40), PRIVATE),
    "view-says": views.says("Too late", "Already decided. Denied by bob, no reason given."),
    "view-home": views.home(
        Home(
            greeting="Hello alice. Ask with /ask, or write to me here.",
            waits=(asking(), asking(State.OPEN, "bob")),
            runs=(
                "r_0123456789abcdef running: restart-web",
                "r_fedcba9876543210 failed: deploy",
            ),
        ),
        TEAM,
    ),
    "view-home-empty": views.home(Home(greeting="Hello.", waits=(), runs=()), TEAM),
}


def plain(sample: Sequence[Drawn] | Drawn | JsonObject) -> object:
    """Return a sample as JSON has it."""
    if isinstance(sample, Drawn):
        more = {} if sample.document is None else {"document": sample.document}
        return {"text": sample.text, "blocks": list(sample.blocks), **more}
    if isinstance(sample, Mapping):
        return sample
    shown = [plain(one) for one in sample]
    return shown[0] if len(shown) == 1 else shown


def drawn(name: str) -> str:
    """Return what is drawn of a sample."""
    return json.dumps(plain(SAMPLES[name]), indent=1, ensure_ascii=False) + "\n"


def golden(name: str) -> Path:
    """Return the file that holds what was drawn, once somebody had looked at it."""
    return GOLDEN / f"{name}.json"


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for each in SAMPLES:
        golden(each).write_text(drawn(each), encoding="utf-8")
