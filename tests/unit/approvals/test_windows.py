"""When nothing is proposed or run: each window by the clocks of its zone, as pure values."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from approvals.windows import Moment, Window

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def daily(text: str) -> Moment:
    return Moment(at=time.fromisoformat(text))


def weekly(day: int, text: str) -> Moment:
    return Moment(at=time.fromisoformat(text), weekday=day)


def once(text: str) -> Moment:
    found = datetime.fromisoformat(text)
    return Moment(at=found.time(), day=found.date())


WEEKEND = Window(name="weekend", begins=weekly(4, "17:00"), ends=weekly(0, "08:00"), zone=BERLIN)
NIGHT = Window(name="night", begins=daily("22:00"), ends=daily("06:00"), zone=UTC)
NOON = Window(name="noon", begins=daily("12:00"), ends=daily("13:00"), zone=UTC)
HOLIDAYS = Window(
    name="holidays", begins=once("2026-12-20 18:00"), ends=once("2027-01-04"), zone=BERLIN
)


@pytest.mark.parametrize(
    ("window", "now", "until"),
    [
        (WEEKEND, "2026-03-06 15:59:59", None),  # a Friday, an hour ahead of UTC
        (WEEKEND, "2026-03-06 16:00", "2026-03-09 07:00"),
        (WEEKEND, "2026-03-09 06:59:59", "2026-03-09 07:00"),
        (WEEKEND, "2026-03-09 07:00", None),
        (WEEKEND, "2026-03-28 12:00", "2026-03-30 06:00"),  # the clocks go forward in it
        (NIGHT, "2026-03-06 21:59:59", None),
        (NIGHT, "2026-03-06 22:00", "2026-03-07 06:00"),
        (NIGHT, "2026-03-07 05:59", "2026-03-07 06:00"),
        (NIGHT, "2026-03-07 06:00", None),
        (NOON, "2026-03-07 12:30", "2026-03-07 13:00"),
        (NOON, "2026-03-07 13:00", None),
        (HOLIDAYS, "2026-12-20 16:59", None),
        (HOLIDAYS, "2026-12-20 17:00", "2027-01-03 23:00"),
        (HOLIDAYS, "2027-01-03 23:00", None),
        (HOLIDAYS, "2028-01-01", None),
    ],
)
def test_a_window_lasts_from_its_beginning_up_to_its_end(
    window: Window, now: str, until: str | None
) -> None:
    found = window.at(at(now))
    assert (found and found.until) == (at(until) if until else None)
    assert found is None or (found.name, found.is_pause) == (window.name, False)


@pytest.mark.parametrize(
    ("window", "now", "begins"),
    [
        (WEEKEND, "2026-03-06 15:00", "2026-03-06 16:00"),
        (WEEKEND, "2026-03-06 16:00", "2026-03-13 16:00"),
        (NIGHT, "2026-03-06 22:00", "2026-03-07 22:00"),
        (HOLIDAYS, "2026-01-01", "2026-12-20 17:00"),
        (HOLIDAYS, "2026-12-20 17:00", None),
    ],
)
def test_it_is_known_when_it_begins_next(window: Window, now: str, begins: str | None) -> None:
    assert window.next(at(now)) == (at(begins) if begins else None)


def test_an_hour_that_clocks_show_twice_is_held_from_the_first_to_the_second() -> None:
    # On 25 October 2026 clocks in Berlin show 02:30 at 00:30 and at 01:30 UTC.
    before = Window(name="n", begins=daily("01:00"), ends=daily("02:30"), zone=BERLIN)
    found = before.at(at("2026-10-25 00:45"))
    assert found
    assert found.until == at("2026-10-25 01:30")
    single = Window(name="n", begins=once("2026-10-24"), ends=once("2026-10-25 02:30"), zone=BERLIN)
    found = single.at(at("2026-10-25 00:45"))
    assert found
    assert found.until == at("2026-10-25 01:30")
    after = Window(name="n", begins=daily("02:30"), ends=daily("04:00"), zone=BERLIN)
    found = after.at(at("2026-10-25 00:45"))
    assert found
    assert found.since == at("2026-10-25 00:30")


def test_at_every_minute_of_a_year_it_lasts_exactly_where_its_clock_says_so() -> None:
    now = at("2026-01-01")
    while now < at("2027-01-01"):
        local = now.astimezone(BERLIN)
        minute = local.weekday() * 1440 + local.hour * 60 + local.minute
        lasts = minute >= 4 * 1440 + 17 * 60 or minute < 8 * 60
        assert (WEEKEND.at(now) is not None) == lasts, now
        now += timedelta(minutes=37)


def test_what_is_spared_goes_on_and_a_plan_of_several_risks_only_where_all_are() -> None:
    window = Window(
        name="n",
        begins=daily("00:00"),
        ends=daily("23:59"),
        zone=UTC,
        spares=frozenset({"low"}),
    )
    found = window.at(at("2026-03-01 12:00"))
    assert found
    for risks, held in ((["low"], False), (["high"], True), (["low", "high"], True), (["*"], True)):
        assert (window.holds(risks), found.holds(risks)) == (held, held)


def test_a_day_by_itself_is_from_its_midnight() -> None:
    assert once("2026-12-20") == Moment(at=time(), day=date(2026, 12, 20))
