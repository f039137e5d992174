"""Opens what a button opens: all of a plan, or the question why somebody denies."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from adapters.slack import edit_view, views
from adapters.slack.findings import OpenModal
from adapters.slack.inbound import private
from adapters.slack.web import Web
from core.events import BeginEdit, Review
from core.platforms import Desk, Told

_IN_WORDS = "No window can show this. Write what is to change: edit {} NAME=VALUE"
DEADLINE = 2.5
"""Seconds: Slack takes no window later than 3 s after the button was pressed."""


@dataclass(slots=True, kw_only=True)
class Windows:
    """Opens windows as fast as it can; raises `Refused` that says to press again where it is late."""

    web: Web
    desk: Desk

    async def open(self, wanted: OpenModal) -> Told:
        """Open what was asked for; return what there is to say instead of a window."""
        kept = private(wanted.request, wanted.route)
        match wanted.what:
            case "deny":
                await self._open(wanted, views.deny(wanted.request, kept))
            case "approve_code":
                await self._open(wanted, views.code(wanted.request, kept))
            case "review":
                told = await self.desk.take(
                    Review(identity=wanted.identity, request=wanted.request)
                )
                if told.card is None:
                    return told
                view = await asyncio.to_thread(views.review, told.card, kept)
                await self._open(wanted, view)
            case "edit":
                return await self._edit(wanted, kept)
            case _:
                assert_never(wanted.what)
        return Told()

    async def _edit(self, wanted: OpenModal, kept: str) -> Told:
        told = await self.desk.take(BeginEdit(identity=wanted.identity, request=wanted.request))
        view = edit_view.drawn(told.form, kept) if told.form else None
        if view is None:
            return told if told.text else Told(text=_IN_WORDS.format(wanted.request))
        await self._open(wanted, view)
        return Told()

    async def _open(self, wanted: OpenModal, view: Mapping[str, object]) -> None:
        body = {"trigger_id": wanted.route.trigger, "view": view}
        await self.web.write("views.open", body, within=DEADLINE)
