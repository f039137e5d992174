"""Plans as YAML files: written so that they propose the same plan again, to the same hash."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from core import canonical, documents, plans
from core.errors import Invalid, Refused
from core.plans import Plan


def exported(body: str) -> dict[str, Any]:
    """Return what a plan's file holds."""
    plan = plans.read(body)
    return {"plan_sha256": plan.sha256, "plan": canonical.parse(plan.canonical)}


def written(values: Mapping[str, Any]) -> str:
    """Return the file's text."""
    dumped: str = yaml.safe_dump(dict(values), sort_keys=False, width=100)  # pyright: ignore[reportUnknownMemberType]
    return dumped.rstrip("\n")


def read(file: Path) -> Plan:
    """Read a plan back; raise `Invalid` for a file that is none, `Refused` for one that was edited."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(
            f"{file.name} cannot be read. Name a file that `sayso plan export` wrote."
        ) from error
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
