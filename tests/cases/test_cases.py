"""Faults that people reported of bots like this one, by their ids, as far as a command line can show them."""

import hashlib
import json
import os
import pwd
import re
from collections.abc import Iterator

import click
import yaml

from bot.cli import cli
from tests.sayso import TURN, Object, Sayso, marked, shaped, until

UNKNOWN = "There is no such request. Copy its id from the card, or ask again for what you need."
BOB = '500000000000000002"], groups: [eng, sre]}'
"""Where sayso.yml says what bob may."""
NOTE = """
summary: Write a line of text.
risk: low
params:
  text: {type: string, max_length: 6000}
steps:
  - run: [python3, append.py, ledger.txt, "{text}"]
"""
OPTIONS = {
    "ask": {"--as", "--conversation", "--plan", "--again", "--profile", "--json"},
    "approve": {"--as", "--code", "--json", "--no-wait"},
    "deny": {"--as", "--json", "--reason"},
    "edit": {"--as", "--json", "--call"},
    "stop": {"--as", "--json"},
    "chat": {"--as", "--no-color"},
    "run": {"--json"},
    "mcp serve": {"--as"},
    "mcp probe": {"--json"},
    "manifest": {"--url", "--json"},
    "sync discord": {"--json"},
    "resolve": {"--as", "--json", "--happened", "--did-not", "--verify"},
    "grant": {"--uses", "--for", "--as", "--json"},
    "grants": {"--as", "--json"},
    "grants revoke": {"--as", "--json"},
    "undo": {"--as", "--json"},
    "pause": {"--as", "--json", "--reason"},
    "resume": {"--as", "--json"},
    "lift": {"--as", "--json"},
    "break-glass": {"--as", "--code", "--json", "--reason"},
    "handover": {"--as", "--json"},
    "link": {"--as", "--json", "--confirm", "--refuse"},
    "links": {"--as", "--json"},
    "unlink": {"--as", "--json"},
    "requests": {"--open", "--json"},
    "runs": {"--json"},
    "conversation": {"--export", "--json"},
    "enrol": {"--as", "--reset", "--json"},
    "erase": {"--json"},
    "plan export": {"--json"},
    "audit verify": {"--json", "--head"},
    "audit head": {"--json"},
    "audit export": {"--json"},
    "output": {"--output", "--json"},
    "receipt": {"--output", "--json"},
    "verify": {"--key", "--head", "--json"},
    "runbooks list": {"--json"},
    "runbooks lint": {"--json", "--strict"},
    "check": {"--json"},
    "migrate": {"--json"},
    "schema": {"--json"},
    "demo": {"--tour", "--chat", "--no-color"},
}
"""Every option that there is: none of them skips an approval or says who a person is."""


def shown(request: Object) -> object:
    """Return the arguments of the first call as a card shows them, read back as JSON."""
    line = request["card"].splitlines()[1].strip()
    found: object = json.loads(line.partition(" ")[2])
    return found


def plan_file(sayso: Sayso, **call: object) -> str:
    """Write a plan of one call whose hash fits, as somebody could forge it; return its name."""
    request = sayso.asked["alpha"]["request"]["plan"]
    [(body,)] = sayso.sql("SELECT body FROM plan WHERE id = ?", request)
    plan = json.loads(body)
    plan["calls"][0] |= call
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    forged = {"plan_sha256": hashlib.sha256(text.encode()).hexdigest(), "plan": plan}
    name = f"{forged['plan_sha256']}.yml"
    written: str = yaml.safe_dump(forged)  # pyright: ignore[reportUnknownMemberType]
    (sayso.folder / name).write_text(written, "utf-8")
    return name


# P-04: a denial is gone round


def test_p04_a_denied_effect_stays_refused_however_it_is_worded(sayso: Sayso) -> None:
    there = sayso.asked["alpha"]["conversation"]
    assert sayso.run("deny", sayso.id("alpha"), "--reason", "wrong repo", as_="bob").code == 0
    refused = sayso.each(
        *(
            ["alice", "ask", text, "--conversation", there]
            for text in ("!append-word  word='alpha'", "append z and append alpha")
        )
    )
    for done in refused:
        assert shaped(done.json, TURN | {"reason": "answered"})
        assert "bob denied append-word with these arguments here (wrong repo)" in done.json["text"]
    own, entitled = sayso.each(
        ["alice", "ask", "--again", sayso.id("alpha")], ["bob", "ask", "--again", sayso.id("alpha")]
    )
    assert own.refusal.startswith(
        "This was denied, so only who may approve it may ask for it again:"
    )
    assert entitled.request["id"] != sayso.id("alpha")
    sayso.ask("append alpha", "alice", there)


def test_p04_a_denial_holds_in_its_conversation_and_for_its_arguments(sayso: Sayso) -> None:
    assert sayso.run("deny", sayso.id("alpha"), as_="bob").code == 0
    sayso.ask("append alpha", "alice")
    sayso.ask("append alphas", "alice", sayso.asked["alpha"]["conversation"])


# P-08: one card a call


def test_p08_reads_run_at_once_and_all_writes_of_one_message_are_one_plan(empty: Sayso) -> None:
    empty.runbook(
        "show-fleet",
        "summary: Show the fleet.\neffect: read\nphrases: [show fleet]\n"
        "steps:\n  - run: [cat, fleet.txt]\n",
    )
    words = [f"w{number}" for number in range(5)]
    writes = " and ".join(f"append {word}" for word in words)
    turn = empty.ask(f"{writes}; show ledger then show fleet and show fleet", "alice")
    assert turn["text"].count("web worker") == 2
    assert "show-ledger" in turn["text"]
    assert [f'append-word {{"word": "{word}"}}' in turn["request"]["card"] for word in words]
    assert empty.sql("SELECT count(*) FROM request") == [(1,)]
    assert empty.ledger() == []
    done = empty.run("approve", turn["request"]["id"], as_="bob")
    assert [step["index"] for step in done.run["steps"]] == list(range(5))
    assert empty.ledger() == words


def test_p08_one_wrong_call_leaves_no_card_and_too_many_neither(empty: Sayso) -> None:
    many = " and ".join(f"append w{number}" for number in range(17))
    wrong, over = empty.each(["alice", "ask", "append good and append BAD"], ["alice", "ask", many])
    assert shaped(wrong.json, TURN | {"reason": "answered"})
    assert over.code == 0
    assert shaped(over.json, TURN | {"reason": "max_tool_calls"})
    assert empty.sql("SELECT count(*) FROM request") == [(0,)]


# P-09: the wrong person


def test_p09_nobody_approves_where_the_group_is_empty_and_every_attempt_is_kept(
    empty: Sayso,
) -> None:
    empty.edit(
        "sayso.yml", '"plan:approve", resource: "runbook:*", groups: [sre]',
        '"plan:approve", resource: "runbook:*", groups: [nobody]',
    )  # fmt: skip
    request = empty.ask("append alpha", "alice")["request"]
    assert "May approve: nobody\n" in request["card"]
    bob, carol = empty.each(["bob", "approve", request["id"]], ["carol", "approve", request["id"]])
    assert bob.refusal == carol.refusal == "You may not approve this; nobody may right now."
    tried = empty.sql("SELECT body FROM audit WHERE kind = 'attempt.refused' ORDER BY body")
    assert [json.loads(body)["principal"] for (body,) in tried] == ["bob", "carol"]
    assert empty.ledger() == []


def test_p09_a_deny_rule_beats_every_rule_that_allows(empty: Sayso) -> None:
    empty.edit(
        "sayso.yml", "approvals:                  #",
        '    - {effect: deny, action: "plan:*", resource: "runbook:deploy", groups: [leads]}\n'
        "approvals:                  #",
    )  # fmt: skip
    request = empty.ask("deploy v1", "alice")["request"]
    assert "May approve: bob\n" in request["card"]
    assert "Only 1 person may approve this now; 2 must." in request["card"]
    carol = empty.run("approve", request["id"], as_="carol")
    assert carol.refusal == "You may not approve this; bob may."


def test_p09_one_account_of_two_people_is_nobody(empty: Sayso) -> None:
    empty.edit("sayso.yml", "console: [bob]", "console: [bob, carol]")
    assert "does not know you" in empty.run("ask", "append alpha", as_="carol").refusal


# P-19 and P-23: what is shown is what runs


def test_p19_entities_and_markup_in_a_text_stay_as_they_were_typed(empty: Sayso) -> None:
    empty.runbook("note", NOTE)
    text = "a &amp;&amp; b &lt; c & <d> <@U1> <!here> @everyone ``` $(id) {text}"
    turn = empty.ask(f"!note '{text}'", "alice")
    assert shown(turn["request"]) == {"text": text}
    assert not set("<>@&`") & set("\n".join(turn["request"]["card"].splitlines()[:3]))
    done = empty.run("approve", turn["request"]["id"], as_="bob")
    assert done.run["state"] == "succeeded"
    assert empty.ledger() == [text]


def test_p23_a_long_value_is_shown_whole(empty: Sayso) -> None:
    empty.runbook("note", NOTE)
    text = "x" * 4000 + "; rm -rf /"
    turn = empty.ask(f"!note '{text}'", "alice")
    assert shown(turn["request"]) == {"text": text}
    assert empty.run("approve", turn["request"]["id"], as_="bob").code == 0
    assert empty.ledger() == [text]


def test_p23_a_hidden_end_of_a_value_is_refused_by_name(sayso: Sayso) -> None:
    ends = "\n\t\r"
    files = [plan_file(sayso, arguments={"word": f"alpha{end}"}) for end in ends]
    proposed = sayso.each(*(["alice", "ask", "--plan", file] for file in files))
    for end, done in zip(ends, proposed, strict=True):
        assert shaped(done.json, TURN | {"reason": "answered"})
        assert f"`word`: it must not contain U+{ord(end):04X} " in done.json["text"]


# P-26: bleeding between tenants


def test_p26_ids_of_another_tenant_are_unknown_ids(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("web"), as_="bob").code == 0
    [(run,)] = sayso.sql("SELECT id FROM run")
    sayso.sql("UPDATE step SET state = 'unknown'")
    there = sayso.asked["alpha"]["conversation"]
    # From now on the console, and everybody who types there, is another tenant's.
    sayso.edit("sayso.yml", "  acme:\n", "  globex:\n")
    foreign, unknown, approve, again, resolve = sayso.each(
        ["alice", "ask", "append alpha", "--conversation", there],
        ["alice", "ask", "append alpha", "--conversation", "c_0000000000000000"],
        ["bob", "approve", sayso.id("alpha")],
        ["alice", "ask", "--again", sayso.id("alpha")],
        ["bob", "resolve", run, "0", "--happened"],
    )
    assert foreign.refusal == unknown.refusal
    assert approve.refusal == again.refusal == UNKNOWN
    assert resolve.refusal.startswith("There is no run of that id")
    assert sayso.state(sayso.id("alpha")) == "open"
    assert sayso.sql("SELECT DISTINCT tenant FROM turn") == [("acme",)]


# P-27, P-28: clicks


def test_p28_two_requests_in_one_conversation_are_told_apart_by_id(sayso: Sayso) -> None:
    there = sayso.asked["alpha"]["conversation"]
    second = sayso.ask("append second", "alice", there)["request"]["id"]
    assert sayso.run("approve", second, as_="bob").code == 0
    assert sayso.ledger() == ["second"]
    assert sayso.state(sayso.id("alpha")) == "open"
    bare = sayso.run("approve", as_="bob")
    assert (bare.code, bare.error[0]) == (2, "invalid")


def test_p27_whoever_comes_second_is_told_what_the_first_did(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").code == 0
    *told, outsider = sayso.each(
        ["bob", "approve", sayso.id("alpha")],
        ["alice", "deny", sayso.id("alpha")],
        ["mallory", "deny", sayso.id("alpha")],
    )
    assert {one.refusal for one in told} == {"Already decided. Approved by bob."}
    assert outsider.refusal == UNKNOWN
    assert sayso.ledger() == ["alpha"]


# P-30: hidden characters


def test_p30_a_value_with_a_hidden_character_is_refused_by_name(sayso: Sayso) -> None:
    # One of each category: Cc, Cf, Zl, Zp, Co, Cn, and a tag.
    hidden = "\x1b\u202e\u2028\u2029\ue000\U0003ffff\U000e0041"
    files = [plan_file(sayso, arguments={"word": f"al{character}pha"}) for character in hidden]
    proposed = sayso.each(*(["alice", "ask", "--plan", file] for file in files))
    for character, done in zip(hidden, proposed, strict=True):
        assert shaped(done.json, TURN | {"reason": "answered"})
        assert f"`word`: it must not contain U+{ord(character):04X} " in done.json["text"]
        assert character not in done.json["text"]


def test_p30_hidden_characters_that_were_typed_are_refused_by_name_too(empty: Sayso) -> None:
    command, phrase = empty.each(
        ["alice", "ask", "!append-word 'al\u200bpha'"], ["alice", "ask", "append al\ufeffpha"]
    )
    for done, name in (command, "U+200B ZERO WIDTH SPACE"), (phrase, "U+FEFF ZERO WIDTH NO-BREAK"):
        assert shaped(done.json, TURN | {"reason": "answered"})
        assert name in done.json["text"]


def test_p30_what_is_only_odd_is_escaped_and_named_on_the_card(empty: Sayso) -> None:
    empty.runbook("note", NOTE)
    request = empty.ask("!note 'p\u0430ypal.example'", "alice")["request"]
    assert '"p\\u0430ypal.example"' in request["card"]
    assert "U+0430 CYRILLIC SMALL LETTER A" in request["card"]
    assert request["card"].isascii() or "\u2026" in request["card"]
    assert "\u0430" not in request["card"]


def test_p30_output_of_a_step_cannot_move_what_people_read(empty: Sayso) -> None:
    empty.runbook(
        "paint",
        "summary: Paint.\neffect: read\nphrases: [paint it]\n"
        r'steps: [{run: [printf, "\\033[2Jred\\r\\342\\200\\256\\377."]}]' + "\n",
    )
    done = empty.run("ask", "paint it", as_="alice")
    assert done.json["text"] == "\\u001b[2Jred\\u000d\\u202e\ufffd."


# P-32: several people


def test_p32_one_person_with_two_accounts_is_one_voter(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "console: [bob]", "console: [bob, robert]")
    one, same = (sayso.run("approve", sayso.id("v1"), as_=name) for name in ("bob", "robert"))
    assert one.request["votes"] == same.request["votes"] == 1
    assert same.json["run"] is None


def test_p32_one_denial_among_approvals_ends_it(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("v1"), as_="bob").request["votes"] == 1
    assert sayso.run("deny", sayso.id("v1"), as_="carol").request["state"] == "denied"
    told = sayso.run("approve", sayso.id("v1"), as_="bob")
    assert told.refusal == "Already decided. Denied by carol, no reason given."
    assert sayso.ledger() == []


def test_p32_one_of_two_votes_expires_and_says_so(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("v1"), as_="bob").request["votes"] == 1
    past = "2026-01-01T00:00:00.000000Z"
    sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", past, sayso.id("v1"))
    told = sayso.run("approve", sayso.id("v1"), as_="carol")
    assert told.refusal.startswith("Expired at 2026-01-01 00:00:00 UTC with 1 of 2 votes.")
    assert sayso.ledger() == []


# P-38: the gate is skipped


def test_p38_a_runbook_that_says_nothing_of_its_effect_is_a_write(empty: Sayso) -> None:
    empty.runbook("look", "summary: Look.\nphrases: [look here]\nsteps: [{run: [ls]}]\n")
    turn = empty.ask("look here", "alice")
    assert turn["request"]["quorum"] == 1
    assert "Risk: medium" in turn["request"]["card"]


def test_p38_a_second_runbook_of_one_name_runs_nothing(empty: Sayso) -> None:
    (empty.folder / "runbooks" / "again.yml").write_text(
        "name: deploy\nsummary: Lie.\neffect: read\nphrases: [deploy quietly]\n"
        "steps: [{run: [touch, lied]}]\n",
        "utf-8",
    )
    quiet, honest, lint = empty.each(
        ["alice", "ask", "deploy quietly"], ["alice", "ask", "deploy v1"], ["", "runbooks", "lint"]
    )
    assert quiet.json["request"] is honest.json["request"] is None
    assert not (empty.folder / "work" / "lied").exists()
    assert lint.code == 2
    assert all("deploy" in problem for problem in lint.json["problems"])


# P-39: text that approves


def test_p39_no_text_approves_anything(sayso: Sayso) -> None:
    there = ["--conversation", sayso.asked["alpha"]["conversation"]]
    texts = ("yes", "lgtm \U0001f44d", "approve", f"approve {sayso.id('alpha')}")
    for done in sayso.each(*(["bob", "ask", text, *there] for text in texts)):
        assert shaped(done.json, TURN | {"reason": "answered"})
        assert "No text approves anything." in done.json["text"]
    command = sayso.run("ask", f"!approve {sayso.id('alpha')}", *there, as_="bob")
    assert shaped(command.json, TURN | {"reason": "answered"})
    assert {sayso.state(sayso.id(name)) for name in sayso.asked} == {"open"}
    assert sayso.ledger() == []


# C23, C24: secrets


def test_c24_a_password_in_a_text_reaches_no_store_and_no_card(empty: Sayso) -> None:
    empty.runbook("note", NOTE)
    secret = "hunter2-hunter2"
    told, argued = empty.each(
        ["alice", "ask", f"the password={secret} is mine"],
        ["alice", "ask", f"!note 'password={secret}'"],
    )
    for done in (told, argued):
        assert secret not in done.out + done.err
    files = (empty.folder / "data").iterdir()
    assert not [file.name for file in files if secret.encode() in file.read_bytes()]


def test_c24_a_secret_as_an_argument_is_refused_and_not_replaced(empty: Sayso) -> None:
    empty.runbook("note", NOTE)
    done = empty.run("ask", "!note 'password=hunter2-hunter2'", as_="alice")
    assert shaped(done.json, TURN | {"reason": "answered"})


# C25: an oracle


def test_c25_what_is_missing_and_what_is_forbidden_read_the_same(empty: Sayso) -> None:
    empty.edit(
        "sayso.yml", "    - {effect: allow, action: \"run:propose\"",
        '    - {effect: allow, action: "tool:read", resource: "runbook:show-ledger", groups: [guests]}\n'
        '    - {effect: allow, action: "run:propose"',
    )  # fmt: skip
    empty.edit("sayso.yml", "groups: []}", "groups: [guests]}")
    pairs = [("deploy v1", "reploy v1"), ("!deploy version=v1", "!reploy version=v1")]
    done = empty.each(*(["mallory", "ask", text] for pair in pairs for text in pair))
    said = [
        {k: v for k, v in one.json.items() if k not in {"conversation", "turn"}} for one in done
    ]
    assert said[0] == said[1]
    assert said[2] == said[3]
    assert all(shaped(one.json, TURN | {"reason": "answered"}) for one in done)
    assert "show ledger" in said[0]["text"]
    assert "deploy" not in said[0]["text"] + said[2]["text"]


def test_c25_an_exported_plan_tells_nothing_either(sayso: Sayso) -> None:
    forbidden, misused, missing = sayso.each(
        ["mallory", "ask", "--plan", plan_file(sayso)],
        ["mallory", "ask", "--plan", plan_file(sayso, arguments={})],
        ["mallory", "ask", "--plan", plan_file(sayso, tool="no-such-tool")],
    )
    assert forbidden.json["text"] == misused.json["text"] == missing.json["text"]


# C90, C95


def test_c90_a_default_is_filled_in_before_the_hash_and_marked_on_the_card(empty: Sayso) -> None:
    with (empty.folder / "sayso.yml").open("a", encoding="utf-8") as file:
        file.write("defaults: {env: staging}\n")
    filled = empty.ask("!restart-web", "alice")["request"]
    given = empty.ask("!restart-web env=staging", "alice")["request"]
    assert filled["plan_sha256"] == given["plan_sha256"]
    assert "Filled in by default: restart-web env\n" in filled["card"]
    assert "Filled in by default" not in given["card"]


def test_c95_an_error_names_field_and_expectation_but_never_the_value(empty: Sayso) -> None:
    left_out, wrong = empty.each(
        ["alice", "ask", "!append-word"], ["alice", "ask", "append Hunter2hunter2!"]
    )
    assert "append-word: `word`: it is required and has no default." in left_out.json["text"]
    assert "append-word: `word`: it must match ^[a-z0-9]{1,20}$." in wrong.json["text"]
    assert "unter2" not in wrong.json["text"]


# C93: what skips an approval


def commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    for word, command in group.commands.items():
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield f"{name}{word}", command
            yield from commands(command, f"{word} ")
        else:
            yield f"{name}{word}", command


def test_c93_every_option_is_one_that_was_looked_at() -> None:
    found = {
        name: {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option)
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        for name, command in commands(cli)
    }
    assert found == OPTIONS


def test_c93_no_option_is_filled_from_the_environment() -> None:
    assert cli.context_settings.get("auto_envvar_prefix") is None
    every = [cli, *(command for _, command in commands(cli))]
    assert [p.name for command in every for p in command.params if p.envvar] == []


def test_c93_no_variable_says_who_may_decide(sayso: Sayso) -> None:
    variables = {
        "SAYSO_CONSOLE__ALLOW_AS": "true",
        "sayso_console__allow_as": "true",
        "SAYSO_APPROVALS__LOW__QUORUM": "1",
        "SAYSO_POLICY": '{"rules": []}',
        "SAYSO_PEOPLE__MALLORY__GROUPS": '["sre"]',
    }
    started = {
        name: sayso.start("approve", sayso.id("alpha"), as_="bob", env={name: value})
        for name, value in variables.items()
    }
    for name, running in started.items():
        done = running.done()
        kind, message = done.error
        assert (done.code, kind) == (2, "invalid")
        assert message.startswith(f"{name}: who may decide and what may run is set in")
    assert (sayso.state(sayso.id("alpha")), sayso.ledger()) == ("open", [])


def test_c93_without_a_terminal_and_with_made_up_variables_the_request_stays_open(
    empty: Sayso,
) -> None:
    made_up = {"SAYSO_YES": "1", "SAYSO_AUTO_APPROVE": "true", "SAYSO_AS": "bob", "CI": "true"}
    done = empty.run("ask", "append alpha", as_="alice", stdin="y\nyes\napprove\n", env=made_up)
    assert done.request["state"] == "open"
    assert empty.ledger() == []


def test_c93_the_account_of_the_process_acts_whatever_the_variables_say(empty: Sayso) -> None:
    account = pwd.getpwuid(os.getuid()).pw_name
    empty.edit("sayso.yml", "console: [alice]", f"console: [alice, {account}]")
    names = ("USER", "LOGNAME", "SUDO_USER", "USERNAME", "LNAME")
    done = empty.run("ask", "append alpha", env=dict.fromkeys(names, "bob"))
    assert done.request["requester"] == "alice"
    refused = empty.run("approve", done.request["id"], env=dict.fromkeys(names, "bob"))
    assert refused.refusal == "You may not approve this; bob and carol may."


def test_c93_acting_as_somebody_takes_the_files_consent(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "allow_as: true", "allow_as: false")
    done = sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert "allow_as: true" in done.error[1]
    assert sayso.state(sayso.id("alpha")) == "open"


# C94: a stable name for a step


def test_c94_a_step_is_told_its_own_stable_name(empty: Sayso) -> None:
    empty.runbook(
        "name",
        "summary: Say its name.\nrisk: low\nphrases: [say it]\n"
        "steps: [{run: [printenv, SAYSO_STEP_ID]}, {run: [printenv, SAYSO_STEP_ID]}]\n",
    )
    request = empty.ask("say it", "bob")["request"]["id"]
    run = empty.run("approve", request, as_="bob", env={"SAYSO_STEP_ID": "forged"}).run
    assert [step["output"] for step in run["steps"]] == [f"{run['id']}.{n}\n" for n in (0, 1)]
    assert marked(run["id"]) == []


# C64: errors by class


def test_c64_every_refusal_is_one_line_on_standard_error(sayso: Sayso) -> None:
    damaged = "storage: {url: 'sqlite:work/append.py'}"
    text = (sayso.folder / "sayso.yml").read_text("utf-8")
    text = re.sub("storage: .*", damaged, text)
    (sayso.folder / "damaged.yml").write_text(text, "utf-8")
    expected = {
        1: [("approve", "f" * 32), ("--config", "damaged.yml", "requests")],
        2: [("--config", "nowhere.yml", "requests"), ("frobnicate",)],
    }
    for code, several in expected.items():
        for command in several:
            done = sayso.run(*command, plain=True)
            assert (done.code, done.out) == (code, ""), done
            assert re.fullmatch(r"[A-Zn].*[.>p]\n", done.err), done


def _two_steps(empty: Sayso) -> str:
    """Return a request whose first step takes a moment."""
    empty.runbook(
        "two",
        "summary: Two steps.\nrisk: low\nphrases: [two steps]\nsteps:\n"
        '  - run: [python3, append.py, ledger.txt, one, "0.5"]\n'
        "  - run: [python3, append.py, ledger.txt, two]\n",
    )
    request: str = empty.ask("two steps", "bob")["request"]["id"]
    return request


def test_c64_an_outcome_that_is_unknown_says_so(empty: Sayso) -> None:
    running = empty.start("approve", _two_steps(empty), as_="bob")
    until(lambda: empty.ledger() == ["begin one"])
    empty.sql("UPDATE job SET state = 'done' WHERE kind = 'run'")  # as nothing of ours would do
    done = running.done()
    kind, message = done.error
    assert (done.code, kind) == (1, "unknown_outcome")
    assert "could not be written down" in message
    assert empty.ledger() == ["begin one", "one"]


def test_c64_a_step_whose_process_lost_the_run_is_unknown_and_nothing_more_runs(
    empty: Sayso,
) -> None:
    running = empty.start("approve", _two_steps(empty), as_="bob")
    until(lambda: empty.ledger() == ["begin one"])
    empty.sql("UPDATE run SET fence = fence + 1")  # as if another process had taken it over
    done = running.done()
    run = done.json["run"]
    assert (done.code, run["state"]) == (1, "unknown")
    assert [step["state"] for step in run["steps"]] == ["unknown", "not_run"]
    assert empty.ledger() == ["begin one", "one"]


def test_c64_what_nobody_foresaw_is_one_sentence_and_the_log_has_the_rest(sayso: Sayso) -> None:
    sayso.sql("UPDATE request SET rule = 'hunter2'")
    done = sayso.run("requests")
    kind, message = done.error
    assert (done.code, kind) == (1, "unavailable")
    assert "hunter2" not in message
    assert "Traceback" not in done.out
    assert "Traceback" in done.err
