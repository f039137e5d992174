"""Plans as YAML files: written so that they propose the same plan again, to the same hash."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from core import canonical, documents, plans
from core.errors import Invalid, Refused
from core.plans import Plan

_LARGEST = 10_000_000


def exported(name: str, body: str) -> dict[str, Any]:
    """Return what a plan's file holds; raise `Refused` where the stored plan is not the one named."""
    plan = plans.read(body)
    if plan.id != name:
        raise Refused("The stored plan is not the one that was shown under this id.")
    return {"plan_sha256": plan.sha256, "plan": canonical.parse(plan.canonical)}


def written(values: Mapping[str, Any]) -> str:
    """Return the file's text."""
    dumped: str = yaml.safe_dump(dict(values), sort_keys=False, width=100)  # pyright: ignore[reportUnknownMemberType]
    return dumped.rstrip("\n")


def read(file: Path) -> Plan:
    """Read a plan back; raise `Invalid` for a file that is none, `Refused` for one that was edited."""
    unreadable = Invalid(f"{file.name!a} cannot be read. Name one that `sayso plan export` wrote.")
    if not file.is_file() or file.stat().st_size > _LARGEST:
        raise unreadable
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable from error
    document = documents.load(text, file.name)
    if not isinstance(document.value, Mapping) or set(document.value) != {"plan", "plan_sha256"}:
        raise document.error(
            (), "this is not an exported plan. Write one with `sayso plan export ID`."
        )
    plan = plans.from_values(document.value["plan"])
    if plan.sha256 != document.value["plan_sha256"]:
        raise Refused(
            "This plan was edited after it was exported. Export it again, or ask in words."
        )
    return plan
