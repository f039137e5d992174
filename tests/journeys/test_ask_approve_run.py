"""The contract's journey on the command line: ask, card, approve, run, and all that can be in the way."""

import hashlib
import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.sayso import (
    BACKENDS,
    CONTRACT,
    HEX,
    REQUEST,
    RUN,
    TIME,
    TURN,
    Sayso,
    shaped,
    until,
)

UNKNOWN = "There is no such request. Copy its id from the card, or ask again for what you need."
NOBODY = "f" * 32
BOB = '500000000000000002"], groups: [eng, sre]}'
"""Where sayso.yml says what bob may."""
CHANGES = {
    "a watched file changed": ("web", "work/fleet.txt", "the file fleet.txt changed"),
    "its runbook was edited": ("alpha", "runbooks/append-word.yml", "append-word was edited"),
    "its policy was edited": ("alpha", "sayso.yml", "the rules that decide it changed"),
    "its rule was edited": ("alpha", "sayso.yml", "the rules that decide it changed"),
    "its folder was moved": ("alpha", "sayso.yml", "the place where it would run changed"),
}
EDITS = {
    "a watched file changed": ("web worker\n", "web worker db\n"),
    "its runbook was edited": ("Append one word", "Append a word"),
    "its policy was edited": (
        'action: "plan:approve", resource: "runbook:*", groups: [sre]',
        'action: "plan:approve", resource: "runbook:*", groups: [sre, leads]',
    ),
    "its rule was edited": ("low:    {quorum: 1,", "low:    {quorum: 2,"),
    "its folder was moved": ("workdir: work}", "workdir: runbooks}"),
}


# The journey


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_write_is_asked_shown_approved_and_run_once(empty: Sayso) -> None:
    turn = empty.ask("append alpha", "alice")
    assert shaped(turn, TURN | {"reason": "proposed", "request": REQUEST})
    request = turn["request"]
    assert (request["state"], request["votes"], request["quorum"]) == ("open", 0, 1)
    assert '["python3", "append.py", "ledger.txt", "alpha"]' in request["card"]
    assert request["plan_sha256"] in request["card"]
    assert request["plan"] == f"p_{request['plan_sha256'][:12]}"
    assert datetime.fromisoformat(request["expires_at"]) > datetime.now(UTC)
    assert empty.ledger() == []

    approved = empty.run("approve", request["id"], as_="bob")
    assert approved.code == 0
    assert shaped(approved.request, {"id": request["id"], "state": "spent", "votes": 1})
    assert shaped(approved.run, RUN)
    assert shaped(
        approved.run,
        {
            "state": "succeeded",
            "steps": [
                {
                    "index": 0,
                    "tool": "append-word",
                    "state": "succeeded",
                    "exit_code": 0,
                    "output": "appended alpha\n",
                }
            ],
        },
    )
    assert empty.ledger() == ["alpha"]

    requests, runs, said = empty.each(
        ["", "requests"], ["", "runs"], ["", "conversation", turn["conversation"]]
    )
    assert shaped(requests.json, {"requests": [REQUEST]})
    assert requests.json["requests"] == [approved.request]
    assert shaped(runs.json, {"runs": [RUN]})
    assert runs.json["runs"] == [approved.run]
    kinds = [(entry["author"], entry["kind"]) for entry in said.json["entries"]]
    assert kinds == [("alice", "asked"), ("sayso", "card"), ("sayso", "report")]
    assert shaped(said.json, {"entries": [{"at": TIME, "text": str}]})


def test_lists_are_newest_first_and_the_report_is_plain_text(sayso: Sayso) -> None:
    first = sayso.run("approve", sayso.id("alpha"), as_="bob").run
    plain = sayso.run("approve", sayso.id("web"), as_="bob", plain=True)
    assert (plain.code, plain.err) == (0, "")
    assert "     appended web-staging\n" in plain.out
    runs, requests = sayso.each(["", "runs"], ["", "requests"])
    second = runs.json["runs"][0]
    assert f"Run {second['id']} succeeded" in plain.out
    assert [run["id"] for run in runs.json["runs"]] == [second["id"], first["id"]]
    opened = [request["opened_at"] for request in requests.json["requests"]]
    assert len(opened) == 4
    assert opened == sorted(opened, reverse=True)


def test_people_read_the_card_as_plain_text(empty: Sayso) -> None:
    asked = empty.run("ask", "append gamma", as_="alice", plain=True)
    assert asked.out.startswith("Approve to run: append-word\n")
    assert "Asked by: alice\n" in asked.out
    assert (asked.code, asked.err) == (0, "")


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_read_runs_at_once_and_asks_nobody(empty: Sayso) -> None:
    lines = [f"line {number}" for number in range(7)]
    (empty.folder / "work" / "ledger.txt").write_text("\n".join(lines) + "\n", "utf-8")
    done = empty.run("ask", "show ledger", as_="alice")
    assert done.code == 0
    assert shaped(done.json, TURN | {"reason": "answered", "text": "\n".join(lines[-5:])})


def test_a_read_that_fails_still_ends_answered(empty: Sayso) -> None:
    (empty.folder / "work" / "ledger.txt").unlink()
    done = empty.run("ask", "show ledger", as_="alice")
    assert done.code == 0
    assert shaped(done.json, TURN | {"reason": "answered"})
    assert "show-ledger failed: exit code 1." in done.json["text"]


def test_where_nothing_was_started_the_exit_code_is_one(empty: Sayso) -> None:
    stranger, blank = empty.each(["trudy", "ask", "append alpha"], ["alice", "ask", " \n\t"])
    assert "does not know you" in stranger.refusal
    assert "nothing in that message" in blank.refusal
    assert empty.sql("SELECT count(*) FROM turn") == [(0,)]


def test_without_the_right_to_chat_nothing_is_started(empty: Sayso) -> None:
    empty.edit("sayso.yml", "groups: [everyone]", "groups: [eng]")
    assert "chat:ask" in empty.run("ask", "show ledger", as_="mallory").refusal


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_a_run_that_fails_is_printed_whole_and_has_spent_its_request(empty: Sayso) -> None:
    empty.runbook(
        "break",
        "summary: Fail.\nrisk: low\nphrases: [break it]\n"
        'steps:\n  - run: [sh, -c, "echo on fire; exit 3"]\n  - run: ["true"]\n',
    )
    request = empty.ask("break it", "alice")["request"]["id"]
    done = empty.run("approve", request, as_="bob")
    assert done.code == 1
    assert (done.request["state"], done.run["state"]) == ("spent", "failed")
    first, second = done.run["steps"]
    assert (first["state"], first["exit_code"], first["output"]) == ("failed", 3, "on fire\n")
    assert (second["state"], second["exit_code"]) == ("not_run", None)
    again = empty.run("approve", request, as_="bob")
    assert again.refusal == "Already decided. Approved by bob."
    assert empty.sql("SELECT request FROM run") == [(request,)]


# Votes


def test_a_high_risk_takes_two_people_and_the_same_person_twice_is_one(sayso: Sayso) -> None:
    for _ in range(2):
        done = sayso.run("approve", sayso.id("v1"), as_="bob")
        assert done.code == 0
        assert done.json["run"] is None
        assert shaped(done.request, {"state": "open", "votes": 1, "quorum": 2})
    assert sayso.ledger() == []
    done = sayso.run("approve", sayso.id("v1"), as_="carol")
    assert shaped(done.request, {"state": "spent", "votes": 2})
    assert [step["index"] for step in done.run["steps"]] == [0, 1]
    assert sayso.ledger() == ["build-v1", "release-v1"]


def test_whoever_asked_may_vote_only_where_the_rule_says_so(sayso: Sayso) -> None:
    medium = sayso.ask("restart web in prod", "bob")["request"]["id"]
    low = sayso.ask("append gamma", "bob")["request"]["id"]
    own, allowed = sayso.each(["bob", "approve", medium], ["bob", "approve", low])
    assert own.refusal == "You asked for this, so somebody else has to approve it: carol may."
    assert allowed.code == 0
    assert sayso.ledger() == ["gamma"]
    assert sayso.run("approve", medium, as_="carol").code == 0
    assert sayso.ledger() == ["gamma", "web-prod"]


def test_who_may_see_a_request_is_told_who_may_approve_it(sayso: Sayso) -> None:
    requester, outsider = sayso.each(
        ["alice", "approve", sayso.id("alpha")], ["mallory", "approve", sayso.id("alpha")]
    )
    assert requester.refusal == "You may not approve this; bob and carol may."
    assert outsider.refusal == UNKNOWN
    assert sayso.ledger() == []


def test_an_id_that_is_unknown_foreign_or_malformed_gets_one_answer(sayso: Sayso) -> None:
    real = sayso.id("alpha")
    unknown = sayso.each(
        *(["bob", "approve", name] for name in (NOBODY, real.upper(), "", "' OR '' = '" * 500)),
        ["bob", "deny", NOBODY],
        ["mallory", "deny", real],
        ["mallory", "ask", "--again", real],
    )
    assert {done.refusal for done in unknown} == {UNKNOWN}
    assert sayso.state(real) == "open"


def test_who_may_see_a_request_is_told_who_denied_it_and_why(sayso: Sayso) -> None:
    done = sayso.run("deny", sayso.id("v1"), "--reason", "not\ntoday", as_="alice")
    assert done.code == 0
    assert shaped(done.request, {"id": sayso.id("v1"), "state": "denied"})
    *told, outsider = sayso.each(
        ["alice", "approve", sayso.id("v1")],
        ["bob", "deny", sayso.id("v1")],
        ["mallory", "approve", sayso.id("v1")],
    )
    assert {one.refusal for one in told} == {"Already decided. Denied by alice: not today."}
    assert outsider.refusal == UNKNOWN
    assert sayso.ledger() == []


def test_who_may_see_a_request_is_told_that_it_expired(empty: Sayso) -> None:
    empty.edit("sayso.yml", "expires: 24h", "expires: 1s")
    turn = empty.ask("append alpha", "alice")
    request = turn["request"]["id"]
    expires = datetime.fromisoformat(turn["request"]["expires_at"])
    until(lambda: datetime.now(UTC) > expires)
    *told, outsider = empty.each(
        ["alice", "approve", request],
        ["bob", "deny", request],
        ["mallory", "approve", request],
    )
    [message] = {one.refusal for one in told}
    assert message.startswith(f"Expired at {expires:%Y-%m-%d %H:%M:%S} UTC with 0 of 1 vote.")
    assert outsider.refusal == UNKNOWN
    assert empty.ledger() == []
    # Time running out is no denial: the same may simply be asked again.
    again = empty.ask("append alpha", "alice", turn["conversation"])
    assert again["request"]["id"] != request
    assert empty.state(request) == "expired"


# What changed after the card


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_after_the_card_revokes_it(sayso: Sayso, what: str) -> None:
    name, file, why = CHANGES[what]
    old, new = EDITS[what]
    sayso.edit(file, old, new)
    refused = sayso.run("approve", sayso.id(name), as_="bob")
    assert refused.refusal.startswith("Not run. Revoked: ")
    assert why in refused.refusal
    others = [sayso.state(sayso.id(other)) for other in sayso.asked if other != name]
    assert (sayso.state(sayso.id(name)), others) == ("revoked", ["open"] * 3)
    assert sayso.ledger() == []


def test_a_watched_file_that_is_gone_is_a_change_also_when_it_comes_back(sayso: Sayso) -> None:
    fleet = sayso.folder / "work" / "fleet.txt"
    fleet.rename(sayso.folder / "kept.txt")
    refused = sayso.run("approve", sayso.id("web"), as_="bob")
    assert refused.refusal.startswith("Not run. Revoked: the file fleet.txt changed.")
    (sayso.folder / "kept.txt").rename(fleet)
    again = sayso.run("approve", sayso.id("web"), as_="carol")
    assert again.refusal.startswith("Revoked: the file fleet.txt changed.")
    assert sayso.ledger() == []


def test_a_removed_runbook_revokes_what_waits(sayso: Sayso) -> None:
    (sayso.folder / "runbooks" / "append-word.yml").unlink()
    refused = sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert refused.refusal.startswith("Not run. Revoked: it can no longer be prepared")
    assert sayso.state(sayso.id("alpha")) == "revoked"


def test_c66_a_voter_who_lost_the_role_before_the_last_vote_revokes_it(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("v1"), as_="bob").request["votes"] == 1
    sayso.edit("sayso.yml", BOB, BOB.replace("[eng, sre]", "[eng]"))
    refused = sayso.run("approve", sayso.id("v1"), as_="carol")
    assert refused.refusal.startswith("Not run. Revoked: bob may no longer approve it.")
    assert sayso.ledger() == []


def test_c66_a_requester_who_lost_the_role_revokes_it(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "groups: [eng]}\n  bob", "groups: []}\n  bob")
    refused = sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert refused.refusal.startswith("Not run. Revoked: alice may no longer ask for it.")
    assert sayso.ledger() == []


def test_an_approver_who_lost_the_role_is_refused_and_the_card_stays(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", BOB, BOB.replace("[eng, sre]", "[eng]"))
    refused = sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert refused.refusal == "You may not approve this; carol may."
    assert (sayso.state(sayso.id("alpha")), sayso.ledger()) == ("open", [])


def test_a_plan_that_was_changed_in_the_database_never_runs(sayso: Sayso) -> None:
    sayso.sql("UPDATE plan SET body = replace(body, 'alpha', 'omega')")
    refused = sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert "not the one that was shown" in refused.refusal
    assert sayso.ledger() == []


# Asking again


def test_the_same_again_is_the_same_card_counted(sayso: Sayso) -> None:
    conversation = sayso.asked["alpha"]["conversation"]
    again = sayso.ask("append alpha", "alice", conversation)
    assert again["conversation"] == conversation
    assert again["turn"] != sayso.asked["alpha"]["turn"]
    assert again["request"]["id"] == sayso.id("alpha")
    assert again["request"]["times_asked"] == 2
    elsewhere = sayso.ask("append alpha", "alice")
    assert elsewhere["request"]["id"] != sayso.id("alpha")


def test_asking_again_makes_a_new_card_and_supersedes_the_old_one(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("v1"), as_="bob").request["votes"] == 1
    again = sayso.run("ask", "--again", sayso.id("v1"), as_="alice")
    assert again.json["reason"] == "proposed"
    assert again.request["id"] != sayso.id("v1")
    assert shaped(again.request, {"state": "open", "votes": 0})
    assert again.json["conversation"] == sayso.asked["v1"]["conversation"]
    old = sayso.run("approve", sayso.id("v1"), as_="carol")
    assert old.refusal.startswith("Superseded: alice asked again")
    assert sayso.ledger() == []


# Plans as files


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_an_exported_plan_proposes_the_same_hash_again(sayso: Sayso) -> None:
    request = sayso.asked["alpha"]["request"]
    written = sayso.run("plan", "export", request["plan"], plain=True)
    (sayso.folder / "plan.yml").write_text(written.out, "utf-8")
    proposed, exported = sayso.each(
        ["bob", "ask", "--plan", "plan.yml"], ["", "plan", "export", request["plan"]]
    )
    assert proposed.json["reason"] == "proposed"
    assert proposed.request["plan_sha256"] == request["plan_sha256"]
    assert proposed.request["id"] != request["id"]
    assert exported.json == yaml.safe_load(written.out)
    text = json.dumps(exported.json["plan"], sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == request["plan_sha256"]
    assert exported.json["plan"]["calls"][0]["arguments"] == {"word": "alpha"}


def test_an_exported_plan_that_no_longer_holds_is_not_proposed(sayso: Sayso) -> None:
    request = sayso.asked["web"]["request"]
    written = sayso.run("plan", "export", request["plan"], plain=True)
    (sayso.folder / "plan.yml").write_text(written.out, "utf-8")
    (sayso.folder / "edited.yml").write_text(written.out.replace("staging", "prod"), "utf-8")
    sayso.edit("work/fleet.txt", "web", "web db")
    stale, edited, other, missing, unknown = sayso.each(
        ["alice", "ask", "--plan", "plan.yml"],
        ["alice", "ask", "--plan", "edited.yml"],
        ["alice", "ask", "--plan", "sayso.yml"],
        ["alice", "ask", "--plan", "nowhere.yml"],
        ["", "plan", "export", "p_000000000000"],
    )
    assert shaped(stale.json, TURN | {"reason": "answered"})
    assert "since this plan was made, the file fleet.txt changed" in stale.json["text"]
    assert "edited after it was exported" in edited.refusal
    assert (other.code, other.error[0]) == (2, "invalid")
    assert (missing.code, missing.error[0]) == (2, "invalid")
    assert "There is no such plan." in unknown.refusal


def test_where_only_plans_are_made_nobody_is_asked_and_nothing_runs(sayso: Sayso) -> None:
    alpha = sayso.id("alpha")
    with (sayso.folder / "sayso.yml").open("a", encoding="utf-8") as file:
        file.write("execution: {plan_only: true}\n")
    turn = sayso.run("ask", "append gamma", as_="alice")
    assert shaped(turn.json, TURN | {"reason": "answered"})
    exported = sayso.run("plan", "export", turn.json["text"].split()[-1])
    assert exported.json["plan"]["calls"][0]["arguments"] == {"word": "gamma"}
    refused = sayso.run("approve", alpha, as_="bob")
    assert "execution.plan_only" in refused.refusal
    assert sayso.ledger() == []


def test_where_no_run_is_allowed_nobody_is_asked(empty: Sayso) -> None:
    with (empty.folder / "sayso.yml").open("a", encoding="utf-8") as file:
        file.write("execution: {runs_per_turn: 0}\n")
    turn = empty.run("ask", "append a", as_="alice")
    assert shaped(turn.json, TURN | {"reason": "answered"})
    assert "execution.runs_per_turn is 0" in turn.json["text"]


# The audit log


def test_the_audit_log_is_whole_and_names_who_did_what(sayso: Sayso) -> None:
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").code == 0
    assert sayso.run("approve", sayso.id("web"), as_="alice").code == 1
    verified, head, exported = sayso.each(
        ["", "audit", "verify"], ["", "audit", "head"], ["", "audit", "export"]
    )
    assert verified.code == 0
    assert shaped(verified.json, {"ok": True, "entries": int, "head": HEX})
    assert head.json["head"] == verified.json["head"]
    entries = exported.json["entries"]
    assert len(entries) == verified.json["entries"] == head.json["entries"]
    assert entries[-1]["hash"] == verified.json["head"]
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    assert all(one["hash"] == other["prev"] for one, other in pairwise(entries))
    did = [(entry["kind"], json.loads(entry["body"])["principal"]) for entry in entries]
    opened = 4 * 3  # a message received, a request opened, the turn ended
    assert {kind for kind, _ in did[:opened]} == {"turn.received", "request.opened", "turn.ended"}
    assert did[opened:] == [
        ("vote.cast", "bob"),
        ("request.granted", "bob"),
        ("run.started", "bob"),
        ("step.begun", "sayso"),
        ("step.ended", "sayso"),
        ("run.ended", "sayso"),
        ("attempt.refused", "alice"),
    ]


@pytest.mark.parametrize(
    ("damage", "first_bad"),
    [
        (
            'UPDATE audit SET body = replace(body, \'"principal":"\', \'"principal":"x\') WHERE seq = 2',
            2,
        ),
        ("UPDATE audit SET at = '2020-01-01T00:00:00.000000Z' WHERE seq = 3", 3),
        ("DELETE FROM audit WHERE seq = 5", 5),
    ],
)
def test_a_changed_audit_entry_is_found_by_its_number(
    sayso: Sayso, damage: str, first_bad: int
) -> None:
    sayso.sql(damage)
    verified = sayso.run("audit", "verify")
    assert verified.code == 1
    assert shaped(verified.json, {"ok": False, "first_bad": first_bad, "why": str})


def test_a_cut_off_end_is_found_with_a_head_that_was_noted_earlier(sayso: Sayso) -> None:
    head = sayso.run("audit", "head").json["head"]
    sayso.sql("DELETE FROM audit WHERE seq > 6")
    alone, compared = sayso.each(["", "audit", "verify"], ["", "audit", "verify", "--head", head])
    assert (alone.code, alone.json["entries"]) == (0, 6)
    assert compared.code == 1
    assert shaped(compared.json, {"ok": False, "first_bad": 7, "why": str})


def test_what_still_waits_is_listed_by_itself(sayso: Sayso) -> None:
    denied = sayso.id("alpha")
    assert sayso.run("deny", denied, as_="bob").code == 0
    every, some = (sayso.run("requests", *words).json["requests"] for words in ((), ("--open",)))
    assert [one for one in every if one["state"] == "open"] == some
    assert denied in {one["id"] for one in every}
    assert denied not in {one["id"] for one in some}
    for one in some:
        assert sayso.run("deny", one["id"], as_="bob").code == 0
    assert sayso.run("requests", "--open", plain=True).out == "No request waits.\n"


def test_a_noted_head_stays_good_while_the_log_grows(sayso: Sayso) -> None:
    head = sayso.run("audit", "head", plain=True).out.strip()
    assert sayso.run("deny", sayso.id("alpha"), as_="bob").code == 0
    assert sayso.run("audit", "verify", "--head", head).code == 0
    told = sayso.run("audit", "verify", "--head", head, plain=True).out
    assert told.strip().endswith("It holds the head that you noted.")


def test_half_a_head_or_key_is_wrong_usage_and_no_broken_record(empty: Sayso) -> None:
    for command in (("audit", "verify", "--head"), ("verify", "x.json", "--key")):
        done = empty.run(*command, "abc123")
        assert done.code == 2
        assert "write all 64 characters of it" in done.error[1]


# The other commands


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_the_catalogue_and_the_configuration_are_listed_and_sound(empty: Sayso) -> None:
    listed, lint, check, migrate = empty.each(
        ["", "runbooks", "list"], ["", "runbooks", "lint"], ["", "check"], ["", "migrate"]
    )
    found = {one["name"]: one["effect"] for one in listed.json["runbooks"]}
    assert found == {
        "append-word": "write",
        "deploy": "write",
        "restart-web": "write",
        "show-ledger": "read",
        "slow-append": "write",
    }
    assert listed.json["faults"] == []
    assert (check.code, check.json) == (0, {"ok": True, "problems": []})
    assert (lint.code, lint.json["ok"], lint.json["problems"]) == (0, True, [])
    assert any("deploy.yml:1: lock: " in line for line in lint.json["warnings"])
    assert (migrate.code, migrate.json) == (0, {"storage": "sqlite:data/sayso.db"})
    assert (empty.folder / "data" / "sayso.db").is_file()


def test_lists_of_nothing_are_empty(empty: Sayso) -> None:
    requests, verified = empty.each(["", "requests"], ["", "audit", "verify"])
    assert requests.json == {"requests": []}
    assert shaped(verified.json, {"ok": True, "entries": 0, "head": HEX})


def test_wrong_usage_is_one_object_and_exit_code_two(empty: Sayso) -> None:
    for done in empty.each(
        ["", "frobnicate"],
        ["", "approve"],
        ["bob", "approve", NOBODY, "more"],
        ["bob", "resolve", "r_1", "first", "--happened"],
        ["bob", "resolve", "r_1", "0"],  # which of the two has no default
    ):
        kind, message = done.error
        assert (done.code, kind) == (2, "invalid")
        assert message
    assert not (empty.folder / "data").exists()


def test_the_configuration_may_be_somewhere_else(sayso: Sayso, tmp_path: Path) -> None:
    elsewhere = Sayso(tmp_path)
    done = elsewhere.run(
        "--config", str(sayso.folder / "sayso.yml"), "approve", sayso.id("alpha"), as_="bob"
    )
    assert done.code == 0
    assert sayso.ledger() == ["alpha"]


def test_the_fixtures_hold_what_the_journey_needs() -> None:
    names = sorted(str(p.relative_to(CONTRACT)) for p in CONTRACT.rglob("*") if p.is_file())
    runbooks = ("append-word", "deploy", "restart-web", "show-ledger", "slow-append")
    work = ("append.py", "fleet.txt", "ledger.txt")
    wanted = [f"runbooks/{name}.yml" for name in runbooks] + ["sayso.yml"]
    assert names == sorted(wanted + [f"work/{name}" for name in work])


def test_the_operator_sees_the_card_of_one_request_and_what_each_was_called_with(
    sayso: Sayso,
) -> None:
    alpha = sayso.id("alpha")
    [listed] = [one for one in sayso.run("requests").json["requests"] if one["id"] == alpha]
    assert sayso.run("requests", alpha).request == listed
    assert [call["tool"] for call in listed["calls"]] == ["append-word"]
    assert listed["calls"][0]["arguments"]["word"] == "alpha"
    shown = sayso.run("requests", alpha, plain=True).out
    lasting = [line for line in shown.splitlines() if not line.startswith("Edit: ")]
    assert listed["card"] in "\n".join(lasting)
    assert f"\n({listed['conversation']})\n" in shown
    assert sayso.run("requests", "0" * 32).refusal.startswith("There is no such request.")
    assert sayso.run("approve", alpha, as_="bob").code == 0
    for command in ("requests", "runs"):
        assert 'append-word {"word": "alpha"' in sayso.run(command, plain=True).out
    ended = sayso.run("requests", alpha, plain=True).out
    assert "\nApproved by bob. Run r_" in ended
    assert "sayso approve" not in ended
