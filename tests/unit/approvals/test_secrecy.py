"""I12: whatever a step of a plan would show is looked at for secrets, of whichever kind the step is."""

from dataclasses import replace

import pytest

from approvals import secrecy
from core.canonical import JsonObject
from core.plans import Header, HttpStep, PythonStep, Step, ToolStep
from core.redaction import Redactor
from core.tools import Work
from tests.builders import a_checked, a_step, a_tool

SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"
QUOTED = 'Zq7"Rk2\\Wm9"xT4bN8vL1'
"""One that JSON spells otherwise."""
HTTP = HttpStep(
    method="POST", url="http://127.0.0.1/", headers=(Header(name="X-Note", text="fine"),), body=None,
    statuses=(200,), answers=(), timeout_ms=1000, secrets=(),
)  # fmt: skip
PYTHON = PythonStep(
    function="team.notes:add", source="1" * 64, arguments={"note": "fine"}, timeout_ms=1000,
    memory_bytes=2**30, secrets=(),
)  # fmt: skip

TOOL = ToolStep(
    server="notes", argv=("./notes",), tool="add", definition="1" * 64, arguments={"note": "fine"},
    timeout_ms=1000, memory_bytes=2**30, secrets=(),
)  # fmt: skip


def exposed(step: Step) -> str | None:
    """Return what is said of a call that comes down to this step."""

    def expand(_: JsonObject) -> Work:
        return Work(steps=(step,))

    tool = replace(a_tool(), expand=expand)
    return secrecy.exposed([a_checked(tool=tool)], Redactor.of([SECRET, QUOTED]))


@pytest.mark.parametrize(
    "step",
    [
        a_step("note", SECRET),
        replace(HTTP, url=f"http://127.0.0.1/{SECRET}"),
        replace(HTTP, body=f'{{"a":"{SECRET}"}}'),
        replace(HTTP, headers=(Header(name="X-Note", text=SECRET),)),
        replace(PYTHON, arguments={"note": SECRET}),
        replace(PYTHON, arguments={"deep": [{"a": [1, f"x{SECRET}"]}]}),
        replace(PYTHON, arguments={"note": QUOTED}),
        replace(PYTHON, arguments={"password": "swordfish-and-more"}),
        replace(TOOL, arguments={"deep": [{"a": [1, f"x{SECRET}"]}]}),
        replace(TOOL, argv=("./notes", "--token", SECRET)),
    ],
    ids=[
        "argv",
        "url",
        "body",
        "header",
        "argument",
        "deep",
        "quoted",
        "name and value",
        "of a tool",
        "server",
    ],
)
def test_i12_a_secret_in_any_part_of_a_step_is_no_plan(step: Step) -> None:
    said = exposed(step)
    assert said is not None
    assert said.startswith("append-word: what it would run looks like a secret.")
    assert SECRET not in said


@pytest.mark.parametrize("step", [a_step("note"), HTTP, PYTHON, TOOL])
def test_a_step_without_one_is_fine(step: Step) -> None:
    assert exposed(step) is None
