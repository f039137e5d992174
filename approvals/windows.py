"""When nothing is proposed or run: times of the configuration. Pure.

A window begins and ends at what a clock in its zone shows. Where a clock shows the same twice, since
it is set back, it begins at the first and ends at the second: a window errs on the side of holding.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from approvals.brakes import Brake

_DAY = timedelta(days=1)
_WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a clock and a calendar show: each day, each week or once."""

    at: time
    weekday: int | None = None
    """From 0 for Monday; None where it is each day, or once."""
    day: date | None = None
    """The day on which it is, where it is once."""

    def on(self, day: date) -> bool:
        """Whether it comes again on that day."""
        return self.weekday is None or day.weekday() == self.weekday


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One window. Both of its moments are of the same kind."""

    name: str
    begins: Moment
    ends: Moment
    zone: tzinfo
    spares: frozenset[str] = frozenset()
    """Risks that go on."""

    def holds(self, risks: Iterable[str]) -> bool:
        """Whether it is about a plan of these risks."""
        return not set(risks) <= self.spares

    def at(self, now: datetime) -> Brake | None:
        """Return what holds things back if it lasts at this time, which begins and does not end it."""
        for since in sorted(self._starts(now), reverse=True):
            if since <= now:
                until = self._end(since)
                return self._brake(since, until) if now < until else None
        return None

    def next(self, now: datetime) -> datetime | None:
        """Return when it begins next after this time, if it does."""
        return min((start for start in self._starts(now) if start > now), default=None)

    def _brake(self, since: datetime, until: datetime) -> Brake:
        return Brake(
            name=self.name, since=since, until=until, set_by="sayso.yml", spares=self.spares
        )

    def _starts(self, now: datetime) -> list[datetime]:
        """Return when it began last, and when it begins next, and perhaps more."""
        if self.begins.day is not None:
            return [_instant(self.begins.day, self.begins.at, self.zone, fold=0)]
        today = now.astimezone(self.zone).date()
        days = (today + n * _DAY for n in range(-_WEEK - 1, _WEEK + 2))
        on = [day for day in days if self.begins.on(day)]
        return [_instant(day, self.begins.at, self.zone, fold=0) for day in on]

    def _end(self, since: datetime) -> datetime:
        """Return the first end after a beginning."""
        if self.ends.day is not None:
            return _instant(self.ends.day, self.ends.at, self.zone, fold=1)
        first = since.astimezone(self.zone).date()
        days = (first + n * _DAY for n in range(_WEEK + 2))
        on = (day for day in days if self.ends.on(day))
        return next(
            end for day in on if (end := _instant(day, self.ends.at, self.zone, fold=1)) > since
        )


def _instant(day: date, at: time, zone: tzinfo, *, fold: int) -> datetime:
    """Return when the clocks of a zone show this, in UTC."""
    return datetime.combine(day, at.replace(fold=fold), zone).astimezone(UTC)
