"""Standing grants on the command line: proposed, approved, used, and whatever ends or escapes them."""

import re

import pytest

from tests.sayso import TIME, TURN, Done, Object, Sayso, shaped, until

GRANT = {
    "id": re.compile("g_[0-9a-f]{32}"),
    "state": str,
    "request": re.compile("[0-9a-f]{32}"),
    "used": int,
    "uses": int,
}
ALICE, BOB, CAROL = "alice", "bob", "carol"
UNKNOWN = (
    "There is no such standing grant. `sayso grants`, or `grants` in chat, lists what there is."
)


def grant(
    sayso: Sayso, request: str, as_: str = BOB, *, uses: int = 2, lasts: str = "1h"
) -> Object:
    """Propose a standing grant; return it."""
    done = sayso.run("grant", request, "--uses", str(uses), "--for", lasts, as_=as_)
    assert done.code == 0, done
    assert shaped(done.json["grant"], GRANT), done
    found: Object = done.json["grant"]
    return found


def active(sayso: Sayso, text: str = "append alpha", **given: object) -> Object:
    """Return an active grant for what alice asks with this text."""
    request = sayso.ask(text, ALICE)["request"]["id"]
    made = grant(sayso, request, **given)  # type: ignore[arg-type]
    assert made["state"] == "active"
    return made


def asked(sayso: Sayso, text: str = "append alpha", as_: str = ALICE) -> Object:
    """Ask for something; return the turn."""
    done = sayso.run("ask", text, as_=as_)
    assert done.code == 0, done
    found: Object = done.json
    return found


def listed(sayso: Sayso, name: str) -> Object:
    """Return a grant as the operator sees it."""
    found: list[Object] = sayso.run("grants").json["grants"]
    [one] = [each for each in found if each["id"] == name]
    return one


def test_a_grant_is_proposed_and_at_once_active_where_one_vote_is_enough(empty: Sayso) -> None:
    turn = empty.ask("append alpha", ALICE)
    made = grant(empty, turn["request"]["id"])
    assert made["state"] == "active"
    assert made["calls"] == turn["request"]["calls"]
    assert made["request"] != turn["request"]["id"]
    assert empty.state(turn["request"]["id"]) == "open"
    assert empty.state(made["request"]) == "spent"
    assert empty.ledger() == []

    ran = asked(empty)
    assert shaped(ran, TURN | {"reason": "answered", "run": {"state": "succeeded"}})
    assert f"Ran under standing grant {made['id']}, use 1 of 2, until 20" in ran["text"]
    assert empty.ledger() == ["alpha"]
    assert asked(empty)["run"]["state"] == "succeeded"
    assert (listed(empty, made["id"])["state"], listed(empty, made["id"])["used"]) == ("used_up", 2)
    third = asked(empty)
    assert (third["reason"], third["run"]) == ("proposed", None)
    assert empty.ledger() == ["alpha", "alpha"]
    assert empty.run("audit", "verify").json["ok"]


def test_a_grant_of_a_rule_that_takes_two_waits_for_the_second(empty: Sayso) -> None:
    request = empty.ask("deploy v1", ALICE)["request"]["id"]
    made = grant(empty, request)
    assert made["state"] == "proposed"
    assert asked(empty, "deploy v1")["reason"] == "proposed"
    approved = empty.run("approve", made["request"], as_=CAROL)
    assert (approved.code, approved.request["state"]) == (0, "spent")
    assert approved.json["run"] is None
    assert (
        "up to 2 times within 1h of its approval, whenever alice asks" in approved.request["card"]
    )
    assert asked(empty, "deploy v1")["run"]["state"] == "succeeded"
    assert empty.ledger() == ["build-v1", "release-v1"]


def test_who_asked_first_stays_the_requester_and_may_not_vote_for_it_where_the_rule_says(
    empty: Sayso,
) -> None:
    request = empty.ask("restart web in staging", BOB)["request"]["id"]
    own = grant(empty, request, as_=BOB)
    assert own["state"] == "proposed"
    refused = empty.run("approve", own["request"], as_=BOB)
    assert refused.refusal == ("You asked for this, so somebody else has to approve it: carol may.")
    assert empty.run("approve", own["request"], as_=CAROL).run is None
    assert listed(empty, own["id"])["state"] == "active"
    assert asked(empty, "restart web in staging", BOB)["run"]["state"] == "succeeded"
    assert asked(empty, "restart web in staging", ALICE)["reason"] == "proposed"


def test_a_grant_covers_exactly_what_was_shown(empty: Sayso) -> None:
    active(empty, "restart web in staging", uses=5)
    assert asked(empty, "restart web in prod")["reason"] == "proposed"
    assert asked(empty, "append web")["reason"] == "proposed"
    assert empty.ledger() == []
    assert asked(empty, "restart web in staging")["run"]["state"] == "succeeded"
    (empty.folder / "work" / "fleet.txt").write_text("web worker db\n", "utf-8")
    assert asked(empty, "restart web in staging")["reason"] == "proposed"
    assert empty.ledger() == ["web-staging"]


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        (
            "runbooks/append-word.yml", "Append one word", "Append a word",
            "the runbook append-word was edited",
        ),
        ("sayso.yml", "low:    {quorum: 1,", "low:    {quorum: 2,", "the rules that decide it changed"),
        (
            "sayso.yml", "000000000002\"], groups: [eng, sre]}", "000000000002\"], groups: [eng]}",
            "bob may no longer approve it",
        ),
    ],
)  # fmt: skip
def test_a_grant_is_suspended_once_what_people_agreed_to_is_no_longer_so(
    empty: Sayso, file: str, old: str, new: str, why: str
) -> None:
    made = active(empty)
    empty.edit(file, old, new)
    assert asked(empty)["reason"] == "proposed"
    found = listed(empty, made["id"])
    assert (found["state"], found["reason"]) == ("suspended", why)
    empty.edit(file, new, old)
    assert asked(empty)["reason"] == "proposed"
    assert empty.ledger() == []


def test_the_list_alone_finds_that_a_runbook_was_edited(empty: Sayso) -> None:
    made = active(empty)
    assert listed(empty, made["id"])["state"] == "active"
    empty.edit("runbooks/append-word.yml", "Append one word", "Append a word")
    assert listed(empty, made["id"])["state"] == "suspended"


def test_who_may_no_longer_ask_has_no_use_of_a_grant(empty: Sayso) -> None:
    made = active(empty)
    empty.edit("sayso.yml", '000000000001"], groups: [eng]}', '000000000001"], groups: []}')
    asked(empty)
    assert empty.ledger() == []
    assert listed(empty, made["id"])["state"] == "suspended"


def test_a_grant_ends_when_it_is_revoked_and_the_next_ask_has_a_card(empty: Sayso) -> None:
    made = active(empty)
    assert asked(empty)["run"]["state"] == "succeeded"
    done = empty.run("grants", "revoke", made["id"], as_=CAROL)
    assert (done.code, done.json["grant"]["state"]) == (0, "revoked")
    assert asked(empty)["reason"] == "proposed"
    again = empty.run("grants", "revoke", made["id"], as_=CAROL)
    assert again.refusal == (
        f"Standing grant {made['id']} is revoked already, so there is nothing to revoke."
    )


def test_a_revoked_proposal_cannot_be_approved(empty: Sayso) -> None:
    made = grant(empty, empty.ask("deploy v1", ALICE)["request"]["id"])
    assert empty.run("grants", "revoke", made["id"], as_=BOB).code == 0
    late = empty.run("approve", made["request"], as_=CAROL).refusal
    assert f"bob revoked standing grant {made['id']}" in late
    assert listed(empty, made["id"])["state"] == "revoked"


def test_a_denied_proposal_is_denied_and_what_it_would_run_still_has_a_card(empty: Sayso) -> None:
    turn = empty.ask("deploy v1", ALICE)
    made = grant(empty, turn["request"]["id"])
    assert empty.run("deny", made["request"], "--reason", "not so", as_=CAROL).code == 0
    assert listed(empty, made["id"])["state"] == "denied"
    assert empty.state(turn["request"]["id"]) == "open"


def test_a_denial_beats_a_grant(empty: Sayso) -> None:
    here = empty.ask("append alpha", ALICE)
    grant(empty, here["request"]["id"], uses=5)
    assert empty.run("deny", here["request"]["id"], "--reason", "no", as_=BOB).code == 0
    refused = empty.run("ask", "append alpha", "--conversation", here["conversation"], as_=ALICE)
    assert refused.json["reason"] == "answered"
    assert "bob denied append-word" in refused.json["text"]
    assert (refused.json["run"], empty.ledger()) == (None, [])


def test_a_grant_expires(empty: Sayso) -> None:
    made = active(empty, lasts="2s")
    until(lambda: listed(empty, made["id"])["state"] == "expired")
    assert asked(empty)["reason"] == "proposed"


def test_who_may_not_propose_or_revoke_is_told_and_put_on_record(empty: Sayso) -> None:
    request = empty.ask("append alpha", ALICE)["request"]["id"]
    words = ("--uses", "2", "--for", "1h")
    refused = empty.run("grant", request, *words, as_=ALICE)
    assert refused.refusal == "You may not propose a standing grant for this (grant:propose)."
    strange = empty.run("grant", request, *words, as_="mallory").refusal
    assert strange == empty.run("grant", "f" * 32, *words, as_=BOB).refusal
    made = grant(empty, request)
    assert (
        empty.run("grants", "revoke", made["id"], as_=ALICE).refusal
        == "You may not revoke this (grant:revoke)."
    )
    assert empty.run("grants", "revoke", made["id"], as_="mallory").refusal == UNKNOWN
    assert empty.run("grants", "revoke", "g_" + "0" * 32, as_=BOB).refusal == UNKNOWN
    assert empty.run("grants", "revoke", "whatever", as_=BOB).refusal == UNKNOWN
    [(refusals,)] = empty.sql("SELECT count(*) FROM audit WHERE kind = 'attempt.refused'")
    assert refusals == 7


@pytest.mark.parametrize(
    "words",
    [
        ("--uses", "0", "--for", "1h"),
        ("--uses", "1001", "--for", "1h"),
        ("--uses", "2", "--for", "soon"),
        ("--uses", "2", "--for", "0s"),
        ("--uses", "2"),
        ("--for", "1h"),
    ],
)
def test_wrong_usage_proposes_nothing(empty: Sayso, words: tuple[str, ...]) -> None:
    done = empty.run("grant", "f" * 32, *words, as_=BOB)
    assert (done.code, done.error[0]) == (2, "invalid")


def test_a_grant_of_a_grant_is_refused_and_so_is_asking_again_for_one(empty: Sayso) -> None:
    made = grant(empty, empty.ask("deploy v1", ALICE)["request"]["id"])
    refused = empty.run("grant", made["request"], "--uses", "2", "--for", "1h", as_=BOB).refusal
    assert refused.startswith("That request asks for a standing grant already.")
    assert empty.run("deny", made["request"], as_=CAROL).code == 0
    again = empty.run("ask", "--again", made["request"], as_=BOB).refusal
    assert again.startswith("That asked for a standing grant.")


def test_what_a_denied_request_showed_has_no_grant(empty: Sayso) -> None:
    request = empty.ask("append alpha", ALICE)["request"]["id"]
    assert empty.run("deny", request, as_=BOB).code == 0
    refused = empty.run("grant", request, "--uses", "2", "--for", "1h", as_=CAROL).refusal
    assert "bob denied append-word" in refused


def test_what_has_changed_since_it_was_shown_has_no_grant(empty: Sayso) -> None:
    request = empty.ask("append alpha", ALICE)["request"]["id"]
    empty.edit("runbooks/append-word.yml", "Append one word", "Append a word")
    refused = empty.run("grant", request, "--uses", "2", "--for", "1h", as_=BOB).refusal
    assert refused == (
        "Not proposed: since that was shown, the runbook append-word was edited. Ask for it again first."
    )


def test_a_plan_that_asks_for_a_grant_is_no_plan_to_ask_with(empty: Sayso) -> None:
    made = grant(empty, empty.ask("deploy v1", ALICE)["request"]["id"])
    [(plan,)] = empty.sql("SELECT plan FROM request WHERE id = ?", made["request"])
    exported = empty.run("plan", "export", str(plan), plain=True)
    (empty.folder / "grant.yml").write_text(exported.out, "utf-8")
    done = empty.run("ask", "--plan", "grant.yml", as_=ALICE)
    assert done.json["request"] is None
    assert "Not proposed" in done.json["text"]


def test_a_run_under_a_grant_has_no_receipt_and_the_refusal_says_why(empty: Sayso) -> None:
    made = active(empty)
    run = asked(empty)["run"]["id"]
    refused = empty.run("receipt", run, "--output", "r.json").refusal
    assert refused.startswith(
        f"That run was under standing grant {made['id']}, and there is no receipt"
    )
    assert not (empty.folder / "r.json").exists()


def test_what_is_switched_off_holds_a_grant_back(empty: Sayso) -> None:
    made = active(empty)
    empty.configure("execution: {plan_only: true}")
    assert "frozen as p_" in asked(empty)["text"]
    assert empty.ledger() == []
    assert listed(empty, made["id"])["state"] == "active"


def test_two_asks_at_once_with_one_use_left_run_once(empty: Sayso) -> None:
    active(empty, uses=1)
    both = empty.together(*([ALICE, "ask", "append alpha"] for _ in range(4)))
    ran = [one for one in both if one.json["run"]]
    assert [one.code for one in both] == [0] * 4
    assert (len(ran), empty.ledger()) == (1, ["alpha"])
    assert {one.json["reason"] for one in both if one not in ran} <= {"proposed", "answered"}


def test_a_failing_run_under_a_grant_is_still_a_use_and_ask_ends_well(empty: Sayso) -> None:
    empty.runbook(
        "fail",
        'summary: Fail.\neffect: write\nrisk: low\nphrases: ["fail"]\nsteps:\n  - run: ["false"]\n',
    )
    made = active(empty, "fail")
    assert asked(empty, "fail")["run"]["state"] == "failed"
    assert listed(empty, made["id"])["used"] == 1


def test_people_see_the_grants_that_they_may_know_of(empty: Sayso) -> None:
    made = active(empty)
    for name, expected in ((ALICE, [made["id"]]), (CAROL, [made["id"]]), ("mallory", [])):
        found = empty.run("grants", as_=name).json["grants"]
        assert [one["id"] for one in found] == expected
    plain = empty.run("grants", plain=True).out
    assert f'{made["id"]} active: append-word {{"word": "alpha"}}' in plain
    assert "used 0 of 2, until 20" in plain
    assert "for alice on the console, proposed by bob" in plain


def test_erasing_where_a_grant_was_made_ends_it(empty: Sayso) -> None:
    turn = empty.ask("append alpha", ALICE)
    made = grant(empty, turn["request"]["id"])
    assert empty.run("stop", turn["conversation"], as_=ALICE).code == 0
    assert empty.run("erase", turn["conversation"]).code == 0
    found = listed(empty, made["id"])
    assert (found["state"], found["reason"]) == ("revoked", "what it allows was erased")
    assert asked(empty)["reason"] == "proposed"


def test_the_conversation_tells_what_became_of_the_grant_and_of_its_use(empty: Sayso) -> None:
    turn = empty.ask("append alpha", ALICE)
    made = grant(empty, turn["request"]["id"])
    used = asked(empty)
    assert empty.run("grants", "revoke", made["id"], as_=BOB).code == 0
    told = _told(empty.run("conversation", turn["conversation"]))
    assert any(one.startswith(f"Standing grant {made['id']} is active until 20") for one in told)
    assert f"bob revoked standing grant {made['id']}. From now on there is a card again." in told
    kinds = [one["kind"] for one in _entries(empty.run("conversation", used["conversation"]))]
    assert kinds == ["asked", "answered", "report"]


def _entries(done: Done) -> list[Object]:
    found: list[Object] = done.json["entries"]
    return found


def _told(done: Done) -> list[str]:
    return [one["text"] for one in _entries(done)]


def test_times_are_written_as_elsewhere(empty: Sayso) -> None:
    made = listed(empty, active(empty)["id"])
    assert TIME.fullmatch(made["until"])
    assert TIME.fullmatch(made["proposed_at"])


def test_people_can_tell_what_asks_for_a_grant_from_what_would_run(empty: Sayso) -> None:
    request = empty.ask("deploy v1", ALICE)["request"]["id"]
    made = grant(empty, request)["request"]
    waits = empty.run("requests", "--open", plain=True).out
    assert f'{made} open       standing grant: deploy {{"version": "v1"}}\n' in waits
    assert f'{request} open       deploy {{"version": "v1"}}\n' in waits
    told = empty.run("approve", made, as_=CAROL, plain=True).out
    assert told == (
        "Approved by bob and carol. The standing grant is active. Look at: sayso grants\n"
    )
    [once] = empty.run("grants").json["grants"]
    ended = empty.run("grants", "revoke", once["id"], as_=BOB).json["grant"]
    assert ended["calls"] == [{"tool": "deploy", "arguments": {"version": "v1"}}]
