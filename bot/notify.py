"""What happens when a reminder is due: its conversation is told once, and the model may look at it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.inbox import Inbox
from core.conversations import NewTurn
from core.errors import Invalid, Refused, Unavailable
from core.guardrails import Guarding, Guards, Input, Output, Violation
from core.jobs import Hold
from core.ports import Model
from core.reminders import Reminder, Reminders, ReminderState, job_of, schedule_of
from core.toolsets.reminders import RemindersConfig, kept_back, message, note
from core.trail import Happening


def wakes(model: Model, config: RemindersConfig | None) -> bool:
    """Whether a due reminder starts a turn: only a model that writes could answer it."""
    return model.generative and config is not None and config.starts_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifying:
    """Handles the job that waits for a reminder's time.

    The end of the reminder, the note and the turn are one transaction, so that each happens once
    or not at all. It approves nothing.
    """

    reminders: Reminders
    inbox: Inbox
    guards: Guards
    wakes: bool
    """Whether a due reminder starts a turn."""

    async def __call__(self, hold: Hold) -> None:
        """Tell, unless it was cancelled or its owner may no longer ask there."""
        reminder = await self.reminders.get(hold.job.tenant, str(hold.job.payload["reminder"]))
        if reminder is None or reminder.state is not ReminderState.PENDING:
            return
        # What is a secret now need not have been one when it was set.
        shown = replace(reminder, text=self.inbox.redactor.text(reminder.text))
        turn = await self._turn(shown)
        if turn is None:
            await self.reminders.drop(reminder)
            return
        violation = await self._violation(shown)
        if violation:
            await self.reminders.tell(reminder, kept_back(reminder, violation.why))
            return
        await self.reminders.tell(reminder, note(shown), turn if self.wakes else None)

    async def _violation(self, shown: Reminder) -> Violation | None:
        """Return why it may not be said, or not be read by a model: what is posted is told to the next."""
        guarding = Guarding(
            guards=self.guards, redactor=self.inbox.redactor, trail=_untold, turn=shown.id
        )
        said = Input(speaker=shown.owner, text=message(shown))
        posted = Output(text=note(shown), results=())
        return await guarding.screen(said) or await guarding.screen(posted)

    async def _turn(self, reminder: Reminder) -> NewTurn | None:
        """Return the turn in which it is looked at; None where its owner may no longer ask there."""
        try:
            return await self.inbox.wanted(
                (reminder.tenant, reminder.owner),
                (reminder.place, reminder.conversation),
                message(reminder),
                schedule=schedule_of(reminder.id),
                delivery=job_of(reminder.id),
            )
        except Invalid as error:
            # Somebody is about to save the file, or will correct it: nothing is lost meanwhile.
            raise Unavailable(error.shown) from error
        except Refused:
            return None


async def _untold(_: Sequence[Happening]) -> None:
    """Keep nothing: there is no turn whose record could say it."""
