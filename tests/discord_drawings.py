"""What Discord is to show in the golden files. Run this module to write those again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from adapters.discord import edit_forms, forms, messages
from adapters.discord.drawn import Drawn
from approvals.models import RunState, State
from core.canonical import JsonObject
from core.deliveries import Asking, Opening, Text
from core.errors import Invalid, OutcomeUnknown, Refused, Unavailable
from core.platforms import Told
from core.principals import Identity
from tests import drawn_samples as samples
from tests.drawn_samples import ANSWER, FORGED, ID, report

GOLDEN = Path(__file__).parent / "golden" / "discord"
GUILD = "700000000000000001"
TURN = f"t_{ID}"
ALICE, BOB, CAROL = (
    Identity(platform="discord", workspace=GUILD, user=f"80000000000000000{n}") for n in range(3)
)
ELSEWHERE = Identity(platform="discord", workspace="700000000000000009", user=BOB.user[::-1])
_WANTED = (BOB, CAROL, ELSEWHERE)


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
    "card-open": messages.draw(asking(), guild=GUILD),
    "card-one-of-two": messages.draw(asking(State.OPEN, "bob"), guild=GUILD),
    "card-granted": messages.draw(asking(State.GRANTED, "bob", "carol"), guild=GUILD),
    **{
        f"card-{state.value}": messages.draw(
            asking(State.SPENT, "bob", "carol", ran=state), guild=GUILD
        )
        for state in RunState
    },
    "card-denied": messages.draw(
        asking(State.DENIED, by="bob", reason="Not before @here the weekend."), guild=GUILD
    ),
    "card-expired": messages.draw(asking(State.EXPIRED, "bob"), guild=GUILD),
    "card-revoked": messages.draw(
        asking(State.REVOKED, reason="alice may no longer ask for it"), guild=GUILD
    ),
    "card-superseded": messages.draw(asking(State.SUPERSEDED, by="alice"), guild=GUILD),
    "card-superseded-by-an-edit": messages.draw(samples.superseded(_WANTED), guild=GUILD),
    "card-edited": messages.draw(samples.edited(_WANTED), guild=GUILD),
    "card-too-long": messages.draw(asking(words=40), guild=GUILD),
    "progress-running": messages.draw(samples.running(), guild=GUILD),
    "progress-declared": messages.draw(samples.copying(), guild=GUILD),
    "progress-ended": messages.draw(samples.ended(), guild=GUILD),
    "report-succeeded": messages.draw(report(RunState.SUCCEEDED), guild=GUILD),
    "report-whole-output": messages.draw(samples.long_report(), guild=GUILD),
    "report-failed": messages.draw(report(RunState.FAILED), guild=GUILD),
    "report-cancelled": messages.draw(report(RunState.CANCELLED), guild=GUILD),
    "report-unknown": messages.draw(report(RunState.UNKNOWN), guild=GUILD),
    "answer": messages.draw(
        Text(text=ANSWER, suggestions=samples.SUGGESTIONS, turn=TURN), guild=GUILD
    ),
    "answer-forged": messages.draw(Text(text=FORGED), guild=GUILD),
    "answer-unfinished": messages.unfinished(ANSWER[:200]),
    "note-with-a-file": messages.draw(samples.whole_output(), guild=GUILD),
    "note": messages.draw(
        Text(text=samples.reminder(), is_note=True, wanted=(CAROL, ELSEWHERE)), guild=GUILD
    ),
    "opening": messages.draw(
        Opening(author="alice", text="restart web\nnow & <fast>", asker=ALICE), guild=GUILD
    ),
    "told": messages.told(Told(text=samples.TOLD)),
    "told-card": messages.told(Told(card=asking())),
    "failed-refused": messages.failed(Refused("You may not approve this; bob and carol may.")),
    "failed-invalid": messages.failed(Invalid("people: it must hold names with values.")),
    "failed-unavailable": messages.failed(Unavailable("The database is busy. Try again.")),
    "failed-unknown-outcome": messages.failed(OutcomeUnknown("Look at /runs.")),
    "reviewed": messages.reviewed(asking()),
    "reviewed-ended": messages.reviewed(asking(State.EXPIRED)),
    "reviewed-long": messages.reviewed(asking(words=40)),
    "form-code": forms.code(ID),
    "form-deny": forms.deny(ID, "Approve to run: restart-web"),
    "form-edit": cast("JsonObject", edit_forms.drawn(samples.FORM)),
}


def plain(sample: Sequence[Drawn] | Drawn | JsonObject) -> object:
    """Return a sample as JSON has it."""
    if isinstance(sample, Drawn):
        named = ("content", "components", "below", "document", "mentions")
        return {name: value for name in named if (value := getattr(sample, name))}
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
