"""A run is undone by a new plan, which whoever wants that proposes and people decide like any other."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio

from tests import team as in_slack
from tests.both import Both, both
from tests.sayso import Sayso, fresh
from tests.standins import discord as on_discord
from tests.standins.slack import Json
from tests.standins.slack.plain import text_of

PUT = """
summary: Put a word on the ledger.
risk: low
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
phrases: ["put {word}"]
undo: {runbook: drop}
steps:
  - run: [python3, append.py, ledger.txt, "put-{word}"]
"""
DROP = """
summary: Take a word off the ledger, which for a ledger means to write that.
risk: low
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
steps:
  - run: [python3, append.py, ledger.txt, "drop-{word}"]
"""
FORBIDDEN = (
    "  rules:\n"
    '    - {effect: deny, action: "run:propose", resource: "runbook:drop", groups: [leads]}\n'
)
UNKNOWN = "There is no such run that you may undo. Copy its id from its report."


@pytest.fixture
def sayso(tmp_path: Path) -> Generator[Sayso]:
    with fresh(tmp_path / "acme") as made:
        made.runbook("put", PUT)
        made.runbook("drop", DROP)
        made.edit("sayso.yml", "  rules:\n", FORBIDDEN)
        yield made


def ran(sayso: Sayso, text: str) -> str:
    request = sayso.ask(text, "alice")["request"]["id"]
    run = sayso.run("approve", request, as_="bob").run
    assert run["state"] == "succeeded"
    return str(run["id"])


def test_it_is_proposed_in_the_name_of_who_wants_it_and_nothing_happens_by_itself(
    sayso: Sayso,
) -> None:
    run = ran(sayso, "put alpha")
    done = sayso.run("undo", run, as_="bob")
    assert (done.code, done.json["reason"]) == (0, "proposed")
    request = done.request
    assert f"Undo of run {run}" in request["card"]
    assert 'drop {"word": "alpha"}' in request["card"]
    assert "Asked by: bob" in request["card"]
    assert sayso.ledger() == ["put-alpha"]
    # Once more it is the same card.
    again = sayso.run("undo", run, as_="bob")
    assert again.request["id"] == request["id"]
    assert sayso.run("approve", request["id"], as_="bob").run["state"] == "succeeded"
    assert sayso.ledger() == ["put-alpha", "drop-alpha"]


def test_who_may_not_know_of_it_or_not_do_what_undoes_it_hears_no(sayso: Sayso) -> None:
    run = ran(sayso, "put alpha")
    *unknown, done = sayso.each(
        ("mallory", "undo", run),
        ("bob", "undo", "r_0123456789abcdef"),
        ("bob", "undo", "nonsense"),
        # carol may approve it and so knows of it.
        ("carol", "undo", run),
    )
    assert [(one.code, one.refusal) for one in unknown] == [(1, UNKNOWN)] * 3
    assert (done.code, done.json["reason"], done.json["request"]) == (0, "answered", None)
    assert "There is no such tool here" in done.json["text"]


def test_what_no_runbook_undoes_is_told_so(sayso: Sayso) -> None:
    plain = ran(sayso, "append beta")
    done = sayso.run("undo", plain, as_="bob")
    assert "append-word says nothing about how to undo it" in done.json["text"]


def test_a_bad_undo_is_told_by_check_with_its_line(sayso: Sayso) -> None:
    sayso.edit("runbooks/put.yml", "runbook: drop", "runbook: dropp")
    done = sayso.run("check")
    assert done.code == 2
    assert "runbooks/put.yml:8: undo.runbook: there is no sound runbook" in str(done.json)


@pytest_asyncio.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Both]:
    async with both(tmp_path / "acme") as made:
        made.sayso.runbook("put", PUT)
        made.sayso.runbook("drop", DROP)
        made.sayso.edit("sayso.yml", "  rules:\n", FORBIDDEN)
        await made.serve()
        yield made


def with_undo(acme: Both, thread: str) -> list[Json]:
    slack = acme.team.slack
    return [m for m in slack.messages(in_slack.OPS, thread) if "Undo" in slack.buttons(m)]


async def test_a_button_below_the_report_proposes_it_in_slack_and_a_word_on_discord(
    acme: Both,
) -> None:
    team, server = acme.team, acme.server
    thread, card = await team.proposed(in_slack.ALICE, "put alpha")
    await team.clicks(in_slack.BOB, card, "Approve")
    await team.slack.until(lambda: with_undo(acme, thread))
    [report] = with_undo(acme, thread)
    assert team.slack.buttons(report) == ["Undo"]
    [(run,)] = acme.sayso.sql("SELECT id FROM run")
    await team.clicks(in_slack.BOB, report, "Undo")
    undo = await team.card(thread)
    assert f"Undo of run {run}" in text_of(undo)
    await team.clicks(in_slack.BOB, report, "Undo")
    await team.reads(thread, "That waits already.")
    assert len(team.cards(thread)) == 1
    # On the other platform somebody else wants the same: where they are, under their name.
    channel = on_discord.OPS
    before = set(server.discord.threads(channel))
    await server.discord.people.slash(on_discord.ALICE, channel, "sayso", words=f"undo {run}")
    await server.discord.until(lambda: set(server.discord.threads(channel)) - before)
    [opened] = set(server.discord.threads(channel)) - before
    there = await server.card(opened)
    escaped = run.replace("_", r"\_")
    await server.shows(there, f"Undo of run {escaped}")
    await team.clicks(in_slack.CAROL, undo, "Approve")
    await team.slack.until(lambda: len(with_undo(acme, thread)) == 1 and acme.sayso.ledger()[1:])
    assert acme.sayso.ledger() == ["put-alpha", "drop-alpha"]
    requesters = acme.sayso.sql("SELECT requester FROM request ORDER BY opened_at")
    assert requesters == [("alice",), ("bob",), ("alice",)]


async def test_a_button_on_discord_proposes_it_too(acme: Both) -> None:
    server = acme.server
    thread, card = await server.proposed(on_discord.ALICE, "put beta")
    await server.presses(on_discord.BOB, card, "Approve")

    def reports() -> list[Json]:
        found = server.discord.messages(thread)
        return [m for m in found if "Undo" in server.discord.buttons(m)]

    await server.discord.until(reports)
    [report] = reports()
    await server.presses(on_discord.CAROL, report, "Undo")
    await server.reads(thread, "There is no such tool here")
    await server.presses(on_discord.ALICE, report, "Undo")
    undo = await server.card(thread)
    await server.shows(undo, r"Undo of run r\_")
    await server.presses(on_discord.BOB, undo, "Approve")
    await acme.team.until(lambda: acme.sayso.ledger() == ["put-beta", "drop-beta"])
