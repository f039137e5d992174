"""What follows once something was taken: somebody is told, and the thread shows what goes on."""

import asyncio
from dataclasses import dataclass

from adapters.platforms.takes import Outcome
from adapters.platforms.tasks import Tasks
from adapters.slack.findings import Act, Route
from adapters.slack.statuses import Status, Statuses
from adapters.slack.telling import Telling, drawn, to_everybody
from core.errors import SaysoError
from core.events import Ask, AskAgain, Invited, Place, StopHere, TakeUp, UndoRun
from core.platforms import Event


@dataclass(slots=True, kw_only=True)
class Following:
    """Does it in the background: Slack's acknowledgement waits for none of it."""

    telling: Telling
    statuses: Statuses
    tasks: Tasks

    def show(self, event: Event, outcome: Outcome) -> None:
        """Have the thread show that something began or ended there, where it did."""
        if isinstance(outcome, SaysoError):
            return
        if isinstance(event, Ask | AskAgain | UndoRun | TakeUp):
            self._show(event.place, "processing")
        elif isinstance(event, StopHere):
            self._show(event.place, "active")

    def event(self, act: Act, outcome: Outcome) -> None:
        """Tell what came of an event: everybody in a channel into which Sayso was brought."""
        if isinstance(outcome, SaysoError) or not isinstance(act.event, Invited):
            self.tell(outcome, act.route)
        elif outcome.text:
            body = to_everybody(outcome, act.route.channel)
            self.tasks.start(self.telling.web.write("chat.postMessage", body))

    def tell(self, outcome: Outcome, route: Route) -> None:
        """Tell somebody what came of it, beside where they did it."""
        message = drawn(outcome)
        if message is not None:
            self.tasks.start(self.telling.beside(route, message))

    async def told_beside(self, task: "asyncio.Task[Outcome]", route: Route) -> None:
        """Tell it once it is known, however long that takes."""
        self.tell(await asyncio.shield(task), route)

    async def told_later(self, task: "asyncio.Task[Outcome]", route: Route) -> None:
        """Tell it to somebody whose command or form was acknowledged before it was known."""
        message = drawn(await asyncio.shield(task))
        if message is not None:
            await self.telling.after(route, message)

    def _show(self, place: Place | None, status: Status) -> None:
        if place is not None and place.thread and place.is_opened:
            self.statuses.show(place.channel, place.thread, status)
