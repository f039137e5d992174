"""Every sentence with which something about requests, runs and votes is refused, by what it is about.

One entry adds a sentence: the place in the source that has it, and what the names there stand for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from approvals import cards, denials, entitlement, secrecy, switches
from approvals.gate import UNKNOWN
from approvals.models import Denial, Request, RunState, State
from approvals.policy import Authority
from core.differences import difference
from core.principals import Absent, Identity
from core.rates import NoRoom, Rate
from core.redaction import Redactor
from core.standing import NotActive, Unknown, Why
from core.terminal import Bare
from tests.builders import TENANT, a_checked, a_plan, a_proposal
from tests.card_sides import PLAIN, Kept, plan_of, ran
from tests.people_sides import AUTHORITY, doubtful, without
from tests.refusals import Sentence, answer, said
from tests.sources import sources
from tests.wish_sides import WISH_SIDES

HOUR: Final = timedelta(hours=1)
GATE, PREPARING, ACTING = "approvals/gate.py", "approvals/preparing.py", "approvals/acting.py"
FREEZE, RESOLVE = "approvals/freeze.py", "bot/resolve.py"
DESK, DOORS, INBOX, OPENING = (
    "bot/desk.py",
    "bot/doors.py",
    "bot/inbox.py",
    "adapters/storage/opening.py",
)


def _kept(state: State, *votes: str, by: str | None = None, reason: str = "") -> Request:
    return Kept(state=state, votes=votes, by=by, reason=reason).request()


def _barred(authority: Authority, asks: str, *editors: str) -> str:
    proposal = replace(a_proposal(a_checked(tool=PLAIN)), requester=asks, editors=editors)
    return entitlement.not_proposed(authority, proposal, asks) or ""


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
STRANGER = sources()["core/principals.py resolve 1"].says({"identity": SAM, "name": "U0SAM"})
EDITED = difference(plan_of(), a_plan(a_checked("alpha", tool=PLAIN), sandbox="none"))

REFUSAL_SIDES: Mapping[str, Sequence[Sentence]] = {
    "nobody-was-asked": [
        answer(f"{PREPARING} opened 1", "An operator switched execution off.", off=switches.PLAN_ONLY),
        answer(f"{PREPARING} opened 1", "An operator allows no runs.", off=switches.NO_RUNS),
        answer(f"{PREPARING} opened 2", "A plan from a file no longer means the same.", changed=EDITED),
        answer(f"{PREPARING} freeze 1", "Too many calls at once."),
        answer(f"{PREPARING} freeze 2", "Whoever asks may not ask for this.", barred=_barred(AUTHORITY, "mallory")),
        answer(f"{PREPARING} freeze 2", "The same, while Slack cannot say who they are.",
              barred=_barred(DOUBTS, "bob")),
        answer(f"{PREPARING} freeze 2", "Whoever edited it before may no longer ask for it.",
              barred=_barred(AUTHORITY, "alice", "mallory")),
        answer(f"{PREPARING} freeze 3", "It needs the network, and an operator switched that off.",
              off="append-word needs the network, which is switched off here."),
        answer(f"{PREPARING} freeze 4", "An argument looks like a secret.", secret=SECRET),
        answer("approvals/unchanged.py _frozen_again 1", "The network was switched off after the card was shown.",
              off="append-word needs the network, which is switched off here."),
        answer(f"{FREEZE} _must_start 1", "The program is not there.",
              checked=a_checked(tool=PLAIN), obstacle="There is no program append-word."),
        answer(f"{FREEZE} _preview 1", "The dry run cannot run.",
              checked=a_checked(tool=PLAIN), obstacle="There is no program look."),
        answer(f"{FREEZE} _preview 2", "The dry run failed.", checked=a_checked(tool=PLAIN), why="exit code 2, often wrong arguments"),
        answer("approvals/policy.py _rule 1", "Nobody wrote how many must agree to this risk.", risk="nuclear"),
        answer("approvals/denials.py refused 1", "The same was denied in this conversation before.",
              text=denials.refused(DENIAL).shown),
        answer(f"{OPENING} open_request 1", "Too many cards of this conversation wait."),
        answer(f"{OPENING} keep_plan 1", "Two plans share a short name."),
        answer("bot/proposing.py _proposed 1", "Only plans are made here: no card, and nothing runs.", plan=plan_of()),
    ],
    "who-may-vote": [
        said(f"{GATE} approve 1", "Bob asked for it himself, and the rule wants somebody else.",
              reason=_not_a_voter("bob", asked="bob")),
        said(f"{GATE} approve 1", "Somebody who may see it and not approve it.", reason=_not_a_voter("alice")),
        said(f"{GATE} approve 1", "The same, where nobody may right now.", reason=_not_a_voter("alice", "bob", "carol")),
        said(f"{GATE} deny 1", "Somebody who may not say no either.", doubt=""),
        said(f"{GATE} may_again 2", "It was denied, and whoever asked wants it again.",
              reason=entitlement.not_again(AUTHORITY, DENIED)),
        said(f"{GATE} may_again 2", "Somebody else wants it again.", reason=entitlement.not_again(AUTHORITY, OPEN)),
        said(f"{ACTING} admit 1", "Somebody presses much too often.", lacking=[FAST]),
    ],
    "no-such-request": [
        said(f"{GATE} _seen 1", "An id that is unknown, mistyped, another team's or not theirs to see: one answer.",
              unknown=UNKNOWN),
        said(f"{GATE} _seen 2", "The same, while Slack cannot say who they are.",
              unknown=f"{UNKNOWN}{entitlement.doubt(DOUBTS, 'bob')}"),
        said("adapters/storage/request_rows.py must_read 1", "The request is gone while it is looked at."),
        said("approvals/models.py plan 1", "The stored plan was altered."),
    ],
    "too-late": [
        *(said(f"{GATE} _too_late 1", f"A click after it was {request.state.value}.", request=request)
          for request in (
              _kept(State.GRANTED, "bob"), _kept(State.SPENT, "bob"), DENIED, _kept(State.EXPIRED),
              REVOKED, _kept(State.SUPERSEDED, by="alice"),
          )),
        said("bot/decide.py _outcome 1", "The last yes came while another process ran it.",
              text=cards.too_late(_kept(State.SPENT, "bob"))),
    ],
    "not-run-after-the-yes": [
        said(f"{GATE} _revoke 1", "Something changed between the card and the run.", ran=False, revoked=REVOKED),
        said(f"{GATE} _revoke 1", "It changed, and somebody else's run was faster.", ran=True,
              revoked=_kept(State.SPENT, "bob")),
        said("bot/decide.py _outcome 2", "It was stopped between the last yes and the run.",
              request=_kept(State.REVOKED, "bob", reason=f"alice{cards.STOPPED}")),
    ],
    "not-now": [
        said(f"{PREPARING} freeze 5", "Looking at what it would do took too long."),
        said("approvals/unchanged.py _lost 1", "Slack cannot say whether a voter still may.",
              unchecked=entitlement.unchecked(without(DOUBTS, "bob"), _kept(State.OPEN, "bob"))),
        said("core/principals.py error 1", "Slack cannot say who presses.",
              self=Absent(name="bob", platform="slack", standing=Unknown(why="Slack did not answer"))),
    ],
    "nobody-knows": [
        said("approvals/execution.py _written 1", "The database failed while it ran."),
        said("bot/decide.py _outcome 3", "The database failed as it ended."),
    ],
    "who-somebody-is": [
        said("core/principals.py resolve 1", "Nobody wrote who this account is.", identity=SAM, name="U0SAM"),
        said(f"{ACTING} _resolved 1", "The same, where people may link accounts themselves.", error=STRANGER),
        said("core/principals.py error 2", "The account of somebody who is listed was deactivated.",
              self=Absent(name="carol", platform="slack", standing=NotActive(why=Why.DEACTIVATED))),
        said("approvals/acting.py person 1", "Whoever asked was removed before it was looked at."),
    ],
    "asking": [
        said(f"{INBOX} _message 1", "An empty message."),
        said(f"{INBOX} _message 2", "A message that is too long.", sounded="x" * 40_000),
        said(f"{INBOX} ask_again 1", "Asking again from another place."),
        said(f"{INBOX} wanted 1", "A schedule asks in the name of somebody who may not.", where="chat"),
        said(f"{INBOX} _admitted 1", "Somebody asks much too often.", before=FAST),
        said(f"{OPENING} whereabouts 1", "The conversation is not there, or is another team's."),
        said(f"{INBOX} _welcome 1", "Somebody who may not ask here.", doubt=""),
        said(f"{DESK} _there 1", "Ask again, pressed where there is no thread.", where="chat"),
        said(f"{DESK} _suggested 1", "A suggestion that is gone.", where="chat"),
    ],
    "stopping": [
        said("bot/stop.py stop_run 1", "Stop, pressed by somebody who may not.", where="chat"),
        said("bot/stop.py _live 1", "A stop by somebody who may not."),
    ],
    "unknown-steps": [
        said(f"{RESOLVE} _theirs 1", "A run that is unknown, another team's or not theirs to see: one answer."),
        said(f"{RESOLVE} _theirs 2", "Somebody who may see the run and not end it.", known=True, holders=("bob",)),
        said(f"{RESOLVE} verify 1", "The verify command did not start."),
        said(f"{RESOLVE} _command 1", "That step is not unknown."),
        said(f"{RESOLVE} _command 2", "The stored plan was altered."),
        said(f"{RESOLVE} _command 3", "The runbook had no verify.", call=plan_of().calls[0]),
        said(f"{RESOLVE} _command 4", "The verify command cannot run.", call=plan_of().calls[0],
              obstacle="There is no program verify."),
        said(f"{DESK} _resolved 1", "Somebody else ended it first.", where="chat"),
        said("adapters/storage/runs.py _resolve 1", "The same, with the word typed."),
        said("adapters/storage/run_rows.py must_read 1", "The run is gone while it is looked at."),
    ],
    "typed-without-an-id": [
        said(f"{DOORS} _bare 1", "Nothing waits.", where="terminal", found=[], bare=Bare(verb="approve")),
        said(f"{DOORS} _bare 1", "Several things wait.", where="terminal", found=[OPEN, OPEN], bare=Bare(verb="approve")),
        said(f"{DOORS} _bare 1", "Nothing can be asked for again.", where="terminal", found=[], bare=Bare(verb="again")),
        said(f"{DOORS} _bare 2", "The one thing that waits was never shown here.", where="terminal", found=[OPEN]),
        said(f"{DOORS} shown 1", "Several cards could be meant.", where="terminal", found=[OPEN, OPEN]),
        said(f"{DOORS} _unknown 1", "No step is unknown.", where="terminal", found=[]),
        said(f"{DOORS} _unknown 1", "Several steps are unknown.", where="terminal", found=[(UNKNOWN_RUN, OPEN)] * 2),
        said(f"{DOORS} _unknown 2", "The unknown step was never shown here.", where="terminal",
              run=UNKNOWN_RUN, request=OPEN),
    ],
    **WISH_SIDES,
}  # fmt: skip
"""By the name of its file."""
