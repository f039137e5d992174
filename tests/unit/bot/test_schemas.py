"""What an editor is told of a file is what the loader says about its shape."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bot import schemas, settings
from bot.schemas import What
from bot.settings import Settings
from core import documents
from core.errors import Invalid
from tests.sayso import Sayso
from tests.unit.bot.test_wrong_shapes import INSIDE, NESTED, RUNBOOK, SHAPES, refusal, written

ROOT = Path(__file__).parents[3]
FILES: dict[What, str] = {
    "runbook": "docs/schema/runbook.schema.json",
    "settings": "docs/schema/sayso.schema.json",
}
RUNBOOKS = [
    *sorted((ROOT / "runbooks").glob("*.yml")),
    *sorted((ROOT / "tests/fixtures/contract/runbooks").glob("*.yml")),
]
SETTINGS = [ROOT / "runbooks/demo/sayso.yml", ROOT / "tests/fixtures/contract/sayso.yml"]


@cache
def validator(what: What) -> Draft202012Validator:
    return Draft202012Validator(schemas.schema(what))


def fits(what: What, text: str) -> bool:
    """Whether a file fits the schema; one that is no YAML of ours does not."""
    try:
        value: Any = documents.load(text, "x.yml").value
    except Invalid:
        return False
    whole: Any = {} if value is None else value
    return validator(what).is_valid(whole)  # pyright: ignore[reportUnknownMemberType]  # in its stubs


@pytest.mark.parametrize("what", FILES)
def test_the_checked_in_schema_is_what_is_made_now(what: What) -> None:
    file = ROOT / FILES[what]
    assert json.loads(file.read_text("utf-8")) == schemas.schema(what), (
        f"Write it again: sayso schema {what} >{FILES[what]}"
    )


@pytest.mark.parametrize("what", FILES)
def test_a_schema_is_one_of_its_dialect(what: What) -> None:
    Draft202012Validator.check_schema(schemas.schema(what))


def properties(what: What) -> dict[str, dict[str, Any]]:
    made = schemas.schema(what)
    models = {"": made, **made["$defs"]}
    return {
        f"{model}.{name}": value
        for model, one in models.items()
        for name, value in one.get("properties", {}).items()
    }


@pytest.mark.parametrize("what", FILES)
def test_every_name_in_a_file_is_described(what: What) -> None:
    found = properties(what)
    assert len(found) > 20
    assert [n for n, v in found.items() if not ("description" in v or "$ref" in str(v))] == []


@pytest.mark.parametrize("what", FILES)
def test_no_name_that_the_loader_does_not_know_fits(what: What) -> None:
    made = schemas.schema(what)
    models = {what: made, **{n: m for n, m in made["$defs"].items() if "properties" in m}}
    open_ones = [n for n, m in models.items() if m.get("additionalProperties") is not False]
    assert open_ones == (["ToolsetsSection"] if what == "settings" else [])


@pytest.mark.parametrize("file", RUNBOOKS, ids=str)
def test_every_runbook_of_ours_fits(file: Path) -> None:
    assert fits("runbook", file.read_text("utf-8"))


@pytest.mark.parametrize("file", SETTINGS, ids=str)
def test_every_configuration_of_ours_fits(file: Path) -> None:
    assert fits("settings", file.read_text("utf-8"))


NOT_OF_SHAPE = re.compile(
    r"is not one of its params|no value fits|this is (not a|no) regular expression|names nobody"
    r"|the choice|there is no tenant|found in every text"
)
"""What the loader says about how values fit together: more than can be said about one of them."""
SHAPED_LATER = re.compile(r"toolsets: \{(other|x): ")
"""What `settings.read` takes and the toolset's own configuration then refuses."""


def read(file: Path) -> str | None:
    """Return why these are no settings; None where they are."""
    try:
        settings.read(file)
    except Invalid as error:
        return error.shown
    return None


@pytest.mark.parametrize("path", [*Settings.model_fields, *NESTED])
def test_what_the_loader_refuses_for_its_shape_does_not_fit_the_settings(
    tmp_path: Path, path: str
) -> None:
    file = tmp_path / "sayso.yml"
    for shape in SHAPES:
        text = written(path, shape)
        file.write_text(text)
        said = read(file)
        agreed(text, said, fit=fits("settings", text))


@pytest.mark.parametrize("path", [*RUNBOOK, *INSIDE])
def test_what_the_loader_refuses_for_its_shape_does_not_fit_a_runbook(path: str) -> None:
    top, *_ = path.split(".")
    others = "".join(f"{name}: {value}\n" for name, value in RUNBOOK.items() if name != top)
    for shape in SHAPES:
        text = others + written(path, shape)
        agreed(text, refusal(text), fit=fits("runbook", text))


def agreed(text: str, said: str | None, *, fit: bool) -> None:
    if said is None:
        assert fit or SHAPED_LATER.match(text), text
    elif not NOT_OF_SHAPE.search(said):
        assert not fit, (text, said)


@pytest.mark.parametrize("what", FILES)
def test_the_command_prints_it_where_there_is_no_configuration_yet(
    empty: Sayso, what: What
) -> None:
    (empty.folder / "sayso.yml").unlink()
    plain, as_json = empty.run("schema", what, plain=True), empty.run("schema", what)
    assert (plain.code, plain.err) == (0, "")
    assert plain.out == (ROOT / FILES[what]).read_text("utf-8")
    assert as_json.json == schemas.schema(what)
