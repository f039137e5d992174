"""Every sentence with which people are refused what they do besides asking and voting.

That is about standing grants, edits, what holds things back, second factors, links and undoing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Final

from approvals import entitlement, factors, granting, switches
from approvals.factors import CodeSpent, Failed
from approvals.linking import CODES
from approvals.models import RunState, State
from core.errors import Incorrect
from core.guardrails import Violation
from core.outcomes import Reason
from core.principals import Principal
from core.rates import NoRoom, Rate
from tests.builders import TENANT
from tests.card_sides import FREEZE, PAUSE, PLAIN, Kept, ran
from tests.drawn_samples import ID
from tests.people_sides import AUTHORITY, doubtful
from tests.refusals import Sentence, said

EDITING, EDITS = "approvals/editing.py", "approvals/edits.py"
GRANTING, HOLDING, LINKING = "approvals/granting.py", "approvals/holding.py", "approvals/linking.py"
GATE, UNDOING, FACTOR = "approvals/gate.py", "approvals/undoing.py", "approvals/second_factor.py"
STORAGE, RULING, ENROLLING = "adapters/storage", "bot/ruling.py", "bot/enrolling.py"
GRANT: Final = f"g_{ID}"
OPEN = Kept().request()
BECAME = Kept(state=State.SUPERSEDED, by="bob", became=ID[::-1]).request()
NOT_AT_ALL = (
    "append-word `word` has the character U+200B, which hides. Call it again with that corrected."
)
FAST = NoRoom(
    at=0, rate=Rate(name="edits", most=30, per=timedelta(minutes=1)), uses=1, wait=timedelta()
)
DOUBT = entitlement.doubt(doubtful(AUTHORITY), "bob")


def _not_an_editor(name: str) -> str:
    return entitlement.not_an_editor(AUTHORITY, _person(name), OPEN) or ""


def _not_a_breaker(name: str, *, standing: bool = False) -> str:
    request = Kept(standing=standing).request()
    return entitlement.not_a_breaker(AUTHORITY, _person(name), request) or ""


def _person(name: str) -> Principal:
    person = AUTHORITY.directory.find(TENANT, name)
    assert person is not None
    return person


def _coded(*reasons: tuple[str, str]) -> list[Sentence]:
    return [said(f"{FACTOR} must_hold 1", when, found=Failed(why=why)) for when, why in reasons]


WISH_SIDES: Mapping[str, Sequence[Sentence]] = {
    "edits": [
        said(f"{EDITING} _seen 1", "It was decided, or edited, before the edit came.", request=BECAME),
        said(f"{EDITING} _seen 2", "Somebody who may not edit it.", reason=_not_an_editor("mallory")),
        said(f"{EDITING} _edited 1", "An operator switched execution off.", off=switches.PLAN_ONLY),
        said(f"{EDITING} _edited 2", "Somebody else's edit was faster.", became=BECAME),
        said(f"{EDITING} _must_pass 1", "The tool was used too often.", lacking=[FAST]),
        said(f"{EDITING} _must_pass 2", "A guardrail stops the new values.",
             violation=Violation(reason=Reason.GUARDRAIL_TOOL, why="It names a customer")),
        said(f"{EDITING} _read 1", "A new value is none that the tool takes.", error=Incorrect(NOT_AT_ALL)),
        said(f"{EDITS} edited 1", "The new values are too long."),
        said(f"{EDITS} edited 2", "What asks for a standing grant is to be edited."),
        said(f"{EDITS} edited 3", "The new values are the old ones."),
        said(f"{EDITS} _which 1", "The plan has several calls, and no number says which.",
             calls="1 append-word, 2 append-word"),
        said(f"{EDITS} _with 1", "Nothing says what to change."),
        said(f"{EDITS} _with 2", "There is no such argument.", tool=PLAIN, takes=", ".join(PLAIN.names)),
        said(f"{EDITS} _with 3", "One argument stands there twice.", tool=PLAIN, name="word"),
        said(f"{STORAGE}/editing.py edit 1", "What it would become waits already."),
    ],
    "standing-grants": [
        said(f"{GRANTING} _must_be_bounded 1", "Too many uses, or none."),
        said(f"{GRANTING} _must_be_bounded 2", "Too long, or no time at all."),
        said(f"{GRANTING} _made 1", "What is named asks for a grant itself."),
        said(f"{GRANTING} _made 2", "Somebody who may not propose a grant.", doubt=""),
        said(f"{GRANTING} _made 2", "The same, while Slack cannot say who they are.", doubt=DOUBT),
        said(f"{GRANTING} _made 3", "It ended before it could be read."),
        said(f"{GRANTING} _opened 1", "An operator switched execution off.", off=switches.PLAN_ONLY),
        said(f"{GRANTING} _opened 2", "The runbook was edited since the request was shown.",
             changed="the runbook append-word was edited"),
        said(f"{GRANTING} _opened 3", "Its rule demands a second factor.",
             why=granting.why_none(replace(OPEN.rule, second_factor=True))),
        said(f"{GRANTING} _standing 1", "The message that asked for it was erased."),
        said(f"{GRANTING} revoke 1", "A grant that is unknown, another team's or not theirs to know: one answer."),
        said(f"{GRANTING} revoke 2", "Somebody who knows of the grant and may not revoke it.", doubt=""),
        said(f"{GRANTING} revoke 3", "It is over already.", grant=SimpleNamespace(id=GRANT), state="used up"),
        said(f"{GATE} may_again 1", "Ask again, for what asked for a grant."),
        said(f"{STORAGE}/using.py propose 1", "A grant for another person or channel than asked."),
        said(f"{STORAGE}/using.py activate 1", "A vote was gone when the grant was to begin. Nobody reads this: the grant never begins."),
        said(f"{STORAGE}/deciding.py spend 1", "What a grant covers changed as it was to run. Nobody reads this: it does not run."),
    ],
    "held-back": [
        said(f"{HOLDING} must_not_hold 1", "Carol paused everything.", by=PAUSE),
        said(f"{HOLDING} must_not_hold 1", "A freeze lasts.", by=FREEZE),
        said(f"{HOLDING} must_count 1", "A yes, while everything is paused.", held=PAUSE),
        said(f"{HOLDING} must_count 1", "A yes, while a freeze lasts.", held=FREEZE),
        said(f"{HOLDING} until 2", "Approved before the pause, and its turn to run comes.",
             held=SimpleNamespace(by=PAUSE)),
        said(f"{STORAGE}/brakes.py must_be_off 1", "A freeze begins in the moment in which it was to run.",
             why="a freeze has begun"),
        said(f"{STORAGE}/opening.py must_not_be_held 1", "A pause begins in the moment in which it is proposed.",
             pause=PAUSE),
        said(f"{STORAGE}/opening.py must_not_be_held 2", "Three things were denied in the conversation."),
        said(f"{RULING} _not_theirs 1", "A pause by somebody who may not.", who="carol"),
        said(f"{RULING} _not_theirs 1", "The same, where nobody may.", who="nobody"),
        said(f"{RULING} _lift 1", "A conversation of which they may not know: as one that nothing holds back."),
        said(f"{RULING} _lift 2", "Somebody who may not lift it.", who="bob and carol"),
    ],
    "breaking-glass-and-handing-over": [
        said(f"{GATE} break_glass 1", "No reason was given.", why=""),
        said(f"{GATE} break_glass 1", "Somebody who may not.", reason=_not_a_breaker("mallory")),
        said(f"{GATE} break_glass 1", "It asks for a standing grant.", reason=_not_a_breaker("bob", standing=True)),
        said(f"{RULING} _hand_over 1", "It was decided already.", request=Kept(state=State.DENIED, by="bob").request()),
        said(f"{RULING} _hand_over 2", "To somebody whose yes would not count.", whose="bob and carol may"),
        said(f"{RULING} _hand_over 2", "The same, where nobody's would.", whose="nobody may right now"),
    ],
    "second-factors": [
        *_coded(
            ("The rule demands a code, and none came.", factors.WANTED),
            ("They have no second factor.", factors.NOT_ENROLLED),
            ("The code was used already.", factors.USED),
            ("The code is older than the request.", factors.STALE),
            ("The code is wrong.", factors.wrong(4)),
            ("It is wrong for the fourth time.", factors.wrong(1)),
            ("It is wrong for the fifth time.", factors.locked(factors.LOCK)),
            ("The key beside the database is another one.", factors.UNREADABLE),
        ),
        said(f"{FACTOR} spent 1", "Two decisions with one code at once.", why=CodeSpent(factors.USED)),
        said(f"{STORAGE}/factors.py take 1", "The same, found when the vote is stored."),
        said(f"{STORAGE}/casting.py prove 1", "The rule came to demand a code in that moment.", wanted=factors.WANTED),
        said(f"{STORAGE}/casting.py prove 1", "The same, where the glass was to be broken.", wanted=factors.WANTED_OF_A_BREAKER),
        said(f"{ENROLLING} enrol 1", "Enrolling where nobody types.", where="terminal"),
        said(f"{ENROLLING} _asked 1", "No code was typed.", where="terminal"),
        said(f"{ENROLLING} _kept 1", "They have a second factor already.", where="terminal",
             failed=Failed(why=factors.ALREADY)),
        said(f"{ENROLLING} _kept 1", "The code is not of the new one.", where="terminal",
             failed=Failed(why=factors.NOT_OF_NEW)),
        said(f"{ENROLLING} _kept 1", "It was replaced meanwhile.", where="terminal",
             failed=Failed(why=factors.CHANGED)),
        said(f"{ENROLLING} _reset 1", "An operator resets what is not there.", where="terminal", person="bob"),
    ],
    "linking-accounts": [
        said(f"{LINKING} _around 1", "A code is given where linking is off."),
        said(f"{LINKING} _listed 1", "A code is wanted where linking is off."),
        said(f"{LINKING} _listed 2", "A code is wanted with an account that is linked itself."),
        said(f"{LINKING} _at 1", "From a workspace that is nobody's here."),
        said(f"{LINKING} _count 1", "Too many codes were tried.",
             lacking=[NoRoom(at=0, rate=CODES, uses=1, wait=timedelta(minutes=3))]),
        said(f"{LINKING} _found 1", "A button of a link that is unknown or over: one answer."),
        said(f"{LINKING} claim 1", "The account is somebody's already."),
        said(f"{LINKING} claim 2", "The code is wrong, used or too old."),
        said(f"{LINKING} claim 3", "The person has an account there already.",
             claimed=SimpleNamespace(principal="alice")),
        said(f"{LINKING} confirm 1", "A yes that is not theirs to say, or too late."),
        said(f"{LINKING} refuse 1", "A no that is not theirs to say, or too late."),
        said(f"{LINKING} unlink 1", "An account that nobody knows ends a link."),
    ],
    "undoing": [
        said(f"{UNDOING} _known 1", "A run that is unknown, another team's or not theirs to see: one answer."),
        *(said(f"{UNDOING} _known 2", f"The run is {state.value}.", run=ran(state, OPEN))
          for state in (RunState.RUNNING, RunState.UNKNOWN, RunState.FAILED)),
        said(f"{UNDOING} _undone 1", "The runbook does not say what undoes it.", tool="append-word"),
    ],
}  # fmt: skip
"""By the name of its file."""
