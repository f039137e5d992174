"""A plan is its canonical text: what is stored, hashed, shown and read back to be run."""

import json
from collections.abc import Callable
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import canonical, plans
from core.differences import difference
from core.errors import Refused
from core.plans import Call, Fingerprint, Plan, PythonStep, Retry, RunStep, Standing
from tests.builders import a_checked, a_plan, a_step, a_tool

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
whole = st.integers(0, 2**53 - 1)
steps = st.builds(
    RunStep,
    argv=st.lists(texts, max_size=3).map(tuple),
    timeout_ms=whole,
    memory_bytes=whole,
    secrets=st.lists(texts, max_size=2).map(tuple),
    output_bytes=whole,
    retry=st.none() | st.builds(Retry, times=whole, wait_ms=whole),
    on_failure=st.sampled_from(["stop", "continue"]),
)
calls = st.builds(
    Call,
    tool=texts,
    arguments=st.dictionaries(
        texts, texts | st.booleans() | whole | st.floats(-1e15, 1e15), max_size=3
    ),
    definition=texts,
    risk=texts,
    steps=st.lists(steps, max_size=2).map(tuple),
    verify=st.none() | steps,
    lock=st.none() | texts,
    fingerprints=st.lists(
        st.builds(Fingerprint, file=texts, sha256=st.none() | texts), max_size=2
    ).map(tuple),
    preview=st.none() | texts,
)
any_plan = st.builds(
    Plan, calls=st.lists(calls, max_size=3).map(tuple), folder=texts, sandbox=texts, rules=texts
)


@settings(deadline=None)
@given(any_plan)
def test_c30_a_plan_reads_back_from_its_text_as_the_same_plan(plan: Plan) -> None:
    again = plans.read(plan.canonical)
    assert again == plan
    assert again.canonical == plan.canonical
    assert again.sha256 == plan.sha256 == canonical.sha256(plan.canonical)
    assert plans.from_values(json.loads(plan.canonical)) == plan


@settings(deadline=None)
@given(any_plan, any_plan)
def test_c30_two_plans_share_a_hash_exactly_where_they_are_the_same(one: Plan, other: Plan) -> None:
    assert (one.sha256 == other.sha256) is (one.canonical == other.canonical)
    assert (difference(one, other) is None) is (one.sha256 == other.sha256)


def test_a_plan_is_named_after_its_hash() -> None:
    plan = a_plan()
    assert plan.id == f"p_{plan.sha256[:12]}"


def test_the_schema_is_part_of_what_is_hashed() -> None:
    assert '"schema":"sayso.plan/1"' in a_plan().canonical
    assert '"kind":"run"' in a_plan().canonical


def test_the_names_of_its_tools_stand_once_each_in_order() -> None:
    plan = a_plan(
        a_checked(tool=a_tool("two")), a_checked(tool=a_tool("one")), a_checked(tool=a_tool("two"))
    )
    assert plan.tools == ("two", "one")


def test_the_steps_of_a_run_are_numbered_over_all_calls() -> None:
    tools = [a_tool(name, steps=steps) for name, steps in (("a", 2), ("b", 1), ("c", 3))]
    plan = a_plan(*(a_checked(tool=tool) for tool in tools))
    assert [plan.call_of(step).tool for step in range(6)] == ["a", "a", "b", "c", "c", "c"]


def test_the_locks_of_its_calls_stand_once_each_sorted() -> None:
    tools = [a_tool(lock=lock) for lock in ("b", None, "", "a", "b")]
    assert a_plan(*(a_checked(tool=tool) for tool in tools)).locks == ("", "a", "b")
    assert a_plan().locks == ()


RESPELLINGS: list[Callable[[str], str]] = [
    lambda text: text.replace('":', '": ', 1),
    lambda text: text + "\n",
    lambda text: json.dumps(json.loads(text), sort_keys=False, indent=1),
    lambda text: text.replace('"timeout_ms":10000', '"timeout_ms":10000.0'),
    lambda text: text.replace("alpha", "\\u0061lpha"),
    lambda text: '{"calls":[],' + text[1:],
    lambda text: text[:-1],
    lambda text: text[:0],
]


@pytest.mark.parametrize("respell", RESPELLINGS)
def test_another_spelling_of_a_plan_is_not_read(respell: Callable[[str], str]) -> None:
    text = a_plan().canonical
    assert respell(text) != text
    with pytest.raises(Refused):
        plans.read(respell(text))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rationale",), "because"),
        (("approved",), True),
        (("schema",), "sayso.plan/2"),
        (("folder",), None),
        (("calls",), {}),
        (("calls", 0, "extra"), 1),
        (("calls", 0, "steps", 0, "shell"), True),
        (("calls", 0, "steps", 0, "kind"), "http"),
        (("calls", 0, "steps", 0, "argv"), "rm -rf"),
        (("calls", 0, "steps", 0, "argv", 0), 5),
        (("calls", 0, "steps", 0, "timeout_ms"), "10000"),
        (("calls", 0, "steps", 0, "timeout_ms"), True),
        (("calls", 0, "fingerprints"), [{"file": "x", "sha256": None, "more": 1}]),
        (("calls", 0, "tool"), 5),
        (("calls", 0, "lock"), ["web"]),
    ],
    ids=str,
)
def test_c30_what_a_plan_does_not_have_is_refused_wherever_it_stands(
    path: tuple[str | int, ...], value: object
) -> None:
    values = json.loads(a_plan().canonical)
    inner = values
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    with pytest.raises(Refused) as refusal:
        plans.read(canonical.encode(values))
    assert refusal.value.shown == "This is not a plan. Export one with `sayso plan export ID`."


@pytest.mark.parametrize("values", [None, [], 5, "plan", {}, {"calls": []}])
def test_values_that_are_no_plan_are_refused(values: object) -> None:
    with pytest.raises(Refused):
        plans.from_values(values)


BEFORE = replace(
    a_plan(),
    calls=(
        replace(
            a_plan(a_checked("x")).calls[0],
            fingerprints=(
                Fingerprint(file="a.txt", sha256="1" * 64),
                Fingerprint(file="b.txt", sha256=None),
            ),
            preview="2" * 64,
        ),
        a_plan(a_checked("y", tool=a_tool("other"))).calls[0],
    ),
)


STANDING = Standing(
    plan="3" * 64,
    requester="alice",
    place="channel:console/local/console",
    uses=5,
    lasts_ms=1000,
    proposer="bob",
)


def first(**changes: object) -> Plan:
    call = replace(BEFORE.calls[0], **changes)  # type: ignore[arg-type]  # fields of Call
    return replace(BEFORE, calls=(call, BEFORE.calls[1]))


def prints(a: str | None, b: str | None) -> tuple[Fingerprint, ...]:
    return (Fingerprint(file="a.txt", sha256=a), Fingerprint(file="b.txt", sha256=b))


@pytest.mark.parametrize(
    ("now", "cause"),
    [
        (replace(BEFORE), None),
        (replace(BEFORE, rules="other"), "the rules that decide it changed"),
        (
            replace(BEFORE, standing=STANDING),
            "the standing grant that it asks for became another one",
        ),
        (replace(BEFORE, sandbox="bwrap"), "the place where it would run changed"),
        (replace(BEFORE, folder="other"), "the place where it would run changed"),
        (first(definition="other"), "the runbook append-word was edited"),
        (first(fingerprints=prints("9" * 64, None)), "the file a.txt changed"),
        (first(fingerprints=prints(None, None)), "the file a.txt changed"),
        (first(fingerprints=prints("1" * 64, "9" * 64)), "the file b.txt changed"),
        (first(preview="other"), "the preview of append-word changed"),
        (first(preview=None), "the preview of append-word changed"),
        (first(fingerprints=()), "what append-word would do changed"),
        (
            first(fingerprints=(*prints("1" * 64, None), Fingerprint(file="c", sha256="1"))),
            "what append-word would do changed",
        ),
        (first(steps=()), "what append-word would do changed"),
        (first(verify=a_step("look")), "what append-word would do changed"),
        (first(lock="web"), "what append-word waits for changed"),
        (first(lock="web", steps=()), "what append-word waits for changed"),
        (first(risk="low"), "what append-word would do changed"),
        (first(arguments={"word": "z"}), "what append-word would do changed"),
        (
            replace(BEFORE, calls=(BEFORE.calls[0], replace(BEFORE.calls[1], definition="o"))),
            "the runbook other was edited",
        ),
        (replace(BEFORE, calls=BEFORE.calls[:1]), "its calls changed"),
        (replace(BEFORE, calls=(*BEFORE.calls, BEFORE.calls[0])), "its calls changed"),
    ],
)
def test_the_difference_names_its_cause(now: Plan, cause: str | None) -> None:
    assert difference(BEFORE, now) == cause


CODE = PythonStep(
    function="team.notes:add",
    source="1" * 64,
    arguments={},
    timeout_ms=1,
    memory_bytes=1,
    secrets=(),
)


@pytest.mark.parametrize("where", ["step", "verify"])
def test_c30_the_difference_names_the_code_that_changed(where: str) -> None:
    def with_code(code: PythonStep) -> Plan:
        call = replace(BEFORE.calls[0], preview=code.source)
        changed = replace(call, steps=(code,)) if where == "step" else replace(call, verify=code)
        return replace(BEFORE, calls=(changed,))

    before = with_code(CODE)
    assert plans.read(before.canonical) == before
    edited = with_code(replace(CODE, source="2" * 64))
    assert difference(before, edited) == "the code of team.notes:add changed"
    gone = with_code(replace(CODE, source=None))
    assert difference(before, gone) == "the code of team.notes:add changed"
    other = with_code(replace(CODE, function="team.notes:drop"))
    assert difference(before, other) == f"what {BEFORE.calls[0].tool} would do changed"


def test_c30_every_field_of_a_plan_and_a_call_is_part_of_the_hash() -> None:
    named = {field.name for field in fields(Plan)}
    assert named - {"standing"} == set(json.loads(BEFORE.canonical))
    assert named == set(json.loads(replace(BEFORE, standing=STANDING).canonical))
    assert {field.name for field in fields(Standing)} == set(
        json.loads(replace(BEFORE, standing=STANDING).canonical)["standing"]
    )
    [call, _] = json.loads(BEFORE.canonical)["calls"]
    assert {field.name for field in fields(Call)} == set(call)
    silent = {"retry", "on_failure", "output_bytes"}
    assert {field.name for field in fields(RunStep)} - silent == set(call["steps"][0])


def test_c30_what_a_step_may_say_is_part_of_the_hash_where_it_is_said() -> None:
    step, retry = a_step("true"), Retry(times=2, wait_ms=5)
    careful = [
        step, replace(step, retry=retry), replace(step, on_failure="continue"),
        replace(step, retry=Retry(times=3, wait_ms=5)), replace(step, retry=Retry(times=2, wait_ms=6)),
        replace(step, output_bytes=5),
    ]  # fmt: skip
    made = [replace(BEFORE, calls=(replace(BEFORE.calls[0], steps=(one,)),)) for one in careful]
    assert len({plan.sha256 for plan in made}) == len(careful)
    assert [plans.read(plan.canonical) for plan in made] == made
    assert [len(json.loads(plan.canonical)["calls"][0]["steps"][0]) for plan in made] == [
        6, 7, 7, 7, 7, 7,
    ]  # fmt: skip


def test_what_a_standing_grant_would_allow_is_read_back_and_part_of_the_hash() -> None:
    asks = replace(BEFORE, standing=STANDING)
    assert plans.read(asks.canonical) == asks
    for changed in (
        replace(STANDING, plan="4" * 64), replace(STANDING, requester="bob"),
        replace(STANDING, place="channel:x/y/z"), replace(STANDING, uses=6),
        replace(STANDING, lasts_ms=1001), replace(STANDING, proposer="carol"),
    ):  # fmt: skip
        assert replace(BEFORE, standing=changed).sha256 != asks.sha256
    assert asks.sha256 != BEFORE.sha256
