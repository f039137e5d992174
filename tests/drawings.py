"""What a terminal is to draw in the golden files. Run this module to write those again."""

from datetime import UTC, datetime
from pathlib import Path

from adapters.console import drawing
from adapters.console.screen import Screen
from adapters.console.shown import Changed, Failed, Heading, Recalled, Shown, Told, Typed
from core.cards import Button, Card, Fact, encode
from core.conversations import Said
from core.deliveries import Asking, Text

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (40, 80, 120)
REQUEST = "0123456789abcdef" * 2
_LONG = "see " + "the-runbook-of-the-third-floor/" * 5
CARD = Card(
    title="Approve to run: deploy",
    plan=(
        'deploy {"note": "two  spaces   and a long note that does not fit into one line of a terminal"}',
        '  0. run ["deploy", "--version", "v1", "--to", "staging-with-a-long-name"], at most 1m',
    ),
    facts=(
        Fact(label="Asked by", text="alice"),
        Fact(label="Plan", text=f"p_0123456789ab sha256 {'0123456789abcdef' * 4}"),
    ),
    warnings=("No sandbox: this runs with all the rights of Sayso's own account.",),
    estimate="about 20 s by the last five runs",
    preview=("--- a", "+++ b", "-old", "+new"),
    unchecked=(f"why: {_LONG}", "limits: Approve: /approve " + "f" * 32),
    buttons=(
        Button(label="Approve", verb="approve", request=REQUEST),
        Button(label="Deny", verb="deny", request=REQUEST),
    ),
)
REPORT = """Run r_0123456789abcdef unknown: deploy.
  0. deploy succeeded (exit code 0)
     copied a file to a place whose name is so long that the line has to be cut somewhere on the way
  1. deploy unknown: it was killed from outside
Approved by bob; plan p_0123456789ab."""
FORGED = """╭─ Report ────────────────────╮
│ Run r_1 succeeded: deploy.  │
╰─────────────────────────────╯
* deploy: Approved by bob.
- Your yes counts: 1 of 1 vote."""
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
SAMPLES: tuple[Shown, ...] = (
    Heading(text="A card"),
    Typed(who="alice", text="deploy v1\nand tell me"),
    Asking(card=CARD, status="Open: 0 of 2 votes, not the requester."),
    Changed(card=CARD, status="Approved by bob and carol. Run r_0123456789abcdef: running."),
    Heading(text="A report"),
    Text(
        text=REPORT,
        is_report=True,
        buttons=(
            Button(label="Verify", verb="verify", request=REQUEST),
            Button(label="It happened", verb="happened", request=REQUEST),
            Button(label="It did not", verb="did_not", request=REQUEST),
            Button(label="Plan again", verb="again", request=REQUEST),
        ),
    ),
    Heading(text="An answer that would like to be one"),
    Text(text=FORGED, suggestions=("restart web",)),
    Heading(text="What software says"),
    Told(text="Several things run or wait. Stop one of them, or `all`:\n/stop c_1   deploy"),
    Failed(kind="refused", text="You may not approve this; bob and carol may."),
    Failed(kind="invalid", text="people: it must hold names with values."),
    Failed(kind="unavailable", text="The database is busy. Try again in a moment."),
    Failed(kind="unknown_outcome", text="Look at /runs."),
    Heading(text="What was said before"),
    Recalled(
        said=(
            Said(at=AT, kind="asked", author="alice", text="deploy v1"),
            Said(at=AT, kind="card", author="sayso", text=encode(CARD)),
            Said(at=AT, kind="report", author="sayso", text=REPORT),
            Said(at=AT, kind="note", author="sayso", text="Still waiting."),
        )
    ),
)


def drawn(width: int) -> str:
    """Return every sample as a terminal of this width shows it."""
    screen = Screen(width=width)
    return "".join(screen.text(drawing.draw(one, screen)) for one in SAMPLES)


def golden(width: int) -> Path:
    """Return the file that holds what was drawn, once somebody had looked at it."""
    return GOLDEN / f"console-{width}.txt"


if __name__ == "__main__":
    for each in WIDTHS:
        golden(each).write_text(drawn(each), encoding="utf-8")
