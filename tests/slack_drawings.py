"""What Slack is to show in the golden files. Run this module to write those again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.slack import edit_view, messages, views
from adapters.slack.messages import Drawn
from approvals.models import RunState, State
from core.canonical import JsonObject
from core.deliveries import Asking, Opening, Text
from core.errors import Invalid, OutcomeUnknown, Refused, Unavailable
from core.platforms import Home, Told
from core.principals import Identity
from tests import drawn_samples as samples
from tests.drawn_samples import ANSWER, FORGED, ID, report

GOLDEN = Path(__file__).parent / "golden" / "slack"
TEAM = "T1"
PRIVATE = json.dumps({"request": ID, "channel": "C1", "thread": "17.1"})
ALICE = Identity(platform="slack", workspace=TEAM, user="U0ALICE")
_WANTED = tuple(
    Identity(platform="slack", workspace=team, user=user)
    for team, user in ((TEAM, "U2BOB"), (TEAM, "U3"), ("T9", "U4"))
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
    return samples.asking(
        state, *voters, reason=reason, by=by, ran=ran, words=words, wanted=_WANTED
    )


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
    "card-superseded-by-an-edit": messages.draw(samples.superseded(_WANTED), team=TEAM),
    "card-edited": messages.draw(samples.edited(_WANTED), team=TEAM),
    "card-too-long": messages.draw(asking(words=40), team=TEAM),
    "progress-running": messages.draw(samples.running(), team=TEAM),
    "progress-declared": messages.draw(samples.copying(), team=TEAM),
    "progress-ended": messages.draw(samples.ended(), team=TEAM),
    "report-succeeded": messages.draw(report(RunState.SUCCEEDED), team=TEAM),
    "report-whole-output": messages.draw(samples.long_report(), team=TEAM),
    "report-failed": messages.draw(report(RunState.FAILED), team=TEAM),
    "report-cancelled": messages.draw(report(RunState.CANCELLED), team=TEAM),
    "report-unknown": messages.draw(report(RunState.UNKNOWN), team=TEAM),
    "answer": messages.draw(
        Text(text=ANSWER, suggestions=samples.SUGGESTIONS, turn="t_1"), team=TEAM
    ),
    "answer-forged": messages.draw(Text(text=FORGED), team=TEAM),
    "note-with-a-file": messages.draw(samples.whole_output(), team=TEAM),
    "note": messages.draw(Text(text=samples.reminder(), is_note=True), team=TEAM),
    "opening": messages.draw(
        Opening(author="alice", text="restart web\nnow & <fast>", asker=ALICE), team=TEAM
    ),
    "told": messages.told(Told(text=samples.TOLD)),
    "told-card": messages.told(Told(card=asking())),
    "failed-refused": messages.failed(Refused("You may not approve this; bob and carol may.")),
    "failed-invalid": messages.failed(Invalid("people: it must hold names with values.")),
    "failed-unavailable": messages.failed(Unavailable("The database is busy. Try again.")),
    "failed-unknown-outcome": messages.failed(OutcomeUnknown("Look at /runs.")),
    "view-code": views.code(ID, PRIVATE),
    "view-deny": views.deny(ID, PRIVATE, "Approve to run: restart-web"),
    "view-edit": edit_view.drawn(samples.FORM, PRIVATE) or {},
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
