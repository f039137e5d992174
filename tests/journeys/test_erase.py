"""A conversation is exported, rebuilt and erased, by whoever may read the files."""

import json

from core import exports
from core.stored_entries import body_of, kind_of
from tests.sayso import HEX, Sayso, shaped

EXPORT = {
    "schema": "sayso.conversation/1",
    "conversation": str,
    "tenant": "acme",
    "opened_at": str,
    "erased_at": None,
    "transcript": [{"kind": str, "body": dict}],
    "entries": [{"at": str, "kind": str, "author": str, "text": str}],
    "turns": [{"turn": str, "asked_by": str, "asked": str, "reason": str, "text": str}],
}


def conversation(sayso: Sayso, name: str) -> str:
    """Return the conversation of a request that the prepared folder holds."""
    return str(sayso.asked[name]["conversation"])


def files(sayso: Sayso) -> bytes:
    """Return all bytes of the database, its journal too."""
    return b"".join(file.read_bytes() for file in sayso.database.parent.iterdir())


def test_c86_an_export_holds_all_of_it_and_rebuilds_what_the_model_was_sent(sayso: Sayso) -> None:
    here = conversation(sayso, "alpha")
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").code == 0
    sayso.run("ask", "show ledger", "--conversation", here, as_="alice")
    done = sayso.run("conversation", here, "--export")
    assert shaped(done.json, EXPORT), done
    kept = sayso.sql("SELECT kind, body FROM transcript WHERE conversation = ? ORDER BY seq", here)
    rebuilt = exports.rebuilt(done.out)
    assert [(kind_of(one), body_of(one)) for one in rebuilt] == kept
    assert done.json["requests"] == [sayso.id("alpha")]
    [(run,)] = sayso.sql("SELECT id FROM run")
    assert done.json["runs"] == [run]
    assert [turn["reason"] for turn in done.json["turns"]] == ["proposed", "answered"]
    read = sayso.sql("SELECT kind, text FROM entry WHERE conversation = ? ORDER BY seq", here)
    assert [(one["kind"], one["text"]) for one in done.json["entries"]] == read
    plain = sayso.run("conversation", here, "--export", plain=True)
    assert json.loads(plain.out) == done.json


def test_c86_an_unknown_conversation_has_no_export(sayso: Sayso) -> None:
    assert "no such conversation" in sayso.run("conversation", "c_none", "--export").refusal


def test_c77_erased_is_erased_and_everything_else_goes_on(sayso: Sayso) -> None:
    here = conversation(sayso, "alpha")
    assert "has not ended" in sayso.run("erase", here).refusal
    sayso.run("deny", sayso.id("alpha"), "--reason", "the quagga says no", as_="bob")
    sayso.run("ask", "what is a quagga", "--conversation", here, as_="alice")
    head = sayso.run("audit", "head").json["head"]
    assert b"quagga" in files(sayso)
    erased = sayso.run("erase", here)
    assert shaped(erased.json, {"conversation": here, "removed": dict, "sha256": HEX}), erased
    assert b"quagga" not in files(sayso)
    verified = sayso.run("audit", "verify", "--head", head)
    assert (verified.code, verified.json["ok"]) == (0, True)
    [entry] = sayso.sql("SELECT body FROM audit WHERE kind = 'conversation.erased'")
    assert erased.json["sha256"] in entry[0]
    [request] = [r for r in sayso.run("requests").json["requests"] if r["id"] == sayso.id("alpha")]
    assert (request["state"], request["reason"]) == ("denied", "erased")
    assert request["card"].startswith("Erased")
    shown = sayso.run("conversation", here).json["entries"]
    assert {one["text"] for one in shown} == {"erased"}
    assert "Erased" in sayso.run("requests", plain=True).out
    assert "erased" in sayso.run("conversation", here, plain=True).out


def test_c77_in_an_erased_conversation_everything_starts_anew(sayso: Sayso) -> None:
    here = conversation(sayso, "alpha")
    sayso.run("deny", sayso.id("alpha"), as_="bob")
    sayso.run("erase", here)
    empty = sayso.run("conversation", here, "--export").json
    assert (empty["transcript"], empty["erased_at"] is None) == ([], False)
    assert sayso.run("ask", "--again", sayso.id("alpha"), as_="bob").code == 1
    assert "Nothing was left" in sayso.run("erase", here, plain=True).out
    sayso.run("ask", "show ledger", "--conversation", here, as_="alice")
    assert sayso.run("conversation", here, "--export").json["transcript"]


def test_c77_a_run_that_was_erased_is_still_listed(sayso: Sayso) -> None:
    here = conversation(sayso, "alpha")
    sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert sayso.run("erase", here).code == 0
    [run] = sayso.run("runs").json["runs"]
    assert (run["state"], run["conversation"]) == ("succeeded", here)
    assert [(step["output"], step["note"]) for step in run["steps"]] == [("", "erased")]
    assert "erased" in sayso.run("runs", plain=True).out
    plan = str(sayso.asked["alpha"]["request"]["plan"])
    assert "no such plan" in sayso.run("plan", "export", plan).refusal


def test_i14_an_unknown_conversation_is_not_erased(sayso: Sayso) -> None:
    for name in ("c_none", "", sayso.id("alpha")):
        assert "no such conversation" in sayso.run("erase", "--", name).refusal
