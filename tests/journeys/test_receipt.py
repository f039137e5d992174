"""X10: a run leaves a receipt that anybody can check, anywhere, with nothing but the file."""

import os
import re
import signal
from pathlib import Path

import pytest

from bot import receipts
from core.audit import GENESIS
from tests.sayso import HEX, ROOT, Done, Sayso, shaped, until

PRINTED = {"receipt": str, "key": HEX, "head": HEX}


def run_of(sayso: Sayso, name: str, *voters: str) -> str:
    """Have people approve a request, and return its run."""
    done = [sayso.run("approve", sayso.id(name), as_=voter) for voter in voters]
    return str(done[-1].run["id"])


def receipt(sayso: Sayso, run: str, file: Path) -> Done:
    """Write a receipt."""
    return sayso.run("receipt", run, "--output", str(file))


def elsewhere(tmp_path: Path) -> Sayso:
    """Return a folder in which there is nothing."""
    folder = tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    return Sayso(folder)


def test_x10_a_receipt_is_checked_where_there_is_nothing_but_the_file(
    sayso: Sayso, tmp_path: Path
) -> None:
    assert "You may not approve this" in sayso.run("approve", sayso.id("v1"), as_="alice").refusal
    run = run_of(sayso, "v1", "bob", "carol")
    file = tmp_path / "receipt.json"
    done = receipt(sayso, run, file)
    assert (done.code, shaped(done.json, PRINTED)) == (0, True), done
    assert done.json["receipt"] == str(file)
    key, head = done.json["key"], done.json["head"]
    shown = sayso.run("audit", "head").json
    assert (shown["key"], shown["head"]) == (key, head)

    other = elsewhere(tmp_path)
    for demanded in ([], ["--key", key], ["--head", head], ["--key", key, "--head", head]):
        found = other.run("verify", str(file), *demanded)
        assert (found.code, found.json["run"], found.json["state"]) == (0, run, "succeeded"), found
        assert found.json["voters"] == ["bob", "carol"]
    plain = other.run("verify", str(file), "--key", key, plain=True)
    assert (plain.code, plain.err) == (0, "")
    assert re.fullmatch(r"The receipt holds: .*\.\n", plain.out)
    assert "another key" in other.run("verify", str(file), "--key", "0" * 64).refusal
    assert "not the one that you noted" in other.run("verify", str(file), "--head", GENESIS).refusal
    assert list(other.folder.iterdir()) == []

    text = file.read_text("utf-8")
    assert "You may not approve this" in text
    assert "appended" not in text
    assert sayso.id("web") not in text


def test_x10_a_changed_byte_is_refused_in_one_sentence(sayso: Sayso, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    receipt(sayso, run_of(sayso, "alpha", "bob"), file)
    data, files = file.read_bytes(), list[Path]()
    for number in range(8):
        place = (number * 2_654_435_761 + 12_345) % len(data)
        changed = bytearray(data)
        changed[place] ^= 1
        files.append(tmp_path / f"changed-{number}.json")
        files[-1].write_bytes(changed)
    files.append(tmp_path / "cut.json")
    files[-1].write_bytes(data[:-1])
    for done in elsewhere(tmp_path).each(*(["", "verify", str(one)] for one in files)):
        assert done.refusal
        assert "Traceback" not in done.err
    plain = elsewhere(tmp_path).run("verify", str(files[0]), plain=True)
    assert (plain.code, plain.out, plain.err.count("\n")) == (1, "", 1)


def test_x10_a_log_whose_tail_was_cut_off_is_found_with_the_head_of_a_receipt(
    sayso: Sayso, tmp_path: Path
) -> None:
    head = receipt(sayso, run_of(sayso, "alpha", "bob"), tmp_path / "receipt.json").json["head"]
    sayso.run("deny", sayso.id("web"), as_="bob")
    whole = sayso.run("audit", "verify", "--head", head)
    assert (whole.code, whole.json["ok"]) == (0, True)
    [(seq,)] = sayso.sql("SELECT seq FROM audit WHERE hash = ?", head)
    sayso.sql("DELETE FROM audit WHERE seq >= ?", seq)
    assert sayso.run("audit", "verify").json["ok"] is True
    cut = sayso.run("audit", "verify", "--head", head)
    assert (cut.code, cut.json["first_bad"]) == (1, seq)


def test_a_log_that_does_not_hold_makes_no_receipt(sayso: Sayso, tmp_path: Path) -> None:
    run = run_of(sayso, "alpha", "bob")
    sayso.sql("UPDATE audit SET tenant = 'other' WHERE seq = 2")
    assert "does not hold from entry 2 on" in receipt(sayso, run, tmp_path / "r.json").refusal
    assert not (tmp_path / "r.json").exists()
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind = 'receipt.made'") == [(0,)]


def test_a_run_that_is_unknown_running_or_erased_has_no_receipt(
    sayso: Sayso, tmp_path: Path
) -> None:
    file = tmp_path / "receipt.json"
    for name in ("r_none", sayso.id("alpha"), "../../etc"):
        assert (
            receipt(sayso, name, file).refusal == "There is no such run. `sayso runs` names them."
        )
    running = sayso.start("approve", sayso.id("slow"), as_="bob")
    until(lambda: "begin beta" in sayso.ledger())
    [(slow,)] = sayso.sql("SELECT id FROM run")
    assert "has not ended" in receipt(sayso, slow, file).refusal
    running.signal(signal.SIGINT)
    assert receipt(sayso, slow, file).code == 0  # the step that was cut is unknown
    assert elsewhere(tmp_path).run("verify", str(file)).json["state"] == "unknown"
    assert sayso.run("resolve", slow, "0", "--happened", as_="bob").code == 0
    again = tmp_path / "again.json"
    assert receipt(sayso, slow, again).code == 0
    assert elsewhere(tmp_path).run("verify", str(again)).json["state"] == "succeeded"
    assert elsewhere(tmp_path).run("verify", str(file)).json["state"] == "unknown"

    run = run_of(sayso, "alpha", "bob")
    assert sayso.run("erase", str(sayso.asked["alpha"]["conversation"])).code == 0
    assert "was erased" in receipt(sayso, run, file).refusal
    assert elsewhere(tmp_path).run("verify", str(file)).json["run"] == slow


def test_receipts_that_are_written_at_once_have_one_key(sayso: Sayso, tmp_path: Path) -> None:
    run = run_of(sayso, "alpha", "bob")
    assert sayso.run("audit", "head").json["key"] is None
    files = [tmp_path / f"{number}.json" for number in range(4)]
    done = sayso.each(*(["", "receipt", run, "--output", str(file)] for file in files))
    assert len({one.json["key"] for one in done}) == 1
    assert len({one.json["head"] for one in done}) == 4
    key = done[0].json["key"]
    checked = elsewhere(tmp_path).each(*(["", "verify", str(file), "--key", key] for file in files))
    assert [one.code for one in checked] == [0] * 4
    assert sayso.run("audit", "verify").json["ok"] is True


def test_a_key_that_is_damaged_or_not_alone_stays_and_says_what_to_do(
    sayso: Sayso, tmp_path: Path
) -> None:
    run, file = run_of(sayso, "alpha", "bob"), tmp_path / "receipt.json"
    first = receipt(sayso, run, file).json["key"]
    key = sayso.database.with_name("sayso.key")
    key.chmod(0o644)
    assert "chmod 600" in receipt(sayso, run, tmp_path / "no.json").error[1]
    key.chmod(0o600)
    key.write_text("damaged", "utf-8")
    done = receipt(sayso, run, tmp_path / "no.json")
    assert (done.code, done.error[0]) == (2, "invalid")
    assert "move it away" in done.error[1]
    assert key.read_text("utf-8") == "damaged"
    head = sayso.run("audit", "head")
    assert (head.code, head.json["key"]) == (0, None)
    assert sayso.run("runs").code == 0
    key.unlink()
    second = receipt(sayso, run, file).json["key"]
    assert second != first
    assert "another key" in elsewhere(tmp_path).run("verify", str(file), "--key", first).refusal


def test_where_a_receipt_cannot_be_written_nothing_is_noted(sayso: Sayso, tmp_path: Path) -> None:
    run = run_of(sayso, "alpha", "bob")
    for place in (tmp_path, tmp_path / "missing" / "r.json", Path("/dev/null")):
        assert "cannot be written there" in receipt(sayso, run, place).refusal
    assert sayso.sql("SELECT count(*) FROM audit WHERE kind = 'receipt.made'") == [(0,)]
    file = tmp_path / "r.json"
    file.touch()
    for _ in range(2):  # over an empty file, and over a receipt
        assert receipt(sayso, run, file).code == 0
    assert elsewhere(tmp_path).run("verify", str(file)).code == 0
    assert sorted(one.name for one in tmp_path.glob("*r*.json")) == ["r.json"]


def test_a_receipt_that_is_told_of_is_on_the_disk_with_its_name(
    sayso: Sayso, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, folder = run_of(sayso, "alpha", "bob"), tmp_path / "kept"
    folder.mkdir()
    synced, fsync = list[tuple[str, list[str]]](), os.fsync

    def note(file: int) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{file}"), os.listdir(folder)))  # noqa: PTH115, PTH208
        fsync(file)

    monkeypatch.setattr("bot.receipts.os.fsync", note)
    receipts.receipt(sayso.folder / "sayso.yml", run=run, output=folder / "r.json")
    assert (str(folder), ["r.json"]) in synced


def test_a_receipt_is_written_over_nothing_but_a_receipt(sayso: Sayso, tmp_path: Path) -> None:
    run = run_of(sayso, "alpha", "bob")
    assert receipt(sayso, run, tmp_path / "r.json").code == 0
    linked = tmp_path / "linked.json"
    linked.symlink_to(tmp_path / "r.json")
    data = sayso.folder / "data"
    for there in (data / "sayso.db", data / "sayso.key", sayso.folder / "sayso.yml", linked):
        assert "Name a new file" in receipt(sayso, run, there).refusal
    assert linked.is_symlink()
    assert sayso.run("audit", "verify").json["ok"] is True


def test_for_people_a_receipt_says_what_to_keep_and_how_it_is_checked(
    sayso: Sayso, tmp_path: Path
) -> None:
    run, file = run_of(sayso, "alpha", "bob"), tmp_path / "r.json"
    done = sayso.run("receipt", run, "--output", str(file), plain=True)
    assert (done.code, done.err) == (0, "")
    [head] = sayso.sql("SELECT hash FROM audit WHERE kind = 'receipt.made'")
    assert head[0] in done.out
    assert "sayso verify FILE --key KEY --head HEAD" in done.out
    wrong = sayso.run("receipt", run)
    assert (wrong.code, wrong.error[0]) == (2, "invalid")


def test_whoever_serves_notes_each_head_in_a_file(sayso: Sayso) -> None:
    _heads(sayso, "heads.txt")
    assert sayso.run("check").code == 0
    heads = sayso.folder / "heads.txt"
    serving = sayso.start("run").ready()
    until(heads.exists)
    assert sayso.run("audit", "head").json["key"]
    sayso.run("deny", sayso.id("web"), as_="bob")
    assert serving.signal(signal.SIGTERM).code == 0
    lines = heads.read_text("utf-8").splitlines()
    newest = sayso.run("audit", "head").json
    assert lines[-1].split()[1:] == [str(newest["entries"]), newest["head"]]
    assert len(lines) == 2
    for line in lines:
        at, seq, head = line.split(" ")
        [(when, number)] = sayso.sql("SELECT at, seq FROM audit WHERE hash = ?", head)
        assert (when, str(number)) == (at, seq)
        assert sayso.run("audit", "verify", "--head", head).json["ok"] is True
    sayso.start("run").ready().signal(signal.SIGTERM)
    assert heads.read_text("utf-8").splitlines() == lines


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        ("missing/h.txt", "no such folder"),
        ("work/h.txt", "steps can write"),
        ("pipe", "a pipe"),
        ("link", "a link"),
        ("/dev/null", "a device"),
        ("runbooks", "a folder"),
    ],
)
def test_a_place_for_heads_that_does_not_fit_is_found_by_check(
    empty: Sayso, heads: str, problem: str
) -> None:
    os.mkfifo(empty.folder / "pipe")
    (empty.folder / "link").symlink_to(empty.folder / "pipe")
    _heads(empty, heads)
    done = empty.run("check")
    assert done.code == 2
    [found] = done.json["problems"]
    assert found.startswith("sayso.yml:")
    assert problem in found
    serving = empty.start("run").ready().signal(signal.SIGTERM)
    assert serving.code == 0
    if heads not in {"missing/h.txt", "work/h.txt"}:
        assert "audit.heads" in serving.err
        assert problem in serving.err


HANGS = """
from threading import Event
from adapters.heads_file import HeadsFile
HeadsFile.fault = HeadsFile.last = lambda heads: Event().wait()
"""
"""Stands for a disk that does not answer."""


def test_a_disk_for_heads_that_hangs_holds_nobody(sayso: Sayso, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HANGS, "utf-8")
    env = {"PYTHONPATH": f"{folder}:{ROOT}"}
    _heads(sayso, "heads.txt")
    checked = sayso.run("check", env=env)
    assert checked.code == 2
    assert "does not answer" in checked.json["problems"][0]
    serving = sayso.start("run", env=env).ready()
    assert sayso.run("approve", sayso.id("alpha"), "--no-wait", as_="bob").code == 0
    until(lambda: "alpha" in sayso.ledger())
    done = serving.signal(signal.SIGTERM)
    assert done.code == 0
    assert "does not answer" in done.err


def _heads(sayso: Sayso, place: str) -> None:
    with (sayso.folder / "sayso.yml").open("a", encoding="utf-8") as config:
        config.write(f"audit: {{heads: {place}}}\n")
