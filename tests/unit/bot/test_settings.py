"""The configuration at its border: what is refused, and with which words."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot import faults, settings
from bot.authority import AuthorityFile
from core.errors import Invalid, Refused
from core.hosts import Allowed
from core.limits import Limits
from core.principals import Identity
from core.profiles import Profile, Profiles
from core.rates import UNHURRIED, Rate, RateRules

TEAM = """\
tenants:
  acme: {console: true, slack: [T1]}
  other: {slack: [T2]}
people:
  alice: {console: [alice], slack: ["T1:U1"], groups: [eng]}
  twin: {slack: ["T2:U1"]}
policy:
  rules:
    - {effect: allow, action: "chat:ask", groups: [everyone]}
sandbox: {backend: none}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "runbooks").mkdir()
    (tmp_path / "work").mkdir()
    path = tmp_path / "sayso.yml"
    path.write_text(TEAM)
    return path


def refusal(file: Path, text: str) -> str:
    file.write_text(text)
    with pytest.raises(Invalid) as caught:
        settings.read(file)
    assert "\n" not in caught.value.shown
    return caught.value.shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a list", "sayso.yml:1: it must hold names"),
        ("sandbx: {backend: none}", "sayso.yml:1: sandbx: Extra inputs are not permitted. Sayso does not know"),
        ("peoples: {alice: {}}\nschedules: {n: {cron: 0 3 * * *, ask: x, as: alice}}", "sayso.yml:1: peoples: Extra inputs are not permitted. Sayso does not know"),
        ("sandbox: {backend: docker}", "sayso.yml:1: sandbox.backend: "),
        ("sandbox: {readable: [tools]}", "sayso.yml:1: sandbox.readable: write whole paths"),
        ("sandbox: {readable: [/opt, /proc/1]}", "sayso.yml:1: sandbox.readable: write whole paths"),
        ("sandbox:\n  backnd: none", "sayso.yml:2: sandbox.backnd: Extra inputs"),
        ("approvals: {low: {quorum: 0}}", "sayso.yml:1: approvals.low.quorum: "),
        ("approvals: {low: {quorum: 1, expires: soon}}", "approvals.low.expires: write a span of time"),
        ("policy: {rules: [{effect: allow, action: 'chat:*'}]}", "sayso.yml:1: policy.rules.0.groups: Field required. Add it."),
        ("people: {a: {slack: [U1]}}", "people.a.slack: write an identity as workspace and user"),
        ("tenants: {a: {console: true}, b: {console: true}}", "the console can belong to one tenant only"),
        ("tenants: {a: {slack: [T1]}, b: {slack: [T1]}}", "one slack workspace belongs to two tenants"),
        ("policy: {rules: [{effect: allow, action: 'chat:aks', groups: [a]}]}", "policy.rules.0.action: there is no such action; there are chat:ask"),
        ("storage: {url: 'sqlite::memory:'}", "storage.url: write sqlite: and a path"),
        ("people: {Sayso: {console: [a]}}", "people: nobody can be called sayso"),
        ("people: {'jos\u00e9': {console: [a]}}", "people.jos"),
        ("approvals: {low: {expires: 999d}}", "approvals.low.expires: write a span"),
        ("execution: {runs_per_turn: !!bool x}", "sayso.yml:1: this is not what its form or its tag says"),
        ("storage: {url: 'mysql://x'}", "storage.url: write sqlite: and a path"),
        ("secrets: {A: hunter2}", "secrets.A: write where the secret comes from"),
        ("secrets: {A: {reference: 'env:X'}}", "secrets.A: write where the secret comes from"),
        ("secrets: {A: {timeout: 5s}}", "secrets.A: write where the secret comes from"),
        ("secrets: {A: {command: []}}", "secrets.A.command: "),
        ("secrets: {A: {command: [vault, '']}}", "secrets.A: each word of the command needs"),
        ("secrets: {A: {command: [vault], timeout: 2m}}", "secrets.A: the command may take a minute"),
        ("secrets: {A: {command: vault read x}}", "secrets.A.command: expected a list"),
        ("secrets: {A: {command: [vault], shell: x}}", "secrets.A.shell: Extra inputs are not"),
        ("http: {hosts: ['127.1']}", "sayso.yml:1: http.hosts: write an address as four plain numbers"),
        ("http:\n  hosts: ['10.0.0.1:80']", "sayso.yml:2: http.hosts: 10.0.0.1 is no public address; list it under `private`"),
        ("http: {private: ['a:0']}", "http.private: a port is a number between 1 and 65535"),
        ("http: {private: ['https://a/']}", "http.private: a port is a number"),
        ("execution: {runs_per_turn: 2}", "execution.runs_per_turn: "),
        ("model: {provider: oracle}", "model.provider: "),
        ("guardrails: {stage: input}", "sayso.yml:1: guardrails: "),
        ("guardrails:\n  - {stage: inptu, pattern: a, reason: b}", "sayso.yml:2: guardrails.0.stage: "),
        ("guardrails:\n  - {stage: tool, pattern: a, reason: b}\n  - stage: tool\n    pattern: a(\n    reason: b",
         "sayso.yml:4: guardrails.1.pattern: this is no regular expression: missing )"),
        ("guardrails: [{stage: tool, pattern: 'a[[b]', reason: b}]", "this is no regular expression: Possible nested set"),
        ("guardrails: [{stage: tool, pattern: 'a|', reason: b}]", "guardrails.0.pattern: this is found in every text"),
        ("guardrails: [{stage: tool, pattern: 4711, reason: b}]", "guardrails.0.pattern: write a regular expression in quotes"),
        ("guardrails: [{stage: tool, pattern: a, reason: ' '}]", "guardrails.0.reason: "),
        ("guardrails: [{stage: tool, pattern: a}]", "guardrails.0.reason: Field required"),
        ("a: [", "not valid YAML"),
        ("profiles: {a: {max_turns: true}}", "sayso.yml:1: profiles.a.max_turns: write a number"),
        ("profiles: {a: {max_turns: 0}}", "profiles.a.max_turns: "),
        ("profiles: {a: {max_tokens: -1}}", "profiles.a.max_tokens: "),
        ("profiles: {a: {max_tool_calls: 1.5}}", "profiles.a.max_tool_calls: "),
        ("profiles: {a: {max_seconds: .nan}}", "profiles.a.max_seconds: "),
        ("profiles: {a: {max_seconds: .inf}}", "profiles.a.max_seconds: "),
        ("profiles: {a: {max_seconds: false}}", "profiles.a.max_seconds: write a number"),
        ("profiles: {a: {max_second: 1}}", "profiles.a.max_second: "),
        ("profiles: {a: {channels: [ops]}}", "profiles.a.channels: write a channel as platform/workspace/channel"),
        ("profiles: {a: {tenants: [acme]}}", "profiles: a: there is no tenant acme"),
        ("tenants: {t: {}}\nprofiles: {a: {tenants: [t]}, b: {tenants: [t]}}", "sayso.yml:2: profiles: the tenant t has two profiles, a and b"),
        ("profiles: {a: {channels: [slack/T/C]}, b: {channels: [slack/T/C]}}", "the channel slack/T/C has two profiles, a and b"),
        ("rates: {messages: {most: 0, per: 1m}}", "rates.messages.most: "),
        ("rates: {messages: {most: true, per: 1m}}", "rates.messages.most: write a number"),
        ("rates: {tools: [{tool: look, most: 1, per: 0s}]}", "rates.tools.0.per: write a span of time"),
        ("rates: {tools: [{most: 1, per: 1s}]}", "rates.tools.0.tool: Field required. Add it."),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_with_line_and_field(file: Path, text: str, said: str) -> None:
    assert said in refusal(file, text)


def test_c87_profiles_and_rates_are_read_with_people_and_rules(file: Path) -> None:
    file.write_text(
        TEAM + "profiles:\n"
        "  default: {max_turns: 3}\n"
        "  narrow: {tools: [], max_seconds: 2.5, choose: [eng], channels: [slack/T1/C1], tenants: [other]}\n"
        "rates: {messages: {most: 5, per: 1s}, tools: [{tool: 'x-*', most: 2, per: 1h}]}\n"
    )
    found = AuthorityFile(file)()
    assert found.profiles.known == {
        "default": Profile(name="default", limits=Limits(turns=3)),
        "narrow": Profile(
            name="narrow",
            tools=frozenset(),
            limits=Limits(seconds=2.5),
            choosers=frozenset({"eng"}),
        ),
    }
    assert found.profiles.of_tenant == {"other": "narrow"}
    assert found.profiles.of_channel == {"channel:slack/T1/C1": "narrow"}
    assert found.rates == RateRules(
        messages=Rate(name="messages", most=5, per=timedelta(seconds=1)),
        tools=(Rate(name="x-*", most=2, per=timedelta(hours=1)),),
    )


def test_c87_without_profiles_there_is_one_that_narrows_nothing(file: Path) -> None:
    found = AuthorityFile(file)()
    assert (found.profiles, found.rates) == (Profiles(), UNHURRIED)


def test_c87_a_profile_that_names_a_tool_that_is_not_there_is_a_problem(file: Path) -> None:
    file.write_text(TEAM + "profiles: {a: {tools: [nothing]}}")
    told = list(faults.problems(file, settings.read(file)))
    assert "sayso.yml:11: profiles.a.tools: there is no tool nothing. Correct or remove it." in told


def test_a_missing_file_says_how_to_name_another(file: Path) -> None:
    with pytest.raises(Invalid, match="--config"):
        settings.read(file.parent / "nothing.yml")


def test_an_empty_file_is_every_default(file: Path) -> None:
    file.write_text("")
    found = settings.read(file)
    assert found.sandbox.backend == "bwrap"
    assert not found.console.allow_as
    assert found.approvals.risks["high"].quorum == 2
    assert not found.approvals.risks["medium"].requester_may_vote


def test_naming_one_risk_keeps_the_defaults_of_the_others(file: Path) -> None:
    file.write_text("approvals: {nightly: {quorum: 3}}")
    found = settings.read(file).approvals.risks
    assert found["nightly"].quorum == 3
    assert found["low"].expires == timedelta(hours=24)


def test_the_environment_overrides_what_is_not_authority(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_STORAGE__URL", "sqlite:elsewhere.db")
    assert settings.read(file).storage.path == Path("elsewhere.db")
    monkeypatch.setenv("SAYSO_STORAGE__URL", "nothing")
    with pytest.raises(Invalid, match="SAYSO_STORAGE__URL: this value does not fit"):
        settings.read(file)


@pytest.mark.parametrize(
    "name",
    [
        "SAYSO_CONSOLE__ALLOW_AS",
        "SAYSO_CONSOLE",
        "SAYSO_PROFILES__DEFAULT__MAX_TURNS",
        "SAYSO_RATES__MESSAGES__MOST",
        "sayso_console__allow_as",
        "Sayso_Approvals__Low__Quorum",
        "SAYSO_PEOPLE__EVE__CONSOLE",
        "SAYSO_POLICY__RULES",
        "SAYSO_TENANTS__ACME__CONSOLE",
        "SAYSO_EXECUTION__PLAN_ONLY",
        "SAYSO_SANDBOX__BACKEND",
        "SAYSO_RUNBOOKS__FOLDER",
        "SAYSO_SECRETS__TOKEN",
        "SAYSO_GUARDRAILS",
        "sayso_guardrails__0__reason",
    ],
)
def test_c93_no_variable_decides_who_may_decide(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "true")
    with pytest.raises(Invalid, match=r"set in sayso\.yml alone"):
        settings.read(file)


def test_check_names_what_is_wrong_though_each_value_is_sound(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*faults.problems(file, settings.read(file))] == []
    monkeypatch.setenv("SAYSO_DATABSE", "x")
    monkeypatch.setenv("SAYSO_STEP_ID", "r_1.0")
    (file.parent / "work").rmdir()
    (file.parent / "runbooks" / "bad.yml").write_text("name: x")
    (file.parent / "runbooks" / "odd.yml").write_text(
        "name: odd\nsummary: s\nrisk: extreme\nsteps: [{run: [ls]}]"
    )
    file.write_text(
        "secrets: {TOKEN: 'env:SURELY_NOT_SET', FLEET: {command: [vault, read], environment: [NOT_SET]}}"
    )
    found = [*faults.problems(file, settings.read(file))]
    for part in (
        "SAYSO_DATABSE",
        "sayso.yml:1: secrets.TOKEN: env:SURELY_NOT_SET cannot be read",
        "sayso.yml:1: secrets.FLEET: its command starts no program here",
        "sayso.yml:1: secrets.FLEET: its command needs NOT_SET, which is not set",
        "workdir",
        "tenants:",
        "bad.yml:1",
        "runbooks/odd.yml:3: risk: there is no rule for the risk extreme; there are low, medium, high. ",
    ):
        assert any(part in line for line in found), part
    assert len(found) == 8


def test_check_blames_nothing_else_while_a_runbook_is_bad(file: Path) -> None:
    (file.parent / "runbooks" / "restart.yml").write_text("name: restart")
    asked = "{cron: 0 3 * * *, ask: restart it, as: alice, tenant: acme}"
    text = (
        f"{TEAM}rates: {{tools: [{{tool: restart, most: 1, per: 1h}}]}}\nschedules: {{n: {asked}}}"
    )
    file.write_text(text)
    [line] = faults.problems(file, settings.read(file))
    assert line.startswith("runbooks/restart.yml:1: ")


RESTART = """\
name: restart
summary: Restart.
effect: read
params: {service: {type: string, enum: [web, worker]}}
phrases: ["restart {service}"]
steps: [{run: [ls]}]
"""


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ("restart worker", None),
        ("!restart worker", None),
        ("!remind_me 2h look", None),
        ("restrat worker", "nothing here is asked for in these words. Correct them."),
        ("!restrat worker", "nothing here is asked for in these words. Correct them."),
        ("!restart wroker", "restart: `service`: it must be exactly one of web, worker."),
        ("restart wroker", "restart: `service`: "),
    ],
)
def test_check_tells_of_a_schedule_that_asks_for_nothing(
    file: Path, ask: str, said: str | None
) -> None:
    (file.parent / "runbooks" / "restart.yml").write_text(RESTART)
    schedule = f'{{cron: 0 3 * * *, ask: "{ask}", as: alice, tenant: acme}}'
    file.write_text(f"{TEAM}toolsets: {{reminders: {{}}}}\nschedules:\n  n: {schedule}\n")
    found = [*faults.problems(file, settings.read(file))]
    assert len(found) == (1 if said else 0)
    assert all(one.startswith(f"sayso.yml:13: schedules.n.ask: {said}") for one in found)


def test_check_survives_a_missing_catalogue(file: Path) -> None:
    (file.parent / "runbooks").rmdir()
    assert any("runbooks" in line for line in faults.problems(file, settings.read(file)))


def test_secrets_come_from_the_environment_or_a_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_ENV", "hunter2hunter2")
    (file.parent / "token").write_text("abcdef123456\n")
    sources = {"A": "env:FROM_ENV", "B": "file:token"}
    assert settings.secret_values(sources, file.parent) == {
        "A": "hunter2hunter2",
        "B": "abcdef123456",
    }
    (file.parent / "token").write_text("short")
    with pytest.raises(Invalid, match=r"secrets\.B: .*at least") as caught:
        settings.secret_values(sources, file.parent)
    assert "short" not in caught.value.shown


def test_an_identity_counts_only_with_its_workspace(file: Path) -> None:
    directory = AuthorityFile(file)().directory
    ours = Identity(platform="slack", workspace="T1", user="U1")
    assert directory.resolve(ours).id == "alice"
    assert directory.resolve(ours).tenant == "acme"
    theirs = Identity(platform="slack", workspace="T2", user="U1")
    assert directory.resolve(theirs).tenant == "other"
    for stranger in (
        Identity(platform="discord", workspace="T1", user="U1"),
        Identity(platform="slack", workspace="T3", user="U1"),
    ):
        with pytest.raises(Refused):
            directory.resolve(stranger)


def test_people_are_read_again_when_the_file_changes(file: Path) -> None:
    authority = AuthorityFile(file)
    first = authority()
    assert authority() is first
    file.write_text(TEAM.replace("groups: [eng]", "groups: [sre]"))
    alice = Identity(platform="console", workspace="local", user="alice")
    assert authority().directory.resolve(alice).groups == {"sre"}
    file.unlink()
    with pytest.raises(Invalid):
        authority()


def test_check_names_a_group_that_nobody_is_in(file: Path) -> None:
    file.write_text(TEAM.replace("groups: [everyone]", "groups: [everyone, egn]"))
    [line] = faults.problems(file, settings.read(file))
    assert line.startswith("sayso.yml:9: policy.rules.0.groups: nobody is in egn.")


def test_a_variable_that_holds_no_section_is_blamed_on_the_environment(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_DEFAULTS", "{x")
    with pytest.raises(Invalid, match="SAYSO_ variables"):
        settings.read(file)


WIPE = "name: wipe\nsummary: Wipe.\nrisk: high\nphrases: [wipe it]\nsteps: [{run: [wipe]}]\n"


def test_a_runbook_that_too_few_may_approve_is_a_problem(file: Path) -> None:
    (file.parent / "runbooks" / "wipe.yml").write_text(WIPE)
    allowed = '    - {effect: allow, action: "plan:approve", groups: [eng]}\n'
    file.write_text(
        TEAM.replace("  other: {slack: [T2]}\n", "").replace("sandbox:", f"{allowed}sandbox:")
    )
    told = list(faults.problems(file, settings.read(file)))
    assert told == [
        "sayso.yml:6: policy: 2 must approve wipe in acme, and 1 may. Correct this, or `quorum` under"
        " `approvals`."
    ]
    file.write_text(f"{file.read_text()}approvals: {{high: {{quorum: 1}}}}\n")
    assert list(faults.problems(file, settings.read(file))) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("profiles: {a: {choose: [ghosts]}}", "sayso.yml:11: profiles.a.choose: nobody is in ghosts. Correct it, or add somebody."),
        ("profiles: {a: {channels: [slak/T1/C1]}}", "sayso.yml:11: profiles.a.channels: no tenant owns slak/T1. Correct it, or add it under `tenants`."),
        ("audit: {channel: slack/T9/C1}", "sayso.yml:11: audit.channel: no tenant owns slack/T9. Correct it, or add it under `tenants`."),
        ("audit: {channel: slack/T1/C1}", "sayso.yml:11: audit.channel: there is no section `slack`, so nothing can be posted there. Add it."),
        ("profiles: {a: {channels: [slack/T9/C1]}}", "sayso.yml:11: profiles.a.channels: no tenant owns slack/T9. Correct it, or add it under `tenants`."),
        ("rates: {tools: [{tool: nothing, most: 1, per: 1h}]}", "sayso.yml:11: rates.tools.0: no tool is called like nothing. Correct or remove it."),
        ("profiles: {a: {choose: [eng], channels: [slack/T1/C1, console/local/console]}}", ""),
    ],
)  # fmt: skip
def test_c87_what_can_never_fit_is_a_problem(file: Path, text: str, said: str) -> None:
    file.write_text(TEAM + text)
    told = [
        one
        for one in faults.problems(file, settings.read(file))
        if one.startswith(tuple(f"sayso.yml:11: {part}" for part in ("profiles", "rates", "audit")))
    ]
    assert told == ([said] if said else [])


def test_requests_go_where_the_file_says_and_nowhere_without_a_line(file: Path) -> None:
    assert settings.read(file).http.allowed == Allowed()
    file.write_text(
        f"{TEAM}http: {{hosts: [API.example.com, '1.1.1.1:8443'], private: ['127.0.0.1:9000']}}\n"
    )
    allowed = settings.read(file).http.allowed
    assert {str(host) for host in allowed.public} == {
        "api.example.com:80", "api.example.com:443", "1.1.1.1:8443",
    }  # fmt: skip
    assert {str(host) for host in allowed.private} == {"127.0.0.1:9000"}
