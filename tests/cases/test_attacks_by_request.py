"""Attacks by a request that leads elsewhere: whoever listens in private never hears of one."""

import asyncio
import gzip
import os
import ssl
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectorError

from adapters.http_steps import exchange
from adapters.http_steps.exchange import Exchange
from adapters.sandbox.output import Output
from core import addresses, runbooks
from core.errors import Incorrect, Invalid
from core.hosts import Host
from core.plans import Header
from core.ports import Ending
from tests.requests import request, sender, sent, step_id, told
from tests.standins.service import Service, Writer, replies, says, service, silence

TLS = Path(__file__).parents[1] / "fixtures" / "tls"
SPELLED = (
    "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001", "0", "0.0.0.0",
    "127.0.0.1.", "127.00.0.1", "①②⑦.0.0.1", "１２７.０.０.１", "127。0。0。1", "127.0.0.1%00", "[::1]", "[::]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::7f00:1]", "[::127.0.0.1]",
    "[fe80::1%lo]", "[fd00:ec2::254]", "169.254.169.254", "user@127.0.0.1", "api.example.com@127.0.0.1",
    "127.0.0.1\\@api.example.com", "127.0.0.1#@api.example.com", "127.0.0.1?@api.example.com", "[127.0.0.1]", "",
)  # fmt: skip
"""Each is this machine, or what a cloud keeps for it, to somebody who reads addresses."""
ELSEWHERE = (
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.31.255.1", "192.168.1.1", "100.64.0.1",
    "169.254.169.254", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "100.100.100.200", "192.88.99.1", "::1", "::", "::7f00:1", "::ffff:7f00:1",
    "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2001::1", "2001:db8::1", "100::1",
    "fe80::1", "fe80::1%lo", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "3fff::1", "5f00::1", "127.1", "",
)  # fmt: skip
"""What a name may lead to, and must not."""
NEVER = [
    one for one in ELSEWHERE if not one.startswith(("10.", "172.31", "192.168", "100.64", "fc00"))
]
"""Those to which no name leads, not even one that an operator calls private."""


@dataclass(slots=True)
class Names:
    """A stand-in for whoever answers for names: another answer each time."""

    answers: Sequence[Collection[str]]
    asked: list[Host] = field(default_factory=list[Host])

    async def __call__(self, host: Host) -> Collection[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.fixture
async def private() -> AsyncGenerator[Service]:
    """Somebody in private, who is never asked."""
    async with service(replies(200, b"private")) as here:
        yield here
        assert here.connections == 0


@pytest.mark.parametrize("host", SPELLED)
async def test_attack_31_no_spelling_of_an_address_gets_past_the_list(
    private: Service, host: str
) -> None:
    url = f"http://{host}:{private.port}/"
    every = sender(public=[f"api.example.com:{private.port}", f"169.254.169.254:{private.port}"])
    assert every.obstacle(request(url))
    ended = await every.run(request(url), step_id=step_id())
    assert ended.ending is Ending.NOT_STARTED


@pytest.mark.parametrize(
    "host", [one for one in SPELLED if one[:1] != "[" and one not in {"169.254.169.254", "0.0.0.0"}]
)
def test_no_runbook_is_read_that_spells_an_address_in_another_way(host: str) -> None:
    text = f"name: x\nsummary: X.\nsteps: [{{http: {{get: 'http://{host}/'}}}}]\n"
    with pytest.raises(Invalid, match=r"x\.yml:3: steps\.0\.http\.get: "):
        runbooks.tool(text, "x.yml")


@pytest.mark.parametrize("address", ELSEWHERE)
async def test_attack_31_no_public_name_leads_to_a_private_or_special_address(
    private: Service, address: str
) -> None:
    for answers in ([address], ["93.184.215.14", address], [address, "93.184.215.14"]):
        names = Names([answers])
        runner = replace(sender(public=[f"api.example.com:{private.port}"]), lookup=names)
        what = request(f"http://api.example.com:{private.port}/")
        ended = await runner.run(what, step_id=step_id())
        assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")
        assert "leads to an address in a private or special range" in ended.output


@pytest.mark.parametrize("address", NEVER)
async def test_attack_31_no_private_name_leads_to_this_machine_or_to_what_a_cloud_keeps_for_it(
    private: Service, address: str
) -> None:
    runner = sender(f"wiki.corp:{private.port}")
    what = request(f"http://wiki.corp:{private.port}/")
    ended = await replace(runner, lookup=Names([[address]])).run(what, step_id=step_id())
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")


async def test_attack_31_a_name_is_looked_up_once_and_that_very_address_is_asked() -> None:
    async with service(replies(200, b"fine")) as here:
        names = Names([["127.0.0.1"], ["127.0.0.2"], ["169.254.169.254"]])
        runner = replace(sender(f"api.localhost:{here.port}"), lookup=names)
        what = request(f"http://api.localhost:{here.port}/")
        ended = await runner.run(what, step_id=step_id())
    assert told(ended) == (Ending.ANSWERED, "status 200")
    assert names.asked == [Host(name="api.localhost", port=here.port)]
    assert here.asked[0].header("Host") == f"api.localhost:{here.port}"


async def test_nothing_is_looked_up_before_anybody_is_asked() -> None:
    names = Names([["169.254.169.254"]])
    runner = replace(sender(public=["api.example.com"]), lookup=names)
    assert runner.obstacle(request("https://api.example.com/")) is None
    assert names.asked == []


async def test_a_connection_goes_to_what_was_looked_up_whatever_asks_for_it(
    private: Service,
) -> None:
    looked_up = addresses.read("127.0.0.2")
    assert looked_up
    one = Exchange(
        method="GET", url=private.url(), headers={}, body=None, tls=None,
        output=Output(spare=0, more=lambda: None),
    )  # fmt: skip
    with pytest.raises(ClientConnectorError) as refused:
        await one.perform([looked_up])
    assert isinstance(refused.value.os_error, PermissionError)
    assert not one.connected


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_attack_31_nobody_is_followed_elsewhere(private: Service, status: int) -> None:
    leads = replies(
        status, Location=private.url("/latest/meta-data"), Refresh=f"0; {private.url()}"
    )
    async with service(leads) as here:
        one = sender(here.host, private.host)
        ended = await one.run(request(here.url(), statuses=(200,)), step_id=step_id())
    assert told(ended) == (Ending.ANSWERED_OTHERWISE, f"status {status}, expected 200")


async def test_attack_31_no_proxy_of_the_environment_is_asked(
    private: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, private.url())
    monkeypatch.setenv("NETRC", os.devnull)
    async with service(replies(200)) as here:
        assert told(await sent(here, request(here.url()))) == (Ending.ANSWERED, "status 200")


async def test_no_cookie_is_kept_for_the_next_request() -> None:
    async with service(replies(200, Set_Cookie="session=1; Path=/")) as here:
        runner = sender(here.host)
        for _ in range(2):
            await runner.run(request(here.url()), step_id=step_id())
    assert [asked.header("Cookie") for asked in here.asked] == [None, None]


async def test_what_is_not_listed_is_an_obstacle_that_says_what_to_write(
    private: Service,
) -> None:
    one = sender(public=["api.example.com"])
    assert one.obstacle(request(private.url())) == (
        f"No request may be sent to {private.host}. An operator has to list it under `http.hosts` in "
        "sayso.yml, or under `http.private` where it is in a network of your own."
    )
    assert one.obstacle(request("https://api.example.com:8443/"))
    assert one.obstacle(request("https://evil.api.example.com/"))
    assert one.obstacle(request("https://api.example.com/")) is None
    ended = await one.run(request(private.url()), step_id=step_id())
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")


# What comes back


async def test_a_packed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 10_000_000)
    async with service(replies(200, bomb, Content_Encoding="gzip")) as here:
        ended = await sent(here, request(here.url()))
    assert here.asked[0].header("Accept-Encoding") == "identity"
    assert told(ended) == (Ending.ANSWERED, "status 200, packed and not read")
    assert ended.output == ""


async def test_an_answer_without_end_is_heard_to_a_limit_and_no_further() -> None:
    sent_so_far = 0

    async def endless(writer: Writer) -> None:
        nonlocal sent_so_far
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            sent_so_far += 65536
            await writer.drain()

    async with service(endless) as here:
        ended = await sent(here, request(here.url()))
        await asyncio.wait_for(here.left.wait(), 5)
    assert told(ended) == (Ending.TOO_MUCH_OUTPUT, "status 200, then more than 1024 KiB")
    assert len(ended.output) < 40_000
    assert sent_so_far < 20 * exchange.CAP


@pytest.mark.parametrize(
    "head",
    [
        b"X-Long: " + b"x" * 20_000 + b"\r\n",
        b"".join(b"X-%d: y\r\n" % n for n in range(5_000)),
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: -1\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    ],
)
async def test_headers_have_their_limits(head: bytes) -> None:
    async with service(says(b"HTTP/1.1 200 OK\r\n", head, b"\r\n", b"12345")) as here:
        ended = await sent(here, request(here.url(), "POST"))
    assert ended.ending is Ending.BROKEN_OFF
    assert ended.output == ""


async def test_headers_that_never_end_have_the_time_of_the_step() -> None:
    async def slowly(writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X: y\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    async with service(slowly) as here:
        ended = await sent(here, request(here.url(), seconds=0.4))
    assert told(ended) == (Ending.TIMED_OUT, "its time was over")


async def test_an_answer_that_falls_silent_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "IDLE", 0.2)

    async def stops(writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour")
        await silence(writer)

    async with service(stops) as here:
        ended = await sent(here, request(here.url()))
        await asyncio.wait_for(here.left.wait(), 5)
    assert told(ended) == (Ending.BROKEN_OFF, "status 200, then nothing more for 0 s")


# What a parameter may become

STEPS = """
name: x
summary: X.
params:
  value: {type: string, may_start_with: "-@", max_length: 9000}
steps:
  - http:
      post: "http://127.0.0.1:9/a/{value}/b?q={value}&z=1"
      json: {text: "{value}"}
"""
HEADER = """
name: x
summary: X.
params:
  value: {type: string, enum: ["a\\r\\nX-Evil: 1", "ü", "\\0", " ", ""]}
steps:
  - http: {get: "http://127.0.0.1:9/", headers: {X-Value: "{value}"}}
"""


@pytest.mark.parametrize(
    "value",
    ["a/b", "a?b", "a#b", "a&b=c", "a\\b", "a b", "x%2e", "a;b", "@evil", "//evil", "ü", "a:b"],
)
def test_a_value_stays_inside_its_part_of_the_address(value: str) -> None:
    [made] = runbooks.tool(STEPS, "x.yml").expand({"value": value}).steps
    assert made.kind == "http"
    front, _, rest = made.url.removeprefix("http://127.0.0.1:9/a/").partition("/b?q=")
    assert rest == f"{front}&z=1"
    assert not set(front) & set("/?#&=\\;@: ")


@pytest.mark.parametrize(
    "value",
    [".", "..", "../x", "x/..", "..\\x", "%2e%2e", "%252e%252e/x", "..;/x", "x/./y", "a" * 8001],
)
def test_no_value_leads_to_another_folder(value: str) -> None:
    tool = runbooks.tool(STEPS, "x.yml")
    with pytest.raises(Incorrect) as refused:
        tool.expand({"value": value})
    assert value == "." or value not in refused.value.shown


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "ü", "\0", " ", ""])
def test_no_value_adds_a_header(value: str) -> None:
    with pytest.raises(Incorrect, match="The header X-Value would hold something else"):
        runbooks.tool(HEADER, "x.yml").expand({"value": value})


# Who it is that answers


def believing() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(TLS / "api.localhost.crt"))


@pytest.fixture
async def trusted() -> AsyncGenerator[Service]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "api.localhost.crt", TLS / "api.localhost.key")
    async with service(replies(200, b"fine"), tls=context) as here:
        yield here


async def test_attack_31_over_tls_the_name_counts_and_not_the_address(trusted: Service) -> None:
    names = Names([["127.0.0.1"]])
    both = [f"api.localhost:{trusted.port}", f"other.localhost:{trusted.port}"]
    runner = replace(sender(*both), lookup=names, tls=believing())
    ended = await runner.run(request(f"https://{both[0]}/"), step_id=step_id())
    assert told(ended) == (Ending.ANSWERED, "status 200")
    ended = await runner.run(request(f"https://{both[1]}/", "POST"), step_id=step_id())
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")
    assert ended.output.endswith("so nothing was sent: it could not prove who it is.")
    assert len(trusted.asked) == 1


async def test_nobody_is_believed_whom_this_machine_does_not_believe(
    trusted: Service,
) -> None:
    runner = replace(sender(f"api.localhost:{trusted.port}"), lookup=Names([["127.0.0.1"]]))
    ended = await runner.run(request(f"https://api.localhost:{trusted.port}/"), step_id=step_id())
    assert ended.ending is Ending.NOT_STARTED
    assert trusted.asked == []


async def test_whoever_speaks_no_tls_is_told_nothing() -> None:
    async def plain(_: asyncio.StreamReader, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ended = await sender(host).run(request(f"https://{host}/", "POST"), step_id=step_id())
    assert told(ended) == (Ending.NOT_STARTED, "nothing was sent")
    assert ended.output == (
        f"No connection to {host} came about, so nothing was sent: it speaks no TLS that can be trusted."
    )


async def test_a_secret_goes_in_the_clear_to_a_network_of_ones_own_alone() -> None:
    header = Header(name="X-Key", text="", secret="KEY")
    both = sender("10.0.0.1", public=["api.example.com"], KEY="Zq7-Rk2_Wm9xT4bN8vL1")
    given: dict[str, Any] = {"headers": (header,), "secrets": ("KEY",)}
    assert both.obstacle(request("http://10.0.0.1/", **given)) is None
    assert both.obstacle(request("https://api.example.com/", **given)) is None
    assert both.obstacle(request("http://api.example.com/", **given)) == (
        "It would send a secret to api.example.com:80 for anybody on the way to read. Use https."
    )
