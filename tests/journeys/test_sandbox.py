"""Steps in the sandbox, from the command line: how it is chosen, what it hides, and what stands in its way."""

import json
import subprocess
import sys

import pytest

from tests.sayso import ROOT, Object, Sayso, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")

TELL = """
summary: Tell what there is to see.
effect: read
phrases: ["tell {what}"]
params:
  what: {type: string, pattern: "^[a-z./]+$"}
steps:
  - run: [cat, "{what}"]
"""


def test_without_a_section_steps_run_in_the_sandbox(empty: Sayso) -> None:
    empty.edit("sayso.yml", "sandbox: {backend: none}", "#")
    card = empty.ask("append alpha", "alice")["request"]
    assert 'Where: folder "work", sandbox bwrap' in card["card"]
    assert "No sandbox" not in card["card"]
    assert empty.run("approve", card["id"], as_="bob").run["state"] == "succeeded"
    assert empty.ledger() == ["alpha"]
    assert empty.run("check").code == 0


@pytest.mark.parametrize("backend", ["bwrap"], indirect=True)
@pytest.mark.parametrize("path", ["../sayso.yml", "../data/sayso.db", "./link", "/etc/shadow"])
def test_attack_30_no_path_leads_a_step_out_of_its_folder(empty: Sayso, path: str) -> None:
    empty.runbook("tell", TELL)
    (empty.folder / "work" / "link").symlink_to(empty.folder / "sayso.yml")
    text = empty.run("ask", f"tell {path}", as_="alice").json["text"]
    assert "No such file or directory" in text
    assert "tenants" not in text


@pytest.mark.parametrize("backend", ["bwrap"], indirect=True)
@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("workdir: work", "workdir: .", ""),
        ("sqlite:data/sayso.db", "sqlite:work/sayso.db", "work/sayso.db"),
        ("backend: bwrap", "backend: bwrap, readable: [/]", ""),
        ("console: {", "secrets: {FLEET: 'file:work/token'}\nconsole: {", "work/token"),
    ],
    ids=["configuration", "database", "readable", "secret"],
)
def test_where_steps_would_see_what_they_must_not_nothing_starts(
    empty: Sayso, old: str, new: str, seen: str
) -> None:
    (empty.folder / "work" / "token").write_text("a-long-secret", "utf-8")
    empty.edit("sayso.yml", old, new)
    asked, check = empty.each(["alice", "ask", "append alpha"], ["", "check"])
    kind, said = asked.error
    path = empty.folder.resolve() / seen
    assert (kind, asked.code) == ("invalid", 2)
    assert f"sandbox: steps would see {path}, because they see /" in said
    assert said.startswith("sayso.yml:")
    assert any(said in line for line in check.json["problems"])


@pytest.mark.parametrize("backend", ["bwrap"], indirect=True)
@pytest.mark.parametrize("command", ["[work/token]", "[python3, ./work/token]"])
def test_where_steps_could_change_what_prints_a_secret_nothing_starts(
    empty: Sayso, command: str
) -> None:
    """It runs outside of the sandbox, with all the rights of this account."""
    token = empty.folder.resolve() / "work" / "token"
    token.write_text("#!/bin/sh\necho a-long-secret\n", "utf-8")
    token.chmod(0o755)
    empty.edit(
        "sayso.yml", "console: {", f"secrets: {{FLEET: {{command: {command}}}}}\nconsole: {{"
    )
    kind, said = empty.run("ask", "append alpha", as_="alice").error
    assert (kind, said.split(", ")[0].partition(": ")[2]) == (
        "invalid",
        f"sandbox: steps could change {token}",
    )


@pytest.mark.parametrize("backend", ["bwrap"], indirect=True)
def test_where_steps_could_change_the_code_of_sayso_nothing_starts(empty: Sayso) -> None:
    code = empty.folder.resolve() / "work" / "packages"
    code.mkdir()
    done = empty.run("ask", "append alpha", as_="alice", env={"PYTHONPATH": f"{code}:{ROOT}"})
    assert done.error[0] == "invalid"
    assert f"steps could change {code}" in done.error[1]


def test_whoever_serves_without_a_sandbox_reads_that_in_the_log(empty: Sayso) -> None:
    server = empty.start("run")
    assert server.process.stderr is not None
    assert (
        server.process.stderr.readline()
        == "WARNING no sandbox: steps run with all the rights of this account, as sayso.yml says.\n"
    )
    server.ready().end()


FORBIDDEN = (
    "bwrap", "--dev-bind", "/", "/", "--die-with-parent", "--unshare-user", "--disable-userns", "--",
)  # fmt: skip
"""What makes a machine, for whoever is started in it, one that lets nobody have namespaces."""


def where_it_is_forbidden(sayso: Sayso, *arguments: str) -> tuple[int, Object]:
    done = subprocess.run(
        [*FORBIDDEN, sys.executable, "-m", "bot", *arguments, "--json"],
        cwd=sayso.folder,
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("backend", ["bwrap"], indirect=True)
def test_c26_where_the_sandbox_does_not_work_nobody_is_asked_and_nothing_runs(sayso: Sayso) -> None:
    for text in ("append beta", "show ledger"):
        code, asked = where_it_is_forbidden(sayso, "ask", text, "--as", "alice")
        assert (code, asked["reason"], asked["request"]) == (0, "answered", None)
        assert "Nothing may run, because the sandbox does not work here." in asked["text"]
        assert "`sayso check`" in asked["text"]
    code, refused = where_it_is_forbidden(sayso, "approve", sayso.id("alpha"), "--as", "bob")
    assert code == 1
    assert "Nothing may run" in refused["error"]["message"]
    assert sayso.ledger() == []
    code, check = where_it_is_forbidden(sayso, "check")
    [problem] = check["problems"]
    assert code != 0
    assert 'sandbox: bubblewrap does not work here ("bwrap: ' in problem
    assert problem.endswith("write `sandbox: {backend: none}`.")
