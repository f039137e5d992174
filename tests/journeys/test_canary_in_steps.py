"""Attack 29, I12 and P-25: of a secret that a step of any kind was given, nobody hears by that step."""

import json
import logging
from collections.abc import AsyncGenerator
from inspect import getsource
from pathlib import Path

import pytest

from bot.wiring import runners
from core.redaction import MASK
from core.transcript import Say
from tests.cage import CANARIES, HOLDS_IT, NAMED, Cage, caged
from tests.canaries import buried, in_files, sings
from tests.hostile import call, use
from tests.mcp_tools import notes
from tests.pythons import install, interpreter
from tests.sayso import Sayso
from tests.standins.discord import ALICE as GUILD_ALICE
from tests.standins.discord import BOB as GUILD_BOB
from tests.standins.service import Service, Writer, replies, service, silence
from tests.team import ALICE, BOB

SENDS = """
summary: Send secrets to somebody who says them again.
risk: low
params:
  how: {{type: string, pattern: "^[a-z]+$"}}
steps:
  - http:
      post: "http://{host}/{{how}}"
      headers: {{Authorization: "Bearer {{FROM_ENV}}", X-File: "{{FROM_FILE}}", X-Printed: "{{FROM_COMMAND}}"}}
      expect: {{status: 200, json: {{/you: nobody}}}}
    secrets: [FROM_ENV, FROM_FILE, FROM_COMMAND]
"""
CALLS = """
summary: Call what raises secrets.
risk: low
params:
  how: {type: string, pattern: "^[a-z]+$"}
steps:
  - python: team.leaks:leak
    with: {how: "{how}"}
    secrets: [FROM_ENV, FROM_FILE, FROM_COMMAND]
"""
LEAKS = f"""
import base64, os, sys

{getsource(buried)}

def leak(how):
    song = " ".join(os.environ[name] for name in ("FROM_ENV", "FROM_FILE", "FROM_COMMAND"))
    print(buried(song) if how == "long" else song)
    print(song, file=sys.stderr)
    if how == "raise":
        raise LookupError(song) from OSError(song)
    if how == "exit":
        sys.exit(song)
    return {{"song": song, song: how}}
"""
TOOLS = {"spill": "how", "send": "how", "call-leak": "how", "notes__add": "text"}
"""What leaks, one tool for each kind of step, and which parameter says how."""
SHORT = {
    "spill": ("error", "boom"),
    "send": ("plain", "cut"),
    "call-leak": ("raise", "exit"),
    "notes__add": ("failure", "error"),
}


def echo(here: Service) -> None:
    """Have a service say again what it was sent."""

    async def play(writer: Writer) -> None:
        song = " ".join(value for _, value in here.asked[-1].headers)
        how = here.asked[-1].line.split()[1]
        if how == "/cut":
            writer.write(f"HTTP/1.1 200 {song}\r\nX-Song: {song}\r\n\r\n{song[:-9]}".encode())
        elif how == "/long":
            await replies(200, buried(song).encode(), X_Song=song)(writer)
        else:
            await replies(200, json.dumps({"you": f"{'.' * 60}{song}"}).encode())(writer)

    here.answer = play


@pytest.fixture
async def cage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> AsyncGenerator[Cage]:
    caplog.set_level(logging.DEBUG)
    ours = interpreter(tmp_path / "python")
    install(Path(ours.path[-1]), "team.leaks", LEAKS)
    monkeypatch.setattr(runners, "our_own", lambda: ours)
    async with service(silence) as here:
        echo(here)

        def prepare(sayso: Sayso) -> None:
            sayso.runbook("send", SENDS.format(host=here.host))
            sayso.runbook("call-leak", CALLS)
            sayso.configure(f'http: {{private: ["{here.host}"]}}')
            server = notes(sayso)
            server.calls["add"] = "leak"
            server.says()
            server.accept(secrets=NAMED)

        async with caged(tmp_path / "acme", monkeypatch, prepare) as made:
            yield made
            assert {name for name in NAMED if CANARIES[name] in repr(here.asked)} == {*NAMED}


async def in_slack(cage: Cage, tool: str, how: str) -> str:
    """Have a plan proposed, approved and reported there; return its run."""
    cage.team.model.then(use(call(tool, {TOOLS[tool]: how, **cage.about})))
    thread, card = await cage.workspace.proposed(ALICE, "go on")
    await cage.workspace.clicks(BOB, card, "Approve")
    await cage.workspace.reads(thread, "Run r_")
    return run_of(cage, cage.workspace.request(card))


async def on_discord(cage: Cage, tool: str, how: str) -> str:
    """Have a plan proposed, approved and reported there, and all that it printed given to its thread."""
    cage.team.model.then(use(call(tool, {TOOLS[tool]: how, **cage.about})))
    thread, card = await cage.guild.proposed(GUILD_ALICE, "go on")
    await cage.guild.presses(GUILD_BOB, card, "Approve")
    await cage.guild.reads(thread, "Step 0 printed more than is shown: ")
    run = run_of(cage, cage.guild.request(card))
    await cage.guild.says(GUILD_BOB, thread, f"!output {run} 0")
    await cage.guild.reads(thread, ", printed: ")
    return run


def run_of(cage: Cage, request: str) -> str:
    [(run,)] = cage.sayso.sql("SELECT id FROM run WHERE request = ?", request)
    return str(run)


@pytest.mark.timeout(180)  # twelve runs, each asked for, approved and reported
async def test_attack_29_i12_p25_no_kind_of_step_tells_anybody_what_it_was_given(
    cage: Cage, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    # What a command prints is known once it was needed: before that nobody here could say it.
    await cage.team.ask(use(call("show-leak", {"how": "plain"})), Say(text="read"))
    short = [await in_slack(cage, tool, how) for tool in TOOLS for how in SHORT[tool]]
    long = [await on_discord(cage, tool, "long") for tool in TOOLS]
    shelf = cage.sayso.database.parent / "artifacts"
    kept = {file.name: file.read_text("utf-8") for file in shelf.iterdir()}
    assert kept.keys() == {f"{run}.0" for run in long}
    # In each of them is what was left out of the report, and there every canary was.
    assert all(text.count(MASK) >= len(NAMED) for text in kept.values())
    assert cage.sent() == {}
    assert sings(caplog.text.encode(), CANARIES) == []
    said = capfd.readouterr()
    assert sings(f"{said.out}{said.err}".encode(), CANARIES) == []
    assert in_files(cage.sayso.folder, CANARIES, but=HOLDS_IT) == {}
    await cage.exported(
        ("output", long[0], "0"),
        ("receipt", short[-1], "--output", "receipt.json"),
        ("audit", "export"),
    )
