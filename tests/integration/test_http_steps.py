"""Real requests to services on this machine: what is sent, what the answers come to, and what never is."""

import asyncio
import json
import socket
import threading
from collections.abc import Collection
from dataclasses import replace

import pytest

from adapters.http_steps import reaching
from adapters.steps import KindRunner
from core.hosts import Host
from core.plans import Answer, Header, HttpStep
from core.ports import Ending, Tail
from core.redaction import MASK
from tests.fakes.secrets import FakeSecrets
from tests.requests import request, sender, sent, told
from tests.standins.service import replies, says, service, silence

SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"
OK = replies(200, b"fine\n")
EMPTY = b"HTTP/1.1 200 OK\r\n"


async def test_is_a_runner_of_requests() -> None:
    made: KindRunner[HttpStep] = sender()
    assert made


# What is sent


async def test_what_the_plan_holds_is_sent_byte_for_byte_and_nothing_else_of_anybody() -> None:
    async with service(replies(201, b"made\n")) as here:
        what = request(
            here.url("/a%2Fb/%7e%2f/c;d?q=%26x&y=1"),
            "POST",
            headers=(
                Header(name="X-Team", text="ops and web"),
                Header(name="Content-Type", text="a/b"),
            ),
            body='{"ü":1}',
            statuses=(201,),
        )
        ended = await sender(here.host).run(what, step_id="r_1.0")
    assert told(ended) == (Ending.ANSWERED, "status 201")
    assert ended.output == "made\n"
    [asked] = here.asked
    assert asked.line == "POST /a%2Fb/%7e%2f/c;d?q=%26x&y=1 HTTP/1.1"
    assert asked.body == '{"ü":1}'.encode()
    assert {name.lower(): value for name, value in asked.headers} == {
        "host": here.host,
        "user-agent": "Sayso",
        "accept": "*/*",
        "connection": "close",
        "accept-encoding": "identity",
        "idempotency-key": "r_1.0",
        "x-team": "ops and web",
        "content-type": "a/b",
        "content-length": "8",
    }


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD", "POST"])
async def test_every_method_is_sent_as_it_is(method: str) -> None:
    async with service(replies(200)) as here:
        assert told(await sent(here, request(here.url(), method))) == (
            Ending.ANSWERED,
            "status 200",
        )
    assert here.asked[0].line == f"{method} / HTTP/1.1"


async def test_c94_the_key_of_a_request_is_its_steps_and_the_same_each_time() -> None:
    async with service(OK) as here:
        for key in ("r_1.0", "r_1.0", "r_1.1", "t_1.a\r\nX: y"):
            await sender(here.host).run(request(here.url()), step_id=key)
    keys = [asked.header("Idempotency-Key") for asked in here.asked]
    assert keys == ["r_1.0", "r_1.0", "r_1.1", "t_1.a%0D%0AX%3A%20y"]


async def test_c85_all_of_a_long_answer_can_be_kept_and_nothing_of_a_secret() -> None:
    header = Header(name="Authorization", text="", secret="API_TOKEN")
    body = f"{'a' * 20000}{SECRET}{'b' * 20000}"
    async with service(replies(200, body.encode())) as here:
        what = request(here.url(), headers=(header,), secrets=("API_TOKEN",))
        ended = await sent(here, what, API_TOKEN=SECRET)
    assert "bytes left out" in ended.output
    assert ended.whole
    kept = b"".join([piece async for piece in ended.whole()])
    assert kept.decode() == body.replace(SECRET, MASK)


async def test_a_secret_is_put_behind_its_text_at_the_last_moment_and_seen_nowhere() -> None:
    echo = replies(200, f'{{"you": "{SECRET}"}}'.encode())
    header = Header(name="Authorization", text="Bearer ", secret="API_TOKEN")
    expected = (Answer(path="/you", equals="x"),)
    lines: list[Tail] = []
    async with service(echo) as here:
        what = request(here.url(), headers=(header,), secrets=("API_TOKEN",), answers=expected)
        ended = await sender(here.host, API_TOKEN=SECRET).run(
            what, step_id="r_1.0", hear=lines.append
        )
    assert here.asked[0].header("Authorization") == f"Bearer {SECRET}"
    assert ended.output == f'{{"you": "{MASK}"}}'
    assert told(ended) == (
        Ending.ANSWERED_OTHERWISE,
        f'status 200, but "/you" is "{MASK}", expected "x"',
    )
    assert SECRET not in repr(lines[-1]())


@pytest.mark.parametrize(
    "value", ["broken\r\nX-Evil: 1", "end with a space ", "ümlaut-secret", "nul\x01inside"]
)
async def test_a_secret_that_no_header_can_hold_is_not_sent(value: str) -> None:
    header = Header(name="X-Key", text="", secret="KEY")
    async with service(OK) as here:
        ended = await sent(
            here, request(here.url(), headers=(header,), secrets=("KEY",)), KEY=value
        )
    assert here.connections == 0
    assert ended.ending is Ending.NOT_STARTED
    assert ended.output == "The secret KEY holds characters that no header can. Correct it."


async def test_a_secret_without_a_value_is_an_obstacle_and_one_that_is_gone_by_then_is_not_sent() -> (
    None
):
    header = Header(name="X-Key", text="", secret="KEY")
    async with service(OK) as here:
        what = request(here.url(), headers=(header,), secrets=("KEY",))
        without = sender(here.host)
        assert without.obstacle(what) == "The secret KEY has no value that can be passed on."
        late = replace(without, secrets=FakeSecrets(late={"KEY"}))
        assert late.obstacle(what) is None
        ended = await late.run(what, step_id="r_1.0")
    assert here.connections == 0
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")


# What comes back


@pytest.mark.parametrize("status", [204, 301, 302, 307, 404, 429, 500, 503])
async def test_a_status_that_is_not_expected_is_an_answer_and_a_failure(status: int) -> None:
    body = b"" if status == 204 else b"sorry\n"
    async with service(replies(status, body)) as here:
        ended = await sent(here, request(here.url(), "POST", statuses=(200, 201)))
    assert told(ended) == (Ending.ANSWERED_OTHERWISE, f"status {status}, expected 200 or 201")
    assert ended.output == body.decode()
    assert not ended.succeeded


async def test_the_json_of_an_answer_has_to_hold_what_is_expected() -> None:
    found = {"status": "up", "items": [{"n": 1.0}], "big": 2**70, "null": None}
    async with service(replies(200, json.dumps(found).encode())) as here:

        async def says_of(path: str, value: object) -> str:
            answers = (Answer(path=path, equals=value),)  # type: ignore[arg-type]  # JSON
            return told(await sent(here, request(here.url(), answers=answers)))[1]

        assert await says_of("/status", "up") == "status 200"
        assert await says_of("/items/0/n", 1) == "status 200"
        assert await says_of("/null", None) == "status 200"
        assert (
            await says_of("/status", "down") == 'status 200, but "/status" is "up", expected "down"'
        )
        assert await says_of("/no", 1) == 'status 200, but there is no "/no" in its answer'
        assert await says_of("/big", 1) == 'status 200, but "/big" is 1.18059162072e+21, expected 1'


async def test_an_answer_without_json_holds_nothing() -> None:
    answers = (Answer(path="/a", equals=1),)
    for body in (b"", b"{", b"[" * 100_000, b'{"a": 1}' + b"\xff"):
        async with service(replies(200, body)) as here:
            ended = await sent(here, request(here.url(), answers=answers))
        assert told(ended) == (Ending.ANSWERED_OTHERWISE, "status 200, but its answer is not JSON")


async def test_what_comes_is_heard_line_by_line_while_it_comes() -> None:
    heard, more = asyncio.Event(), asyncio.Event()
    seen: list[tuple[str, ...]] = []

    async def slowly(writer: asyncio.StreamWriter) -> None:
        writer.write(EMPTY + b"Content-Length: 8\r\n\r\none\n")
        await heard.wait()
        writer.write(b"two\n")
        more.set()

    def hear(tail: Tail) -> None:
        seen.append(tail())
        heard.set()

    async with service(slowly) as here:
        ended = await sender(here.host).run(request(here.url()), step_id="r_1.0", hear=hear)
    assert seen == [("one",), ("one", "two")]
    assert ended.output == "one\ntwo\n"


async def test_a_long_answer_keeps_its_head_and_tail() -> None:
    body = b"".join(b"%08d\n" % n for n in range(20_000))
    async with service(replies(200, body)) as here:
        ended = await sent(here, request(here.url()))
    assert told(ended) == (Ending.ANSWERED, "status 200")
    assert ended.output.startswith("00000000\n")
    assert ended.output.endswith("00019999\n")
    assert "bytes left out" in ended.output
    assert len(ended.output) < 40_000


@pytest.mark.parametrize("size", [0, 32 * 1024])
async def test_of_an_answer_that_is_shown_to_its_end_there_is_nothing_more(size: int) -> None:
    async with service(replies(200, b"a" * size)) as here:
        ended = await sent(here, request(here.url()))
    assert (len(ended.output), ended.whole) == (size, None)


# What does not come to its end


async def test_nothing_was_sent_where_nobody_listens() -> None:
    async with service(OK) as here:
        pass
    ended = await sent(here, request(here.url(), "POST", body="x"))
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")
    assert ended.output == (
        f"No connection to {here.host} came about, so nothing was sent: connection refused."
    )


async def test_nothing_was_sent_where_a_name_leads_nowhere() -> None:
    async def nowhere(host: Host) -> Collection[str]:
        raise OSError(host)

    async def nothing(_: Host) -> Collection[str]:
        return []

    for lookup in (nowhere, nothing):
        lost = replace(sender(public=["api.example.com"]), lookup=lookup)
        ended = await lost.run(request("https://api.example.com/"), step_id="r_1.0")
        assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")
        assert ended.output == "The name api.example.com leads nowhere now, so nothing was sent."


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_connection_that_ends_before_an_answer_leaves_it_unknown(method: str) -> None:
    async with service(says()) as here:
        ended = await sent(here, request(here.url(), method))
    assert here.connections == 1, "sent twice"
    assert told(ended) == (Ending.BROKEN_OFF, "the connection ended before an answer came")


async def test_an_answer_that_is_cut_leaves_it_unknown() -> None:
    async with service(says(EMPTY + b"Content-Length: 9\r\n\r\nfour")) as here:
        ended = await sent(here, request(here.url()))
    assert told(ended) == (Ending.BROKEN_OFF, "status 200, then the end of the connection")
    assert ended.output == "four"


async def test_an_answer_that_is_cut_behind_a_bad_status_is_a_failure_all_the_same() -> None:
    async with service(says(b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nfour")) as here:
        ended = await sent(here, request(here.url(), "POST"))
    assert told(ended) == (Ending.ANSWERED_OTHERWISE, "status 500, expected 200")


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\0" * 100 + b"\r\n\r\n"]
)
async def test_what_is_no_answer_leaves_it_unknown(answer: bytes) -> None:
    async with service(says(answer)) as here:
        ended = await sent(here, request(here.url(), "POST"))
    assert ended.ending is Ending.BROKEN_OFF


async def test_a_step_has_its_time_and_no_more_and_leaves_no_connection() -> None:
    async with service(silence) as here:
        ended = await sent(here, request(here.url(), "POST", seconds=0.3))
        assert told(ended) == (Ending.TIMED_OUT, "its time was over")
        await asyncio.wait_for(here.left.wait(), 5)


async def test_cancelling_closes_the_connection_at_once() -> None:
    async with service(silence) as here:
        running = asyncio.ensure_future(sent(here, request(here.url(), "POST")))
        await asyncio.wait_for(here.came.wait(), 5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.wait_for(here.left.wait(), 5)


async def test_a_name_is_looked_up_as_any_program_here_would() -> None:
    found = await reaching.look_up(Host(name="localhost", port=80))
    assert {"127.0.0.1", "::1"} >= set(found) >= {"127.0.0.1"}
    with pytest.raises(OSError, match=r"."):
        await reaching.look_up(Host(name="no-such-name.invalid", port=80))


async def test_nobody_waits_for_a_look_up_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def hangs(*_: object, **__: object) -> list[object]:
        released.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    what = request("https://api.example.com/", seconds=0.2)
    ended = await sender(public=["api.example.com"]).run(what, step_id="r_1.0")
    threads = [one for one in threading.enumerate() if one.daemon and "_ask" in one.name]
    released.set()
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")
    assert ended.output.endswith("so nothing was sent: it did not answer in time.")
    assert threads


async def test_it_is_tried_at_each_address_of_a_name_until_one_answers() -> None:
    async def both(_: Host) -> Collection[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with service(OK) as here:
        host = f"api.localhost:{here.port}"
        ended = await replace(sender(host), lookup=both).run(
            request(f"http://{host}/", "POST"), step_id="r_1.0"
        )
    assert told(ended) == (Ending.ANSWERED, "status 200")
    assert here.connections == 1


async def test_what_a_runbook_says_of_itself_stands_in_the_place_of_what_is_usual() -> None:
    own = (Header(name="user-agent", text="ops/1"), Header(name="ACCEPT", text="application/json"))
    async with service(OK) as here:
        await sent(here, request(here.url(), headers=own))
    assert here.asked[0].header("User-Agent") == "ops/1"
    assert here.asked[0].header("Accept") == "application/json"
