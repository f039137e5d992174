"""Every state of a card and every refusal stands in the golden files, as people read it now."""

from approvals.models import RunState, State
from tests import card_sides, side_by_side
from tests.refusal_sides import REFUSAL_SIDES
from tests.sides import WIDTH, wrapped
from tests.sources import sources

WRITE = "run `python -m tests.side_by_side`, and look at what changed"


def test_every_file_holds_what_people_read_now() -> None:
    made = side_by_side.files()
    found = {file.name: file.read_text("utf-8") for file in side_by_side.kept()}
    assert found.keys() == made.keys(), WRITE
    assert {name for name in made if made[name] != found[name]} == set(), WRITE


def test_every_state_of_a_request_and_every_end_of_a_run_has_its_card() -> None:
    of_cards, of_reports = card_sides.runs()
    assert card_sides.states() == set(State)
    assert of_cards == set(RunState)
    assert of_reports == set(RunState) - {RunState.RUNNING}


def test_every_sentence_that_refuses_something_is_shown() -> None:
    shown = {one.source for sentences in REFUSAL_SIDES.values() for one in sentences}
    assert sorted(sources().keys() - shown) == [], "add an entry to tests/refusal_sides.py"
    assert sorted(shown - sources().keys()) == [], "remove it, or name where it stands now"


def test_no_sentence_is_shown_twice_on_one_occasion() -> None:
    for sentences in REFUSAL_SIDES.values():
        occasions = [(one.source, one.when, one.error().shown) for one in sentences]
        assert len(set(occasions)) == len(occasions)


def test_what_is_wrapped_loses_no_word_and_fits() -> None:
    line = f"  > {'word ' * 40}{'x' * 200} end"
    parts = wrapped([line])
    assert max(map(len, parts)) <= WIDTH
    assert "".join("".join(parts).split()) == "".join(line.split())
