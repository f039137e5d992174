"""Runbooks: what an operator writes becomes exactly one argv, and every mistake is told where it is."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core import runbooks
from core.canonical import Json, JsonObject, sha256
from core.display import hidden
from core.errors import Incorrect, Invalid
from core.plans import Retry, RunStep
from core.tools import RESERVED, Effect, Tool
from tests.fakes.runner import words_of

WHOLE = """\
name: restart-service
summary: Restart one service.
effect: write
risk: high
params:
  service: {type: string, enum: [web, worker]}
  env: {type: string, default: staging}
phrases: ["restart {service} in {env}"]
preview: {run: [fleetctl, plan, "{service}"], bind: exact, timeout: 5s}
lock: "{{{service}/{env}"
fingerprints: [{file: "fleet/{env}.json"}]
steps:
  - run: [fleetctl, restart, "{service}", "--env={env}", "{{{service}}}"]
    timeout: 1m30s
    memory: 1GiB
    secrets: [FLEET_TOKEN]
  - run: [fleetctl, status]
verify: {run: [fleetctl, status, "{service}"]}
"""


def taking(param: str, *argv: str) -> Tool:
    """Return a tool with one parameter `x` of this kind."""
    words = ", ".join(argv or ('"{x}"',))
    return runbooks.tool(
        f"name: note\nsummary: s\nparams:\n  x: {param}\nsteps:\n  - run: [echo, {words}]\n",
        "note.yml",
    )


def argv(tool: Tool, **arguments: Json) -> tuple[str, ...]:
    return words_of(tool.expand(tool.check(arguments, {}).arguments).steps[0])


def wrong(tool: Tool, **arguments: Json) -> str:
    with pytest.raises(Incorrect) as incorrect:
        tool.check(arguments, {})
    return incorrect.value.shown


def test_a_runbook_becomes_a_tool_with_everything_that_its_file_says() -> None:
    tool = runbooks.tool(WHOLE, "restart.yml")
    assert (tool.name, tool.summary, tool.effect, tool.risk) == (
        "restart-service",
        "Restart one service.",
        Effect.WRITE,
        "high",
    )
    assert tool.names == ("service", "env")
    assert tool.defaults == {"env": "staging"}
    assert tool.phrases == ("restart {service} in {env}",)
    work = tool.expand({"service": "web", "env": "prod"})
    assert work.steps == (
        RunStep(
            argv=("fleetctl", "restart", "web", "--env=prod", "{web}"),
            timeout_ms=90_000,
            memory_bytes=2**30,
            secrets=("FLEET_TOKEN",),
        ),
        RunStep(argv=("fleetctl", "status"), timeout_ms=60_000, memory_bytes=4 * 2**30, secrets=()),
    )
    assert work.verify is not None
    assert words_of(work.verify) == ("fleetctl", "status", "web")
    assert work.preview is not None
    assert words_of(work.preview) == ("fleetctl", "plan", "web")
    assert work.preview_binds
    assert work.lock == "{web/prod"
    assert work.fingerprints == ("fleet/prod.json",)


def test_a_step_may_be_tried_again_and_passed_over_only_where_its_runbook_says_so() -> None:
    text = WHOLE.replace(
        "    timeout: 1m30s\n", "    retry: {times: 2, wait: 500ms}\n    on_failure: continue\n"
    )
    work = runbooks.tool(text, "x.yml").expand({"service": "web", "env": "prod"})
    said = [(step.retry, step.on_failure) for step in work.steps]
    assert said == [(Retry(times=2, wait_ms=500), "continue"), (None, "stop")]
    brief = runbooks.tool(text.replace(", wait: 500ms", ""), "x.yml")
    assert brief.expand({"service": "web", "env": "x"}).steps[0].retry == Retry(
        times=2, wait_ms=1000
    )


def test_what_is_left_out_takes_the_careful_side() -> None:
    tool = runbooks.tool("name: x\nsummary: s\nsteps: [{run: [echo]}]\n", "x.yml")
    assert (tool.effect, tool.risk, tool.names) == (Effect.WRITE, "medium", ())
    work = tool.expand({})
    assert (work.verify, work.preview, work.lock) == (None, None, None)
    assert (work.preview_binds, work.fingerprints) == (False, ())


def test_a_part_that_is_empty_is_as_if_left_out() -> None:
    text = "name: x\nsummary: s\nsteps: [{run: [echo]}]\npreview:\nverify: ~\nlock:\n"
    work = runbooks.tool(text, "x.yml").expand({})
    assert (work.verify, work.preview, work.lock) == (None, None, None)


def test_a_preview_is_shown_and_binds_only_where_it_says_so() -> None:
    text = WHOLE.replace("bind: exact", "bind: shown")
    assert not runbooks.tool(text, "x.yml").expand({"service": "web", "env": "x"}).preview_binds


def test_a_lock_is_filled_in_as_one_text_and_may_be_the_same_for_all() -> None:
    def lock(text: str, x: str) -> str | None:
        tool = runbooks.tool(
            "name: n\nsummary: s\nparams:\n  x: {type: string, min_length: 0}\n"
            f"lock: '{text}'\nsteps: [{{run: [ls]}}]\n",
            "n.yml",
        )
        return tool.expand({"x": x}).lock

    assert lock("{x}/{x}", "Web 1") == "Web 1/Web 1"
    assert lock("{x}", "") == ""
    assert lock("deploy", "web") == lock("deploy", "worker") == "deploy"


def test_c30_any_edit_of_the_file_is_another_definition() -> None:
    tool = runbooks.tool(WHOLE, "a.yml")
    assert tool.definition == sha256(WHOLE)
    assert runbooks.tool(WHOLE, "b.yml").definition == tool.definition
    assert runbooks.tool(f"{WHOLE}# a remark\n", "a.yml").definition != tool.definition


def test_the_samples_are_sound() -> None:
    files = sorted(Path("runbooks").glob("*.yml"))
    assert files
    for file in files:
        runbook, document = runbooks.read(file.read_text(encoding="utf-8"), file.name)
        assert runbook.name == file.stem
        assert ("name",) in document.lines


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=50))
def test_a_value_is_one_element_and_stays_as_it_is(value: str) -> None:
    assume(hidden(value) is None)
    tool = taking("{type: string, may_start_with: '-@'}", '"a{x}b"', '"{x}"', '"{x}{x}"')
    assert argv(tool, x=value) == ("echo", f"a{value}b", value, value + value)


@pytest.mark.parametrize(
    "value",
    ["$(id)", "; rm -rf /", "a b  c", "*", "'\"\\", "{x}", "{{x}}", "PROD", "Straße", "ﬁ", "%s"],
)
def test_no_value_is_split_expanded_quoted_or_folded(value: str) -> None:
    assert argv(taking("{type: string}"), x=value) == ("echo", value)


@pytest.mark.parametrize(
    ("element", "filled"),
    [
        ("{{", "{"),
        ("}}", "}"),
        ("{{x}}", "{x}"),
        ("{{{x}}}", "{web}"),
        ("{x}{{}}", "web{}"),
        ("--a={x},b={x}", "--a=web,b=web"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_doubled_braces_stand_for_one(element: str, filled: str) -> None:
    assert argv(taking("{type: string}", f'"{element}"'), x="web") == ("echo", filled)


@pytest.mark.parametrize(
    ("param", "value", "word"),
    [
        ("{type: integer}", 5, "5"),
        ("{type: number}", 1, "1"),
        ("{type: number}", 0.5, "0.5"),
        ("{type: number}", 1e-7, "1e-7"),
        ("{type: boolean}", True, "true"),
        ("{type: boolean}", False, "false"),
        ("{type: integer, enum: [1, 2]}", 2, "2"),
        ("{type: string, min_length: 0}", "", ""),
    ],
)
def test_each_kind_of_value_has_one_spelling(param: str, value: Json, word: str) -> None:
    assert argv(taking(param), x=value) == ("echo", word)


@pytest.mark.parametrize(
    ("param", "value", "expected"),
    [
        ("{type: string}", 5, "it must be a valid string"),
        ("{type: string}", None, "it must be a valid string"),
        ("{type: string}", "", "at least 1 character"),
        ("{type: string}", "x" * 201, "at most 200 characters"),
        ("{type: string, max_length: 3}", "abcd", "at most 3 characters"),
        ("{type: string}", "-rf", "it must not start with U+002D HYPHEN-MINUS"),
        ("{type: string}", "@file", "it must not start with U+0040 COMMERCIAL AT"),
        ("{type: string, may_start_with: '-'}", "@file", "must not start with U+0040"),
        ("{type: string, may_start_with: '@'}", "-rf", "must not start with U+002D"),
        ("{type: string, pattern: '[a-z]+'}", "abc1", "it must match [a-z]+"),
        ("{type: string, pattern: 'a|b'}", "ab", "it must match a|b"),
        ("{type: string, pattern: '^a$'}", "a\n", "must not contain U+000A"),
        ("{type: string, enum: [web]}", "Web", "it must be 'web'"),
        ("{type: string, enum: [web]}", "web ", "it must be 'web'"),
        ("{type: integer}", "5", "whole number"),
        ("{type: integer}", 5.0, "whole number"),
        ("{type: integer}", True, "whole number"),
        ("{type: integer, minimum: 1}", 0, "greater than or equal to 1"),
        ("{type: integer, maximum: 9}", 10, "less than or equal to 9"),
        ("{type: integer}", 2**53, "no exact JSON form"),
        ("{type: number, minimum: 0.5}", 0.4, "greater than or equal to 0.5"),
        ("{type: number}", "0.5", "expected a number"),
        ("{type: number}", float("inf"), "no exact JSON form"),
        ("{type: boolean}", 1, "true or false"),
        ("{type: boolean}", "yes", "true or false"),
        ("{type: string}", "\ud800", "valid string"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_expected(
    param: str, value: Json, expected: str
) -> None:
    told = wrong(taking(param), x=value)
    assert expected in told
    assert told.startswith("note: ")
    assert told.endswith("Call it again with that corrected.")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("web\u202egnp", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("we\u200bb", "U+200B ZERO WIDTH SPACE"),
        ("web\n--force", "U+000A a control character"),
        ("web\x1b[2K", "U+001B a control character"),
        ("web\0", "U+0000 a control character"),
        ("\ufeffweb", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("web\u2028", "U+2028 LINE SEPARATOR"),
        ("web\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("web\ue000", "U+E000 a character without a name"),
    ],
)
def test_c33_a_hidden_character_is_refused_by_name(value: str, name: str) -> None:
    told = wrong(taking("{type: string, may_start_with: '-@'}"), x=value)
    assert told == f"note: `x`: it must not contain {name}. Call it again with that corrected."
    assert hidden(told) is None


@pytest.mark.parametrize("mark", ["-", "@"])
def test_a_value_may_start_with_a_mark_where_the_runbook_declares_it(mark: str) -> None:
    assert argv(taking(f"{{type: string, may_start_with: '{mark}'}}"), x=f"{mark}x") == (
        "echo",
        f"{mark}x",
    )
    assert argv(taking("{type: string}"), x=f"x{mark}") == ("echo", f"x{mark}")


def test_a_default_fills_in_and_false_is_one_too() -> None:
    tool = taking("{type: boolean, default: false}")
    assert tool.defaults == {"x": False}
    assert tool.check({}, {}).arguments == {"x": False}


def test_a_command_that_misses_an_argument_names_it() -> None:
    with pytest.raises(Incorrect) as incorrect:
        taking("{type: string}").expand({})
    assert incorrect.value.shown == ("`x` is required and has no default. Call it again with it.")


@pytest.mark.parametrize("env", ["../other", "a/../../b", ".."])
def test_a_file_to_watch_cannot_lead_out_of_the_folder(env: str) -> None:
    tool = runbooks.tool(WHOLE.replace("fleet/{env}.json", "fleet/{env}/x"), "x.yml")
    with pytest.raises(Incorrect, match="must lie inside the working folder"):
        tool.expand({"service": "web", "env": env})


def test_a_file_to_watch_cannot_be_absolute() -> None:
    tool = runbooks.tool(WHOLE.replace("fleet/{env}.json", "{env}"), "x.yml")
    with pytest.raises(Incorrect, match="must lie inside the working folder"):
        tool.expand({"service": "web", "env": "/etc/passwd"})
    assert tool.expand({"service": "web", "env": "a..b/c"}).fingerprints == ("a..b/c",)


def edited(old: str, new: str) -> str:
    assert old in WHOLE
    return WHOLE.replace(old, new)


BAD: Sequence[tuple[str, str]] = [
    (edited("name: restart-service", "name: Restart"), "x.yml:1: name: use lowercase letters, digits and hyphens, starting with a letter. Correct it."),
    (edited("name: restart-service", "name: task"), "x.yml:1: name: task is a tool of Sayso's own; choose another name. Correct it."),
    (edited("name: restart-service", "name: " + "a" * 65), "x.yml:1: name: use lowercase letters, digits and hyphens, starting with a letter. Correct it."),
    (edited("name: restart-service\n", ""), "x.yml:1: name: Field required. Add it."),
    (edited("Restart one service.", "''"), "x.yml:2: summary: it must have at least 1 character. Correct it."),
    (edited("effect: write", "effect: delete"), "x.yml:3: effect: it must be 'read' or 'write'. Correct it."),
    (edited("risk: high", "risk: 3"), "x.yml:4: risk: it must be a valid string. Put it in quotes."),
    (edited("effect: write", "efect: read"), "x.yml:3: efect: Extra inputs are not permitted. Sayso does not know this name. Correct its spelling or remove it."),
    (edited("  env:", "  Env:"), "x.yml:5: params: 'Env' cannot be the name of a parameter. Correct it."),
    (edited("  env:", "  env-name:"), "x.yml:5: params: 'env-name' cannot be the name of a parameter. Correct it."),
    (edited("type: string, default", "type: text, default"), "x.yml:7: params.env.type: it must be 'string', 'integer', 'number' or 'boolean'. Correct it."),
    (edited("default: staging", "default: [a]"), "x.yml:7: params.env.default"),
    (edited("default: staging", "default: 5"), "x.yml:1: the default of env is not one of its values. Correct it."),
    (edited("default: staging", "default: -rf"), "x.yml:1: the default of env is not one of its values. Correct it."),
    (edited("default: staging", "pattern: '('"), "x.yml:7: params.env.pattern: this is not a regular expression: missing ), unterminated subpattern at position 0. Correct it."),
    (edited("default: staging", "max_length: 0"), "x.yml:7: params.env.max_length: it must be greater than or equal to 1. Correct it."),
    (edited("default: staging", "may_start_with: '+'"), "x.yml:7: params.env.may_start_with: it must be '', '-', '@' or '-@'. Correct it."),
    (edited("enum: [web, worker]", "enum: []"), "x.yml:6: params.service.enum: "),
    (edited("enum: [web, worker]", "enum: [on, off]"), "x.yml:6: params.service: the choice True is no string. Correct it."),
    (edited("enum: [web, worker]", "enum: [web, 1]"), "x.yml:6: params.service: the choice 1 is no string. Correct it."),
    (edited("restart {service} in", "restart {servce} in"), "x.yml:8: phrases: {servce} is not one of its params (env, service); a brace that is meant is written {{ or }}. Correct it."),
    (edited("restart {service} in", "restart {} in"), "x.yml:8: phrases: {} is not one of its params (env, service); a brace that is meant is written {{ or }}. Correct it."),
    (edited('["restart {service} in {env}"]', '[" "]'), "x.yml:8: phrases: a phrase must hold a word. Correct it."),
    (edited("fleetctl, plan", "'{service}', plan"), "x.yml:9: preview.run: its first element names the program and takes no placeholder. Correct it."),
    (edited("bind: exact", "bind: maybe"), "x.yml:9: preview.bind: it must be 'shown' or 'exact'. Correct it."),
    (edited("timeout: 5s", "timeout: 5"), "x.yml:9: preview.timeout: write a span of time such as 60s, 30m, 24h or 1h30m, at most a year. Correct it."),
    (edited("{{{service}/{env}", "{service}/{nv}"), "x.yml:10: lock: {nv} is not one of its params (env, service); a brace that is meant is written {{ or }}. Correct it."),
    (edited("{{{service}/{env}", "{service"), "x.yml:10: lock: a brace is open; write {{ or }} for one that is meant. Correct it."),
    (edited("{{{service}/{env}", ""), "x.yml:10: lock: it must have at least 1 character. Correct it."),
    (edited("{{{service}/{env}", " "), "x.yml:10: lock: it must hold a word and no NUL. Correct it."),
    (edited("{{{service}/{env}", "a\\0b"), "x.yml:10: lock: it must hold a word and no NUL. Correct it."),
    (edited("{{{service}/{env}", "a" * 201), "x.yml:10: lock: it must have at most 200 characters. Correct it."),
    (edited('"{{{service}/{env}"', "5"), "x.yml:10: lock: it must be a valid string. Put it in quotes."),
    (edited("effect: write", "effect: read"), "x.yml:10: lock: only a write takes a lock; a read runs at once and holds nothing up. Correct it."),
    (edited("fleet/{env}.json", "../{env}.json"), "x.yml:11: fingerprints.0.file: it must lie inside the working folder: no .. in it and no / in front. Correct it."),
    (edited("fleet/{env}.json", "/etc/hosts"), "x.yml:11: fingerprints.0.file: it must lie inside the working folder"),
    (edited("fleet/{env}.json", "fleet/{nv}.json"), "x.yml:11: fingerprints: {nv} is not one of its params (env, service); a brace that is meant is written {{ or }}. Correct it."),
    (edited('"{{{service}}}"', '"{service"'), "x.yml:12: steps: a brace is open; write {{ or }} for one that is meant. Correct it."),
    (edited('"{{{service}}}"', '"service}"'), "x.yml:12: steps: a brace is open; write {{ or }} for one that is meant. Correct it."),
    (edited('"{{{service}}}"', '"{nobody}"'), "x.yml:12: steps: {nobody} is not one of its params (env, service); a brace that is meant is written {{ or }}. Correct it."),
    (edited('"{{{service}}}"', '"a\\0b"'), "x.yml:13: steps.0.run: it must not contain NUL. Correct it."),
    (edited('"{{{service}}}"', "5"), "x.yml:13: steps.0.run.4: it must be a valid string. Put it in quotes."),
    (edited("- run: [fleetctl, status]", "- run: []"), "x.yml:17: steps.1.run: "),
    (edited("- run: [fleetctl, status]", "- run: ['']"), "x.yml:17: steps.1.run: its first element names the program and takes no placeholder. Correct it."),
    (edited("- run: [fleetctl, status]", "- run: fleetctl status"), "x.yml:17: steps.1.run: "),
    (edited("- run: [fleetctl, status]", "- shell: fleetctl status"), "x.yml:17: steps.1.shell: Extra inputs are not permitted. Sayso does not know this name."),
    (edited("timeout: 1m30s", "timeout: forever"), "x.yml:14: steps.0.timeout: write a span of time such as 60s, 30m, 24h or 1h30m, at most a year. Correct it."),
    (edited("memory: 1GiB", "memory: 1kB"), "x.yml:15: steps.0.memory: it must be greater than or equal to 1048576. Correct it."),
    (edited("memory: 1GiB", "output: 9MiB"), "x.yml:15: steps.0.output: it must be less than or equal to 8388608. Correct it."),
    (edited("[FLEET_TOKEN]", "[LD_PRELOAD]"), "x.yml:16: steps.0.secrets: 'LD_PRELOAD' cannot be the name of a secret; write it like API_TOKEN. Correct it."),
    (edited("[FLEET_TOKEN]", "[token]"), "x.yml:16: steps.0.secrets: 'token' cannot be the name of a secret; write it like API_TOKEN. Correct it."),
    (edited("[FLEET_TOKEN]", "[SAYSO_STEP_ID]"), "x.yml:16: steps.0.secrets: 'SAYSO_STEP_ID' cannot be the name of a secret; write it like API_TOKEN. Correct it."),
    (edited("timeout: 1m30s", "retry: {times: 0}"), "x.yml:14: steps.0.retry.times: it must be greater than or equal to 1. Correct it."),
    (edited("timeout: 1m30s", "retry: {times: 6}"), "x.yml:14: steps.0.retry.times: it must be less than or equal to 5. Correct it."),
    (edited("timeout: 1m30s", "retry: {wait: 1s}"), "x.yml:14: steps.0.retry.times: Field required. Add it."),
    (edited("timeout: 1m30s", "retry: {times: 1, wait: 11m}"), "x.yml:14: steps.0.retry.wait: between two tries lie at most 10m. Correct it."),
    (edited("timeout: 1m30s", "retry: 3"), "x.yml:14: steps.0.retry: expected a mapping"),
    (edited("timeout: 1m30s", "on_failure: ignore"), "x.yml:14: steps.0.on_failure: it must be 'stop' or 'continue'. Correct it."),
    (edited("bind: exact", "retry: {times: 1}"), "x.yml:9: preview: only a step has retry and on_failure; this is looked at once. Correct it."),
    (edited("status, \"{service}\"]}", "status], on_failure: continue}"), "x.yml:18: verify: only a step has retry and on_failure; this is looked at once. Correct it."),
    (edited("verify: {run:", "verify: {http:"), "x.yml:18: verify.http: expected a mapping, which is names with values. Correct it."),
    (edited("verify: {run: [fleetctl, status, \"{service}\"]}", "verify: {run: [fleetctl, \"{x}\"]}"), "x.yml:18: verify: {x} is not one of its params (env, service); a brace that is meant is written {{ or }}. Correct it."),
    ("name: x\nsummary: s\nsteps: []\n", "x.yml:3: steps: "),
    ("name: x\nsummary: s\n", "x.yml:1: steps: Field required. Add it."),
    ("- a\n", "x.yml:1: expected a mapping, which is names with values. Correct it."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), BAD, ids=[shown[:50] for _, shown in BAD])
def test_a_bad_file_is_told_in_one_line_with_file_line_field_and_what_to_do(
    text: str, shown: str
) -> None:
    with pytest.raises(Invalid) as invalid:
        runbooks.tool(text, "x.yml")
    told = invalid.value.shown
    assert told.startswith(shown)
    assert told.splitlines() == [told]
    assert told.endswith(("it.", "remove it.", "quotes."))


@pytest.mark.parametrize("name", RESERVED)
def test_the_names_of_the_agents_own_texts_are_refused_as_parameters(name: str) -> None:
    with pytest.raises(Invalid, match=f"'{name}' cannot be the name of a parameter"):
        runbooks.tool(WHOLE.replace("  env:", f"  {name}:"), "x.yml")


@pytest.mark.parametrize("name", ["model_config", "schema", "json", "copy", "p_x", "self", "class"])
def test_a_parameter_may_have_any_name_that_pydantic_or_python_keep_for_themselves(
    name: str,
) -> None:
    tool = runbooks.tool(
        f"name: n\nsummary: s\nparams:\n  {name}: {{type: string}}\n"
        f"steps: [{{run: [echo, '{{{name}}}']}}]\n",
        "n.yml",
    )
    arguments: JsonObject = {name: "web"}
    assert tool.names == (name,)
    assert words_of(tool.expand(tool.check(arguments, {}).arguments).steps[0]) == ("echo", "web")


@pytest.mark.parametrize(
    "param",
    [
        "{type: integer, minimum: 5, maximum: 1}",
        "{type: integer, minimum: 0.5, maximum: 0.7}",
        "{type: number, minimum: .nan}",
        "{type: number, maximum: .inf}",
        "{type: string, min_length: 5, max_length: 2}",
        "{type: string, pattern: 'a{99999999999999}'}",
        "{type: integer, maximum: -1}",
    ],
)
def test_a_parameter_that_nothing_can_fit_is_refused_by_its_line(param: str) -> None:
    text = f"name: x\nsummary: s\nparams:\n  n: {param}\nsteps: [{{run: [ls]}}]\n"
    with pytest.raises(Invalid, match=r"x\.yml:4: params\.n"):
        runbooks.tool(text, "x.yml")


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("{type: integer}", -1),
        ("{type: number}", -0.5),
        ("{type: integer, minimum: 0.5}", 0),
        ("{type: integer, enum: [1, 2]}", True),
        ("{type: integer, enum: [1, 2]}", 1.0),
    ],
)
def test_a_number_that_could_be_a_flag_or_another_type_is_refused(param: str, value: Json) -> None:
    tool = taking(param, '"{x}"')
    with pytest.raises(Incorrect):
        tool.check({"x": value}, {})


def test_a_negative_number_is_fine_where_the_runbook_says_so() -> None:
    assert argv(taking("{type: integer, minimum: -5}", '"{x}"'), x=-3) == ("echo", "-3")
