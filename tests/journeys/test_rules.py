"""Pause, freeze and denials as whoever has a shell meets them: processes, exit codes and one object."""

from datetime import UTC, datetime, timedelta

from tests.sayso import Sayso


def freeze(sayso: Sayso, name: str = "release") -> None:
    """Have a freeze last, of everything but what is low."""
    now = datetime.now(UTC)
    begins, ends = (f"{now + timedelta(days=n):%Y-%m-%d}" for n in (-1, 2))
    sayso.edit(
        "sayso.yml",
        "  low:    {",
        f'  freeze: [{{name: {name}, from: "{begins}", to: "{ends}", except: [low]}}]\n  low:    {{',
    )


def answered(sayso: Sayso, text: str, there: str | None = None) -> str:
    """Have alice ask for what is not proposed; return why."""
    where = ["--conversation", there] if there else []
    done = sayso.run("ask", text, *where, as_="alice")
    assert (done.code, done.json["reason"]) == (0, "answered"), done
    return str(done.json["text"])


def thaw(sayso: Sayso) -> None:
    text = (sayso.folder / "sayso.yml").read_text("utf-8").splitlines(keepends=True)
    (sayso.folder / "sayso.yml").write_text(
        "".join(line for line in text if not line.startswith("  freeze:")), "utf-8"
    )


def test_x6_a_pause_holds_back_all_processes_until_somebody_resumes(sayso: Sayso) -> None:
    before = sayso.run("pause", "--reason", "an incident", as_="bob")
    assert before.code == 0
    assert "bob paused everything" in before.json["ruled"]
    asked, looked, approved, denied, resumed = sayso.each(
        ["alice", "ask", "append omega"],
        ["alice", "ask", "show ledger"],
        ["bob", "approve", sayso.id("alpha")],
        ["bob", "deny", sayso.id("v1")],
        ["mallory", "resume"],
    )
    assert asked.json["reason"] == "answered"
    assert "Not proposed: bob paused everything" in asked.json["text"]
    assert "(an incident)" in asked.json["text"]
    assert approved.refusal.startswith("Your yes was not counted: bob paused everything")
    assert denied.request["state"] == "denied"
    assert "show-ledger" in looked.json["text"]
    assert resumed.refusal.startswith("You may not pause or resume")
    listed = sayso.run("requests", "--open", plain=True).out
    assert "Held back: bob paused everything" in listed
    assert sayso.run("resume", as_="carol").code == 0
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").run["state"] == "succeeded"
    assert sayso.ledger() == ["alpha"]


def test_x6_a_freeze_holds_back_what_it_does_not_spare(sayso: Sayso) -> None:
    freeze(sayso)
    asked, approved = sayso.each(
        ["alice", "ask", "restart web in staging"], ["bob", "approve", sayso.id("v1")]
    )
    assert "Not proposed: the freeze release lasts until" in asked.json["text"]
    assert "Your yes was not counted: the freeze release lasts" in approved.refusal
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").run["state"] == "succeeded"
    thaw(sayso)
    assert sayso.ask("restart web in staging", "alice")["reason"] == "proposed"


def test_p04_three_denials_end_it_until_somebody_entitled_lifts_that(empty: Sayso) -> None:
    there = empty.ask("append a", "alice")["conversation"]
    for word in "abc":
        turn = empty.ask(f"append {word}", "alice", there)
        assert empty.run("deny", turn["request"]["id"], as_="bob").code == 0
    blocked = answered(empty, "append d", there)
    assert "3 requests of this conversation were denied" in blocked
    assert "however it is worded" in blocked
    assert empty.run("lift", there, as_="alice").refusal.startswith("You may not lift that")
    assert empty.run("lift", there, as_="bob").json["ruled"].startswith("Lifted:")
    assert empty.ask("append d", "alice", there)["reason"] == "proposed"
    again = answered(empty, "append b", there)
    assert "bob denied append-word with these arguments here" in again


def test_attack_18_no_more_than_five_wait_in_a_conversation_and_twins_are_one(
    empty: Sayso,
) -> None:
    first = empty.ask("append w0", "alice")
    there = first["conversation"]
    twin = empty.ask("append w0", "alice", there)
    assert twin["request"]["id"] == first["request"]["id"]
    for number in range(1, 5):
        assert empty.ask(f"append w{number}", "alice", there)["reason"] == "proposed"
    over = answered(empty, "append w5", there)
    assert "5 requests of this conversation wait for people already" in over
    assert "Have one of them approved or denied" in over
    assert empty.run("deny", first["request"]["id"], as_="bob").code == 0
    assert empty.ask("append w5", "alice", there)["reason"] == "proposed"
    assert empty.sql("SELECT count(*) FROM request WHERE state = 'open'") == [(5,)]


def test_x6_one_person_breaks_the_glass_in_a_freeze_and_the_receipt_says_so(empty: Sayso) -> None:
    empty.edit(
        "sayso.yml",
        "approvals:                  #",
        '    - {effect: allow, action: "plan:break_glass", groups: [leads]}\n'
        "approvals:                  #",
    )
    request = empty.ask("deploy v1", "alice")["request"]["id"]
    freeze(empty)
    bob, unsaid = empty.each(
        ["bob", "break-glass", request, "--reason", "it burns"],
        ["carol", "break-glass", request, "--reason", " "],
    )
    assert bob.refusal == ("You may not break the glass for this (plan:break_glass); carol may.")
    assert "say why" in unsaid.refusal
    assert empty.ledger() == []
    done = empty.run("break-glass", request, "--reason", "it burns", as_="carol")
    assert (done.code, done.run["state"]) == (0, "succeeded")
    assert done.request["broken_by"] == "carol"
    assert empty.ledger() == ["build-v1", "release-v1"]
    assert "Glass broken by carol: it burns." in empty.run("runs", plain=True).out
    made = empty.run("receipt", done.run["id"], "--output", "receipt.json")
    assert made.code == 0, made
    assert empty.run("verify", "receipt.json").code == 0


def test_x6_somebody_is_asked_to_decide_from_a_shell(sayso: Sayso) -> None:
    done = sayso.run("handover", sayso.id("v1"), "carol", as_="alice")
    assert done.json["ruled"] == "carol is asked where the card is."
    said = sayso.run("conversation", sayso.asked["v1"]["conversation"], plain=True).out
    assert "alice asks carol to decide deploy" in said
    assert "Nobody was asked" in sayso.run("handover", sayso.id("v1"), "dave", as_="alice").refusal
