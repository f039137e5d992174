"""HTTP mode: what is not Slack's is turned away, with a status and nothing else (C56)."""

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO

import aiohttp
import pytest

from adapters.slack.http import MOST, PATH
from adapters.slack.platform import SlackPlatform
from core.errors import Invalid, Unavailable
from core.platforms import Told
from tests.fakes.desk import FakeDesk
from tests.slack import ALICE, OPS, Scene, asking, connected, setup_of, slack_of_two
from tests.standins.slack import FakeSlack, Json, post_signed
from tests.standins.slack.http import Broken

LISTEN = ("127.0.0.1", 0)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
EVENT: Json = {"type": "event_callback", "event": {"type": "x"}, "note": "s3cret abc"}


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with slack_of_two() as slack:
        yield slack


@pytest.fixture
async def scene(slack: FakeSlack) -> AsyncIterator[Scene]:
    async with connected(
        slack, listen=LISTEN, signing_secret=slack.secret, app_token=None
    ) as scene:
        assert scene.platform.address is not None
        host, port = scene.platform.address
        slack.url = f"http://{host}:{port}{PATH}"
        yield scene


async def status(scene: Scene, body: Json | bytes, **how: object) -> int:
    assert scene.slack.url
    found, _ = await post_signed(scene.slack.url, body, scene.slack.secret, **how)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    return found


async def test_an_event_is_taken(scene: Scene) -> None:
    said = await scene.slack.people.say(ALICE, ALICE, "restart web")

    assert said.status == 200
    assert len(scene.desk.events) == 1
    assert scene.slack.sockets.opened == 0


async def test_a_command_is_answered(scene: Scene) -> None:
    scene.desk.says = [Told(text="Nothing runs here.")]

    stopped = await scene.slack.people.slash(ALICE, OPS, "/stop")

    assert stopped.answer is not None
    assert "Nothing runs here." in stopped.answer["text"]


async def test_a_click_is_taken(scene: Scene) -> None:
    place = await scene.root()
    ts = await scene.platform.chat.post(place, asking(), key="post:c:1")

    assert (await scene.slack.hands.click(ALICE, OPS, ts, "Approve")).acked
    assert len(scene.desk.events) == 1


async def test_what_could_not_be_stored_is_not_acknowledged_and_comes_again(scene: Scene) -> None:
    scene.desk.says = [Unavailable("The database is away.")]

    missed = await scene.slack.people.say(ALICE, ALICE, "restart web")
    again = await scene.slack.redeliver(missed)

    assert (missed.acked, again.acked) == (False, True)
    assert missed.status == 503


@pytest.mark.parametrize(
    ("broken", "wanted"),
    [
        ("signature", 401),
        ("no headers", 401),
        ("no number", 401),
        ("not ascii", 401),
        ("other body", 401),
        ("no json", 400),
        ("not utf-8", 400),
    ],
)
async def test_what_is_broken_is_turned_away(
    scene: Scene, broken: Broken, wanted: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)

    assert await status(scene, EVENT, broken=broken) == wanted

    assert scene.desk.events == []
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(("age", "wanted"), [(299, 200), (302, 401), (-302, 401), (-290, 200)])
async def test_a_signature_is_good_for_five_minutes(scene: Scene, age: int, wanted: int) -> None:
    assert await status(scene, EVENT, age=age) == wanted


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "application/xml", ""])
async def test_other_types_are_turned_away(scene: Scene, kind: str) -> None:
    assert await status(scene, EVENT, headers={"Content-Type": kind}) == 415


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b'"x"',
        b"",
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"n": ' + b"9" * 5_000 + b"}",
    ],
)
async def test_json_that_is_no_object_is_malformed(scene: Scene, body: bytes) -> None:
    assert await status(scene, body) == 400


@pytest.mark.parametrize(
    "body",
    [b"payload=%7B", b"payload=[]", b"a=1&a=2", b"a=%ff", b"nonsense", b"&".join([b"a=1"] * 99)],
)
async def test_a_form_that_cannot_be_read_is_malformed(scene: Scene, body: bytes) -> None:
    assert await status(scene, body, headers=FORM) == 400


async def test_a_body_that_is_too_large_is_turned_away(scene: Scene) -> None:
    assert scene.slack.url
    async with (
        aiohttp.ClientSession() as session,
        session.post(scene.slack.url, data=BytesIO(b" " * (MOST + 1))) as answer,
    ):
        assert answer.status == 413


@pytest.mark.parametrize(
    "head",
    [
        "Content-Encoding: gzip\r\nContent-Length: 6",
        "Content-Encoding: deflate\r\nContent-Length: 6",
        "Transfer-Encoding: chunked",
        "Content-Length: 1000",
    ],
)
async def test_a_body_that_does_not_come_whole_is_malformed_and_nobody_writes_that_down(
    scene: Scene, head: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert scene.platform.address is not None
    reader, writer = await asyncio.open_connection(*scene.platform.address)
    writer.write(f"POST {PATH} HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\ns3cret".encode())
    writer.write_eof()
    async with asyncio.timeout(5):
        answer = await reader.readline()
    writer.close()

    assert not answer or b" 400 " in answer
    assert await status(scene, EVENT) == 200
    assert caplog.text == ""


async def test_json_of_any_shape_is_no_fault_of_ours_and_goes_nowhere(scene: Scene) -> None:
    for body in (
        "{}",
        '{"type": "event_callback", "event": 7}',
        '{"type": 7}',
        '{"team": 7, "user": [], "type": "block_actions", "actions": {}}',
        '{"authorizations": [7], "event": {"channel": {}}, "type": "event_callback"}',
        '{"enterprise": 7, "view": 7, "type": "view_submission", "function_data": 7}',
    ):
        assert await status(scene, body.encode()) in (200, 400)
    assert scene.desk.events == []


async def test_the_address_is_proved_only_to_slack(scene: Scene) -> None:
    assert scene.slack.url
    asked: Json = {"type": "url_verification", "challenge": "<b>c0ffee</b>"}

    found = await post_signed(scene.slack.url, asked, scene.slack.secret)
    forged = await post_signed(scene.slack.url, asked, "another secret")

    assert found == (200, b"<b>c0ffee</b>")
    assert forged == (401, b"")


async def test_the_check_of_a_certificate_is_answered_after_the_proof(scene: Scene) -> None:
    assert await status(scene, b"ssl_check=1&token=x", headers=FORM) == 200
    assert await status(scene, b"ssl_check=1", headers=FORM, broken="signature") == 401


async def test_what_is_no_http_at_all_is_not_logged_either(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    assert scene.platform.address is not None
    for sent in (b"s3cret garbage\r\n\r\n", b"POST /slack/events HTTP/1.1\r\ns3cret: \x00\r\n\r\n"):
        reader, writer = await asyncio.open_connection(*scene.platform.address)
        writer.write(sent)
        async with asyncio.timeout(5):
            assert b" 400 " in await reader.readline()
        writer.close()
        await writer.wait_closed()

    assert "s3cret" not in caplog.text


async def test_without_a_secret_it_does_not_listen(slack: FakeSlack) -> None:
    platform = SlackPlatform(setup=setup_of(slack, listen=LISTEN))

    with pytest.raises(Invalid, match=r"slack\.signing_secret"):
        async with platform.connected(FakeDesk()):
            pass


async def test_an_address_that_is_taken_is_named(scene: Scene) -> None:
    taken = scene.platform.address
    platform = SlackPlatform(
        setup=setup_of(scene.slack, listen=taken, signing_secret=scene.slack.secret)
    )

    with pytest.raises(Invalid, match=r"slack\.listen"):
        async with platform.connected(FakeDesk()):
            pass
