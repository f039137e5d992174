"""What happens at a set time: Sayso is asked, as if the person named there had typed it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from cronsim import CronSim

from approvals.store import ApprovalStore
from bot.authority import CONSOLE_PLACE
from bot.inbox import Inbox
from bot.sections import zone_of
from bot.settings import Settings
from core.errors import Invalid, Refused, Unavailable
from core.events import Place
from core.jobs import Hold, NewJob, Queue, Replay
from core.ports import Clock

TICK = "tick"
"""The kind of job that waits for the next time of a schedule."""
_log = logging.getLogger("sayso.schedule")
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When somebody asks for something."""

    name: str
    cron: str
    zone: tzinfo
    tenant: str
    person: str
    place: Place
    text: str

    def after(self, time: datetime) -> datetime:
        """Return the next time after this one, in UTC."""
        # Local times that exist twice equal nothing in another zone, so they do not leave this line.
        return next(CronSim(self.cron, time.astimezone(self.zone))).astimezone(UTC)

    def strikes(self, time: datetime) -> bool:
        """Whether this is one of its times, to the second."""
        return self.after(time - _SECOND) == time


def schedules_of(configured: Settings) -> tuple[Schedule, ...]:
    """Return the schedules of the settings."""
    return tuple(
        Schedule(
            name=name,
            cron=section.cron,
            zone=zone_of(section.timezone),
            tenant=section.tenant or next(iter(configured.tenants)),
            person=section.person,
            place=CONSOLE_PLACE,
            text=section.ask,
        )
        for name, section in configured.schedules.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """Keeps one job a schedule waiting for its next time, and handles it.

    Whoever serves calls `begin` from time to time, so that a schedule goes on whatever became of
    its last time, and as soon as it was added or changed.

    It approves nothing: what it asks for waits for people like everything else, and while that
    waits, later times are skipped.
    """

    schedules: Callable[[], Sequence[Schedule]]
    """Reads them afresh."""
    inbox: Inbox
    store: ApprovalStore
    queue: Queue
    clock: Clock

    async def begin(self) -> None:
        """Have the next time of each schedule waited for, unless it is already.

        Raises `Unavailable` where the configuration cannot be read just now.
        """
        for schedule in self._schedules():
            await self._await_next(schedule, self.clock.now())

    async def __call__(self, hold: Hold) -> None:
        """Ask, unless what was asked for last still waits; then wait for the first time after now.

        What became due while nothing served is asked for once, late. A time that the schedule no
        longer has is dropped.
        """
        name, time = str(hold.job.payload["schedule"]), str(hold.job.payload["time"])
        for schedule in self._schedules():
            if schedule.name == name and schedule.strikes(datetime.fromisoformat(time)):
                hold.check()
                try:
                    await self._ask(schedule, time)
                finally:
                    await self._await_next(schedule, datetime.fromisoformat(time))

    def _schedules(self) -> Sequence[Schedule]:
        try:
            return self.schedules()
        except Invalid as error:
            # Somebody is about to save the file, or will correct it: no time is lost meanwhile.
            raise Unavailable(error.shown) from error

    async def _ask(self, schedule: Schedule, time: str) -> None:
        try:
            turn = await self.inbox.wanted(
                (schedule.tenant, schedule.person),
                schedule.place,
                schedule.text,
                schedule=schedule.name,
                delivery=f"{TICK}:{schedule.name}:{time}",
            )
            await self.inbox.keep(turn)
        except Refused as refusal:
            why = f"schedule {schedule.name}: {refusal.logged}"
            _log.warning("%s", why)
            await self.store.attempt_refused(
                schedule.tenant, principal=f"schedule:{schedule.name}", request="", why=why
            )

    async def _await_next(self, schedule: Schedule, last: datetime) -> None:
        now = self.clock.now()
        time = schedule.after(max(now, last))  # a clock may step back
        name = f"{TICK}:{schedule.name}:{time.isoformat()}"
        await self.queue.submit(
            NewJob(
                id=name,
                kind=TICK,
                tenant=schedule.tenant,
                payload={"schedule": schedule.name, "time": time.isoformat()},
                replay=Replay.SAFE,
                dedupe=name,
                delay=time - now,
            )
        )
