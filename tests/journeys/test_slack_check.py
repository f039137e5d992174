"""`sayso check` and `sayso run` where Slack does not let Sayso in: one line, naming what is wrong."""

import asyncio
from collections.abc import AsyncGenerator, Mapping

import pytest
import pytest_asyncio

from tests.sayso import Done
from tests.team import Team, team

pytestmark = pytest.mark.asyncio(loop_scope="module")
BOT = (
    "Slack does not accept slack.bot_token (invalid_auth). Copy the token anew from “OAuth & "
    "Permissions”."
)
APP = (
    "Slack does not accept slack.app_token (invalid_auth). Copy the token anew from “Basic "
    "Information”, “App-Level Tokens”."
)
NO_TENANT = (
    "slack.bot_token belongs to the workspace T0TEAM, which no tenant owns. Name it under the "
    "tenant's workspaces, or use the token of another."
)
NO_SOCKETS = (
    "The Slack app token lacks the scope connections:write. Make one that has it under “Basic "
    "Information”, “App-Level Tokens”, and set it as slack.app_token."
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with team(tmp_path_factory.mktemp("check") / "acme") as made:
        made.slack.work.scopes |= {"mpim:history", "mpim:read"}
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def acme(shared: Team) -> AsyncGenerator[Team]:
    """Give a team in whose Slack everything is as it should be, and leave it so."""
    scopes, app_scopes = set(shared.slack.work.scopes), set(shared.slack.web.app_scopes)
    yield shared
    shared.slack.work.scopes, shared.slack.web.app_scopes = scopes, app_scopes
    shared.slack.faults.waiting.clear()
    shared.slack.faults.down = False


async def does(acme: Team, *command: str, env: Mapping[str, str] | None = None) -> Done:
    """Run a command to its end while Slack answers."""
    return await asyncio.to_thread(acme.sayso.run, *command, env={**acme.tokens, **(env or {})})


async def problems(acme: Team, env: Mapping[str, str] | None = None) -> list[str]:
    """Return what a check tells, each a line."""
    done = await does(acme, "check", env=env)
    assert done.code == (2 if done.json["problems"] else 0), done
    assert all("\n" not in one for one in done.json["problems"])
    for secret in (acme.slack.bot_token, acme.slack.app_token):
        assert secret not in done.out + done.err
    return list(done.json["problems"])


async def test_a_sound_configuration_is_let_in_and_takes_nothing(acme: Team) -> None:
    assert await problems(acme) == []
    assert acme.slack.calls("chat.postMessage") == []
    assert len(acme.slack.sockets.open) == 0


@pytest.mark.parametrize(
    ("name", "told"), [("SLACK_BOT_TOKEN", BOT), ("SLACK_APP_TOKEN", APP)], ids=["bot", "app"]
)
async def test_a_wrong_token_is_named_and_a_server_ends_with_that_line(
    acme: Team, name: str, told: str
) -> None:
    wrong = {name: "xoxb-not-the-one"}
    assert await problems(acme, wrong) == [told]
    served = await does(acme, "run", env=wrong)
    assert (served.code, served.error) == (2, ("invalid", told))
    assert "xoxb-not-the-one" not in served.out + served.err
    assert "Traceback" not in served.err


async def test_a_token_that_is_not_there_is_named(acme: Team) -> None:
    done = await asyncio.to_thread(acme.sayso.run, "check")
    assert done.json["problems"] == [
        "slack.bot_token: env:SLACK_BOT_TOKEN cannot be read. Set it, or correct where it comes "
        "from."
    ]


async def test_each_scope_that_is_missing_is_a_line(acme: Team) -> None:
    acme.slack.work.scopes -= {"files:write", "usergroups:read"}
    [files, groups] = await problems(acme)
    assert files.startswith("The Slack app lacks the scope files:write, which Sayso needs to post")
    assert groups.startswith("The Slack app lacks the scope usergroups:read, which Sayso needs")


async def test_a_token_without_the_right_to_open_sockets_is_named(acme: Team) -> None:
    acme.slack.web.app_scopes = set()
    assert await problems(acme) == [NO_SOCKETS]
    served = await does(acme, "run")
    assert (served.code, served.error) == (2, ("invalid", NO_SOCKETS))


async def test_a_socket_that_does_not_open_is_named(acme: Team) -> None:
    acme.slack.sockets.at = "ws://127.0.0.1:9"
    try:
        [told] = await problems(acme)
    finally:
        acme.slack.sockets.at = acme.slack.web.at.replace("http", "ws", 1)
    assert "Socket Mode" in told


async def test_a_slack_that_is_not_there_is_told(acme: Team) -> None:
    acme.slack.faults.down = True
    assert await problems(acme) == ["Slack did not answer. Try again later."]


async def test_a_workspace_that_belongs_to_no_tenant_is_named(acme: Team) -> None:
    acme.sayso.edit("sayso.yml", "slack: [T0TEAM]", "slack: [T0OTHER]")
    try:
        assert NO_TENANT in await problems(acme)
        served = await does(acme, "run")
        assert (served.code, served.error) == (2, ("invalid", NO_TENANT))
    finally:
        acme.sayso.edit("sayso.yml", "slack: [T0OTHER]", "slack: [T0TEAM]")


async def test_what_else_is_wrong_is_told_with_it(acme: Team) -> None:
    found = await problems(acme, {"SLACK_BOT_TOKEN": "xoxb-not-the-one", "SAYSO_NOBODY": "1"})
    assert found == [
        "SAYSO_NOBODY: no setting has this name. Correct or unset this variable.",
        BOT,
    ]
