"""What docs/slack.md says of Slack is what the code says and asks for."""

import re
from pathlib import Path

from adapters.slack.scopes import SCOPES
from adapters.slack.slashes import COMMANDS
from core import chat_commands, events, principals
from tests.docs import thread_words
from tests.sentences import explained, unsaid

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
    thread_words.all_mean_something(PAGE, HEARD)


def test_every_sentence_that_is_explained_is_one_of_the_codes() -> None:
    sentences = explained(PAGE)
    assert len(sentences) > 15
    assert unsaid(sentences, "adapters/slack") == []
