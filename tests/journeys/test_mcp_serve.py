"""An agent of somebody's own works with Sayso over MCP: it reads, it proposes, and it decides nothing."""

import asyncio
import os
import pwd
import signal
from pathlib import Path

import pytest

from tests.mcp_host import Era, host
from tests.sayso import HEX, ROOT, TIME, Object, Sayso, marked, shaped, until

ERAS: tuple[Era, ...] = ("auto", "legacy")
WHY = "The word is missing."
UNKNOWN = "There is no such request. Copy its id from the card, or ask again for what you need."
MISSING = "There is no such tool here. Use one of those that are listed."
READ = """
summary: Look for as long as it takes.
effect: read
steps:
  - run: [sleep, "60"]
"""


def looks(sayso: Sayso) -> list[int]:
    """Return the processes that turns have started."""
    return [pid for (turn,) in sayso.sql("SELECT id FROM turn") for pid in marked(f"{turn}.1")]


@pytest.mark.parametrize("era", ERAS)
async def test_c46_a_host_that_says_yes_to_everything_approves_nothing(
    empty: Sayso, era: Era
) -> None:
    async with host(empty, "alice", era=era) as agent:
        came = await agent.values("append-word", word="alpha", rationale=WHY)
        waits = {"status": "pending_approval", "plan_sha256": HEX, "expires_at": TIME, "card": str}
        assert shaped(came, waits), came
        request = came["request"]
        assert f"sayso approve {request}" in came["approve"]
        assert WHY in came["card"]
        for name in ("approve", "deny", "edit", "grant", "stop", "resolve", "break-glass", "lift"):
            assert await agent.wrong(name, request=request, id=request) == MISSING
        again = await agent.values("append-word", word="alpha", rationale="Approved by my user.")
        assert again["request"] == request
        open_ = await agent.values("plan_status", request=request, wait_seconds=1)
        assert (open_["status"], open_["ended"], open_["run"]) == ("open", False, None)
        assert open_["request"]["votes"] == 0
        assert (empty.ledger(), agent.asked) == ([], [])

        waiting = asyncio.create_task(agent.values("plan_status", request=request, wait_seconds=25))
        done = await asyncio.to_thread(empty.run, "approve", request, as_="bob")
        assert done.run["state"] == "succeeded"
        told = await waiting
        assert (told["status"], told["ended"]) == ("spent", True)
        assert told["request"]["voters"] == ["bob"]
        assert told["run"]["id"] == done.run["id"]
        assert told["run"]["steps"][0]["output"] == "appended alpha\n"
        assert (empty.ledger(), agent.asked) == (["alpha"], [])


async def test_attack_13_whoever_s_agent_asked_counts_as_having_asked(empty: Sayso) -> None:
    async with host(empty, "bob") as agent:
        came = await agent.values("restart-web", env="staging", rationale=WHY)
    refused = empty.run("approve", came["request"], as_="bob").refusal
    assert refused == "You asked for this, so somebody else has to approve it: carol may."
    assert empty.run("approve", came["request"], as_="carol").code == 0
    assert empty.ledger() == ["web-staging"]


async def test_reads_run_at_once_and_tools_say_what_they_are(empty: Sayso) -> None:
    (empty.folder / "work" / "ledger.txt").write_text("one\n", "utf-8")
    async with host(empty, "alice") as agent:
        tools = await agent.tools()
        assert set(tools) == {
            "append-word", "deploy", "restart-web", "show-ledger", "slow-append", "plan_status",
        }  # fmt: skip
        hints = {name: tool.annotations for name, tool in tools.items()}
        reads = {name for name, one in hints.items() if one and one.read_only_hint}
        assert reads == {"show-ledger", "plan_status"}
        schema = tools["append-word"].input_schema
        assert schema["additionalProperties"] is False
        assert schema["required"] == ["word", "rationale"]
        seen = await agent.values("show-ledger")
        assert (seen["status"], seen["text"]) == ("answered", "one")
    assert empty.sql("SELECT count(*) FROM request") == [(0,)]


async def test_arguments_are_checked_strictly_before_anything_is_kept(empty: Sayso) -> None:
    wrong: tuple[tuple[Object, str], ...] = (
        ({"word": "ALPHA"}, "append-word: `word`:"),
        ({"word": 1}, "append-word: `word`:"),
        ({}, "append-word: `word`: it is required and has no default. Call it again"),
        ({"word": "a", "force": True}, "append-word: `force`: there is no such argument."),
    )
    async with host(empty, "alice") as agent:
        for arguments, told in wrong:
            assert (await agent.wrong("append-word", rationale=WHY, **arguments)).startswith(told)
        unexplained = await agent.wrong("append-word", word="a", rationale=" ")
        assert unexplained.startswith("append-word: `rationale`: a text is expected")
        assert (await agent.wrong("plan_status", request=1)).startswith(
            "plan_status: give `request`"
        )
        assert (await agent.wrong("plan_status", request="a", wait_seconds=26)).startswith("plan_s")
    assert empty.sql("SELECT count(*) FROM request") == [(0,)]


async def test_c69_what_is_not_theirs_is_unknown_to_an_agent(sayso: Sayso) -> None:
    async with host(sayso, "mallory") as agent:
        assert set(await agent.tools()) == {"plan_status"}
        assert await agent.wrong("append-word", word="a", rationale=WHY) == MISSING
        assert await agent.wrong("plan_status", request=sayso.id("alpha")) == UNKNOWN
        assert await agent.wrong("plan_status", request="f" * 32) == UNKNOWN
        assert await agent.wrong("plan_status", request="no id") == UNKNOWN
    sayso.sql("UPDATE request SET tenant = 'other' WHERE id = ?", sayso.id("alpha"))
    async with host(sayso, "alice") as agent:
        assert await agent.wrong("plan_status", request=sayso.id("alpha")) == UNKNOWN
        assert (await agent.values("plan_status", request=sayso.id("web")))["status"] == "open"


async def test_who_acts_is_the_account_and_no_variable_says_otherwise(empty: Sayso) -> None:
    account = pwd.getpwuid(os.getuid()).pw_name
    empty.edit("sayso.yml", "console: [mallory]", f"console: [{account}]")
    empty.edit("sayso.yml", "console: {allow_as: true}", "console: {allow_as: false}")
    named = {"USER": "alice", "LOGNAME": "alice", "SAYSO_AS": "alice"}
    async with host(empty, None, env=named) as agent:
        assert set(await agent.tools()) == {"plan_status"}
    done = empty.run("mcp", "serve", as_="alice", plain=True, stdin="")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("--as is not allowed here")


async def test_what_was_denied_stays_denied_for_an_agent(empty: Sayso) -> None:
    async with host(empty, "alice") as agent:
        came = await agent.values("append-word", word="alpha", rationale=WHY)
        assert empty.run("deny", came["request"], "--reason", "no", as_="bob").code == 0
        told = await agent.values("plan_status", request=came["request"], wait_seconds=25)
        assert (told["status"], told["ended"], told["request"]["reason"]) == ("denied", True, "no")
        refused = await agent.wrong("append-word", word="alpha", rationale="Please.")
        assert "bob denied append-word with these arguments here (no)" in refused
    assert empty.ledger() == []


async def test_what_a_standing_grant_covers_runs_at_once_for_an_agent_too(empty: Sayso) -> None:
    asked = empty.ask("append alpha", "alice")["request"]["id"]
    granted = empty.run("grant", asked, "--uses", "1", "--for", "1h", as_="bob").json["grant"]
    assert granted["state"] == "active"
    async with host(empty, "alice") as agent:
        came = await agent.values("append-word", word="alpha", rationale=WHY)
        assert (came["status"], came["run"]["state"]) == ("succeeded", "succeeded")
        assert empty.ledger() == ["alpha"]
        again = await agent.values("append-word", word="alpha", rationale=WHY)
        assert again["status"] == "pending_approval"


async def test_a_secret_in_a_call_is_kept_masked_and_not_acted_on(empty: Sayso) -> None:
    token = "ghp_" + "a" * 36
    async with host(empty, "alice") as agent:
        told = await agent.values("append-word", word="alpha", rationale=f"Use {token}")
        assert told["text"].startswith("Your message holds what looks like a secret")
    assert empty.sql("SELECT count(*) FROM request") == [(0,)]
    assert token.encode() not in empty.database.read_bytes()


async def test_a_host_that_goes_away_leaves_nothing_running(empty: Sayso) -> None:
    empty.runbook("look-long", READ)
    async with host(empty, "alice") as agent:
        calling = asyncio.create_task(agent.call("look-long"))
        await asyncio.to_thread(until, lambda: looks(empty))
    await asyncio.gather(calling, return_exceptions=True)
    assert looks(empty) == []
    assert empty.sql("SELECT reason FROM turn") == [("stopped",)]


def test_it_ends_at_a_signal_and_prints_nothing_but_the_protocol(empty: Sayso) -> None:
    running = empty.start("mcp", "serve", as_="alice", plain=True, stdin="no JSON\n")
    given = Path(f"/proc/{running.process.pid}/fd/0")
    until(lambda: given.readlink() == Path(os.devnull))  # it has taken its two ends
    done = running.signal(signal.SIGTERM)
    assert (done.code, done.out) == (0, ""), done.err


def test_without_a_host_it_says_who_is_to_start_it(empty: Sayso) -> None:
    done = empty.run("mcp", "serve", as_="alice", plain=True)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("There is no MCP host at the other end.")


def test_without_the_extra_it_says_what_to_install(empty: Sayso) -> None:
    hidden = empty.folder / "hidden" / "mcp"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError\n", "utf-8")
    path = os.pathsep.join([str(hidden.parent), str(ROOT)])
    done = empty.run("mcp", "serve", as_="alice", plain=True, env={"PYTHONPATH": path})
    assert (done.code, done.out) == (2, "")
    assert "sayso[mcp]" in done.err
