"""A step is of the kind whose name it holds, and what is wrong is told of that kind alone."""

import pytest

from core import runbooks
from core.errors import Invalid
from core.plans import PythonStep, Retry, ToolStep


def refusal(step: str, *, part: str = "steps") -> str:
    """Return why a runbook with this step, or this verify or preview, is refused."""
    steps = f"steps: [{step}]" if part == "steps" else f"steps: [{{run: [ls]}}]\n{part}: {step}"
    with pytest.raises(Invalid) as invalid:
        runbooks.tool(f"name: x\nsummary: s\n{steps}\n", "x.yml")
    return invalid.value.shown


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("{}", "x.yml:3: steps.0: it does nothing; write run, http, python or tool. Correct it."),
        (
            "{timeout: 5s}",
            "x.yml:3: steps.0: it does nothing; write run, http, python or tool. Correct it.",
        ),
        ("{shell: ls}", "x.yml:3: steps.0.shell: Extra inputs are not permitted. Sayso does not"),
        ("ls", "x.yml:3: steps.0: expected a mapping"),
        (
            "{run: [ls], python: 'a:b'}",
            "x.yml:3: steps.0: it has run and python, and may have one of them. Correct it.",
        ),
        ("{run: [ls], with: {a: 1}}", "x.yml:3: steps.0.with: Extra inputs are not permitted."),
    ],
)
def test_a_step_of_no_kind_is_told_what_to_write(step: str, said: str) -> None:
    assert refusal(step).startswith(said)


@pytest.mark.parametrize(
    ("part", "kinds"), [("verify", "run, http, python or tool"), ("preview", "run or python")]
)
def test_a_look_of_no_kind_is_told_so_too(part: str, kinds: str) -> None:
    assert refusal("{timeout: 5s}", part=part) == (
        f"x.yml:4: {part}: it does nothing; write {kinds}. Correct it."
    )


WHOLE = """\
name: note
summary: s
params: {text: {type: string}, n: {type: integer}}
preview: {python: "team.notes:plan", with: {text: "{text}"}, bind: exact}
steps:
  - python: team.notes:add
    with: {text: "{text}", n: "{n}", label: "{n} of {{3}}", deep: [{is: true, "{n}": "{text}"}, null]}
    timeout: 5s
    memory: 1GiB
    output: 64KiB
    secrets: [TOKEN]
    network: true
    retry: {times: 1}
    on_failure: continue
  - run: [ls]
verify: {python: "team.notes:has"}
"""


def test_a_call_of_a_function_is_filled_in_with_values_of_their_kind() -> None:
    work = runbooks.tool(WHOLE, "x.yml").expand({"text": "-a {n}", "n": 7})
    add, _ = work.steps
    assert add == PythonStep(
        function="team.notes:add",
        source=None,
        arguments={
            "text": "-a {n}",
            "n": 7,
            "label": "7 of {3}",
            "deep": [{"is": True, "{n}": "-a {n}"}, None],
        },
        timeout_ms=5000,
        memory_bytes=2**30,
        output_bytes=2**16,
        secrets=("TOKEN",),
        network=True,
        retry=Retry(times=1, wait_ms=1000),
        on_failure="continue",
    )
    assert isinstance(work.preview, PythonStep)
    assert (work.preview.function, work.preview_binds) == ("team.notes:plan", True)
    assert isinstance(work.verify, PythonStep)
    assert (work.verify.arguments, work.verify.timeout_ms) == ({}, 60_000)
    assert work.network


@pytest.mark.parametrize("python", ["notes", "a:b:c", "a.:b", "a:b.c", "é:b", "{x}:b"])
def test_only_a_function_of_a_module_can_be_called(python: str) -> None:
    said = refusal(f"{{python: '{python}'}}")
    assert said.startswith("x.yml:3: steps.0.python: ")
    assert "write where the function is, such as package.module:function. Correct it." in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "{1a: 1}",
            "steps.0.with: '1a' cannot be the name of an argument of a function. Correct it.",
        ),
        ("{class: 1}", "steps.0.with: 'class' cannot be the name of an argument of a function."),
        ("{é: 1}", "steps.0.with: '\\xe9' cannot be the name of an argument of a function."),
        ("{a: .nan}", "steps.0.with: These values have no exact JSON form"),
        ("{a: 9007199254740993}", "steps.0.with: These values have no exact JSON form"),
        ("[1]", "steps.0.with: expected a mapping"),
    ],
)
def test_what_no_function_can_be_given_is_told(given: str, said: str) -> None:
    assert refusal(f"{{python: 'a:b', with: {given}}}").startswith(f"x.yml:3: {said}")


def test_a_placeholder_in_an_argument_has_to_be_a_parameter() -> None:
    assert refusal("{python: 'a:b', with: {a: ['{nobody}']}}") == (
        "x.yml:3: steps: {nobody} is not one of its params (); a brace that is meant is written {{ or }}. Correct it."
    )


def test_a_call_of_a_tool_is_filled_in_with_values_of_their_kind() -> None:
    text = """
name: x
summary: s
params:
  text: {type: string}
  n: {type: integer}
steps:
  - tool: {server: notes, name: add, with: {text: "{text}", deep: ["{n}"]}}
    timeout: 5s
    secrets: []
    retry: {times: 1}
"""
    [step] = runbooks.tool(text, "x.yml").expand({"text": "-a", "n": 7}).steps
    assert step == ToolStep(
        server="notes",
        argv=(),
        tool="add",
        definition="",
        arguments={"text": "-a", "deep": [7]},
        timeout_ms=5000,
        memory_bytes=4 * 2**30,
        secrets=(),
        retry=Retry(times=1, wait_ms=1000),
    )


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("{tool: {server: a, name: b}, secrets: [TOKEN]}", "what a server may see stands under"),
        ("{tool: {server: a, name: b, with: {a: .nan}}}", "These values have no exact JSON form"),
        ("{tool: {server: a, name: b, with: {a: '{c}'}}}", "{c} is not one of its params"),
        ("{tool: {server: a}}", "steps.0.tool.name: "),
    ],
)
def test_a_call_of_a_tool_that_cannot_be_made_is_told(step: str, said: str) -> None:
    assert said in refusal(step)
