"""C85: all that a step printed can be had, until it is erased, and nowhere unmasked."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.sayso import HEX, Sayso, shaped

LISTS = (
    "summary: s\nrisk: low\nparams:\n  word: {type: string}\nphrases: ['list {word}']\n"
    "steps: [{run: [python3, list.py, '{word}'], secrets: [FLEET]}]\n"
)
PRINTS = """
import os, sys
for number in range(20000):
    print(sys.argv[1], number)
print(os.environ["FLEET"])
"""
SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"
ALL = "".join(f"alpha {number}\n" for number in range(20000)) + "[redacted]\n"
DIGEST = sha256(ALL.encode()).hexdigest()
PRINTED = {"run": str, "index": int, "bytes": int, "sha256": HEX}


@pytest.fixture
def lists(empty: Sayso) -> Sayso:
    empty.runbook("lists", LISTS)
    (empty.folder / "work" / "list.py").write_text(PRINTS, "utf-8")
    (empty.folder / "fleet-token").write_text(SECRET, "utf-8")
    empty.configure('secrets: {FLEET: "file:fleet-token"}')
    return empty


def ran(sayso: Sayso) -> tuple[str, str]:
    """Have a run print more than is shown; return its conversation and its id."""
    turn = sayso.ask("list alpha", "bob")
    done = sayso.run("approve", turn["request"]["id"], as_="bob")
    assert done.run["state"] == "succeeded", done
    return str(turn["conversation"]), str(done.run["id"])


def files(sayso: Sayso) -> dict[str, bytes]:
    """Return what lies in the folder of the artifacts."""
    folder = sayso.database.parent / "artifacts"
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.exists() else {}


def test_c85_the_report_names_all_of_it_and_a_command_prints_it(
    lists: Sayso, tmp_path: Path
) -> None:
    conversation, run = ran(lists)
    said = lists.run("conversation", conversation).json["entries"]
    [report] = [entry["text"] for entry in said if entry["kind"] == "report"]
    assert (
        f"Step 0 printed more than is shown: 228.9 kB, sha256 {DIGEST}. To have all of it, write output {run} 0 "
        in report
    )
    assert "bytes left out" in report

    found = lists.run("output", run, "0")
    assert shaped(found.json, PRINTED), found
    assert (found.json["output"], found.json["sha256"], found.json["file"]) == (ALL, DIGEST, None)
    assert lists.run("output", run, "0", plain=True).out == ALL

    file = tmp_path / "all.txt"
    written = lists.run("output", run, "0", "--output", str(file))
    assert (written.json["file"], written.json["output"]) == (str(file), None)
    assert file.read_text("utf-8") == ALL
    again = lists.run("output", run, "0", "--output", str(file))
    assert "Name a new file" in again.error[1]
    [step] = lists.run("runs").json["runs"][0]["steps"]
    assert step["whole"] == {
        "bytes": len(ALL), "sha256": DIGEST, "why_not": None, "is_gone": False
    }  # fmt: skip


def test_i12_no_secret_reaches_the_disk(lists: Sayso) -> None:
    _, run = ran(lists)
    assert files(lists) == {f"{run}.0": ALL.encode()}
    kept = [one for one in lists.folder.rglob("*") if one.is_file() and one.name != "fleet-token"]
    assert not [one for one in kept if SECRET.encode() in one.read_bytes()]


def test_c85_erasing_takes_the_file_and_leaves_the_digest(lists: Sayso) -> None:
    conversation, run = ran(lists)
    erased = lists.run("erase", conversation)
    assert erased.code == 0, erased
    assert erased.json["removed"]["artifact"] == 1
    assert files(lists) == {}
    assert "not kept any more" in lists.run("output", run, "0").refusal
    [step] = lists.run("runs").json["runs"][0]["steps"]
    assert (step["whole"]["sha256"], step["whole"]["is_gone"]) == (DIGEST, True)


def test_c85_a_receipt_names_the_digest(lists: Sayso, tmp_path: Path) -> None:
    _, run = ran(lists)
    file = tmp_path / "receipt.json"
    assert lists.run("receipt", run, "--output", str(file)).code == 0
    assert lists.run("verify", str(file)).code == 0
    logged = [json.loads(one["body"]) for one in json.loads(file.read_text())["audit"]]
    assert [one["whole_sha256"] for one in logged if "whole_sha256" in one] == [DIGEST]


def test_c85_a_byte_more_than_is_kept_stores_nothing_and_says_so(lists: Sayso) -> None:
    lists.configure(f"artifacts: {{most_bytes: {len(ALL) - 1}}}")
    conversation, run = ran(lists)
    assert files(lists) == {}
    refused = lists.run("output", run, "0").refusal
    assert refused == (
        "Not all that this step printed was kept. It is more than 228.9 kB, the most that is kept."
    )
    said = lists.run("conversation", conversation, plain=True).out
    assert "Not all that step 0 printed was kept." in said


def test_what_was_altered_is_not_given_away_as_what_was_kept(lists: Sayso) -> None:
    _, run = ran(lists)
    kept = lists.database.parent / "artifacts" / f"{run}.0"
    kept.write_bytes(b"something else")
    assert "its digest is another one" in lists.run("output", run, "0").refusal
    kept.unlink()
    assert "Its file is missing" in lists.run("output", run, "0").refusal


def test_an_output_of_which_all_is_shown_is_printed_too(lists: Sayso) -> None:
    turn = lists.ask("append alpha", "bob")
    run = lists.run("approve", turn["request"]["id"], as_="bob").run["id"]
    assert lists.run("output", run, "0").json["output"] == "appended alpha\n"
    for which in ((run, "1"), ("r_0123456789abcdef", "0"), ("../data", "0")):
        assert "There is no such step." in lists.run("output", *which).refusal


def test_a_folder_in_which_steps_can_write_is_refused(lists: Sayso) -> None:
    lists.configure("artifacts: {folder: work/kept}")
    refused = lists.run("ask", "list alpha", as_="bob")
    assert refused.code == 2
    assert "artifacts.folder: steps can write there" in refused.err + refused.out
    assert "artifacts.folder: steps can write there" in lists.run("check").out


def test_at_a_terminal_the_word_tells_how_to_have_it(lists: Sayso) -> None:
    _, run = ran(lists)
    said = lists.run("chat", as_="bob", plain=True, stdin=f"/output {run} 0\n").out
    assert f"In a shell: sayso output {run} 0" in " ".join(said.split())
