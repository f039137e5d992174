"""What happens when a reminder is due: its conversation is told once, and the model may look at it."""

import logging
from dataclasses import dataclass

from approvals import entitlement
from approvals.gate import Gate
from bot.inbox import Inbox
from core.errors import Invalid, Refused, Unavailable
from core.jobs import Hold
from core.ports import Model
from core.reminders import Reminder, Reminders, ReminderState, job_of, schedule_of
from core.toolsets.reminders import RemindersConfig, message, note

_log = logging.getLogger("sayso.reminder")


def wakes(model: Model, config: RemindersConfig | None) -> bool:
    """Whether a due reminder starts a turn: only a model that writes could answer it."""
    return model.generative and config is not None and config.starts_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifying:
    """Handles the job that waits for a reminder's time.

    Both things that it does happen once, however often it is begun: the note with the end of the
    reminder, the turn by its delivery id. It approves nothing.
    """

    reminders: Reminders
    gate: Gate
    inbox: Inbox
    wakes: bool
    """Whether a due reminder starts a turn."""

    async def __call__(self, hold: Hold) -> None:
        """Tell, unless it was cancelled or its owner may no longer ask there."""
        reminder = await self.reminders.get(hold.job.tenant, str(hold.job.payload["reminder"]))
        if reminder is None or reminder.state not in {ReminderState.PENDING, ReminderState.TOLD}:
            return
        hold.check()
        if not self._may_chat(reminder):
            await self.reminders.drop(reminder)
            return
        await self.reminders.tell(reminder, note(reminder))
        # Somebody may have cancelled or erased it since it was read: only what was told wakes.
        told = await self.reminders.get(reminder.tenant, reminder.id)
        if self.wakes and told and told.state is ReminderState.TOLD and told.text:
            await self._wake(told)

    def _may_chat(self, reminder: Reminder) -> bool:
        try:
            authority, owner = self.gate.person(reminder.tenant, reminder.owner)
        except Invalid as error:
            # Somebody is about to save the file, or will correct it: nothing is lost meanwhile.
            raise Unavailable(error.shown) from error
        except Refused:
            return False
        return entitlement.may_chat(authority, owner, reminder.place)

    async def _wake(self, reminder: Reminder) -> None:
        try:
            await self.inbox.ask_for(
                (reminder.tenant, reminder.owner),
                (reminder.place, reminder.conversation),
                message(reminder),
                schedule=schedule_of(reminder.id),
                delivery=job_of(reminder.id),
            )
        except Invalid as error:
            raise Unavailable(error.shown) from error  # as above: it is tried again
        except Refused as refusal:
            # The note is there, so its owner knows.
            _log.warning("reminder %s: %s", reminder.id, refusal.shown)
            await self.gate.store.attempt_refused(
                reminder.tenant, principal=reminder.owner, request="", why=refusal.shown
            )
