"""Delivery to an app's own URL: signed, and with all that can be wrong about a signature."""

import hashlib
import hmac
import json
import time
from typing import Literal, TypeAlias
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp

from tests.standins.slack.delivery import Delivery
from tests.standins.slack.wire import Json, copied

Broken: TypeAlias = Literal[
    "signature", "no headers", "no number", "not ascii", "other body", "no json", "not utf-8"
]
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


def signature(secret: str, at: str, body: bytes) -> str:
    """Return how Slack signs a body."""
    signed = b"v0:" + at.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def encoded(kind: str, payload: Json) -> tuple[bytes, str]:
    """Return a payload as the body of a request, and the type of it."""
    if kind == "events_api":
        return json.dumps(payload).encode(), JSON
    if kind == "interactive":
        return urlencode({"payload": json.dumps(payload)}).encode(), FORM
    return urlencode(payload).encode(), FORM


async def post_signed(
    url: str,
    body: bytes | Json,
    secret: str,
    *,
    age: float = 0,
    broken: Broken | None = None,
    kind: str = "events_api",
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """Post to an app what Slack would, so many seconds old; return its status and its answer."""
    sent, content_type = (body, JSON) if isinstance(body, bytes) else encoded(kind, body)
    if broken in ("no json", "not utf-8"):
        sent = b'{"type": ' if broken == "no json" else b'{"type": "\xff\xfe"}'
    at = str(int(time.time() - age))
    signed = {
        "X-Slack-Request-Timestamp": at, "X-Slack-Signature": signature(secret, at, sent),
    }  # fmt: skip
    if broken == "other body":
        sent += b" "
    sending = _spoiled(signed, broken) | {"Content-Type": content_type} | (headers or {})
    async with (
        aiohttp.ClientSession(trust_env=False) as session,
        session.post(url, data=sent, headers=sending, timeout=aiohttp.ClientTimeout(5)) as got,
    ):
        return got.status, await got.read()


async def deliver(
    url: str, secret: str, kind: str, payload: Json, *, attempt: int = 0, reason: str = ""
) -> Delivery:
    """Deliver something to an app's URL; a status of 200 is its acknowledgement."""
    again = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
    status, got = await post_signed(
        url, payload, secret, kind=kind, headers=again if attempt else None
    )
    delivery = Delivery(
        envelope=str(uuid4()), kind=kind, payload=copied(payload), status=status, attempt=attempt
    )
    if status != 200:
        return delivery
    return delivery.acknowledged(json.loads(got) if got.startswith(b"{") else None, status)


def _spoiled(signed: dict[str, str], broken: Broken | None) -> dict[str, str]:
    at, by = signed
    match broken:
        case "signature":
            return signed | {by: "v0=" + "0" * 64}
        case "no headers":
            return {}
        case "no number":
            return signed | {at: "yesterday"}
        case "not ascii":
            return signed | {by: "v0=é"}
        case _:
            return signed
