"""Everything that comes in from Slack: read, handed to the desk, answered and acknowledged."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from slack_bolt.response import BoltResponse

from adapters.platforms.takes import Outcome, Takes, outcome_of, soon
from adapters.platforms.tasks import Tasks, log
from adapters.slack import acks, payload
from adapters.slack.findings import (
    Act,
    Bot,
    HomeOpened,
    Ignored,
    OpenModal,
    PeopleChanged,
    PromptsWanted,
    Route,
    Sentence,
)
from adapters.slack.follow import Following
from adapters.slack.inbound import read
from adapters.slack.membership import Membership
from adapters.slack.posts import delivery
from adapters.slack.surfaces import Surfaces
from adapters.slack.windows import Windows
from core.errors import Refused, SaysoError, Unavailable
from core.events import Ask
from core.platforms import Desk, Told

LAST_RETRY = 3
"""Slack delivers an event no more often than this after the first time."""
_LATER = frozenset({"message_changed", "message_deleted"})
"""What tells of a message that was there before, with a time of its own."""
_NO_MEMBER = (
    "Sayso is not in this channel, so nothing was started. Type /invite and its name here, then "
    "ask again; or ask in a direct message with Sayso."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds in which whatever was done has to be stored; Slack gives up after 3."""

    event: float = 2.5
    """Then it is not acknowledged, and Slack delivers it again."""
    person: float = 2.0
    """Then whoever pressed or typed is told later."""


@dataclass(slots=True, kw_only=True)
class Intake:
    """Takes what Slack delivers. An event is acknowledged once what has to be stored is stored."""

    bot: Bot
    desk: Desk
    tasks: Tasks
    takes: Takes
    follow: Following
    windows: Windows
    surfaces: Surfaces
    membership: Membership
    changed: Callable[[Mapping[str, object]], None]
    """Is told that what was known of people is no longer so."""
    mentions_only: bool = False
    patience: Patience = field(default_factory=Patience)
    is_leaving: bool = False
    """Then nothing is taken any more: Slack delivers it to whoever is there next."""

    async def take(self, body: Mapping[str, object], retry: int = 0) -> BoltResponse:
        """Return what Slack is to be told; `retry` says how often it has delivered this before."""
        if self.is_leaving:
            return acks.not_taken()
        match read(body, self.bot, mentions_only=self.mentions_only):
            case Ignored(why=why):
                log.debug("slack: ignored, for %s", why)
            case HomeOpened() | PromptsWanted() as opened:
                self.tasks.start(self.surfaces.show(opened))
            case PeopleChanged(event=event):
                self.changed(event)
            case Sentence(text=text, route=route):
                return self._sentence(Told(text=text), route, body)
            case OpenModal() as wanted:
                key = _key(wanted.route)
                task = self.takes.of(key, lambda: outcome_of(self.windows.open(wanted)))
                return await self._pressed(task, wanted.route)
            case Act() as act:
                return await self._act(act, body, retry)
            case found:
                assert_never(found)
        return acks.taken()

    async def _act(self, act: Act, body: Mapping[str, object], retry: int) -> BoltResponse:
        if act.kind == "event":
            return await self._event(act, body, retry)
        task = self.takes.of(_key(act.route), lambda: self._taken(act))
        if act.kind == "action":
            return await self._pressed(task, act.route)
        outcome = await soon(task, self.patience.person)
        if outcome is None:
            self.tasks.start(self.follow.told_later(task, act.route))
            return acks.taken()
        if act.kind == "command":
            return acks.said(outcome)
        if not isinstance(outcome, SaysoError):
            self.follow.tell(outcome, act.route)
        return acks.in_window(outcome, act.event)

    async def _event(self, act: Act, body: Mapping[str, object], retry: int) -> BoltResponse:
        task = self.takes.of(_delivery(body), lambda: self._taken_and_told(act))
        outcome = await soon(task, self.patience.event)
        if outcome is not None and not isinstance(outcome, Unavailable):
            return acks.taken()
        if outcome is None or retry < LAST_RETRY:
            return acks.not_taken()
        self.follow.tell(outcome, act.route)
        return acks.taken()

    async def _pressed(self, task: "asyncio.Task[Outcome]", route: Route) -> BoltResponse:
        """Acknowledge a button as soon as it did something, and tell what beside it."""
        self.tasks.start(self.follow.told_beside(task, route))
        await soon(task, self.patience.person)
        return acks.taken()

    async def _taken(self, act: Act) -> Outcome:
        if not await self._may_answer(act):
            return Refused(_NO_MEMBER)
        outcome = await outcome_of(self.desk.take(act.event))
        self.follow.show(act.event, outcome)
        return outcome

    async def _may_answer(self, act: Act) -> bool:
        if act.kind != "command" or not isinstance(act.event, Ask):
            return True
        return await self.membership.may_post(act.route.channel)

    async def _taken_and_told(self, act: Act) -> Outcome:
        outcome = await self._taken(act)
        if not isinstance(outcome, Unavailable):  # Slack delivers it again
            self.follow.event(act, outcome)
        return outcome

    def _sentence(self, told: Told, route: Route, body: Mapping[str, object]) -> BoltResponse:
        if "command" in body:
            return acks.said(told)
        self.takes.of(_delivery(body), lambda: self._only_told(told, route))
        return acks.taken()

    async def _only_told(self, told: Told, route: Route) -> Outcome:
        self.follow.tell(told, route)
        return told


def _key(route: Route) -> str:
    return route.trigger or ""


def _delivery(body: Mapping[str, object]) -> str:
    """Return what an event shares with every other delivery of the same: a mention comes as two."""
    event = payload.of(body.get("event"))
    channel, ts = payload.name(event, "channel"), payload.ts(event, "ts")
    is_new = event.get("type") in {"app_mention", "message"} and event.get("subtype") not in _LATER
    return delivery(channel, ts) if is_new and channel and ts else payload.name(body, "event_id")
