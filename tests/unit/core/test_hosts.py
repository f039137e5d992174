"""Where requests may go: hosts in one spelling, and the lists of an operator."""

from ipaddress import ip_address

import pytest

from core import hosts
from core.hosts import Allowed, Host, each


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("api.example.com", Host(name="api.example.com", port=443)),
        ("API.Example.COM:8443", Host(name="api.example.com", port=8443)),
        ("xn--bcher-kva.example", Host(name="xn--bcher-kva.example", port=443)),
        ("web_1", Host(name="web_1", port=443)),
        ("192.168.0.1:65535", Host(name="192.168.0.1", port=65535)),
        ("[fd00::1]", Host(name="fd00::1", port=443)),
        ("[fd00::1]:80", Host(name="fd00::1", port=80)),
        ("1.2.3.4.example.com", Host(name="1.2.3.4.example.com", port=443)),
    ],
)
def test_a_host_is_read_in_one_spelling(text: str, host: Host) -> None:
    assert hosts.read(text, 443) == host
    assert hosts.read(str(host), 1) == host


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("bücher.example", "in ASCII, as xn--"),
        ("１２７.0.0.1", "in ASCII, as xn--"),
        ("127.1", "as four plain numbers"),
        ("0x7f.1", "as four plain numbers"),
        ("0X7F000001", "as four plain numbers"),
        ("2130706433", "as four plain numbers"),
        ("0177.0.0.1", "as four plain numbers"),
        ("example.0x", "as four plain numbers"),
        ("[fd00:0::1]", "in its shortest form"),
        ("[127.0.0.1]", "in its shortest form"),
        ("[fe80::1%1]", "in its shortest form"),
        ("fd00::1", "a port is a number"),
        ("example.com.", "not the name of a host"),
        ("-a.example.com", "not the name of a host"),
        ("a..b", "not the name of a host"),
        ("a b", "not the name of a host"),
        ("user@host", "not the name of a host"),
        ("*.example.com", "not the name of a host"),
        (f"{'a' * 64}.com", "not the name of a host"),
        (".".join(["a" * 60] * 5), "not the name of a host"),
        ("", "not the name of a host"),
        ("a:", "a port is a number"),
        ("a:0", "a port is a number"),
        ("a:080", "a port is a number"),
        ("a:65536", "a port is a number"),
        ("a:1e3", "a port is a number"),
        ("a:１", "a port is a number"),
    ],
)
def test_any_other_spelling_is_refused_with_what_to_write(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        hosts.read(text, 443)


def test_a_host_without_a_port_is_listed_with_those_of_http_and_https() -> None:
    assert {str(host) for host in each(["a.example", "b.example:1"])} == {
        "a.example:80", "a.example:443", "b.example:1",
    }  # fmt: skip


def test_nothing_is_sent_anywhere_without_a_list() -> None:
    said = Allowed().obstacle(hosts.read("api.example.com", 443))
    assert said is not None
    assert said.startswith(
        "No request may be sent to api.example.com:443. An operator has to list it"
    )


@pytest.mark.parametrize(
    ("host", "address", "public", "private"),
    [
        ("api.example", "1.1.1.1", True, True),
        ("api.example", "10.0.0.1", False, True),
        ("api.example", "127.0.0.1", False, False),
        ("api.example", "169.254.169.254", False, False),
        ("localhost", "127.0.0.1", False, True),
        ("a.localhost", "::1", False, True),
        ("notlocalhost", "127.0.0.1", False, False),
        ("127.0.0.1", "127.0.0.1", False, True),
        ("127.0.0.1", "127.0.0.2", False, False),
        ("169.254.169.254", "169.254.169.254", False, True),
    ],
)
def test_which_address_of_a_listed_host_may_be_reached(
    host: str,
    address: str,
    public: object,
    private: object,
) -> None:
    here = hosts.read(host, 443)
    for allowed, expected in (
        (Allowed(public=each([host])), public),
        (Allowed(private=each([host])), private),
    ):
        assert allowed.may_reach(here, ip_address(address)) is expected
        if here.address == ip_address(address):
            assert (allowed.obstacle(here) is None) is expected


def test_an_address_that_is_listed_as_public_and_is_not_is_an_obstacle() -> None:
    said = Allowed(public=each(["10.0.0.1"])).obstacle(hosts.read("10.0.0.1", 80))
    assert said == (
        "10.0.0.1:80 is in a private or special range, where requests go only to what is listed under "
        "`http.private` in sayso.yml."
    )
