"""Being connected to Slack: two sockets, their ends and new beginnings, and what is set up wrongly."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from adapters.slack.platform import SlackPlatform
from core.deliveries import Text
from core.errors import Invalid, SaysoError, Unavailable
from tests.fakes.desk import FakeDesk
from tests.slack import ALICE, OPS, QUICK, Scene, connected, setup_of, slack_of_two
from tests.standins.slack import FakeSlack
from tests.standins.slack.faults import Fault

SCOPELESS = "The Slack app token lacks the scope connections:write"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with slack_of_two() as slack:
        yield slack


@pytest.fixture
async def scene(slack: FakeSlack) -> AsyncIterator[Scene]:
    async with connected(slack) as scene:
        yield scene


def platform_of(slack: FakeSlack, **other: object) -> SlackPlatform:
    return SlackPlatform(setup=setup_of(slack, **other), pace=replace(QUICK, opens=0.3))


async def why_not(platform: SlackPlatform) -> SaysoError:
    """Return why it does not connect."""
    with pytest.raises(SaysoError) as caught:
        async with platform.connected(FakeDesk()):
            pass
    return caught.value


async def test_both_sockets_take_in(scene: Scene) -> None:
    assert len(scene.slack.sockets.open) == 2

    for socket in (0, 1):
        scene.slack.sockets.turn = socket
        assert (await scene.slack.people.say(ALICE, ALICE, f"restart {socket}")).acked

    assert len(scene.desk.events) == 2


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_nothing_is_missed_while_slack_has_sockets_opened_anew(
    scene: Scene, reason: str
) -> None:
    for socket in (0, 1):
        await scene.slack.sockets.disconnect(reason, socket=socket)
    said = [await scene.slack.people.say(ALICE, ALICE, f"restart {n}") for n in range(6)]
    await scene.slack.sockets.until_opened(4)
    said += [await scene.slack.people.say(ALICE, ALICE, f"stop {n}") for n in range(6)]
    await scene.slack.sockets.until_open(2)

    assert all(each.acked for each in said)
    assert len(scene.desk.events) == 12


async def test_a_socket_that_is_cut_comes_back(scene: Scene) -> None:
    await scene.slack.sockets.drop(0)
    await scene.slack.sockets.until_open(2)

    assert (await scene.slack.people.say(ALICE, ALICE, "restart web")).acked


async def test_a_socket_that_was_replaced_still_brings_what_was_on_its_way(
    slack: FakeSlack,
) -> None:
    async with connected(slack, pace=replace(QUICK, retire=30.0)) as scene:
        old = slack.sockets.open[0]
        await slack.sockets.disconnect(socket=0)
        await slack.sockets.until_opened(3)
        said = [await slack.people.say(ALICE, ALICE, f"restart {n}") for n in range(6)]

        assert all(each.acked for each in said)
        assert slack.sockets.open[0] is old
        assert (await slack.redeliver(said[0], socket=0)).acked
        assert len(scene.desk.events) == 6
    await slack.sockets.until_open(0)


async def test_a_socket_that_nobody_reads_any_more_is_replaced(slack: FakeSlack) -> None:
    async with connected(slack, pace=replace(QUICK, ping=30.0)) as scene:
        _readers()[0].cancel()

        await slack.sockets.until_opened(3)
        await slack.sockets.until_open(2)
        for socket in (0, 1):
            slack.sockets.turn = socket
            assert (await slack.people.say(ALICE, ALICE, f"restart {socket}")).acked
        assert len(scene.desk.events) == 2


async def test_where_none_can_be_opened_it_is_tried_again(scene: Scene) -> None:
    scene.slack.faults.fails("apps.connections.open", times=3)
    _readers()[0].cancel()

    await scene.slack.sockets.until_opened(3)
    await scene.slack.sockets.until_open(2)

    assert len(scene.slack.calls("apps.connections.open")) == 6


async def test_the_token_is_asked_about_once_however_much_comes(scene: Scene) -> None:
    for n in range(5):
        await scene.slack.people.say(ALICE, ALICE, f"restart {n}")

    assert len(scene.slack.calls("auth.test")) == 1


async def test_leaving_closes_every_socket_and_leaves_no_task(slack: FakeSlack) -> None:
    before = asyncio.all_tasks()
    async with connected(slack):
        pass

    await slack.sockets.until_open(0)
    left = {task for task in asyncio.all_tasks() - before if "adapters" in repr(task)}
    assert left == set()


async def test_the_chat_works_without_being_connected(slack: FakeSlack) -> None:
    scene = Scene(slack=slack, platform=platform_of(slack))
    place = await scene.root()

    ts = await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    assert (
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1", again=True) == ts
    )


async def test_a_wrong_bot_token_is_named(slack: FakeSlack) -> None:
    error = await why_not(platform_of(slack, bot_token="xoxb-wrong"))

    assert isinstance(error, Invalid)
    assert "slack.bot_token" in error.shown
    assert "xoxb-wrong" not in error.shown


async def test_a_wrong_app_token_is_named(slack: FakeSlack) -> None:
    error = await why_not(platform_of(slack, app_token="xapp-wrong"))

    assert isinstance(error, Invalid)
    assert "slack.app_token" in error.shown


async def test_no_app_token_is_named(slack: FakeSlack) -> None:
    error = await why_not(platform_of(slack, app_token=None))

    assert isinstance(error, Invalid)
    assert "slack.app_token" in error.shown


async def test_an_app_token_without_its_scope_is_named(slack: FakeSlack) -> None:
    slack.web.app_scopes.clear()

    error = await why_not(platform_of(slack))

    assert isinstance(error, Invalid)
    assert SCOPELESS in error.shown


async def test_a_workspace_that_no_tenant_owns_is_named(slack: FakeSlack) -> None:
    error = await why_not(platform_of(slack, teams=frozenset({"T0OTHER"})))

    assert isinstance(error, Invalid)
    assert "T0TEAM" in error.shown


async def test_a_token_that_is_no_bots_is_named(slack: FakeSlack) -> None:
    body = {"ok": True, "team_id": "T0TEAM", "user_id": ALICE}
    slack.faults.add("auth.test", Fault(body=body))

    error = await why_not(platform_of(slack))

    assert isinstance(error, Invalid)
    assert "no bot's token" in error.shown


@pytest.mark.parametrize(
    "answer", [{"ok": True}, {"ok": True, "bot": {}}, {"ok": False, "error": "unknown_method"}]
)
async def test_where_slack_does_not_say_which_app_it_is_what_its_socket_brings_is_taken(
    slack: FakeSlack, answer: dict[str, object]
) -> None:
    slack.faults.add("bots.info", Fault(body=answer))

    async with connected(slack) as scene:
        assert (await slack.people.say(ALICE, ALICE, "restart web")).acked

    assert len(scene.desk.events) == 1


async def test_the_app_token_says_which_app_it_is(slack: FakeSlack) -> None:
    slack.web.app_token = slack.app_token = "xapp-1-A0APP-123-abc"

    async with connected(slack) as scene:
        assert (await slack.people.say(ALICE, ALICE, "restart web")).acked

    assert len(scene.desk.events) == 1
    assert slack.calls("bots.info") == []


async def test_a_socket_that_does_not_open_is_unavailable(slack: FakeSlack) -> None:
    slack.sockets.at = "ws://127.0.0.1:9"

    error = await why_not(platform_of(slack))

    assert isinstance(error, Unavailable)
    assert slack.sockets.open == []


async def test_slack_away_is_unavailable(slack: FakeSlack) -> None:
    slack.faults.fails("auth.test")

    assert isinstance(await why_not(platform_of(slack)), Unavailable)


async def test_a_check_finds_nothing_wrong_and_leaves_nothing_open(slack: FakeSlack) -> None:
    assert await platform_of(slack).check() == ()

    assert slack.sockets.opened == 1
    await slack.sockets.until_open(0)


async def test_a_check_says_each_thing_that_is_wrong(slack: FakeSlack) -> None:
    slack.work.scopes -= {"files:write", "usergroups:read"}
    slack.web.app_scopes.clear()

    said = await platform_of(slack).check()

    assert len(said) == 3
    assert ["files:write" in said[0], "usergroups:read" in said[1], SCOPELESS in said[2]] == [
        True, True, True,
    ]  # fmt: skip


async def test_a_check_with_a_wrong_token_is_one_sentence(slack: FakeSlack) -> None:
    [said] = await platform_of(slack, bot_token="xoxb-wrong").check()

    assert "slack.bot_token" in said


async def test_a_check_with_a_socket_that_does_not_open_is_one_sentence(slack: FakeSlack) -> None:
    slack.sockets.at = "ws://127.0.0.1:9"

    [said] = await platform_of(slack).check()

    assert "no socket opened" in said


async def test_a_check_of_http_mode_wants_a_secret(slack: FakeSlack) -> None:
    [said] = await platform_of(slack, listen=("127.0.0.1", 0)).check()

    assert "slack.signing_secret" in said
    assert (
        await platform_of(slack, listen=("127.0.0.1", 0), signing_secret=slack.secret).check() == ()
    )


def _readers() -> "list[asyncio.Task[None]]":
    """Return what reads from each socket in the SDK."""
    return [
        task for task in asyncio.all_tasks() if "SocketModeClient.receive_messages" in repr(task)
    ]


async def test_nothing_that_comes_in_is_logged(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    await scene.slack.people.say(ALICE, ALICE, "my-s3cret-request")
    await scene.slack.people.slash(ALICE, OPS, "/stop", "my-s3cret-request")

    assert "my-s3cret-request" not in caplog.text
    assert "xapp-fake" not in caplog.text
    assert "ticket=" not in caplog.text
