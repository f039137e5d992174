"""Who answers at an address: everybody's, one's own network's, this machine's, or nobody whom one may ask."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import addresses
from core.addresses import Reach, reach


@pytest.mark.parametrize(
    ("reached", "texts"),
    [
        (Reach.PUBLIC, "1.1.1.1 93.184.215.14 9.255.255.255 11.0.0.0 223.255.255.255 2606:4700::1111 2a00::1"),
        (Reach.PRIVATE, "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 fc00::1 fdff::1"),
        (Reach.LOOPBACK, "127.0.0.1 127.255.255.255 ::1"),
        (Reach.SPECIAL, "0.0.0.0 169.254.169.254 192.0.0.8 224.0.0.1 240.0.0.1 255.255.255.255 100.100.100.200"),
        (Reach.SPECIAL, ":: ::7f00:1 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101:: 2001::1 2001:db8::1 fec0::1"),
        (Reach.SPECIAL, "fe80::1 ff02::1 fd00:ec2::254 fd20:ce::254 3fff::1 4000::1 5f00::1 1::1"),
    ],
)  # fmt: skip
def test_who_answers_at_an_address(reached: Reach, texts: str) -> None:
    assert {text: reach(ip_address(text)) for text in texts.split()} == dict.fromkeys(
        texts.split(), reached
    )


@given(st.ip_addresses())
def test_whatever_is_not_everybodys_is_not_public(address: addresses.Address) -> None:
    if reach(address) is Reach.PUBLIC:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


@given(st.ip_addresses())
def test_an_address_has_one_spelling(address: addresses.Address) -> None:
    text = str(address)
    assert addresses.read(text) == address
    for other in (
        f" {text}",
        f"{text} ",
        f"[{text}]",
        text.replace(".", "。"),
        f"{text}%1",
        f"{text}.",
    ):
        assert other == text or addresses.read(other) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.1",
        "0177.0.0.1",
        "127.0.0.01",
        "2130706433",
        "FE80::1",
        "0:0:0:0:0:0:0:1",
        "fe80::1%lo",
    ],
)
def test_what_is_spelled_in_another_way_is_no_address(text: str) -> None:
    assert addresses.read(text) is None
