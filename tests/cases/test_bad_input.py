"""Bad files, bad text, a bad disk: each is explained in a sentence, and nothing is lost."""

import re
import threading

from tests.sayso import Running, Sayso, Text, until

SETTINGS = {
    "an unknown name": ("{quorum: 2,", "{qorum: 2,", "27: approvals.high.qorum"),
    "no span of time": ("expires: 4h", "expires: soon", "27: approvals.high.expires"),
    "no section": ("console: {allow_as: true}", "console: true", "32: console"),
    "a name twice": ("approvals: ", "people: {}\napprovals: ", "24: people"),
    "no YAML": ("  acme:", "\tacme:", "3"),
    "an unknown database": ("sqlite:data", "mysql:data", "30: storage.url"),
}
RUNBOOKS = {
    "an unknown param": ('ledger.txt, "{word}"', 'ledger.txt, "{wrd}"', "8: steps: {wrd}"),
    "an unknown param in a phrase": ("append {word}", "append {wrd}", "7: phrases"),
    "an unknown effect": ("effect: write", "effect: destroy", "3: effect"),
    "an unknown name": ("summary:", "sumary:", "2: sumary"),
    "no list of arguments": (
        "run: [python3, append.py,",
        'run: ["{word}", append.py,',
        "9: steps.",
    ),
    "a bad pattern": ('pattern: "^[a-z0-9]{1,20}$"', 'pattern: "["', "6: params.word.pattern"),
    "a reserved param": ("  word: {", "  rationale: {", "5: params"),
    "no YAML": ("risk: low", "risk: low: high", "4"),
}
TEXTS: dict[str, Text] = {
    "nothing": "",
    "too much": "append " + "a" * 100_000,
    "broken bytes": b"append \xff\xfe\xed\xa0\x80",
    "bidi": "append \u202eahpla\u2066",
    "combining": "append " + "e\u0301\u0302\u0303" * 40,
    "controls": "\x1b[31mappend\x07\x08 alpha",
    "an option": "--help",
    "an open quote": "!append-word 'alpha",
}


# Files


def test_each_bad_configuration_is_one_line_with_place_and_next_step(empty: Sayso) -> None:
    good = (empty.folder / "sayso.yml").read_text("utf-8")
    started = dict[str, Running]()
    for number, (old, new, where) in enumerate(SETTINGS.values()):
        assert good.count(old) == 1
        name = f"bad-{number}.yml"
        (empty.folder / name).write_text(good.replace(old, new), "utf-8")
        started[f"{name}:{where}"] = empty.start("--config", name, "check")
    for where, running in started.items():
        done = running.done()
        kind, message = done.error
        assert (done.code, kind, done.err) == (2, "invalid", "")
        assert message.startswith(f"{where}: "), message
        assert re.search(r"\. [A-Z][^.]+\.$|: [a-z].*\.$", message), message


def test_a_yes_is_not_taken_for_a_quorum_of_one(empty: Sayso) -> None:
    empty.edit("sayso.yml", "{quorum: 2,", "{quorum: yes,")
    assert empty.run("check").code == 2


def test_a_bad_configuration_stops_every_command_before_it_touches_anything(empty: Sayso) -> None:
    empty.edit("sayso.yml", "{quorum: 2,", "{qorum: 2,")
    for done in empty.each(["alice", "ask", "append alpha"], ["", "migrate"]):
        assert (done.code, done.error[0]) == (2, "invalid")
    assert not (empty.folder / "data").exists()


def test_a_missing_or_unreadable_configuration_is_explained(empty: Sayso) -> None:
    (empty.folder / "bytes.yml").write_bytes(b"\xff\xfe\x00")
    (empty.folder / "list.yml").write_text("- tenants\n", "utf-8")
    for name in ("nowhere.yml", "work", "bytes.yml", "list.yml"):
        done = empty.run("--config", name, "check", plain=True)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert done.err.startswith(name)


def test_missing_folders_are_found_by_the_check(empty: Sayso) -> None:
    (empty.folder / "runbooks").rename(empty.folder / "elsewhere")
    (empty.folder / "work").rename(empty.folder / "lost")
    check, lint, ask = empty.each(["", "check"], ["", "runbooks", "lint"], ["alice", "ask", "hi"])
    assert (check.code, lint.code, ask.code) == (2, 2, 1)
    [workdir, folder] = check.json["problems"]
    assert re.match(r"sayso\.yml:\d+: runbooks\.workdir: ", workdir)
    assert "`runbooks.folder`" in folder
    assert lint.json["problems"] == [folder]
    kind, said = ask.error
    assert kind == "unavailable"
    assert re.fullmatch(rf"sayso\.yml:\d+: runbooks\.folder: {re.escape(said)}", folder)


def test_each_bad_runbook_is_one_line_with_place_and_next_step(empty: Sayso) -> None:
    good = (empty.folder / "runbooks" / "append-word.yml").read_text("utf-8")
    expected = dict[str, str]()
    for number, (old, new, where) in enumerate(RUNBOOKS.values()):
        assert good.count(old) == 1
        file = empty.folder / "runbooks" / f"bad-{number}.yml"
        file.write_text(good.replace(old, new), "utf-8")
        expected[f"runbooks/bad-{number}.yml"] = where
    done = empty.run("runbooks", "lint")
    assert (done.code, done.json["ok"], done.err) == (2, False, "")
    found = {problem.partition(":")[0]: problem for problem in done.json["problems"]}
    assert set(found) == set(expected)
    assert len(done.json["problems"]) == len(expected)
    for name, where in expected.items():
        assert found[name].startswith(f"{name}:{where}"), found[name]
        assert re.search(r"\. [A-Z][^.\n]+\.\Z", found[name]), found[name]


def test_one_bad_runbook_leaves_the_others_in_use_unless_strict(empty: Sayso) -> None:
    empty.edit("runbooks/deploy.yml", "effect: write", "effect: destroy")
    (empty.folder / "runbooks" / "bytes.yml").write_bytes(b"name: \xff")
    done = empty.run("ask", "append alpha", as_="alice")
    assert done.request["state"] == "open"
    assert re.findall("left out: runbooks/(.*?):", done.err) == ["bytes.yml", "deploy.yml"]
    empty.edit("sayso.yml", "workdir: work}", "workdir: work, strict: true}")
    strict = empty.run("ask", "append alpha", as_="alice")
    assert (strict.code, strict.error[0]) == (2, "invalid")
    assert strict.error[1].startswith("runbooks/bytes.yml:1: ")


def test_a_risk_without_a_rule_is_found_by_check_and_never_proposed(empty: Sayso) -> None:
    empty.edit("runbooks/append-word.yml", "risk: low", "risk: tiny")
    check, ask = empty.each(["", "check"], ["alice", "ask", "append alpha"])
    assert check.code == 2
    assert "append-word" in check.json["problems"][0]
    assert ask.json["request"] is None
    assert "There is no rule for the risk 'tiny'." in ask.json["text"]


# Text


def test_any_text_ends_in_a_sentence(sayso: Sayso) -> None:
    started = {
        what: sayso.start("ask", "--", text, as_="alice", plain=True)
        for what, text in TEXTS.items()
    }
    for what, running in started.items():
        done = running.done()
        said = done.out + done.err
        assert "Traceback" not in said, what
        assert done.code == (1 if what in {"nothing", "too much"} else 0), what
        assert re.search(r"^[A-Za-z-]+:? .*\w", said), (what, said)
    assert sayso.sql("SELECT count(*) FROM request") == [(4,)]


def test_any_id_and_name_that_holds_broken_bytes_is_unknown(sayso: Sayso) -> None:
    broken = b"\xff\xfe"
    for done in sayso.each(
        ["bob", "approve", broken],
        ["alice", "ask", "--again", broken],
        ["alice", "ask", "--plan", broken],
        [broken, "ask", "append alpha"],
    ):
        assert done.error[0] in {"refused", "invalid"}
        assert "Traceback" not in done.err
    denied = sayso.run("deny", sayso.id("alpha"), "--reason", broken, as_="bob")
    assert denied.request["state"] == "denied"


def test_a_conversation_run_or_plan_of_broken_bytes_is_unknown(sayso: Sayso) -> None:
    for done in sayso.each(
        ["alice", "ask", "append alpha", "--conversation", b"\xff"],
        ["bob", "resolve", b"\xff", "0", "--happened"],
        ["", "conversation", b"\xff"],
        ["", "plan", "export", b"\xff"],
    ):
        assert done.error[0] == "refused"


# The database


def test_a_database_folder_that_cannot_be_is_explained(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "sqlite:data/sayso.db", "sqlite:work/fleet.txt/sayso.db")
    kind, message = sayso.run("approve", sayso.id("alpha"), as_="bob").error
    assert kind == "unavailable"
    assert message.startswith("The database cannot be opened or written.")
    sayso.edit("sayso.yml", "sqlite:work/fleet.txt/sayso.db", "sqlite:data/sayso.db")
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").code == 0


def test_a_file_that_is_no_database_is_explained_and_left_alone(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "sqlite:data/sayso.db", "sqlite:work/append.py")
    before = (sayso.folder / "work" / "append.py").read_bytes()
    kind, message = sayso.run("requests").error
    assert kind == "unavailable"
    assert "is not a database" in message
    assert (sayso.folder / "work" / "append.py").read_bytes() == before


def test_a_database_of_a_newer_version_is_explained(sayso: Sayso) -> None:
    sayso.sql("PRAGMA user_version = 999")
    done = sayso.run("requests")
    assert (done.code, done.error[0]) == (2, "invalid")
    assert "newer Sayso" in done.error[1]


def test_a_locked_database_is_explained_and_the_request_is_still_there(sayso: Sayso) -> None:
    with sayso.locked():
        kind, message = sayso.run("approve", sayso.id("alpha"), as_="bob").error
    assert kind == "unavailable"
    assert (
        message == "The database is busy with another process, so this was not written. Try again."
    )
    assert sayso.state(sayso.id("alpha")) == "open"
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").code == 0
    assert sayso.ledger() == ["alpha"]


def test_a_database_that_is_locked_while_a_step_ends_still_learns_how_it_ended(
    empty: Sayso,
) -> None:
    request = empty.ask("slow append alpha 1", "bob")["request"]["id"]
    running = empty.start("approve", request, as_="bob")
    until(lambda: empty.ledger() == ["begin alpha"])
    with empty.locked():
        until(lambda: empty.ledger() == ["begin alpha", "alpha"])
        threading.Event().wait(0.3)  # so that writing it down has to wait
    done = running.done()
    assert (done.code, done.run["state"]) == (0, "succeeded")


def test_a_full_disk_is_explained_and_the_request_is_still_there(sayso: Sayso) -> None:
    kind, message = sayso.run("approve", sayso.id("alpha"), as_="bob", file_size=1024).error
    assert kind == "unavailable"
    assert message.startswith("The database could not be written: the disk is full or failing.")
    assert sayso.state(sayso.id("alpha")) == "open"
    assert sayso.ledger() == []
    assert sayso.run("approve", sayso.id("alpha"), as_="bob").code == 0
    assert sayso.ledger() == ["alpha"]
