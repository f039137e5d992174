"""C56: the journey over HTTP, with `sayso run` listening, and what is not Slack's turned away."""

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from adapters.slack.http import PATH
from tests.sayso import Running
from tests.standins.slack import post_signed
from tests.standins.slack.http import Broken
from tests.team import ALICE, BOB, MALLORY, OPS, Team, team


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Team]:
    port = free_port()
    way_in = f'signing_secret: "env:SLACK_SIGNING_SECRET", listen: "127.0.0.1:{port}"'
    async with team(tmp_path / "acme", way_in=way_in) as made:
        made.slack.url = f"http://127.0.0.1:{port}{PATH}"
        yield made


async def listening(acme: Team) -> Running:
    """Start a server that listens, and wait until it does."""
    tokens = {"SLACK_BOT_TOKEN": acme.slack.bot_token, "SLACK_SIGNING_SECRET": acme.slack.secret}
    running = acme.sayso.start("run", env=tokens)
    await asyncio.to_thread(running.ready)
    return running


async def test_x1_asked_shown_approved_run_and_reported_across_a_kill(acme: Team) -> None:
    server = await listening(acme)
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await acme.clicks(MALLORY, card, "Approve")
    await acme.told(MALLORY, "There is no such request")
    await asyncio.to_thread(server.signal, signal.SIGKILL)
    server = await listening(acme)
    clicked = await acme.clicks(BOB, card, "Approve")
    assert (await acme.slack.redeliver(clicked)).acked
    await acme.reads(thread, "succeeded (exit code 0)")
    assert acme.sayso.ledger() == ["web-staging"]
    mentioned, _ = await acme.slack.people.mention(ALICE, OPS, "say hello")
    await acme.reads(mentioned.ts, "said hello")
    assert acme.slack.sockets.opened == 0
    done = await asyncio.to_thread(server.signal, signal.SIGTERM)
    assert (done.code, done.json) == (0, {"served": True})


async def test_c56_what_is_not_slacks_is_turned_away_and_leaves_no_trace(acme: Team) -> None:
    server = await listening(acme)
    assert acme.slack.url
    told, _ = await acme.slack.people.mention(ALICE, OPS, "append canary")
    event = told.payload
    turns = acme.turns()
    statuses = dict[Broken, int]()
    broken: tuple[Broken, ...] = (
        "signature", "no headers", "no number", "not ascii", "other body", "no json", "not utf-8"
    )  # fmt: skip
    for how in broken:
        statuses[how], _ = await post_signed(acme.slack.url, event, acme.slack.secret, broken=how)
    old, _ = await post_signed(acme.slack.url, event, acme.slack.secret, age=301)
    other, _ = await post_signed(acme.slack.url, event, "another secret")
    assert {*statuses.values(), old, other} <= {400, 401}
    assert acme.turns() == turns
    done = await asyncio.to_thread(server.signal, signal.SIGTERM)
    assert "canary" not in done.out + done.err
