"""Whether a request over HTTP is Slack's, whatever else it is."""

import hashlib
import hmac
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.signed import NotAccepted, Posted, read

SECRET = "signing-secret"
NOW = 1_700_000_000.0
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def signed(body: bytes, kind: str = JSON, at: str = "1700000000", secret: str = SECRET) -> Posted:
    base = b"v0:" + at.encode() + b":" + body
    signature = "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return Posted(body=body, signatures=[signature], times=[at], types=[kind])


def status(posted: Posted, now: float = NOW) -> int:
    try:
        read(posted, SECRET, now)
    except NotAccepted as error:
        return error.status
    return 200


def test_what_slack_signed_is_read() -> None:
    command = urlencode({"command": "/ask", "text": "a & b ü"}).encode()

    assert read(signed(b'{"type": "x"}'), SECRET, NOW) == {"type": "x"}
    assert read(signed(b"{}", "Application/JSON; charset=utf-8"), SECRET, NOW) == {}
    assert read(signed(command, FORM), SECRET, NOW) == {"command": "/ask", "text": "a & b ü"}
    interaction = urlencode({"payload": '{"type": "block_actions"}'}).encode()
    assert read(signed(interaction, FORM), SECRET, NOW) == {"type": "block_actions"}


@pytest.mark.parametrize(("late", "wanted"), [(300, 200), (300.5, 401), (-300, 200), (-301, 401)])
def test_an_old_signature_is_no_proof(late: float, wanted: int) -> None:
    assert status(signed(b"{}"), NOW + late) == wanted


def test_a_header_twice_is_no_proof() -> None:
    good = signed(b"{}")

    assert status(replace(good, signatures=[*good.signatures, *good.signatures])) == 401
    assert status(replace(good, times=[*good.times, *good.times])) == 401
    assert status(replace(good, types=[JSON, JSON])) == 415
    assert status(replace(good, types=[])) == 415


@pytest.mark.parametrize("at", ["", "x", "-1", "1e9", "٣" * 10, "1700000000 ", "9" * 13, "1.7"])
def test_a_time_that_is_none_is_no_proof(at: str) -> None:
    assert status(signed(b"{}", at=at)) == 401


@pytest.mark.parametrize("signature", ["", "v0=", "v0=é", "v1=" + "0" * 64, "\udcff" * 9])
def test_a_signature_that_is_none_is_no_proof(signature: str) -> None:
    assert status(replace(signed(b"{}"), signatures=[signature])) == 401


def test_the_secret_and_every_byte_count() -> None:
    assert status(signed(b"{}", secret="another")) == 401
    assert status(replace(signed(b"{}"), body=b"{} ")) == 401
    assert status(replace(signed(b"{}"), times=["1700000001"])) == 401


def test_the_proof_comes_before_everything_else() -> None:
    assert status(replace(signed(b"no json", "text/plain"), signatures=["v0=0"])) == 401


@given(st.binary(max_size=300), st.sampled_from([JSON, FORM, "text/plain", "\udcff;", ""]))
def test_whatever_was_signed_is_read_or_turned_away(body: bytes, kind: str) -> None:
    assert status(signed(body, kind)) in {200, 400, 415}
