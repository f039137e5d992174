"""How many calls of a step count, before any of them was checked."""

from dataclasses import replace

from core.admission import Rules, at_least
from core.calls import Names, step
from core.redaction import Redactor
from core.tools import Toolbox
from tests.scene import call, use

NOTHING = Toolbox(())
RULES = Rules(known=NOTHING, tools=NOTHING, defaults={}, generative=True, redactor=Redactor.of([]))
TWICE = step(
    use(call("look", name="1"), call("look", name="2")),
    Names(turn="t_1", before=frozenset()),
    100,
    RULES.redactor,
)


def test_of_calls_that_only_repeat_one_another_a_model_has_one() -> None:
    assert at_least(TWICE, RULES) == 1


def test_of_what_a_person_dictates_each_call_counts() -> None:
    assert at_least(TWICE, replace(RULES, generative=False)) == 2
