"""The section `approvals` of `sayso.yml`: a rule for each risk, and when nothing runs."""

import re
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator, model_validator

from approvals.windows import Moment, Window
from bot.sections import Name, Names, RiskSection, Section, zone_of

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HOW = "write a day and a time such as Fri 17:00, a time of each day such as 22:00, or 2026-12-20 18:00"
_RECURS = re.compile(r"(?:(Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?([0-9]{2}:[0-9]{2})")
_ONCE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2})?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def moment(text: str) -> Moment:
    """Return what a text says; raise `ValueError` that tells how to write one."""
    recurs = _RECURS.fullmatch(text)
    try:
        if recurs:
            day = _DAYS.index(recurs[1]) if recurs[1] else None
            return Moment(at=time.fromisoformat(recurs[2]), weekday=day)
        if _ONCE.fullmatch(text):
            once = datetime.fromisoformat(text)
            return Moment(at=once.time(), day=once.date())
    except ValueError:
        pass
    raise ValueError(_HOW)


At = Annotated[
    str,
    Field(
        json_schema_extra={
            "pattern": f"^(?:{_RECURS.pattern}|{_ONCE.pattern})$",
            "examples": ["Fri 17:00", "22:00", "2026-12-20 18:00"],
        }
    ),
]


class FreezeSection(Section):
    """A time in which nothing is proposed or run; who may break the glass can let one request through."""

    name: Name
    """What people are told it is."""
    begins: At = Field(alias="from")
    """A day of each week with a time, a time of each day, or a date with or without a time."""
    ends: At = Field(alias="to")
    """Of the same kind as `from`."""
    zone: str = "UTC"
    """Whose clocks count, such as Europe/Berlin."""
    spares: Names = Field(default=(), alias="except")
    """Risks that go on."""

    @field_validator("begins", "ends")
    @classmethod
    def _is_a_moment(cls, text: str) -> str:
        moment(text)
        return text

    @field_validator("zone")
    @classmethod
    def _is_known(cls, zone: str) -> str:
        zone_of(zone)
        return zone

    @model_validator(mode="after")
    def _fit_together(self) -> "FreezeSection":
        first, last = moment(self.begins), moment(self.ends)
        kinds = [(one.day is None, one.weekday is None) for one in (first, last)]
        if kinds[0] != kinds[1]:
            raise ValueError("`from` and `to` have to be of the same kind")
        if self.begins == self.ends or (first.day and last.day and _of(last) <= _of(first)):
            raise ValueError("`to` has to come after `from`")
        return self

    @property
    def window(self) -> Window:
        """Return it as what decides."""
        return Window(
            name=self.name,
            begins=moment(self.begins),
            ends=moment(self.ends),
            zone=zone_of(self.zone),
            spares=frozenset(self.spares),
        )


def _of(one: Moment) -> tuple[date | None, time]:
    return one.day, one.at


def default_risks() -> dict[str, RiskSection]:
    """Return the rules of the risks that there are without any configuration."""
    return {
        "low": RiskSection(quorum=1, requester_may_vote=True, expires=timedelta(hours=24)),
        "medium": RiskSection(quorum=1, expires=timedelta(hours=8)),
        "high": RiskSection(quorum=2, expires=timedelta(hours=4)),
    }


def _close(schema: dict[str, Any]) -> None:
    """Have the schema say how a risk may be called."""
    schema["patternProperties"] = {
        f"^(?!freeze$){_NAME.pattern}$": schema.pop("additionalProperties")
    }


class ApprovalsSection(Section):
    """How many must agree, by the `risk` of a runbook: low, medium, high or a name of yours."""

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_extra=_close)
    __pydantic_extra__: dict[str, RiskSection] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]  # how pydantic types them

    freeze: tuple[FreezeSection, ...] = Field(default=(), strict=False)
    """When nothing is proposed or run."""

    @model_validator(mode="after")
    def _fit_together(self) -> "ApprovalsSection":
        named = [one.name for one in self.freeze]
        if len(set(named)) != len(named):
            raise ValueError("two entries of `freeze` have the same name")
        for name in self.model_extra or {}:
            if not _NAME.fullmatch(name):
                raise ValueError(
                    "the name of a risk has letters, digits, dots, hyphens and underscores alone"
                )
        for name, risk in self.risks.items():
            if "escalate_at" in risk.model_fields_set and not risk.escalate_to:
                raise ValueError(
                    f"`escalate_at` of {name} calls nobody: add `escalate_to` with groups, or remove it"
                )
        unknown = {risk for one in self.freeze for risk in one.spares} - set(self.risks)
        if unknown:
            raise ValueError(f"`except` of a freeze names no risk that there is: {min(unknown)}")
        return self

    @property
    def risks(self) -> dict[str, Any]:
        """Return the rules of all risks, those that there are anyway first."""
        return {**default_risks(), **(self.model_extra or {})}
