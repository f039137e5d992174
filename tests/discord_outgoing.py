"""What every request of Sayso to Discord has to be like, whatever it says: looked at in a whole journey."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.standins.discord import FakeDiscord
from tests.standins.discord.web import Call

POST, PATCH = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"
ANSWER = "POST /interactions/{interaction}/{token}/callback"
LATER = "PATCH /webhooks/{app}/{token}/messages/{message}"
_MESSAGE, _UPDATE, _ROW = 4, 7, 1
_NO_PREVIEWS, _EPHEMERAL, _V2 = 1 << 2, 1 << 6, 1 << 15


def unsafe(discord: FakeDiscord) -> list[str]:
    """Return what is wrong with the bodies of all requests that said something."""
    return [f"{call.route}: {why}" for call in discord.web.calls for why in _unsafe(call)]


def _unsafe(call: Call) -> Iterator[str]:
    body: Mapping[str, Any] = call.body
    if call.route == ANSWER:
        if body["type"] not in {_MESSAGE, _UPDATE}:
            return
        body = body["data"]
    if call.route not in {POST, PATCH, ANSWER, LATER}:
        return
    yield from _mentions(call.route, body.get("allowed_mentions"))
    yield from _shape(call, body)
    if call.route == POST and not (body.get("enforce_nonce") and 1 <= len(body["nonce"]) <= 25):
        yield "no nonce"


def _mentions(route: str, allowed: Mapping[str, Any] | None) -> Iterator[str]:
    if allowed is None or allowed.get("parse") != []:
        yield f"mentions {allowed}"
        return
    if allowed.get("roles") or allowed.get("replied_user"):
        yield f"mentions {allowed}"
    if route != POST and allowed.get("users"):
        yield f"mentions {allowed} where nobody hears of it"


def _shape(call: Call, body: Mapping[str, Any]) -> Iterator[str]:
    flags = int(body.get("flags") or 0)
    if body.get("embeds"):
        yield "embeds"
    if body.get("content") and not flags & _NO_PREVIEWS:
        yield "words whose links are previewed"
    if body.get("content") and flags & _V2:
        yield "words and components"
    kinds = {component["type"] for component in body.get("components") or ()}
    if kinds - {_ROW} and not flags & _V2:
        yield "components that only version 2 has, without its flag"
    if call.route in {PATCH, LATER} and flags & ~(_NO_PREVIEWS | _V2):
        yield "a flag that no edit can set"
    if call.route == ANSWER and not flags & _EPHEMERAL:
        yield "everybody sees it"
