"""Every sentence with which something about requests, runs and votes is refused, by what it is about.

One entry adds a sentence: the place in the source that has it, and what the names there stand for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from adapters.console.shown import Failed
from adapters.discord import messages as on_discord
from adapters.slack import messages as in_slack
from approvals import cards, denials, entitlement, secrecy, switches
from approvals.gate import UNKNOWN
from approvals.models import Denial, Request, RunState, State
from core.deliveries import Text
from core.errors import SaysoError
from core.plans import difference
from core.principals import Absent, Identity
from core.rates import NoRoom, Rate
from core.redaction import Redactor
from core.standing import NotActive, Unknown, Why
from core.terminal import Bare
from tests import discord_drawings, slack_drawings
from tests.builders import TENANT, a_checked, a_plan
from tests.card_sides import PLAIN, Kept, plan_of, ran
from tests.people_sides import AUTHORITY, doubtful, without
from tests.sides import NOT_SAID, Side, on_a_terminal, read_in_slack, read_on_discord
from tests.sources import sources

HOUR: Final = timedelta(hours=1)
GATE, FREEZE, RESOLVE = "approvals/gate.py", "approvals/freeze.py", "bot/resolve.py"
DESK, DOORS, INBOX, OPENING = (
    "bot/desk.py",
    "bot/doors.py",
    "bot/inbox.py",
    "adapters/storage/opening.py",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence: where it stands in the source, when it is said, and to whom."""

    source: str
    when: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    text: str = ""
    """What is said, where the source alone cannot tell."""
    where: str = ""
    """`terminal` or `chat`, where it is said on one of them alone; `answer`, where it answers a message."""

    def error(self) -> SaysoError:
        """Return the error whose sentence people read."""
        source = sources()[self.source]
        return source.error(self.text) if self.text else source.says(self.values)

    def side(self) -> Side:
        """Return what is read on each platform."""
        error = self.error()
        if self.where == "answer":
            return _answered(self.when, error.shown)
        chats = self.where != "terminal"
        return Side(
            explains=self.when,
            terminal=NOT_SAID if self.where == "chat" else _typed(error),
            slack=read_in_slack([in_slack.failed(error)]) if chats else NOT_SAID,
            discord=read_on_discord([on_discord.failed(error)]) if chats else NOT_SAID,
        )


def _answered(when: str, text: str) -> Side:
    said = Text(text=text)
    return Side(
        explains=when,
        terminal=on_a_terminal(said),
        slack=read_in_slack(in_slack.draw(said, team=slack_drawings.TEAM)),
        discord=read_on_discord(on_discord.draw(said, guild=discord_drawings.GUILD)),
    )


def _typed(error: SaysoError) -> list[str]:
    return on_a_terminal(Failed(kind=error.kind, text=error.shown))


def _said(  # the first two by place alone, for `self` may be a name of the source
    source: str, when: str, /, *, text: str = "", where: str = "", **values: object
) -> Sentence:
    return Sentence(source=source, when=when, values=values, text=text, where=where)


def _answer(source: str, when: str, /, *, text: str = "", **values: object) -> Sentence:
    return _said(source, when, text=text, where="answer", **values)


def _kept(state: State, *votes: str, by: str | None = None, reason: str = "") -> Request:
    return Kept(state=state, votes=votes, by=by, reason=reason).request()


def _not_a_voter(name: str, *gone: str, asked: str = "alice") -> str:
    request = replace(_kept(State.OPEN), requester=asked)
    authority = without(AUTHORITY, *gone)
    person = authority.directory.find(TENANT, name)
    assert person is not None
    return entitlement.not_a_voter(authority, person, request) or ""


OPEN, DENIED = _kept(State.OPEN), _kept(State.DENIED, by="bob", reason="Not before the weekend.")
REVOKED = _kept(State.REVOKED, "bob", reason="the runbook append-word was edited")
UNKNOWN_RUN = ran(RunState.UNKNOWN, _kept(State.SPENT, "bob"))
FAST = NoRoom(
    at=0, rate=Rate(name="votes", most=300, per=timedelta(minutes=1)), uses=1, wait=timedelta()
)
SECRET = secrecy.exposed([a_checked("hunter2hunter2", tool=PLAIN)], Redactor.of(["hunter2hunter2"]))
DENIAL = Denial(tool="append-word", by="bob", reason="Not before the weekend.")
DOUBTS = doubtful(AUTHORITY)
SAM = Identity(platform="slack", workspace="T1", user="U0SAM")
EDITED = difference(plan_of(), a_plan(a_checked("alpha", tool=PLAIN), sandbox="none"))

REFUSAL_SIDES: Mapping[str, Sequence[Sentence]] = {
    "nobody-was-asked": [
        _answer(f"{GATE} _propose 1", "An operator switched execution off.", off=switches.PLAN_ONLY),
        _answer(f"{GATE} _propose 1", "An operator allows no runs.", off=switches.NO_RUNS),
        _answer(f"{GATE} _propose 2", "A plan from a file no longer means the same.", changed=EDITED),
        _answer(f"{GATE} _freeze 1", "Too many calls at once."),
        _answer(f"{GATE} _freeze 2", "Whoever asks may not ask for this.", doubt=""),
        _answer(f"{GATE} _freeze 2", "The same, while Slack cannot say who they are.",
              doubt=entitlement.doubt(DOUBTS, "bob")),
        _answer(f"{GATE} _freeze 3", "It needs the network, and an operator switched that off.",
              off="append-word needs the network, which is switched off here."),
        _answer(f"{GATE} _freeze 4", "An argument looks like a secret.", secret=SECRET),
        _answer("approvals/unchanged.py _frozen_again 1", "The network was switched off after the card was shown.",
              off="append-word needs the network, which is switched off here."),
        _answer(f"{FREEZE} _must_start 1", "The program is not there.",
              checked=a_checked(tool=PLAIN), obstacle="There is no program append-word."),
        _answer(f"{FREEZE} _preview 1", "The dry run cannot run.",
              checked=a_checked(tool=PLAIN), obstacle="There is no program look."),
        _answer(f"{FREEZE} _preview 2", "The dry run failed.", checked=a_checked(tool=PLAIN), why="exit code 2"),
        _answer("approvals/policy.py _rule 1", "Nobody wrote how many must agree to this risk.", risk="nuclear"),
        _answer("approvals/denials.py refused 1", "The same was denied in this conversation before.",
              text=denials.refused(DENIAL).shown),
        _answer(f"{OPENING} open_request 1", "Too many cards of this conversation wait."),
        _answer(f"{OPENING} _keep_plan 1", "Two plans share a short name."),
        _answer("bot/proposing.py _proposed 1", "Only plans are made here: no card, and nothing runs.", plan=plan_of()),
    ],
    "who-may-vote": [
        _said(f"{GATE} approve 1", "Bob asked for it himself, and the rule wants somebody else.",
              reason=_not_a_voter("bob", asked="bob")),
        _said(f"{GATE} approve 1", "Somebody who may see it and not approve it.", reason=_not_a_voter("alice")),
        _said(f"{GATE} approve 1", "The same, where nobody may right now.", reason=_not_a_voter("alice", "bob", "carol")),
        _said(f"{GATE} deny 1", "Somebody who may not say no either.", doubt=""),
        _said(f"{GATE} may_again 1", "It was denied, and whoever asked wants it again.",
              reason=entitlement.not_again(AUTHORITY, DENIED)),
        _said(f"{GATE} may_again 1", "Somebody else wants it again.", reason=entitlement.not_again(AUTHORITY, OPEN)),
        _said("approvals/acting.py admit 1", "Somebody presses much too often.", lacking=[FAST]),
    ],
    "no-such-request": [
        _said(f"{GATE} _seen 1", "An id that is unknown, mistyped, another team's or not theirs to see: one answer.",
              unknown=UNKNOWN),
        _said(f"{GATE} _seen 2", "The same, while Slack cannot say who they are.",
              unknown=f"{UNKNOWN}{entitlement.doubt(DOUBTS, 'bob')}"),
        _said("adapters/storage/request_rows.py must_read 1", "The request is gone while it is looked at."),
        _said("approvals/models.py plan 1", "The stored plan was altered."),
    ],
    "too-late": [
        *(_said(f"{GATE} _too_late 1", f"A click after it was {request.state.value}.", request=request)
          for request in (
              _kept(State.GRANTED, "bob"), _kept(State.SPENT, "bob"), DENIED, _kept(State.EXPIRED),
              REVOKED, _kept(State.SUPERSEDED, by="alice"),
          )),
        _said("bot/decide.py _outcome 1", "The last yes came while another process ran it.",
              text=cards.too_late(_kept(State.SPENT, "bob"))),
    ],
    "not-run-after-the-yes": [
        _said(f"{GATE} _revoke 1", "Something changed between the card and the run.", ran=False, revoked=REVOKED),
        _said(f"{GATE} _revoke 1", "It changed, and somebody else's run was faster.", ran=True,
              revoked=_kept(State.SPENT, "bob")),
        _said("bot/decide.py _outcome 2", "It was stopped between the last yes and the run.",
              request=_kept(State.REVOKED, "bob", reason=f"alice{cards.STOPPED}")),
    ],
    "not-now": [
        _said(f"{GATE} _freeze 5", "Looking at what it would do took too long."),
        _said("approvals/unchanged.py _lost 1", "Slack cannot say whether a voter still may.",
              unchecked=entitlement.unchecked(without(DOUBTS, "bob"), _kept(State.OPEN, "bob"))),
        _said("core/principals.py error 1", "Slack cannot say who presses.",
              self=Absent(name="bob", platform="slack", standing=Unknown(why="Slack did not answer"))),
    ],
    "nobody-knows": [
        _said("approvals/execution.py _written 1", "The database failed while it ran."),
        _said("bot/decide.py _outcome 3", "The database failed as it ended."),
    ],
    "who-somebody-is": [
        _said("core/principals.py resolve 1", "Nobody wrote who this account is.", identity=SAM, name="U0SAM"),
        _said("core/principals.py error 2", "The account of somebody who is listed was deactivated.",
              self=Absent(name="carol", platform="slack", standing=NotActive(why=Why.DEACTIVATED))),
        _said("approvals/acting.py person 1", "Whoever asked was removed before it was looked at."),
    ],
    "asking": [
        _said(f"{INBOX} _message 1", "An empty message."),
        _said(f"{INBOX} _message 2", "A message that is too long.", sounded="x" * 40_000),
        _said(f"{INBOX} ask_again 1", "Asking again from another place."),
        _said(f"{INBOX} wanted 1", "A schedule asks in the name of somebody who may not.", where="chat"),
        _said(f"{INBOX} _admitted 1", "Somebody asks much too often.", before=FAST),
        _said(f"{OPENING} _place 1", "The conversation is not there, or is another team's."),
        _said(f"{INBOX} _welcome 1", "Somebody who may not ask here.", doubt=""),
        _said(f"{DESK} _asked 1", "Ask again, pressed where there is no thread.", where="chat"),
        _said(f"{DESK} _suggested 1", "A suggestion that is gone.", where="chat"),
    ],
    "stopping": [
        _said("bot/stop.py stop_run 1", "Stop, pressed by somebody who may not.", where="chat"),
        _said("bot/stop.py _live 1", "A stop by somebody who may not."),
    ],
    "unknown-steps": [
        _said(f"{RESOLVE} _theirs 1", "A run that is unknown, another team's or not theirs to see: one answer."),
        _said(f"{RESOLVE} _theirs 2", "Somebody who may see the run and not end it.", known=True, holders=("bob",)),
        _said(f"{RESOLVE} verify 1", "The verify command did not start."),
        _said(f"{RESOLVE} _command 1", "That step is not unknown."),
        _said(f"{RESOLVE} _command 2", "The stored plan was altered."),
        _said(f"{RESOLVE} _command 3", "The runbook had no verify.", call=plan_of().calls[0]),
        _said(f"{RESOLVE} _command 4", "The verify command cannot run.", call=plan_of().calls[0],
              obstacle="There is no program verify."),
        _said(f"{DESK} _resolved 1", "Somebody else ended it first.", where="chat"),
        _said("adapters/storage/runs.py _resolve 1", "The same, with the word typed."),
        _said("adapters/storage/run_rows.py must_read 1", "The run is gone while it is looked at."),
    ],
    "typed-without-an-id": [
        _said(f"{DOORS} _bare 1", "Nothing waits.", where="terminal", found=[], bare=Bare(verb="approve")),
        _said(f"{DOORS} _bare 1", "Several things wait.", where="terminal", found=[OPEN, OPEN], bare=Bare(verb="approve")),
        _said(f"{DOORS} _bare 1", "Nothing can be asked for again.", where="terminal", found=[], bare=Bare(verb="again")),
        _said(f"{DOORS} _bare 2", "The one thing that waits was never shown here.", where="terminal", found=[OPEN]),
        _said(f"{DOORS} shown 1", "Several cards could be meant.", where="terminal", found=[OPEN, OPEN]),
        _said(f"{DOORS} _unknown 1", "No step is unknown.", where="terminal", found=[]),
        _said(f"{DOORS} _unknown 1", "Several steps are unknown.", where="terminal", found=[(UNKNOWN_RUN, OPEN)] * 2),
        _said(f"{DOORS} _unknown 2", "The unknown step was never shown here.", where="terminal",
              run=UNKNOWN_RUN, request=OPEN),
    ],
}  # fmt: skip
"""By the name of its file."""
