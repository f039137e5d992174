"""Answers to one interaction, each good for one use: what is sent here goes through its token.

Nothing else ever uses a token. It is good for three seconds, and for fifteen minutes once answered.
"""

import io
import json
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
from discord.http import HTTPClient, MultipartParameters
from discord.webhook.async_ import AsyncWebhookAdapter, async_context

from adapters.discord.drawn import V2, Drawn
from adapters.platforms.tasks import log
from core.canonical import JsonObject

_SAYS, _THINKS, _LEAVES, _ASKS = 4, 5, 6, 9
"""What an answer can be: a message, that one comes later, nothing, a form."""
_EPHEMERAL, _NO_PREVIEWS = 1 << 6, 1 << 2
_ANSWERED_BEFORE = 40060
_FILE = 13
_DOCUMENT = "plan.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Answers an interaction. Whether Discord took it is returned: what was done stays done."""

    interaction: "discord.Interaction[Any]"

    async def say(self, message: Drawn) -> bool:
        """Tell it to that person alone, at once."""
        return await self._respond(_SAYS, _body(message), message.document)

    async def think(self) -> bool:
        """Have it said that something is done, to be followed by `late`."""
        return await self._respond(_THINKS, {"flags": _EPHEMERAL})

    async def nothing(self) -> bool:
        """Leave everything as it is: whatever comes of it is seen elsewhere."""
        return await self._respond(_LEAVES)

    async def ask(self, form: JsonObject) -> bool:
        """Open a form."""
        return await self._respond(_ASKS, dict(form))

    async def late(self, message: Drawn) -> bool:
        """Say what came of it, once, where it was said that something is done."""
        given = _params(_body(message, is_edit=True), message.document)
        return await self._sent(
            self._adapter.edit_original_interaction_response(
                self.interaction.application_id,
                self.interaction.token,
                session=self._session,
                proxy=self._http.proxy,
                proxy_auth=self._http.proxy_auth,
                payload=given.payload,
                multipart=given.multipart,
                files=given.files,
            )
        )

    async def _respond(
        self, kind: int, data: JsonObject | None = None, document: str | None = None
    ) -> bool:
        payload: JsonObject = {"type": kind} if data is None else {"type": kind, "data": data}
        return await self._sent(
            self._adapter.create_interaction_response(
                self.interaction.id,
                self.interaction.token,
                session=self._session,
                proxy=self._http.proxy,
                proxy_auth=self._http.proxy_auth,
                params=_params(payload, document),
            )
        )

    async def _sent(self, answer: Awaitable[object]) -> bool:
        try:
            await answer
        except discord.HTTPException as error:
            # Only what Discord said to the first try was lost, or it was delivered twice.
            if error.code == _ANSWERED_BEFORE:
                return True
            log.warning("discord: an answer was refused with %d (%d)", error.status, error.code)
            return False
        except (aiohttp.ClientError, OSError, TimeoutError, RuntimeError) as error:
            log.warning("discord: an answer could not be sent: %s", type(error).__name__)
            return False
        return True

    @property
    def _adapter(self) -> AsyncWebhookAdapter:
        return async_context.get()

    @property
    def _http(self) -> HTTPClient:
        http: HTTPClient = self.interaction.client.http
        return http

    @property
    def _session(self) -> aiohttp.ClientSession:
        return self.interaction._session  # noqa: SLF001 - the client's own, which it shows nowhere else


def _body(message: Drawn, *, is_edit: bool = False) -> JsonObject:
    """Return a message as that one person is to see it. It reminds nobody of anything.

    Who sees it cannot be edited: that was said where it was said that something is done.
    """
    shape = V2 if message.components else _NO_PREVIEWS
    flags = shape if is_edit else shape | _EPHEMERAL
    body: dict[str, Any] = {"flags": flags, "allowed_mentions": {"parse": []}}
    if message.components:
        return {**body, "components": [*message.components, *_below(message)]}
    return {**body, "content": message.content, "components": list(message.below)}


def _below(message: Drawn) -> list[JsonObject]:
    """Return what shows the file of a message: among components it is shown nowhere by itself."""
    if message.document is None:
        return []
    return [{"type": _FILE, "file": {"url": f"attachment://{_DOCUMENT}"}}]


def _params(payload: JsonObject, document: str | None) -> MultipartParameters:
    """Return what is to be sent, with all of it as a file where there is one."""
    if document is None:
        return MultipartParameters(payload=dict(payload), multipart=None, files=None)
    file = discord.File(io.BytesIO(document.encode()), filename=_DOCUMENT)
    parts: list[dict[str, Any]] = [
        {"name": "payload_json", "value": json.dumps(payload)},
        {
            "name": "files[0]",
            "value": file.fp,
            "filename": file.filename,
            "content_type": "text/plain; charset=utf-8",
        },
    ]
    return MultipartParameters(payload=None, multipart=parts, files=[file])
