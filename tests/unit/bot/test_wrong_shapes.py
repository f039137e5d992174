"""Whatever somebody writes in the wrong shape, they read what to write, and nothing of how it is made."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot import faults, settings
from bot.settings import Settings
from core import runbooks, skills
from core.errors import Invalid, SaysoError
from tests.builders import a_tool

SHAPES = (
    "3", "1.5", "text", "true", "null", "[]", "[1]", "[x]", "[null]", "[[1]]", "[{}]", "{}", "{x: 1}",
    "{a: {b: c}}", "{a: null}", "{1: 2}", "{'a b': {}}",
)  # fmt: skip
NESTED = (
    "tenants.t", "tenants.t.slack", "tenants.t.console", "people.p", "people.p.groups",
    "people.p.slack", "policy.rules", "policy.rules.0", "policy.rules.0.effect",
    "policy.rules.0.action", "policy.rules.0.groups", "approvals.low", "approvals.low.quorum",
    "approvals.low.requester_may_vote", "approvals.low.expires", "approvals.low.remind_at",
    "approvals.low.escalate_to", "approvals.low.escalate_at", "approvals.freeze", "approvals.freeze.0",
    "approvals.freeze.0.name", "approvals.freeze.0.from", "approvals.freeze.0.to",
    "approvals.freeze.0.zone", "approvals.freeze.0.except", "model.provider", "runbooks.folder", "runbooks.workdir",
    "runbooks.strict", "storage.url", "sandbox.backend", "sandbox.readable", "execution.plan_only",
    "execution.runs_per_turn", "console.allow_as", "guardrails.0", "guardrails.0.stage",
    "guardrails.0.pattern", "guardrails.0.reason", "defaults.x", "schedules.s",
    "schedules.s.cron", "profiles.p", "profiles.p.tools", "profiles.p.max_turns",
    "profiles.p.max_seconds", "profiles.p.network", "profiles.p.tenants", "profiles.p.channels",
    "profiles.p.choose", "rates.messages", "rates.messages.most", "rates.messages.per",
    "rates.tools", "rates.tools.0", "toolsets.memory", "toolsets.memory.retention",
    "toolsets.memory.expose", "toolsets.reminders", "toolsets.skills", "toolsets.skills.folder",
    "toolsets.other", "secrets.x", "secrets.x.command", "secrets.x.timeout", "secrets.x.environment",
)  # fmt: skip
RUNBOOK = {
    "name": "do-it", "summary": "Do it.", "effect": "write", "risk": "low", "params": "{}",
    "phrases": "[]", "preview": "{run: [ls]}", "lock": "x", "fingerprints": "[]",
    "steps": "[{run: [ls]}]", "verify": "{run: [ls]}",
}  # fmt: skip
INSIDE = (
    "params.a", "params.a.type", "params.a.enum", "params.a.min_length", "params.a.minimum",
    "params.a.default", "steps.0", "steps.0.run", "steps.0.timeout", "steps.0.memory",
    "steps.0.secrets", "steps.0.network", "preview.bind", "fingerprints.0",
)  # fmt: skip
INTERNAL = re.compile(
    r"instance of|pydantic|Section|Config\b|_Front|Traceback|<class|Policy[A-Z]|\bdict|\btuple|"
    r"it must be a valid (?!string)|Runbook\b|Param\b|Command\b|\[key\]"
)


def written(path: str, shape: str) -> str:
    """Return YAML with a shape where the path leads."""
    top, *below = path.split(".")
    for name in reversed(below):
        shape = f"[{shape}]" if name.isdigit() else f"{{{name}: {shape}}}"
    return f"{top}: {shape}\n"


def told(file: Path) -> Iterator[str]:
    try:
        yield from faults.problems(file, settings.read(file))
    except SaysoError as error:
        yield error.shown


def refusal(text: str) -> str | None:
    """Return why this is no runbook; None where it is one."""
    try:
        runbooks.tool(text, "x.yml")
    except Invalid as error:
        return error.shown
    return None


def plain(said: str, name: str) -> bool:
    """Whether it is one line with file and line, and holds nothing internal."""
    return re.match(
        rf"{re.escape(name)}:\d+: [^\n]+[.}}]$", said
    ) is not None and not INTERNAL.search(said)


@pytest.mark.parametrize("path", [*Settings.model_fields, *NESTED])
def test_a_wrong_shape_in_the_settings_is_told_in_words_of_the_file(
    tmp_path: Path, path: str
) -> None:
    file = tmp_path / "sayso.yml"
    for shape in SHAPES:
        file.write_text(written(path, shape))
        for said in told(file):
            assert plain(said, "sayso.yml"), (path, shape, said)


@pytest.mark.parametrize("path", [*RUNBOOK, *INSIDE])
def test_a_wrong_shape_in_a_runbook_is_told_in_words_of_the_file(path: str) -> None:
    top, *_ = path.split(".")
    others = "".join(f"{name}: {value}\n" for name, value in RUNBOOK.items() if name != top)
    found = [(shape, refusal(others + written(path, shape))) for shape in SHAPES]
    assert any(said for _, said in found)
    for shape, said in found:
        assert said is None or plain(said, "x.yml"), (path, shape, said)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("path", ["", "name", "summary", "more"])
def test_a_wrong_shape_in_a_skill_is_told_in_words_of_the_file(path: str, shape: str) -> None:
    front = written(path, shape) if path else f"{shape}\n"
    with pytest.raises(Invalid) as caught:
        skills.skill(f"---\n{front}---\nText.\n", "x.md", "do-it")
    assert plain(caught.value.shown, "x.md"), caught.value.shown


@pytest.mark.parametrize("value", [3, 1.5, True, None, [], [1], {}, {"a": 1}])
def test_a_wrong_shape_in_a_call_is_told_in_words_of_the_call(value: Any) -> None:  # noqa: ANN401 - any
    with pytest.raises(SaysoError) as caught:
        a_tool().check({"word": value}, {})
    assert not INTERNAL.search(caught.value.shown)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "sayso.yml:1: runbooks.workdir: there is no folder work."),
        (b"- tenants\n", "sayso.yml:1: it must hold names with values."),
        (b"sandbox: {}\nsandbox: {}\n", "sayso.yml:2: sandbox: this name stands here twice."),
        (
            b"sandbox:\n\tbackend: none\n",
            "sayso.yml:2: not valid YAML: a tab stands where only spaces may. Correct it.",
        ),
        (b"\xff\xfes\x00", "sayso.yml:1: this is not text in UTF-8. Save it as UTF-8."),
    ],
)
def test_a_file_that_is_odd_as_a_whole_is_told_with_its_line(
    tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "sayso.yml"
    file.write_bytes(content)
    found = [*told(file)]
    assert all(plain(one, "sayso.yml") for one in found)
    assert found[0].startswith(said)


def test_a_file_may_begin_with_the_mark_that_some_editors_write(tmp_path: Path) -> None:
    file = tmp_path / "sayso.yml"
    file.write_bytes(b"\xef\xbb\xbfsandbox: {backend: none}\r\n")
    assert settings.read(file).sandbox.backend == "none"


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"cannot be read here\. Run sayso in its folder"):
        settings.read(tmp_path)


@pytest.mark.parametrize("reason", ["\u200b\u200b", " \u2060 ", "\u3164", "\u2800"])
def test_a_guardrail_has_to_give_a_reason_that_people_can_see(tmp_path: Path, reason: str) -> None:
    file = tmp_path / "sayso.yml"
    file.write_text(f"guardrails: [{{stage: input, pattern: x, reason: '{reason}'}}]", "utf-8")
    with pytest.raises(Invalid) as caught:
        settings.read(file)
    assert caught.value.shown.startswith("sayso.yml:1: guardrails.0.reason: write words")
    file.write_text(f"guardrails: [{{stage: input, pattern: x, reason: 'no{reason}'}}]", "utf-8")
    assert settings.read(file).guardrails
