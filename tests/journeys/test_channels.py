"""Runbooks that are there in some channels only, and a catalogue that changes while people decide."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from tests import team as in_slack
from tests.both import Both, both
from tests.sayso import Sayso
from tests.standins import discord as on_discord

NAMES = "params: {word: {type: string, pattern: '^[a-z]+$'}}\n"
STEP = "steps: [{run: [python3, append.py, ledger.txt, '{word}'], timeout: 20s}]\n"
HERE = f"summary: Append.\nrisk: low\n{NAMES}phrases: ['note {{word}}']\n{STEP}"


def limited(sayso: Sayso, name: str, *channels: str) -> None:
    sayso.runbook(name, f"{HERE.replace('note', name)}channels: {list(channels)!r}\n")


@pytest_asyncio.fixture(loop_scope="function")
async def acme(tmp_path: Path) -> AsyncGenerator[Both]:
    async with both(tmp_path / "acme") as made:
        limited(made.sayso, "ops", f"slack/*/{in_slack.OPS}")
        await made.serve()
        yield made


async def test_a_runbook_is_offered_proposed_and_run_where_it_is_and_nowhere_else(
    acme: Both,
) -> None:
    thread, card = await acme.team.proposed(in_slack.ALICE, "ops alpha")
    await acme.team.clicks(in_slack.BOB, card, "Approve")
    await acme.team.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["alpha"]
    elsewhere = await acme.server.asks(on_discord.ALICE, "ops beta")
    # Of what can be typed there it is no part either.
    await acme.server.reads(
        elsewhere, "You can type: `append {word}`, `deploy {version}`, `restart"
    )
    assert acme.server.cards(elsewhere) == []
    plan = acme.sayso.folder / "plan.yml"
    shown = acme.sayso.run("requests").json["requests"][0]["plan"]
    plan.write_text(acme.sayso.run("plan", "export", shown, plain=True).out)
    tokens = {**acme.team.tokens, **acme.server.tokens}
    again = ("ask", "--plan", str(plan))
    at_a_console = await asyncio.to_thread(acme.sayso.run, *again, as_="alice", env=tokens)
    assert at_a_console.json["request"] is None
    assert "There is no such tool here" in at_a_console.json["text"]


def test_what_is_not_there_reads_like_what_is_nowhere(empty: Sayso) -> None:
    limited(empty, "ops", "slack/*/*")
    said = [empty.run("ask", words, as_="alice").json for words in ("!ops alpha", "!nix alpha")]
    assert [one["reason"] for one in said] == ["answered", "answered"]
    assert said[0]["text"] == said[1]["text"].replace("nix", "ops")
    words = empty.run("ask", "ops alpha", as_="alice").json
    assert (words["reason"], words["request"]) == ("answered", None)


def test_a_limit_is_part_of_the_definition_so_that_another_one_revokes_what_waits(
    empty: Sayso,
) -> None:
    limited(empty, "ops", "console/local/console")
    turn = empty.ask("ops alpha", "alice")
    plan = empty.folder / "plan.yml"
    plan.write_text(empty.run("plan", "export", turn["request"]["plan"], plain=True).out)
    again = empty.run("ask", "--plan", str(plan), as_="alice").json
    assert again["request"]["plan_sha256"] == turn["request"]["plan_sha256"]
    limited(empty, "ops", "slack/*/*")
    refused = empty.run("approve", turn["request"]["id"], as_="bob")
    assert refused.refusal.startswith("Not run. Revoked: the runbook ops was edited.")
    assert empty.ledger() == []


@pytest.mark.parametrize("channels", ["ops", "slack/T0TEAM", "slack/T0*/C"])
def test_a_channel_that_is_none_is_told_with_file_and_line(empty: Sayso, channels: str) -> None:
    limited(empty, "ops", channels)
    done = empty.run("runbooks", "lint")
    assert done.code == 2
    assert "runbooks/ops.yml:7: channels.0: write a channel as platform/workspace/channel" in (
        done.out + done.err
    )


def test_a_channel_of_nobodys_is_told_by_a_check(empty: Sayso) -> None:
    limited(empty, "ops", "*/*/C0OPS", "slack/*/C0OPS", "slack/T0TEAM/*", "console/local/console")
    assert empty.run("check", plain=True).code == 0
    limited(empty, "ops", "slack/T0TEAM/C0OPS", "slack/T0OTHER/*")
    told = empty.run("check", plain=True)
    assert told.code == 2
    assert told.out + told.err == (
        "runbooks/ops.yml:7: channels.1: no tenant owns slack/T0OTHER. Correct it, or add it under "
        "`tenants` in sayso.yml.\n"
    )


def test_a_catalogue_that_is_read_again_revokes_what_was_edited_and_nothing_else(
    sayso: Sayso,
) -> None:
    sayso.edit("runbooks/deploy.yml", "Deploy a version", "Deploy one version")
    (sayso.folder / "runbooks" / "broken.yml").write_text("name: [")
    sayso.runbook("fresh", HERE.replace("note", "fresh"))
    assert sayso.ask("fresh alpha", "alice")["request"]["state"] == "open"
    done = sayso.run("approve", sayso.id("alpha"), as_="bob")
    assert done.run["state"] == "succeeded"
    revoked = sayso.run("approve", sayso.id("v1"), as_="bob")
    assert revoked.refusal.startswith("Not run. Revoked: the runbook deploy was edited.")
    assert (sayso.state(sayso.id("web")), sayso.ledger()) == ("open", ["alpha"])
