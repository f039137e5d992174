"""`approvals.freeze` in sayso.yml: what can be written there, and what is said of anything else."""

from datetime import UTC, date, time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from approvals.windows import Moment, Window
from bot import settings
from bot.authority import authority_of
from core.errors import Invalid


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sayso.yml"


def windows(file: Path, text: str) -> tuple[Window, ...]:
    file.write_text(f"approvals: {{{text}}}\n")
    return authority_of(settings.read(file)).policy.windows


def test_a_freeze_is_each_week_each_day_or_once(file: Path) -> None:
    weekly, daily, once = windows(
        file,
        'freeze: [{name: weekend, from: "Fri 17:00", to: "Mon 08:00", zone: Europe/Berlin,'
        ' except: [low]}, {name: night, from: "22:00", to: "06:30"},'
        ' {name: holidays, from: "2026-12-20 18:00", to: "2027-01-04"}]',
    )
    assert weekly == Window(
        name="weekend",
        begins=Moment(at=time(17), weekday=4),
        ends=Moment(at=time(8), weekday=0),
        zone=ZoneInfo("Europe/Berlin"),
        spares=frozenset({"low"}),
    )
    assert (daily.begins, daily.ends) == (Moment(at=time(22)), Moment(at=time(6, 30)))
    assert (once.begins, once.ends, once.zone) == (
        Moment(at=time(18), day=date(2026, 12, 20)),
        Moment(at=time(), day=date(2027, 1, 4)),
        UTC,
    )


def test_a_freeze_stands_beside_the_risks_and_is_none(file: Path) -> None:
    file.write_text(
        'approvals: {x: {quorum: 3}, freeze: [{name: n, from: "22:00", to: "06:00", except: [x]}]}'
    )
    assert list(settings.read(file).approvals.risks) == ["low", "medium", "high", "x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('from: "Fri 17:00", to: "08:00"', "have to be of the same kind"),
        ('from: "Fri 17:00", to: "2026-12-20"', "have to be of the same kind"),
        ('from: "08:00", to: "08:00"', "has to come after"),
        ('from: "2026-12-20", to: "2026-12-19 23:59"', "has to come after"),
        ('from: "25:00", to: "08:00"', "Fri 17:00"),
        ('from: "Freitag", to: "08:00"', "Fri 17:00"),
        ('from: "2026-02-30", to: "2026-03-01"', "Fri 17:00"),
        ('from: 2026-12-20, to: "2026-12-21"', "Put it in quotes"),
        ('from: "08:00", to: "09:00", zone: Nowhere/Land', "no such time zone"),
        ('from: "08:00", to: "09:00", except: [nothing]', "names no risk that there is: nothing"),
        ('from: "08:00"', "approvals.freeze.0.to"),
        ('from: "08:00", to: "09:00", color: red', "does not know this name"),
    ],
)
def test_anything_else_is_refused_with_file_and_field(file: Path, text: str, said: str) -> None:
    with pytest.raises(Invalid, match=r"^sayso\.yml:1: ") as error:
        windows(file, f"freeze: [{{name: n, {text}}}]")
    assert said in error.value.shown


def test_a_name_is_given_once_and_a_risk_is_called_as_before(file: Path) -> None:
    one = '{name: n, from: "08:00", to: "09:00"}'
    with pytest.raises(Invalid, match="same name"):
        windows(file, f"freeze: [{one}, {one}]")
    with pytest.raises(Invalid, match="the name of a risk"):
        windows(file, '"a b": {quorum: 1}')


def test_a_time_to_escalate_at_needs_somebody_to_escalate_to(file: Path) -> None:
    file.write_text("approvals: {low: {quorum: 1, escalate_at: 0.5}}\n")
    with pytest.raises(Invalid, match="`escalate_at` of low calls nobody: add `escalate_to`"):
        settings.read(file)
    file.write_text("approvals: {low: {quorum: 1, escalate_at: 0.5, escalate_to: [leads]}}\n")
    assert settings.read(file).approvals.risks["low"].escalate_at == 0.5
