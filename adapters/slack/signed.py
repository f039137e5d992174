"""Whether a request over HTTP is Slack's, and what it says: raw bytes first. Pure."""

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from adapters.slack.payload import Payload

WINDOW = 300
"""Seconds for which a signature is good."""
_FIELDS = 50


class NotAccepted(Exception):
    """A request that nobody answers but with a status: nothing of it is repeated anywhere."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A request as it came: every header of a name, since two readers may take different ones."""

    body: bytes
    signatures: Sequence[str]
    times: Sequence[str]
    types: Sequence[str]


def read(posted: Posted, secret: str, now: float) -> Payload:
    """Return what Slack says; raise `NotAccepted` for whatever is not Slack's or cannot be read."""
    _verify(posted, secret, now)
    if len(posted.types) != 1:
        raise NotAccepted(415)
    match posted.types[0].partition(";")[0].strip().lower():
        case "application/json":
            return _json(posted.body)
        case "application/x-www-form-urlencoded":
            return _form(posted.body)
        case _:
            raise NotAccepted(415)


def _verify(posted: Posted, secret: str, now: float) -> None:
    if len(posted.signatures) != 1 or len(posted.times) != 1:
        raise NotAccepted(401)
    at = posted.times[0]
    if not re.fullmatch(r"[0-9]{1,12}", at) or abs(now - int(at)) > WINDOW:
        raise NotAccepted(401)
    signed = b"v0:" + at.encode() + b":" + posted.body
    wanted = "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    given = posted.signatures[0].encode(errors="surrogateescape")
    if not hmac.compare_digest(wanted.encode(), given):
        raise NotAccepted(401)


def _json(body: bytes) -> Payload:
    try:
        found = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise NotAccepted(400) from None
    if not isinstance(found, dict):
        raise NotAccepted(400)
    return found


def _form(body: bytes) -> Payload:
    """Read a command, or an interaction, which is JSON in one field."""
    try:
        pairs = parse_qsl(
            body.decode(),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_FIELDS,
        )
    except ValueError:
        raise NotAccepted(400) from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise NotAccepted(400)
    return _json(fields["payload"].encode()) if "payload" in fields else fields
