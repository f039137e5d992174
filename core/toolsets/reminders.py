"""The toolset `reminders`: texts that somebody has come back to them at a time (T11)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from pydantic import Field, model_validator

from core import durations
from core.canonical import JsonObject, digest
from core.counts import Count
from core.dictated import quoted
from core.durations import Duration
from core.errors import Incorrect, Refused
from core.params import Param
from core.ports import Clock
from core.redaction import Redactor
from core.reminders import NewReminder, Reminder, Reminders, ReminderState
from core.tools import Caller
from core.toolset import Channel, Exposure, Instruction, Toolset
from core.toolsets.own import own_tool

NAME = "reminders"
SET, LIST, CANCEL = "remind_me", "reminders", "cancel_reminder"
_WHEN = (
    "a span from now such as 30m, 2h or 1d, or a time with its zone such as 2026-12-01T09:00:00Z"
)
_USE = (
    f"Where something has to be looked at later, set a reminder with `{SET}` instead of waiting. It "
    "comes back to this conversation once, and approves nothing."
)


class RemindersConfig(Exposure):
    """How many, how far, and whether somebody looks when one is due."""

    toolset: ClassVar[str] = NAME
    serves: ClassVar[tuple[Channel, ...]] = (Channel.TOOL, Channel.PROMPT, Channel.COMMAND)

    most: Count = Field(default=20, ge=1, le=1000)
    """That one person may have pending."""
    soonest: Duration = timedelta(minutes=1)
    """From when it is set."""
    furthest: Duration = timedelta(days=90)
    """From when it is set."""
    starts_turn: bool = True
    """Have the model look at it when it is due, in the name of whoever set it."""

    @model_validator(mode="after")
    def _leaves_a_time(self) -> "RemindersConfig":
        if self.soonest > self.furthest:
            raise ValueError("`soonest` is later than `furthest`, so no time is left")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deeds:
    """What the three tools do."""

    config: RemindersConfig
    reminders: Reminders
    clock: Clock
    redactor: Redactor

    async def add(self, arguments: JsonObject, caller: Caller) -> str:
        text = str(arguments["text"])
        if self.redactor.text(text) != text:
            raise Refused("This text holds what looks like a secret, so it was not kept.")
        new = NewReminder(
            # Of the turn and what was asked for: a turn that is answered again sets it once.
            id=f"n_{digest({'turn': caller.turn, 'arguments': arguments})[:16]}",
            caller=caller,
            text=text,
            due=self._due(str(arguments["when"])),
        )
        kept = await self.reminders.add(new, most=self.config.most)
        if kept.state is ReminderState.PENDING:
            return f"Reminder {kept.id} is set for {_shown(kept.due)}."
        return (
            f"Reminder {kept.id} was set for {_shown(kept.due)} in this turn and is {kept.state} now, so "
            "it is not set again. Change its text or its time to set another one."
        )

    async def show(self, arguments: JsonObject, caller: Caller) -> str:
        del arguments
        found = await self.reminders.pending(caller.tenant, caller.principal, caller.conversation)
        return "\n".join(map(_line, found)) or (
            f"You have no reminders in this conversation. Set one with {SET}."
        )

    async def cancel(self, arguments: JsonObject, caller: Caller) -> str:
        name = str(arguments["id"])
        if await self.reminders.cancel(caller, name):
            return "Cancelled. It will not come back."
        # The same words for a foreign one, one that was told and one that never was (I14).
        raise Incorrect(f"You have no such reminder pending. `{LIST}` shows yours.")

    def _due(self, when: str) -> datetime:
        now = self.clock.now()
        due = _time(when, now)
        if not self.config.soonest <= due - now <= self.config.furthest:
            soonest, furthest = map(durations.words, (self.config.soonest, self.config.furthest))
            raise Incorrect(
                f"{SET}: `when`: it has to be between {soonest} and {furthest} from now. Call it "
                "again with that corrected."
            )
        return due


def toolset(
    config: RemindersConfig, reminders: Reminders, clock: Clock, redactor: Redactor
) -> Toolset:
    """Return the toolset. Each of its tools is a command too, by the same name."""
    deeds = _Deeds(config=config, reminders=reminders, clock=clock, redactor=redactor)
    text = Param(
        type="string",
        min_length=1,
        max_length=500,
        may_start_with="-@",
        description="What to come back to.",
    )
    tools = (
        own_tool(
            SET,
            "Have a text come back to this conversation later, once.",
            {
                "when": Param(type="string", min_length=1, max_length=40, description=_WHEN),
                "text": text,
            },
            deeds.add,
            posts="text",
        ),
        own_tool(LIST, "List the person's pending reminders in this conversation.", {}, deeds.show),
        own_tool(
            CANCEL,
            "Cancel one of the person's own reminders.",
            {
                "id": Param(
                    type="string",
                    min_length=1,
                    max_length=40,
                    description="As it was set or listed.",
                )
            },
            deeds.cancel,
        ),
    )
    return Toolset(
        name=NAME,
        tools=tools,
        commands=tools,
        instructions=(Instruction(about=SET, text=_USE),),
    )


def note(reminder: Reminder) -> str:
    """Return what is posted when a reminder is due; its text is marked as what somebody else wrote."""
    return f"{_about(reminder)}:\n{quoted(reminder.text)}"


def kept_back(reminder: Reminder, why: str) -> str:
    """Return what is posted instead where a guardrail stops it, which says `why`."""
    return f"{_about(reminder)}, is due. Its text was kept back by a guardrail: {why}."


def _about(reminder: Reminder) -> str:
    return (
        f"A reminder of {reminder.owner}'s, set {_shown(reminder.set_at)} for "
        f"{_shown(reminder.due)}"
    )


def message(reminder: Reminder) -> str:
    """Return the message in whose answer a reminder is looked at. It is no command, whatever it says."""
    return (
        f"(A reminder that was set {_shown(reminder.set_at)} is due; nobody typed this now. Look at "
        f"what it is about and say what you find.)\n{quoted(reminder.text)}"
    )


def _time(when: str, now: datetime) -> datetime:
    """Return the time that a text names; raise `Incorrect` where it names none, or has no zone."""
    try:
        return now + durations.parse(when)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(when)
        if found.tzinfo is None:
            raise ValueError(when)  # noqa: TRY301 - told like any other
        return found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Incorrect(
            f"{SET}: `when`: write {_WHEN}. Call it again with that corrected."
        ) from error


def _line(reminder: Reminder) -> str:
    return f"{reminder.id} {_shown(reminder.due)}: {reminder.text}"


def _shown(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
