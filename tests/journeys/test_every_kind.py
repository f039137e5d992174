"""T1: one runbook with a step of each kind, asked for by its phrase, approved once and run in order."""

import asyncio
import sysconfig
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.wiring import runners
from core.events import Approve
from tests.hostile import person, team
from tests.mcp_tools import Notes, notes
from tests.pythons import interpreter
from tests.sayso import Sayso
from tests.standins.service import Service, replies, service

KINDS = """
summary: Do one thing in each way that there is.
risk: low
params:
  word: {{type: string, pattern: "^[a-z]+$"}}
phrases: ["do all with {{word}}"]
steps:
  - run: [python3, append.py, ledger.txt, "{{word}}"]
  - http: {{put: "http://{host}/words/{{word}}", json: {{word: "{{word}}"}}, expect: 200}}
  - python: team.deeds:say
    with: {{word: "{{word}}", loud: true}}
  - tool: {{server: notes, name: add, with: {{text: "{{word}}"}}}}
"""


@pytest.fixture
async def here() -> AsyncGenerator[Service]:
    async with service(replies(200, b"stored\n")) as one:
        yield one


@pytest.fixture
def server(empty: Sayso, here: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notes:
    python = tmp_path / "python"
    ours = interpreter(python)
    monkeypatch.setattr(runners, "our_own", lambda: ours)
    (ours.path[-1] / "sayso.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    sayso = replace(empty, python=str(python / "bin" / "python"))
    sayso.runbook("all-kinds", KINDS.format(host=here.host))
    sayso.configure(f'http: {{private: ["{here.host}"]}}')
    return notes(sayso)


async def test_t1_a_step_of_each_kind_is_shown_approved_once_and_run_in_its_order(
    server: Notes, here: Service
) -> None:
    sayso = server.sayso
    turn = await asyncio.to_thread(sayso.ask, "do all with alpha", "alice")
    card = turn["request"]["card"]
    for number, shown in enumerate(
        (
            'run ["python3", "append.py", "ledger.txt", "alpha"]',
            f'PUT "http://{here.host}/words/alpha"',
            'call "team.deeds:say"',
            'start the MCP server "notes"',
        )
    ):
        assert f"{number}. {shown}" in card
    assert (here.connections, server.served()) == (0, [])
    click = Approve(identity=person("bob"), request=turn["request"]["id"])
    async with team(sayso) as acme:
        await acme.app.deciding.approve(click, asyncio.Event())
    assert sayso.sql("SELECT state FROM run") == [("succeeded",)]
    assert sayso.sql("SELECT output FROM step ORDER BY number") == [
        ("appended alpha\n",),
        ("stored\n",),
        ('ALPHA\n{"said": ["alpha"], "times": 1}\n',),
        ('did {"text": "alpha"}',),
    ]
    assert sayso.ledger() == ["alpha"]
    assert [asked.line for asked in here.asked] == ["PUT /words/alpha HTTP/1.1"]
    assert server.served() == [{"name": "add", "arguments": {"text": "alpha"}}]
