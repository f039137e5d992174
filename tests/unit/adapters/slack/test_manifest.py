"""The manifest is what the code takes in and calls, and what Slack's own schema allows."""

import ast
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from adapters.slack import manifest
from adapters.slack.scopes import SCOPES
from adapters.slack.slashes import COMMANDS
from tests.sayso import ROOT, Sayso

SCHEMA = ROOT.parent / "shared" / "standins" / "manifest.schema.2.0.0.json"
ADDRESS = "https://sayso.example.org"


def _texts() -> set[str]:
    """Return every text that stands anywhere in the code of the adapter, but in the manifest's."""
    files = [f for f in (ROOT / "adapters" / "slack").glob("*.py") if f.name != "manifest.py"]
    return {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _read(text: str) -> Any:  # noqa: ANN401 - YAML of any shape
    return yaml.safe_load(text)


def test_c62_the_manifest_in_the_repository_is_the_one_that_is_made_now() -> None:
    assert (ROOT / "manifest.yml").read_text("utf-8") == manifest.made()


@pytest.mark.skipif(not SCHEMA.exists(), reason="Slack's schema is not part of the project")
@pytest.mark.parametrize("address", [None, ADDRESS])
def test_slacks_own_schema_allows_it(address: str | None) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    judge: Any = jsonschema.Draft7Validator(schema)
    judge.validate(_read(manifest.made(address)))


def test_every_command_is_registered_and_escaped() -> None:
    commands = _read(manifest.made())["features"]["slash_commands"]
    assert tuple(one["command"] for one in commands) == COMMANDS
    assert all(one["should_escape"] for one in commands)


def test_every_method_that_the_code_calls_has_its_scopes_and_no_other_is_declared() -> None:
    apis = ("agents.", "apps.", "assistant.", "auth.", "bots.", "chat.", "conversations.", "files.",
            "reactions.", "team.", "usergroups.", "users.", "views.")  # fmt: skip
    called = {
        text
        for text in _texts()
        if text.startswith(apis) and text[-1:].isalpha() and " " not in text
    }
    assert called - {"apps.connections.open"} == set(manifest.METHODS)


def test_the_scopes_are_exactly_those_that_events_commands_and_methods_take() -> None:
    needed = frozenset[str]().union(*manifest.EVENTS.values(), *manifest.METHODS.values())
    # Posting to a person opens the direct messages with them.
    assert needed | {"commands", "im:write"} == set(SCOPES)


def test_every_event_is_read_somewhere() -> None:
    names = {name.split(".")[0] for name in manifest.EVENTS}
    assert names <= _texts()


def test_over_http_every_way_in_is_at_the_address(tmp_path: Path) -> None:
    del tmp_path
    made = _read(manifest.made(ADDRESS + "/"))
    url = f"{ADDRESS}/slack/events"
    assert made["settings"]["socket_mode_enabled"] is False
    assert made["settings"]["event_subscriptions"]["request_url"] == url
    assert made["settings"]["interactivity"]["request_url"] == url
    assert {one["url"] for one in made["features"]["slash_commands"]} == {url}


def test_the_command_prints_it_without_a_configuration(sayso: Sayso) -> None:
    (sayso.folder / "sayso.yml").unlink()
    done = sayso.run("manifest", plain=True)
    assert (done.code, done.out) == (0, manifest.made())
    over_http = sayso.run("manifest", "--url", ADDRESS)
    assert over_http.json["settings"]["socket_mode_enabled"] is False
    assert sayso.run("manifest", "--url", "http://x").code == 2
