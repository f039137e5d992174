"""One function makes the plan before the card and again before the run, from one look at the world."""

from dataclasses import replace

import pytest

from approvals.freeze import Freezer
from approvals.policy import Authority, Policy
from core.canonical import JsonObject, sha256
from core.errors import Refused, Unavailable
from core.plans import Fingerprint, PythonStep
from core.ports import Ended, Ending
from core.principals import Directory
from core.tools import Checked, Work
from tests.builders import a_checked, a_rule, a_step, a_tool
from tests.fakes.files import FakeFiles
from tests.fakes.runner import FakeRunner, ended, exited
from tests.fakes.sources import FakeSources

AUTHORITY = Authority(
    directory=Directory(workspaces={}, people={}),
    policy=Policy(rules=(), risks={"medium": a_rule(), "high": a_rule(2, name="high")}),
)
LOOK = a_step("preview", "now")


def freezer(
    runner: FakeRunner, files: FakeFiles | None = None, sources: FakeSources | None = None
) -> Freezer:
    return Freezer(
        runner=runner, files=files or FakeFiles(), sources=sources or FakeSources(), folder="work"
    )


async def test_a_plan_holds_everything_that_decides_what_happens() -> None:
    tool = a_tool(verify=True, lock="{word}", fingerprints=("a.txt", "b.txt"), steps=2, risk="high")
    checked = a_checked("alpha", tool=tool)
    files = FakeFiles(digests={"a.txt": "1" * 64})
    frozen = await freezer(FakeRunner(backend="bwrap"), files).freeze(
        [checked], AUTHORITY, who="t_1"
    )
    plan, work = frozen.plan, tool.expand(checked.arguments)
    [call] = plan.calls
    assert (plan.folder, plan.sandbox) == ("work", "bwrap")
    assert plan.rules == AUTHORITY.policy.digest(["runbook:append-word"], ["high"])
    assert (call.tool, call.arguments, call.risk) == ("append-word", checked.arguments, "high")
    assert (call.definition, call.steps, call.verify) == (tool.definition, work.steps, work.verify)
    assert call.lock == "alpha"
    assert call.fingerprints == (
        Fingerprint(file="a.txt", sha256="1" * 64),
        Fingerprint(file="b.txt", sha256=None),
    )
    assert (call.preview, frozen.previews) == (None, ())


CALL = PythonStep(
    function="team.notes:add",
    source=None,
    arguments={"n": 1},
    timeout_ms=1000,
    memory_bytes=2**30,
    secrets=(),
)


def calling() -> Checked:
    """Return a call of a tool whose step, verify and preview are each a function."""

    def expand(_: JsonObject) -> Work:
        return Work(
            steps=(a_step("ls"), CALL),
            verify=replace(CALL, function="team.notes:has"),
            preview=replace(CALL, function="team.notes:plan"),
        )

    return a_checked(tool=replace(a_tool(), expand=expand))


async def test_c30_a_function_is_bound_to_what_its_file_holds() -> None:
    runner = FakeRunner()
    sources = FakeSources(digests={"team.notes:add": "1" * 64, "team.notes:plan": "3" * 64})
    frozen = await freezer(runner, sources=sources).freeze([calling()], AUTHORITY, who="t_1")
    [call] = frozen.plan.calls
    assert call.steps == (a_step("ls"), replace(CALL, source="1" * 64))
    assert call.verify == replace(CALL, function="team.notes:has")
    [(_, preview)] = runner.steps
    assert preview == replace(CALL, function="team.notes:plan", source="3" * 64)


async def test_a_function_whose_file_cannot_be_read_is_not_asked_about() -> None:
    sources = FakeSources(unreadable={"team.notes:has"})
    with pytest.raises(Unavailable, match="cannot be read"):
        await freezer(FakeRunner(), sources=sources).freeze([calling()], AUTHORITY, who="t_1")


async def test_freezing_twice_gives_the_same_bytes() -> None:
    calls = [a_checked("x"), a_checked("y", tool=a_tool("other", preview=LOOK, preview_binds=True))]
    one = await freezer(FakeRunner()).freeze(calls, AUTHORITY, who="t_1")
    other = await freezer(FakeRunner()).freeze(calls, AUTHORITY, who="t_1")
    assert one.plan.canonical == other.plan.canonical


async def test_the_order_of_the_calls_is_part_of_the_plan() -> None:
    one, other = a_checked("x"), a_checked("y")
    forth = await freezer(FakeRunner()).freeze([one, other], AUTHORITY, who="t_1")
    back = await freezer(FakeRunner()).freeze([other, one], AUTHORITY, who="t_1")
    assert forth.plan.sha256 != back.plan.sha256


async def test_a_preview_is_looked_at_once_and_binds_only_where_the_runbook_says_so() -> None:
    runner = FakeRunner(endings={("preview",): exited(output="would append")})
    bound = a_tool("bound", preview=LOOK, preview_binds=True)
    shown = a_tool("shown", preview=LOOK)
    frozen = await freezer(runner).freeze(
        [a_checked(tool=bound), a_checked(tool=shown), a_checked()], AUTHORITY, who="t_1"
    )
    assert [call.preview for call in frozen.plan.calls] == [sha256("would append"), None, None]
    assert frozen.previews == ("would append", "would append")
    assert runner.ran == [LOOK.argv, LOOK.argv]
    assert len(set(runner.step_ids)) == 2
    assert all(name.startswith("t_1.") for name in runner.step_ids)  # so ending it ends them


async def test_a_bound_preview_that_prints_nothing_still_binds() -> None:
    tool = a_tool(preview=LOOK, preview_binds=True)
    frozen = await freezer(FakeRunner()).freeze([a_checked(tool=tool)], AUTHORITY, who="t_1")
    assert frozen.plan.calls[0].preview == sha256("")
    assert frozen.previews == ()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (exited(1, "no"), "exit code 1"),
        (exited(-15), "SIGTERM: it was asked to stop"),
        (ended(Ending.TIMED_OUT), "it ran longer than its time limit"),
        (ended(Ending.TOO_MUCH_OUTPUT), "it printed more than its output limit"),
        (ended(Ending.NOT_STARTED), "it could not be started"),
    ],
)
async def test_a_preview_that_does_not_succeed_refuses_the_plan(how: Ended, why: str) -> None:
    runner = FakeRunner(endings={("preview",): how})
    with pytest.raises(Refused) as refusal:
        await freezer(runner).freeze([a_checked(tool=a_tool(preview=LOOK))], AUTHORITY, who="t_1")
    assert refusal.value.shown == (f"append-word: the preview failed ({why}), so nobody was asked.")


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("append-word", "append-word: There is no such program."),
        ("verify", "append-word: There is no such program."),
        ("preview", "append-word: the preview cannot run. There is no such program."),
    ],
)
async def test_what_certainly_cannot_start_is_refused_and_nothing_runs(
    program: str, told: str
) -> None:
    runner = FakeRunner(obstacles={(program,): "There is no such program."})
    tool = a_tool(preview=LOOK, verify=True)
    with pytest.raises(Refused) as refusal:
        await freezer(runner).freeze([a_checked(tool=tool)], AUTHORITY, who="t_1")
    assert refusal.value.shown == told
    assert runner.ran == []


async def test_c31_a_file_that_cannot_be_read_is_never_taken_for_unchanged_or_missing() -> None:
    files = FakeFiles(digests={"a.txt": "1" * 64}, unreadable={"a.txt"})
    with pytest.raises(Unavailable):
        await freezer(FakeRunner(), files).freeze(
            [a_checked(tool=a_tool(fingerprints=("a.txt",)))], AUTHORITY, who="t_1"
        )


async def test_a_risk_without_a_rule_is_refused_before_anything_is_looked_at() -> None:
    runner = FakeRunner()
    with pytest.raises(Refused, match="There is no rule for the risk 'nuclear'"):
        await freezer(runner).freeze(
            [a_checked(tool=a_tool(risk="nuclear", preview=LOOK))], AUTHORITY, who="t_1"
        )
    assert runner.ran == []
