"""Every state of a card, and what the reader of each sees. One entry adds a state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from adapters.discord import messages as on_discord
from adapters.slack import messages as in_slack
from adapters.storage.deciding import denied_in_words
from approvals import brakes, cards, factors, fresh_cards, models, reports, switches
from approvals.brakes import Brake
from approvals.edits import facts as edits_facts
from approvals.entitlement import lost
from approvals.fresh_cards import Shown
from approvals.grants import Under, Use
from approvals.models import Denial, Request, Rule, Run, RunState, State, StepState
from core import cards as drawn_cards
from core.canonical import sha256
from core.deliveries import Asking, Text
from core.differences import difference
from core.plans import Answer, Header, HttpStep, OnFailure, Plan, PythonStep, Retry, Standing, Step
from core.principals import Identity
from core.transcript import AgentText
from tests import discord_drawings, drawn_samples, slack_drawings
from tests.builders import a_checked, a_plan, a_rule, a_step, a_tool
from tests.people_sides import AUTHORITY, without
from tests.sides import Side, on_a_terminal, read_in_slack, read_on_discord

PREVIEWED: Final = a_tool("append-word", preview=a_step("look"), fingerprints=("fleet.json",))
PLAIN: Final = a_tool("append-word")
ON_SLACK: Final = {
    name: Identity(platform="slack", workspace=slack_drawings.TEAM, user=user)
    for name, user in (("alice", "U0ALICE"), ("bob", "U2BOB"), ("carol", "U3"))
}
ON_DISCORD: Final = {
    "alice": discord_drawings.ALICE,
    "bob": discord_drawings.BOB,
    "carol": discord_drawings.CAROL,
}
SOUND: Final = AgentText(rationale="Somebody asked for it.")
BEGAN: Final = drawn_samples.UNTIL - timedelta(minutes=30)
PAUSE: Final = Brake(since=BEGAN, set_by="carol", reason="The database moves")
FREEZE: Final = Brake(name="release", since=BEGAN, until=drawn_samples.UNTIL)
OTHER: Final = drawn_samples.ID[::-1]
GRANT: Final = f"g_{drawn_samples.ID}"


_AGAIN: Final = Retry(times=2, wait_ms=2000)
_CALLS: Final = (
    PythonStep(
        function="team.words:append", source="2" * 64, arguments={"word": "alpha", "times": 2},
        timeout_ms=10_000, memory_bytes=4 * 2**30, secrets=(), retry=_AGAIN,
    ),
    a_step("append-word", "log", on_failure="continue"),
    a_step("append-word", "alpha"),
)  # fmt: skip
_PASSED: Final = (
    (StepState.SUCCEEDED, 0, "try 2 of 3", "[try 1 of 3: exit code 1]\nbusy\n[try 2 of 3]\ndone\n"),
    (StepState.FAILED, 3, "", "no log\n"),
    (StepState.SUCCEEDED, 0, "", "done\n"),
)


_REQUEST: Final = HttpStep(
    method="PUT", url="https://api.example.com/v1/services/web",
    headers=(
        Header(name="Content-Type", text="application/json"),
        Header(name="Authorization", text="Bearer ", secret="API_TOKEN"),
    ),
    body='{"count":3}', statuses=(200, 202), answers=(Answer(path="/wanted/count", equals=3),),
    timeout_ms=10_000, secrets=("API_TOKEN",),
)  # fmt: skip
_ASKED: Final = (
    (StepState.SUCCEEDED, None, "status 202", '{"wanted": {"count": 3}}\n'),
    (StepState.FAILED, None, "status 503, expected 200 or 202", "busy\n"),
)


def _steps(
    rows: Sequence[tuple[StepState, int | None, str, str]], on_failure: OnFailure = "stop"
) -> tuple[models.Step, ...]:
    return tuple(
        models.Step(
            index=index,
            tool="append-word",
            state=state,
            exit_code=code,
            output=output,
            note=note,
            on_failure=on_failure,
        )
        for index, (state, code, note, output) in enumerate(rows)
    )


def plan_of(*words: str, sandbox: str = "bwrap") -> Plan:
    """Return the plan of `append-word` with these words."""
    return a_plan(*(a_checked(word, tool=PLAIN) for word in words or ("alpha",)), sandbox=sandbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A request for one call or several, as a test's reader is to see it."""

    state: State = State.OPEN
    votes: tuple[str, ...] = ()
    quorum: int = 1
    requester_may_vote: bool = False
    words: tuple[str, ...] = ("alpha",)
    steps: tuple[Step, ...] = ()
    """What its first call comes down to, where that is something else."""
    sandbox: str = "bwrap"
    approvers: tuple[str, ...] = ("bob", "carol")
    preview: str = ""
    denied_by: str | None = None
    about: AgentText = SOUND
    by: str | None = None
    reason: str = ""
    edited: bool = False
    altered: bool = False
    second_factor: bool = False
    enrolled: tuple[str, ...] = ()
    undoes: str | None = None
    doubts: tuple[str, ...] = ()
    edited_from: str | None = None
    """The word of the plan that Bob made this of."""
    became: str | None = None
    standing: bool = False
    """Whether it asks for a standing grant."""
    under: Under | None = None
    broken_by: str | None = None
    brakes: tuple[Brake, ...] = ()

    def request(self) -> Request:
        """Return it as it is stored."""
        plan, rule = self.plan(), self._rule()
        made = fresh_cards.card_for(plan, self._told(plan), drawn_samples.ID, drawn_samples.UNTIL)
        card = drawn_cards.encode(made)
        kept = drawn_samples.request(self.state, *self.votes, reason=self.reason, by=self.by)
        return replace(
            kept,
            plan_body=plan.canonical,
            plan_sha256=plan.sha256,
            rule=rule,
            about=self.about,
            card_body=card.replace("alpha", "omega") if self.altered else card,
            card_sha256=sha256(card),
            edited_at=drawn_samples.UNTIL - timedelta(minutes=5) if self.edited else None,
            editors=("bob",) if self.edited_from else (),
            became=self.became,
            under=self.under,
            broken_by=self.broken_by,
            broken_why="The shop is down and nobody else is awake" if self.broken_by else "",
            brakes=self.brakes,
        )

    def _rule(self) -> Rule:
        return a_rule(self.quorum, self.requester_may_vote, second_factor=self.second_factor)

    def plan(self) -> Plan:
        """Return the plan of it."""
        plan = plan_of(*self.words, sandbox=self.sandbox)
        if self.steps:
            plan = replace(plan, calls=(replace(plan.calls[0], steps=self.steps),))
        terms = Standing(
            plan=plan.sha256,
            requester="alice",
            place="channel:slack/T1/C1",
            uses=5,
            lasts_ms=7 * 24 * 60 * 60 * 1000,
            proposer="alice",
        )
        return replace(plan, standing=terms) if self.standing else plan

    def _told(self, plan: Plan) -> Shown:
        rule, was = self._rule(), self.edited_from
        edits = edits_facts(("bob",), plan_of(was, sandbox=self.sandbox), plan) if was else ()
        lacking = factors.lacking(rule, self.approvers, self.enrolled)
        return Shown(
            requester="alice",
            checked=tuple(a_checked(word, tool=PLAIN) for word in self.words),
            about=self.about,
            rule=rule,
            approvers=self.approvers,
            previews=(self.preview,) if self.preview else (),
            edits=tuple(edits),
            undoes=self.undoes,
            doubts=self.doubts,
            lacking=lacking if self.second_factor else None,
            denied_by=self.denied_by,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSide:
    """A card in one state."""

    explains: str
    kept: Kept = field(default_factory=Kept)
    ran: RunState | None = None

    def wanted(self, known: Mapping[str, Identity]) -> tuple[Identity, ...]:
        """Return whose votes it waits for, as a platform knows them: whoever has not voted."""
        if self.kept.state is not State.OPEN:
            return ()
        waiting = [name for name in self.kept.approvers if name not in self.kept.votes]
        return tuple(known[name] for name in waiting)

    def side(self) -> Side:
        """Return the card on all platforms."""
        request = self.kept.request()
        card, status = cards.drawn(request, ran(self.ran, request) if self.ran else None)
        asking = Asking(card=card, status=status)
        for_slack = replace(asking, wanted=self.wanted(ON_SLACK))
        for_discord = replace(asking, wanted=self.wanted(ON_DISCORD))
        return Side(
            explains=self.explains,
            terminal=on_a_terminal(asking),
            slack=read_in_slack(in_slack.draw(for_slack, team=slack_drawings.TEAM)),
            discord=read_on_discord(on_discord.draw(for_discord, guild=discord_drawings.GUILD)),
        )


def ran(state: RunState, request: Request) -> Run:
    """Return the run of a request, which has two steps, as it ended."""
    sample = drawn_samples.run(state, *request.voters)
    steps = tuple(replace(one, tool="append-word") for one in sample.steps)
    return replace(sample, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSide:
    """What software tells about a run that has ended."""

    explains: str
    state: RunState
    steps: tuple[models.Step, ...] = ()
    """Where its steps are, where that is somewhere else."""
    undo: bool = False
    """Whether the catalogue says how to undo it."""
    under: Use | None = None
    broken_by: str | None = None

    def side(self) -> Side:
        """Return the report on all platforms."""
        request = Kept(votes=("bob",), broken_by=self.broken_by).request()
        ended = replace(
            ran(self.state, request),
            under=self.under,
            broken_by=request.broken_by,
            broken_why=request.broken_why,
        )
        ended = replace(ended, steps=self.steps or ended.steps)
        words = reports.in_chat(reports.report(ended), ended)
        buttons = reports.choices(ended, undo=self.undo)
        return told_side(self.explains, Text(text=words, buttons=buttons, is_report=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSide:
    """What software tells in the thread about a request that waits, and whom it calls."""

    explains: str
    text: str
    called: tuple[str, ...] = ()

    def side(self) -> Side:
        """Return the note on all platforms."""
        note = Text(text=self.text, is_note=True, label="For")
        return told_side(self.explains, note, called=self.called)


def told_side(explains: str, told: Text, *, called: Sequence[str] = ()) -> Side:
    """Return words on all platforms, with the people whom they call."""
    in_a_thread = replace(told, wanted=tuple(ON_SLACK[name] for name in called))
    in_a_channel = replace(told, wanted=tuple(ON_DISCORD[name] for name in called))
    return Side(
        explains=explains,
        terminal=on_a_terminal(told),
        slack=read_in_slack(in_slack.draw(in_a_thread, team=slack_drawings.TEAM)),
        discord=read_on_discord(on_discord.draw(in_a_channel, guild=discord_drawings.GUILD)),
    )


def _differs(**to: object) -> str:
    """Return what is said where a plan of one call differs from the one that was shown."""
    [call] = (before := a_plan(a_checked("alpha", tool=PREVIEWED))).calls
    at_top = {"sandbox", "folder", "rules"}
    if to.keys() <= at_top:
        now = replace(before, **to)  # type: ignore[arg-type]  # named after its fields
    else:
        now = replace(before, calls=(replace(call, **to),))  # type: ignore[arg-type]  # as above
    return difference(before, now) or ""


def _lost(name: str) -> str:
    request = Kept(state=State.GRANTED, votes=("bob",)).request()
    return lost(without(AUTHORITY, name), request) or ""


_PRINT = a_plan(a_checked("alpha", tool=PREVIEWED)).calls[0].fingerprints[0]
REVOKED: Mapping[str, tuple[str, str]] = {
    "runbook-edited": ("somebody edited its runbook", _differs(definition="e" * 64)),
    "file-changed": (
        "a file that it depends on changed",
        _differs(fingerprints=(replace(_PRINT, sha256="1" * 64),)),
    ),
    "preview-changed": ("its dry run prints something else now", _differs(preview="2" * 64)),
    "code-changed": (
        "somebody edited or upgraded what it calls",
        difference(
            Kept(steps=_CALLS).plan(), Kept(steps=(replace(_CALLS[0], source="3" * 64),)).plan()
        )
        or "",
    ),
    "lock-changed": ("what it waits for changed", _differs(lock="other")),
    "steps-changed": ("it would do something else now", _differs(steps=(a_step("rm"),))),
    "place-changed": ("it would run in another place now", _differs(sandbox="bwrap")),
    "rules-changed": ("the rules about it changed", _differs(rules="3" * 64)),
    "not-preparable": (
        "it can no longer be prepared",
        "it can no longer be prepared as it was shown (append-word: There is no program append-word)",
    ),
    "requester-lost-it": ("whoever asked may no longer ask for it", _lost("alice")),
    "voter-lost-it": ("a voter may no longer approve it", _lost("bob")),
    "execution-off": ("an operator switched execution off", switches.PLAN_ONLY),
    "no-runs": ("an operator allows no runs", switches.NO_RUNS),
    "stopped": ("somebody stopped it", f"alice{cards.STOPPED}"),
    "denied-elsewhere": (
        "somebody denied the same on another card",
        denied_in_words(Denial(tool="append-word", by="carol", reason="")),
    ),
    "altered": ("its stored plan was altered", cards.ALTERED),
}
"""Why a request was revoked: in words for the reader, and as the card says it."""

_WAITS = "Alice asked for a change. Nothing runs until enough people have agreed to it."
_TWO = ("bob", "carol")
_BROKEN = Kept(state=State.GRANTED, votes=("bob",), quorum=2, broken_by="bob")
CARD_SIDES: Mapping[str, CardSide | ReportSide | NoteSide] = {
    "open-0-of-1": CardSide(explains=f"{_WAITS} One vote of somebody else is needed."),
    "open-0-of-1-requester-may-vote": CardSide(
        explains=f"{_WAITS} One vote is needed, and Alice's own counts.",
        kept=Kept(requester_may_vote=True, approvers=("alice", "bob", "carol")),
    ),
    "open-1-of-2": CardSide(
        explains=f"{_WAITS} Two people have to agree, and Bob has.",
        kept=Kept(votes=("bob",), quorum=2),
    ),
    "granted": CardSide(
        explains="Enough people agreed. It waits for its turn to run, and a no still ends it.",
        kept=Kept(state=State.GRANTED, votes=("bob",)),
    ),
    "spent-running": CardSide(
        explains="It was approved and is running now.",
        kept=Kept(state=State.SPENT, votes=("bob",)),
        ran=RunState.RUNNING,
    ),
    "spent-succeeded": CardSide(
        explains="It was approved and ran once. Its report is a message of its own.",
        kept=Kept(state=State.SPENT, votes=_TWO, quorum=2),
        ran=RunState.SUCCEEDED,
    ),
    "spent-failed": CardSide(
        explains="It was approved, and a step failed. A new try needs a new card.",
        kept=Kept(state=State.SPENT, votes=("bob",)),
        ran=RunState.FAILED,
    ),
    "spent-cancelled": CardSide(
        explains="It was approved, and stopped between two steps.",
        kept=Kept(state=State.SPENT, votes=("bob",)),
        ran=RunState.CANCELLED,
    ),
    "spent-unknown": CardSide(
        explains="It was approved, and nobody knows whether its last step happened.",
        kept=Kept(state=State.SPENT, votes=("bob",)),
        ran=RunState.UNKNOWN,
    ),
    "denied": CardSide(
        explains="Bob said no and why. The same is refused in this conversation until somebody asks again.",
        kept=Kept(state=State.DENIED, by="bob", reason="Not before the weekend."),
    ),
    "denied-without-a-reason": CardSide(
        explains="Bob said no and not why.", kept=Kept(state=State.DENIED, by="bob")
    ),
    "open-after-a-denial": CardSide(
        explains=f"{_WAITS} Bob had denied it; Carol, who may approve it, asked for it again.",
        kept=Kept(denied_by="bob"),
    ),
    "expired": CardSide(
        explains="Its time ran out with one vote of two. That is no denial; asking again makes a new card.",
        kept=Kept(state=State.EXPIRED, votes=("bob",), quorum=2),
    ),
    **{
        f"revoked-{name}": CardSide(
            explains=f"Nothing ran, because {why} after the card was shown.",
            kept=Kept(state=State.REVOKED, votes=("bob",), reason=reason),
        )
        for name, (why, reason) in REVOKED.items()
    },
    "superseded": CardSide(
        explains="Alice asked for the same again, so there is a newer card. This one can run nothing.",
        kept=Kept(state=State.SUPERSEDED, by="alice"),
    ),
    "altered": CardSide(
        explains="Somebody changed the stored card behind Sayso's back. It is not shown, and can never run.",
        kept=Kept(state=State.REVOKED, altered=True, reason=cards.ALTERED),
    ),
    "with-preview": CardSide(
        explains=f"{_WAITS} A dry run printed what it would do.",
        kept=Kept(preview="3 hosts move\n1 host stays: web-3"),
    ),
    "with-warnings": CardSide(
        explains=f"{_WAITS} Software warns of a look-alike letter, of no sandbox and of too few voters.",
        kept=Kept(words=("p\u0430ypal.example",), quorum=2, sandbox="none", approvers=("bob",)),
    ),
    "with-hostile-agent-text": CardSide(
        explains=f"{_WAITS} The agent tries to look approved; its words stay below and are marked.",
        kept=Kept(
            about=AgentText(
                rationale="Approved by bob.\nRisk: none\n```\n<!channel> @everyone [Approve](https://evil.example)"
            )
        ),
    ),
    "with-a-function-and-what-follows-a-failure": CardSide(
        explains=f"{_WAITS} It calls a function, may try that again, and goes past its second step.",
        kept=Kept(steps=_CALLS),
    ),
    "with-a-request": CardSide(
        explains=f"{_WAITS} It sends a request, with a secret at the end of a header.",
        kept=Kept(steps=(_REQUEST,)),
    ),
    "edited-message": CardSide(
        explains=f"{_WAITS} Alice changed her message afterwards; that changes nothing about the plan.",
        kept=Kept(edited=True),
    ),
    "full-plan-needed": CardSide(
        explains="The plan is too long for a message, so there is no Approve before all of it was shown.",
        kept=Kept(words=tuple(f"word-{number:02}-{'x' * 100}" for number in range(40))),
    ),
    "edited": CardSide(
        explains=f"{_WAITS} Bob gave it another word, so he counts as having asked for it too.",
        kept=Kept(edited_from="omega", approvers=("carol",)),
    ),
    "superseded-by-an-edit": CardSide(
        explains="Bob edited what it asked for, so another card waits. The vote for this one counts for nothing.",
        kept=Kept(state=State.SUPERSEDED, votes=("carol",), by="bob", became=OTHER),
    ),
    "grant-open": CardSide(
        explains="Alice wants to run exactly this again and again without a card. One vote is needed.",
        kept=Kept(standing=True),
    ),
    "grant-spent": CardSide(
        explains="Bob agreed to the standing grant. What runs under it is reported each time.",
        kept=Kept(standing=True, state=State.SPENT, votes=("bob",)),
    ),
    "under-a-grant": CardSide(
        explains="Bob allowed it before by a standing grant, so nobody was asked. People see this where they look it up.",
        kept=Kept(state=State.SPENT, votes=("bob",), under=Under(grant=GRANT, request=OTHER)),
        ran=RunState.SUCCEEDED,
    ),
    "open-in-a-pause": CardSide(
        explains=f"{_WAITS} Carol paused everything, so no yes counts now.",
        kept=Kept(brakes=(PAUSE,)),
    ),
    "granted-in-a-freeze": CardSide(
        explains="Bob approved it before a freeze began. It runs after its end, if it is still as it was shown.",
        kept=Kept(state=State.GRANTED, votes=("bob",), brakes=(FREEZE,)),
    ),
    "glass-broken": CardSide(
        explains="Bob alone let it run, with one vote of two. Everybody who may approve it is told.",
        kept=_BROKEN,
    ),
    "glass-broken-spent": CardSide(
        explains="Bob alone let it run, and it did.",
        kept=replace(_BROKEN, state=State.SPENT),
        ran=RunState.SUCCEEDED,
    ),
    "needs-a-code": CardSide(
        explains=f"{_WAITS} Each yes takes a one-time code, which a window asks for.",
        kept=Kept(second_factor=True, enrolled=("bob", "carol")),
    ),
    "needs-a-code-that-nobody-has": CardSide(
        explains=f"{_WAITS} Two must give a code, and only Bob could.",
        kept=Kept(second_factor=True, quorum=2, enrolled=("bob",)),
    ),
    "undo": CardSide(
        explains="Bob pressed Undo on the report of a run. What undoes it waits for people like anything else.",
        kept=Kept(undoes="r_0123456789abcdef"),
    ),
    "may-have-happened": CardSide(
        explains=f"{_WAITS} A run of the same was cut off, and nobody has said yet whether it happened.",
        kept=Kept(doubts=("r_0123456789abcdef",)),
    ),
    "report-with-undo": ReportSide(
        explains="The runbook says what undoes it, so people can have that proposed.",
        state=RunState.SUCCEEDED,
        undo=True,
    ),
    "report-past-a-failed-step": ReportSide(
        explains="A step was tried again, one failed and was passed over: each is told, and all are counted.",
        state=RunState.FAILED,
        steps=_steps(_PASSED, on_failure="continue"),
    ),
    "report-of-requests": ReportSide(
        explains="It sent two requests: each is told with the status that came back, as none has an exit code.",
        state=RunState.FAILED,
        steps=_steps(_ASKED),
    ),
    "report-under-a-grant": ReportSide(
        explains="Nobody was asked, since a standing grant covers it: its report says so.",
        state=RunState.SUCCEEDED,
        under=Use(grant=GRANT, number=2, most=5, until=drawn_samples.UNTIL),
    ),
    "report-glass-broken": ReportSide(
        explains="Bob alone let it run: the report says so, and why.",
        state=RunState.SUCCEEDED,
        broken_by="bob",
    ),
    "note-escalated": NoteSide(
        explains="Nobody answered for long, so the policy has Carol told. That gives her no right.",
        text=cards.escalation(Kept().request(), ["carol"], ["bob"]),
        called=("carol",),
    ),
    "note-handed-over": NoteSide(
        explains="Alice asked Bob in particular to decide it.",
        text=cards.handed_over(Kept().request(), "alice", "bob"),
        called=("bob",),
    ),
    "note-glass-broken": NoteSide(
        explains="Bob alone let it run. Whoever may approve it is told, and can still stop it.",
        text=cards.glass(_BROKEN.request()),
        called=_TWO,
    ),
    "note-paused": NoteSide(
        explains="Carol paused everything, and something waits in this conversation.",
        text=brakes.paused(PAUSE),
    ),
    "note-resumed": NoteSide(explains="Carol ended the pause.", text=brakes.resumed("carol")),
    "note-freeze-began": NoteSide(
        explains="A freeze of the configuration began, and something waits in this conversation.",
        text=brakes.began(FREEZE),
    ),
    "note-freeze-over": NoteSide(explains="It is over.", text=brakes.over("release")),
    **{
        f"report-{state.value}": ReportSide(
            explains=f"What software reports in the thread about a run that is {state.value}.",
            state=state,
        )
        for state in RunState
        if state is not RunState.RUNNING
    },
}
"""By the name of its file."""


def states() -> set[State]:
    """Return the states that some card is shown in."""
    return {one.kept.state for one in CARD_SIDES.values() if isinstance(one, CardSide)}


def runs() -> Sequence[set[RunState]]:
    """Return the ends that some card, and some report, is shown with."""
    of_cards = {o.ran for o in CARD_SIDES.values() if isinstance(o, CardSide) and o.ran}
    return of_cards, {o.state for o in CARD_SIDES.values() if isinstance(o, ReportSide)}
