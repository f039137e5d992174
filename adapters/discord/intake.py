"""Everything that comes in from Discord: read, handed to the desk, and told of to whoever did it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, assert_never

from adapters.discord import edit_forms, forms
from adapters.discord.drawn import Drawn
from adapters.discord.findings import Act, AskCode, AskWhy, Ignored, Sentence, Us
from adapters.discord.inbound import read
from adapters.discord.outcomes import drawn, says
from adapters.discord.seen import Command, Pressed, Submitted
from adapters.platforms.takes import Outcome, Takes, outcome_of, soon
from adapters.platforms.tasks import Tasks, log
from core.canonical import JsonObject
from core.events import BeginEdit, Edit
from core.platforms import Desk, Event, Told

Interacted: TypeAlias = Command | Pressed | Submitted
_NOT_HERE = Told(text="Nothing was done: there is nothing of Sayso's to do here with that.")
_LEAVES = Told(text="Nothing was done: Sayso is just being started anew. Try again in a moment.")
_TAKEN = Told(text="Sayso is on it. What comes of it is shown in the thread.")
_TOO_LATE = Told(text="This took too long for a form to be opened. Press Edit once more.")
_LONG = Told(text="This takes unusually long. What comes of it is shown in the thread.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds. Discord gives up after 3, and its token is good for 15 minutes after that."""

    person: float = 1.0
    """Then whoever pressed or typed is told later. Many at once, on a busy machine, need the rest to say so."""
    late: float = 300.0
    """Then they are told that it takes long, and nothing more through that token."""


class Answers(Protocol):
    """Answers one interaction, as `adapters.discord.answering.Answer` does."""

    async def say(self, message: Drawn) -> bool:
        """Tell that person alone, at once."""
        ...

    async def think(self) -> bool:
        """Say that something is done."""
        ...

    async def nothing(self) -> bool:
        """Leave everything as it is."""
        ...

    async def ask(self, form: JsonObject) -> bool:
        """Open a form."""
        ...

    async def late(self, message: Drawn) -> bool:
        """Say what came of it, where it was said that something is done."""
        ...


@dataclass(slots=True, kw_only=True)
class Intake:
    """Takes what people do. Who pressed or typed has an answer in time, whatever the desk needs."""

    desk: Desk
    us: Callable[[], Us]
    tasks: Tasks
    takes: Takes
    patience: Patience = field(default_factory=Patience)
    is_leaving: bool = False
    """Then nothing is taken any more: it is fetched by whoever is connected next."""
    typed: edit_forms.Typed = field(default_factory=edit_forms.Typed)
    _under_way: dict[tuple[str, ...], "asyncio.Task[Outcome]"] = field(
        default_factory=dict[tuple[str, ...], "asyncio.Task[Outcome]"]
    )
    """What somebody has just pressed: pressing it once more, before anything came of it, is the same."""

    async def interacted(self, seen: Interacted | None, answers: Answers) -> None:
        """Take a command, a button or a form, and answer it; None is what nobody can read."""
        if self.is_leaving:
            await answers.say(drawn(_LEAVES))
            return
        if seen is None:
            await answers.say(drawn(_NOT_HERE))
            return
        match read(seen, self.us()):
            case Ignored(why=why):
                log.debug("discord: ignored, for %s", why)
                await answers.say(drawn(_NOT_HERE))
            case Sentence(text=text):
                await answers.say(drawn(Told(text=text)))
            case AskWhy(request=request):
                await answers.ask(forms.deny(request))
            case AskCode(request=request):
                await answers.ask(forms.code(request))
            case Act(event=event):
                await self._answered(event, seen, answers)
            case found:
                assert_never(found)

    async def _answered(self, event: Event, seen: Interacted, answers: Answers) -> None:
        task = self._task(seen, event)
        outcome = self._heard(event, await soon(task, self.patience.person))
        if outcome is None:
            await answers.think()
            outcome = self._heard(event, await soon(task, self.patience.late)) or _LONG
            told = outcome if says(outcome) else _nothing_said(outcome)
            await answers.late(await asyncio.to_thread(drawn, told, event))
        elif isinstance(event, BeginEdit) and isinstance(outcome, Told) and outcome.form:
            form = edit_forms.drawn(self.typed.into(outcome.form, event.identity))
            await (answers.say(drawn(form)) if isinstance(form, Told) else answers.ask(form))
        elif says(outcome):
            await answers.say(await asyncio.to_thread(drawn, outcome, event))
        elif isinstance(seen, Command):
            await answers.say(drawn(_TAKEN))
        else:
            await answers.nothing()

    def _heard(self, event: Event, outcome: Outcome | None) -> Outcome | None:
        """Return what came of it; what somebody has to correct in a form is kept for the next one."""
        if outcome is None or not isinstance(event, Edit):
            return outcome
        return self.typed.heard(event, outcome)

    def _task(self, seen: Interacted, event: Event) -> "asyncio.Task[Outcome]":
        """Return the take of it: the one under way, where it was pressed twice."""
        same = _same(seen)
        if same is not None and same in self._under_way:
            return self._under_way[same]
        task = self.takes.of(
            f"interaction:{seen.interaction}", lambda: outcome_of(self.desk.take(event))
        )
        if same is not None:
            self._under_way[same] = task
            task.add_done_callback(lambda _: self._under_way.pop(same, None))
        return task


def _nothing_said(outcome: Outcome) -> Told:
    is_form = isinstance(outcome, Told) and outcome.form is not None
    return _TOO_LATE if is_form else _TAKEN


def _same(seen: Interacted) -> tuple[str, ...] | None:
    if not isinstance(seen, Pressed) or seen.message is None:
        return None
    return (seen.by.user, seen.message, seen.custom_id)
