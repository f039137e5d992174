"""C93: no setting, variable, option or default skips an approval."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bot import schemas, settings
from bot.cli import cli
from bot.settings import AUTHORITY, Settings
from core.errors import Invalid
from core.runbooks import Runbook
from core.tools import Effect

OPEN = {
    "storage": "where everything is kept: an approval in another database is none in this one",
    "model": "who thinks: whatever it says, its plans wait for people",
    "defaults": "arguments that are filled in before the hash, and marked on the card",
}
"""Sections that a variable may set, and why none of them can skip an approval."""
SKIPS = re.compile(
    r"\b(yes|force|unattended|auto\w*|skip\w*|bypass\w*|assume\w*|non-?interactive|no-?(confirm|ask|prompt)\w*)\b",
    re.IGNORECASE,
)
"""How other programs call what answers in a person's place."""


def groups(group: click.Group = cli) -> Iterator[click.Command]:
    """Yield every command and group."""
    yield group
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from groups(command)
        else:
            yield command


def test_c93_every_section_is_the_files_alone_or_was_looked_at() -> None:
    assert set(Settings.model_fields) == {*AUTHORITY, *OPEN}


@pytest.mark.parametrize("section", AUTHORITY)
def test_c93_a_section_about_authority_takes_nothing_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    file = tmp_path / "sayso.yml"
    file.write_text("sandbox: {backend: none}\n")
    for name in (section.upper(), f"{section}__x", f"{section.title()}__A__B"):
        monkeypatch.setenv(f"SAYSO_{name}", "{}")
        with pytest.raises(Invalid, match=rf"^SAYSO_{name}: who may decide .* in sayso\.yml alone"):
            settings.read(file)
        monkeypatch.delenv(f"SAYSO_{name}")


def test_c93_no_help_offers_to_answer_in_a_persons_place() -> None:
    with click.Context(cli) as context:
        helps = {command.name: command.get_help(context) for command in groups()}
    assert len(helps) > 20
    assert {name: SKIPS.findall(text) for name, text in helps.items() if SKIPS.search(text)} == {}


def test_c93_no_name_in_a_file_offers_it_either() -> None:
    made = [schemas.schema(what) for what in ("runbook", "settings")]
    models = [model for one in made for model in (one, *one["$defs"].values())]
    names = {name for model in models for name in model.get("properties", {})}
    assert len(names) > 50
    assert [name for name in names if SKIPS.search(name.replace("_", "-"))] == []


def test_c93_by_default_nobody_may_anything_and_nothing_runs(tmp_path: Path) -> None:
    file = tmp_path / "sayso.yml"
    file.write_text("")
    found = settings.read(file)
    assert (found.policy.rules, found.sandbox.backend, found.console.allow_as) == (
        (),
        "bwrap",
        False,
    )
    assert [(name, one.quorum, one.requester_may_vote) for name, one in found.approvals.risks.items()] == [
        ("low", 1, True), ("medium", 1, False), ("high", 2, False),
    ]  # fmt: skip
    runbook = Runbook.model_validate({"name": "x", "summary": "s", "steps": [{"run": ["ls"]}]})
    assert (runbook.effect, runbook.risk) == (Effect.WRITE, "medium")


@pytest.mark.parametrize("votes", ["0", "-1", "no", "null", "false", "none"])
def test_c93_no_rule_can_ask_for_nobodys_vote(tmp_path: Path, votes: str) -> None:
    file = tmp_path / "sayso.yml"
    file.write_text(f"approvals: {{low: {{quorum: {votes}}}}}\n")
    with pytest.raises(Invalid, match=r"^sayso\.yml:1: approvals\.low\.quorum: "):
        settings.read(file)
