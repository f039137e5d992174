"""What docs/slack.md says of Slack is what the code says and asks for."""

import ast
import re
from functools import cache
from pathlib import Path

from adapters.slack.scopes import SCOPES
from adapters.slack.slashes import COMMANDS
from core import chat_commands, events, principals

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "slack.md").read_text("utf-8")
HEARD = chat_commands.Heard(
    identity=principals.Identity(platform="slack", workspace="T1", user="U1"),
    place=events.Place(platform="slack", workspace="T1", channel="C1", thread="1.1"),
    in_thread=True,
)


def test_every_scope_is_told_with_what_it_is_for() -> None:
    [table] = re.findall(r"<!-- scopes -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    rows = re.findall(r"^\| `([\w:]+)` \| (.*) \|$", table, re.MULTILINE)
    assert dict(rows) == dict(SCOPES)


def test_it_is_ten_steps() -> None:
    steps = re.findall(r"^(\d+)\. \*\*", PAGE, re.MULTILINE)
    assert [int(number) for number in steps] == [*range(1, 11)]


def test_every_slash_command_is_told_and_no_other() -> None:
    assert {one for one in re.findall(r"`(/\w+)", PAGE) if one != "/invite"} - {"/slack"} == {
        *COMMANDS
    }


def test_every_word_that_is_told_means_something_in_a_thread() -> None:
    told = set(re.findall(r"`!(\w+)", PAGE)) - {"restart"}
    assert told == {"help", "requests", "runs", "approve", "deny", "again"}
    assert all(chat_commands.read(f"!{word}", HEARD) for word in told)


@cache
def said() -> str:
    """Return every text in the code, with … where something is filled in."""
    found = list[str]()
    for package in ("adapters/slack", "bot", "core", "approvals"):
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                match node:
                    case ast.Constant(value=str(text)):
                        found.append(text)
                    case ast.JoinedStr(values=parts):
                        found.append("".join(map(_part, parts)))
                    case _:
                        pass
    return "\n".join(found)


def _part(part: ast.expr) -> str:
    is_text = isinstance(part, ast.Constant) and isinstance(part.value, str)
    return str(part.value) if is_text and isinstance(part, ast.Constant) else "…"


def test_every_sentence_that_is_explained_is_one_of_the_codes() -> None:
    [table] = re.findall(r"^\| it says \|.*?\n\|---\|---\|\n(.*)", PAGE, re.DOTALL | re.MULTILINE)
    sentences = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(sentences) > 15
    parts = [part.strip() for sentence in sentences for part in sentence.split("…")]
    assert [part for part in parts if part and part not in said()] == []
