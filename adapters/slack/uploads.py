"""A long text as a file in its thread."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from adapters.slack.refusals import code_of, unanswered
from adapters.slack.web import Web
from core.errors import Refused

_TITLE = "The whole text"


def file_of(key: str) -> str:
    """Return the name of the file that belongs to a key: the same for every try."""
    return f"sayso-{hashlib.sha256(key.encode()).hexdigest()[:16]}.md"


@dataclass(slots=True, kw_only=True)
class Uploads:
    """Uploads files, as long as the app may."""

    web: Web
    may: bool = True
    """False once Slack said that the app lacks the scope."""

    async def uploaded(self, channel: str, thread: str | None, name: str, text: str) -> bool:
        """Put a file into a thread; False where the app may not. Raises as `Web` does."""
        if not self.may:
            return False
        try:
            await self._upload(channel, thread, name, text.encode())
        except Refused as error:
            if code_of(error) != "missing_scope":
                raise
            self.may = False
        return self.may

    async def _upload(self, channel: str, thread: str | None, name: str, data: bytes) -> None:
        method = "files.getUploadURLExternal"
        answer: Any = await self.web.submit(method, {"filename": name, "length": len(data)})
        url, file = answer.get("upload_url"), answer.get("file_id")
        if not isinstance(url, str) or not isinstance(file, str):
            raise unanswered(method, why="no address")
        await self.web.send(url, data=data)
        files = json.dumps([{"id": file, "title": _TITLE}])
        await self.web.submit(
            "files.completeUploadExternal",
            {"files": files, "channel_id": channel, "thread_ts": thread},
        )
