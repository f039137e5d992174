"""What happens when a reminder is due: its conversation is told once, and the model may look at it."""

from dataclasses import dataclass

from bot.inbox import Inbox
from core.conversations import NewTurn
from core.errors import Invalid, Refused, Unavailable
from core.jobs import Hold
from core.ports import Model
from core.reminders import Reminder, Reminders, ReminderState, job_of, schedule_of
from core.toolsets.reminders import RemindersConfig, message, note


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
    wakes: bool
    """Whether a due reminder starts a turn."""

    async def __call__(self, hold: Hold) -> None:
        """Tell, unless it was cancelled or its owner may no longer ask there."""
        reminder = await self.reminders.get(hold.job.tenant, str(hold.job.payload["reminder"]))
        if reminder is None or reminder.state is not ReminderState.PENDING:
            return
        turn = self._turn(reminder)
        if turn is None:
            await self.reminders.drop(reminder)
            return
        await self.reminders.tell(reminder, note(reminder), turn if self.wakes else None)

    def _turn(self, reminder: Reminder) -> NewTurn | None:
        """Return the turn in which it is looked at; None where its owner may no longer ask there."""
        try:
            return self.inbox.wanted(
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
