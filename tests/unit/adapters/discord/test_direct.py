"""In a direct message nothing is decided, so nothing there looks as if it could be."""

from adapters.discord.direct import undecided
from approvals.models import RunState, State
from core.deliveries import Asking, Text
from tests.drawn_samples import asking, ended, report, running
from tests.gates import BOB_ON_SLACK


def test_a_card_says_where_it_is_decided_and_has_no_button_that_only_refuses() -> None:
    there = asking(wanted=[BOB_ON_SLACK])
    shown = undecided(there)
    assert isinstance(shown, Asking)
    assert (shown.card.buttons, shown.wanted) == ((), ())
    assert shown.status == (
        f"{there.status} Nothing is decided in a direct message: whoever may types /sayso requests "
        "in a channel of the server."
    )
    assert (shown.card.plan, shown.card.facts) == (there.card.plan, there.card.facts)


def test_what_has_nothing_to_decide_stays_as_it_is() -> None:
    spent = asking(State.SPENT, "bob", "carol", ran=RunState.SUCCEEDED)
    for message in (spent, running(), ended(), Text(text="Done.")):
        assert undecided(message) == message
    assert running().buttons  # whoever asked may stop it wherever they are


def test_an_unknown_run_is_looked_at_in_the_server() -> None:
    shown = undecided(report(RunState.UNKNOWN))
    assert isinstance(shown, Text)
    assert shown.buttons == ()
