"""What undoes a runbook: what is wrong with naming it, and with what it is called."""

import pytest

from core.canonical import JsonObject
from core.params import Param
from core.undo import Undo, fault


def param(**given: object) -> Param:
    return Param.model_validate(given)


NAME = param(type="string")
COUNT = param(type="integer", minimum=1, maximum=9)
STATE = param(type="string", enum=("on", "off"))
ANY = param(type="string", enum=("on", "off", "half"))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"a": NAME, "b": COUNT}, {"a": NAME}),
        ({"a": NAME}, {}),
        ({"a": NAME}, {"a": NAME, "why": param(type="string", default="undo")}),
        ({"state": STATE}, {"state": ANY}),
        ({"state": STATE}, {"state": NAME}),
    ],
)
def test_what_it_needs_is_ours_or_has_a_default(
    ours: dict[str, Param], theirs: dict[str, Param]
) -> None:
    assert fault(Undo(runbook="back"), ours, theirs) is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"a": NAME}, {"b": NAME}),
        ({"a": NAME}, {"a": COUNT}),
        ({"a": NAME}, {"a": param(type="integer", default=1)}),
        ({"state": ANY}, {"state": STATE}),
        ({"state": NAME}, {"state": STATE}),
    ],
)
def test_what_it_needs_and_we_do_not_have_is_named(
    ours: dict[str, Param], theirs: dict[str, Param]
) -> None:
    [name] = theirs
    assert fault(Undo(runbook="back"), ours, theirs) == (
        ("undo", "runbook"),
        f"back needs `{name}`, and this has no parameter of that name and kind. Say under `args` "
        "what it is.",
    )


def test_what_is_said_under_args_has_to_be_taken() -> None:
    theirs = {"state": STATE, "count": COUNT}
    sound = Undo(runbook="back", args={"state": "off", "count": 3})
    assert fault(sound, {"state": ANY}, theirs) is None
    unknown = Undo(runbook="back", args={"stat": "off"})
    assert fault(unknown, theirs, theirs) == (
        ("undo", "args", "stat"),
        "back has no parameter of this name. Correct or remove it.",
    )
    for name, value in (("state", "half"), ("count", 10), ("count", "3")):
        found = fault(Undo(runbook="back", args={name: value}), theirs, theirs)
        assert found == (("undo", "args", name), "back does not take this value. Correct it.")


def test_it_is_called_with_the_same_values_but_for_those_that_are_said() -> None:
    undo = Undo(runbook="back", args={"state": "off"})
    called: JsonObject = {"name": "web", "state": "on", "more": 1}
    assert undo.arguments(called, ("name", "state", "why")) == {"name": "web", "state": "off"}
