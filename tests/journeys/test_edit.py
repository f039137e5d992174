"""Editing before approval on the command line: what waits becomes another plan, and votes begin anew."""

import json

from tests.sayso import REQUEST, Sayso, shaped

UNKNOWN = "There is no such request. Copy its id from the card, or ask again for what you need."


def status(sayso: Sayso, request: str) -> str:
    """Return how a request stands, as it is shown."""
    return sayso.run("requests", request, plain=True).out


def test_one_of_two_votes_is_void_once_somebody_edits_and_both_vote_anew(empty: Sayso) -> None:
    empty.edit(
        "sayso.yml",
        "low:    {quorum: 1, requester_may_vote: true,",
        "low:    {quorum: 2, requester_may_vote: false,",
    )
    empty.edit(
        "sayso.yml",
        "groups: [sre, leads]}",
        "groups: [sre, leads]}\n  dave: {console: [dave], groups: [sre]}",
    )
    old = empty.ask("append alpha", "alice")["request"]
    assert empty.run("approve", old["id"], as_="bob").request["votes"] == 1

    done = empty.run("edit", old["id"], "word=beta", as_="carol")
    assert (done.code, done.err) == (0, "")
    new = done.request
    assert shaped(new, REQUEST | {"state": "open", "votes": 0, "quorum": 2})
    assert new["id"] != old["id"]
    assert (new["requester"], new["editors"], new["became"]) == ("alice", ["carol"], None)
    assert new["plan_sha256"] != old["plan_sha256"]
    assert new["conversation"] == old["conversation"]
    assert new["calls"] == [{"tool": "append-word", "arguments": {"word": "beta"}}]
    assert f"Edited by: carol, from {old['plan']}\n" in new["card"]
    assert 'The edit changed: append-word word from "alpha" to "beta"\n' in new["card"]
    assert "May approve: bob, dave\n" in new["card"]
    assert (
        f"Superseded: carol edited it, so no vote for it counts; what waits now is {new['id']}."
        in (status(empty, old["id"]))
    )

    own, late = empty.each(
        ["carol", "approve", new["id"]],
        ["bob", "approve", old["id"]],
    )
    assert own.refusal == "You edited this, so somebody else has to approve it: bob and dave may."
    assert late.refusal.startswith("Superseded: carol edited it")
    assert empty.run("approve", new["id"], as_="bob").request["votes"] == 1
    ran = empty.run("approve", new["id"], as_="dave")
    assert ran.run["state"] == "succeeded"
    assert empty.ledger() == ["beta"]

    kinds = [kind for (kind,) in empty.sql("SELECT kind FROM audit WHERE kind LIKE 'request.%'")]
    assert kinds == ["request.opened", "request.superseded", "request.opened", "request.granted"]


def test_the_receipt_tells_who_edited_it_and_hides_nobody(sayso: Sayso) -> None:
    new = sayso.run("edit", sayso.id("alpha"), "word=beta", as_="carol").request
    ran = sayso.run("approve", new["id"], as_="bob")
    written = sayso.run("receipt", ran.run["id"], "--output", "receipt.json")
    assert written.code == 0
    held = sayso.run("verify", "receipt.json")
    assert held.json["requester"] == "alice"
    assert held.json["editors"] == ["carol"]
    plain = sayso.run("verify", "receipt.json", plain=True).out
    assert "asked for by alice, edited by carol and approved by" in plain
    forged = json.loads((sayso.folder / "receipt.json").read_text("utf-8"))
    del forged["request"]["editors"]
    (sayso.folder / "forged.json").write_text(
        json.dumps(forged, sort_keys=True, separators=(",", ":")) + "\n", "utf-8"
    )
    assert sayso.run("verify", "forged.json").code == 1


def test_what_is_wrong_is_told_with_what_to_do_and_leaves_everything(sayso: Sayso) -> None:
    old = sayso.id("alpha")
    rows = sayso.sql("SELECT id, state FROM request ORDER BY id")
    said = sayso.each(
        ["alice", "edit", old, "word=BAD"],
        ["alice", "edit", old, "nope=x"],
        ["alice", "edit", old, "word=alpha"],
        ["alice", "edit", old, "word=beta", "--call", "2"],
        ["mallory", "edit", old, "word=beta"],
        ["alice", "edit", "0" * 32, "word=beta"],
    )
    bad, unknown_name, same, no_call, stranger, unknown = [done.refusal for done in said]
    assert bad.startswith("append-word: `word`: it must match ")
    assert bad.endswith("Correct that, and edit it again.")
    assert unknown_name == "append-word: there is no such argument. Its arguments: word"
    assert same.startswith("Nothing changed")
    assert no_call.endswith("This plan has: 1 append-word")
    assert stranger == unknown == UNKNOWN
    assert sayso.sql("SELECT id, state FROM request ORDER BY id") == rows
    usage = sayso.run("edit", old, "beta", as_="alice")
    assert (usage.code, usage.error[0]) == (2, "invalid")
    nothing = sayso.run("edit", old, as_="alice")
    assert (nothing.code, nothing.error[0]) == (2, "invalid")
    assert nothing.error[1] == "Missing argument 'NAME=VALUE'. See: sayso edit --help"


def test_of_ten_edits_and_a_yes_at_once_one_stands(sayso: Sayso) -> None:
    old = sayso.id("alpha")
    commands = [["alice", "edit", old, f"word=w{number}"] for number in range(6)]
    done = sayso.together(*commands, ["bob", "approve", old, "--no-wait"])
    *edits, approved = done
    stood = [one for one in edits if one.code == 0]
    if approved.code == 0:
        assert stood == []
        assert all("Already decided. Approved by bob" in one.refusal for one in edits)
    else:
        assert len(stood) == 1
        assert approved.refusal.startswith("Superseded: alice edited it")
    [(live,)] = sayso.sql(
        "SELECT count(*) FROM request WHERE state IN ('open', 'granted', 'spent')"
        " AND plan IN (SELECT id FROM plan WHERE body LIKE '%append-word%')"
        f" AND (id = '{old}' OR edits = '{old}')"
    )
    assert live == 1


def test_people_read_the_new_card_and_how_to_go_on(sayso: Sayso) -> None:
    done = sayso.run("edit", sayso.id("alpha"), "word=beta", as_="alice", plain=True)
    [(new,)] = sayso.sql("SELECT id FROM request WHERE edits IS NOT NULL")
    assert done.out.startswith("Approve to run: append-word\n")
    assert f"Edit:    sayso edit {new} NAME=VALUE\n" in done.out
    assert done.out.endswith("Open: 0 of 1 vote.\n")
