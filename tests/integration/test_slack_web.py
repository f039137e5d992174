"""Slack's Web API through the real SDK: what comes out is Sayso's own, whatever comes in."""

import traceback
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from adapters.slack.setup import SlackSetup
from adapters.slack.web import Web
from core.errors import Invalid, Refused, SaysoError, Unavailable
from tests.slack import setup_of, slack_of_two
from tests.standins.slack import FakeSlack


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with slack_of_two() as slack:
        yield slack


async def failure_of(api: Web, method: str = "users.list") -> SaysoError:
    with pytest.raises(SaysoError) as caught:
        await api.read(method, {"limit": 1})
    return caught.value


@pytest.mark.parametrize("fault", ["fails", "drops"])
async def test_a_failure_holds_nothing_of_the_sdk_and_no_token(
    slack: FakeSlack, fault: str
) -> None:
    api = Web(setup=setup_of(slack))
    getattr(slack.faults, fault)("users.list", times=2)  # a cut read is tried once more by aiohttp

    error = await failure_of(api)

    assert isinstance(error, Unavailable)
    assert (error.__cause__, error.__context__) == (None, None)
    shown = "".join(traceback.format_exception(error)) + repr(error.__dict__)
    assert slack.bot_token not in shown


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/plain", "hello"),
        ("application/json", "[1]"),
        ("application/json", "7"),
        ("application/json", "{"),
        ("application/json", "null"),
        ("text/html", "<html>"),
        ("application/json", '{"ok": true, "ok": false}'),
        ("application/json", '{"ok": false, "error": ["a"]}'),
        ("application/gzip", "x"),
    ],
)
async def test_an_answer_of_any_shape_is_an_outage(kind: str, text: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=text, content_type=kind)

    app = web.Application()
    app.router.add_route("*", "/api/{method}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    try:
        api = Web(setup=SlackSetup(bot_token="xoxb-x", base_url=f"http://127.0.0.1:{port}/api/"))
        assert isinstance(await failure_of(api), Unavailable)
    finally:
        await runner.cleanup()


async def test_nobody_there_is_an_outage() -> None:
    api = Web(setup=SlackSetup(bot_token="xoxb-x", base_url="http://127.0.0.1:9/api/"))

    assert isinstance(await failure_of(api), Unavailable)


async def test_a_call_that_hangs_ends_by_itself(slack: FakeSlack) -> None:
    api = Web(setup=setup_of(slack), deadline=0.05)
    gate = slack.faults.holds("users.list")

    assert isinstance(await failure_of(api), Unavailable)
    gate.set()


async def test_a_call_is_made_once_even_where_the_connection_is_cut(slack: FakeSlack) -> None:
    api = Web(setup=setup_of(slack))
    slack.faults.drops("auth.test", times=2)

    with pytest.raises(Unavailable):
        await api.write("auth.test", {})

    assert len(slack.calls("auth.test")) == 1


async def test_connections_are_shared_while_it_is_open(slack: FakeSlack) -> None:
    api = Web(setup=setup_of(slack))
    async with api.opened():
        session = api.client.session
        async with api.opened():
            assert api.client.session is session
        assert api.client.session is session
        await api.call("users.info", user="U0ALICE")

    assert session is not None
    assert session.closed
    assert api.client.session is None


async def test_nothing_is_sent_to_another_address(slack: FakeSlack) -> None:
    api = Web(setup=setup_of(slack))

    with pytest.raises(Refused):
        await api.send("https://evil.example/x", json={})
    with pytest.raises(Refused):
        await api.send(f"{slack.web.at}/response/unknown", json={"text": "x"})


async def test_an_address_that_leads_elsewhere_is_not_followed(slack: FakeSlack) -> None:
    hits: list[str] = []

    async def leads(request: web.Request) -> web.Response:
        hits.append(request.path)
        raise web.HTTPTemporaryRedirect("/other")

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", leads)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    at = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        api = Web(setup=setup_of(slack, base_url=f"{at}/api/"))
        with pytest.raises(Refused):
            await api.send(f"{at}/response/x", json={})
    finally:
        await runner.cleanup()
    assert hits == ["/response/x"]


@pytest.mark.parametrize("host", ["127.0.0.1:8", "localhost:8", "[::1]:8"])
def test_no_proxy_stands_between_sayso_and_this_machine(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    setup = SlackSetup(bot_token="xoxb-1", base_url=f"http://{host}/api/")

    assert Web(setup=setup).client.proxy is None


def test_a_proxy_is_heeded_but_not_for_what_is_named_in_no_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    away = Web(setup=SlackSetup(bot_token="xoxb-x"))
    here = Web(setup=SlackSetup(bot_token="xoxb-x", base_url="http://127.0.0.1:9/api/"))

    assert away.client.proxy == "http://proxy.example:3128"
    assert here.client.proxy is None


def test_no_secret_is_printed() -> None:
    setup = SlackSetup(bot_token="xoxb-1", app_token="xapp-1", signing_secret="s3cret")

    assert not any(word in repr((setup, Web(setup=setup))) for word in ("xoxb", "xapp", "s3cret"))


async def test_without_an_app_token_there_is_no_socket(slack: FakeSlack) -> None:
    with pytest.raises(Invalid, match=r"slack\.app_token"):
        await Web(setup=setup_of(slack, app_token=None)).socket_address()
