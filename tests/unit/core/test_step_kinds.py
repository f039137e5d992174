"""A step is of the kind whose name it holds, and what is wrong is told of that kind alone."""

import pytest

from core import runbooks
from core.errors import Invalid


def refusal(step: str, *, part: str = "steps") -> str:
    """Return why a runbook with this step, or this verify or preview, is refused."""
    steps = f"steps: [{step}]" if part == "steps" else f"steps: [{{run: [ls]}}]\n{part}: {step}"
    with pytest.raises(Invalid) as invalid:
        runbooks.tool(f"name: x\nsummary: s\n{steps}\n", "x.yml")
    return invalid.value.shown


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("{}", "x.yml:3: steps.0: it does nothing; write run. Correct it."),
        ("{timeout: 5s}", "x.yml:3: steps.0: it does nothing; write run. Correct it."),
        ("{shell: ls}", "x.yml:3: steps.0.shell: Extra inputs are not permitted. Sayso does not"),
        ("ls", "x.yml:3: steps.0: expected a mapping"),
    ],
)
def test_a_step_of_no_kind_is_told_what_to_write(step: str, said: str) -> None:
    assert refusal(step).startswith(said)


@pytest.mark.parametrize("part", ["verify", "preview"])
def test_a_look_of_no_kind_is_told_so_too(part: str) -> None:
    assert refusal("{timeout: 5s}", part=part) == (
        f"x.yml:4: {part}: it does nothing; write run. Correct it."
    )
