"""The command grammar: what binds to what, and that everything ambiguous is refused."""

import shlex
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from core.canonical import Json
from core.commands import after_mark, check, is_stop, parse, typed, usage
from core.errors import Incorrect, Invalid
from core.runbooks import tool
from core.tools import Tool, Toolbox, Work
from core.transcript import ToolCall

RESTART = """
name: restart-web
summary: Restart the web service (writes its name to the ledger).
effect: write
risk: medium
params:
  env: {type: string, enum: [staging, prod]}
phrases: ["restart web in {env}"]
steps:
  - run: [python3, append.py, ledger.txt, "web-{env}"]
"""
SHOW = """
name: show-ledger
summary: Show the last lines of the ledger.
effect: read
steps:
  - run: [tail, -n, "5", ledger.txt]
"""
SLOW = """
name: slow-append
summary: Append a word after some seconds; for stopping and crashing.
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
  seconds: {type: integer, minimum: 1, maximum: 60}
steps:
  - run: [python3, append.py, ledger.txt, "{word}", "{seconds}"]
"""
NOTE = """
name: note
summary: Write a note.
params:
  level: {type: integer, enum: [1, 2]}
  loud: {type: boolean, default: false}
  ratio: {type: number, default: 0.5}
  text: {type: string}
steps:
  - run: [echo, "{text}"]
"""


def box(*texts: str) -> Toolbox:
    return Toolbox.of(tool(text, "a.yml") for text in texts)


TOOLS = box(RESTART, SHOW, SLOW, NOTE)
NUL = "\0"

BINDINGS: list[tuple[str, dict[str, Json]]] = [
    ("show-ledger", {}),
    ("  show-ledger  ", {}),
    ("restart-web prod", {"env": "prod"}),
    ("restart-web\tprod\n", {"env": "prod"}),
    ("restart-web\u00a0prod", {"env": "prod"}),
    ("restart-web env=prod", {"env": "prod"}),
    ("restart-web --env=prod", {"env": "prod"}),
    ("restart-web 'prod'", {"env": "prod"}),
    ("restart-web env='prod'", {"env": "prod"}),
    ('restart-web env=pr"od"', {"env": "prod"}),
    ("restart-web", {}),
    ("slow-append alpha 5", {"word": "alpha", "seconds": 5}),
    ("slow-append seconds=5 alpha", {"word": "alpha", "seconds": 5}),
    ("slow-append 5 word=alpha", {"word": "alpha", "seconds": 5}),
    ("slow-append alpha --seconds=5", {"word": "alpha", "seconds": 5}),
    ("slow-append alpha -5", {"word": "alpha", "seconds": -5}),
    ("slow-append alpha 007", {"word": "alpha", "seconds": 7}),
    ("slow-append alpha", {"word": "alpha"}),
    ("slow-append ALPHA", {"word": "ALPHA"}),
    ("slow-append ''", {"word": ""}),
    ("slow-append word=", {"word": ""}),
    ('slow-append "seconds=5"', {"word": "seconds=5"}),
    ('slow-append "--seconds"', {"word": "--seconds"}),
    ("slow-append word=a=b", {"word": "a=b"}),
    ("slow-append http://x/?a=b", {"word": "http://x/?a=b"}),
    (r"slow-append a\ b", {"word": "a b"}),
    ("slow-append -x", {"word": "-x"}),
    ("slow-append \u201calpha\u201d", {"word": "\u201calpha\u201d"}),
    ("note 1 true 0.25 x", {"level": 1, "loud": True, "ratio": 0.25, "text": "x"}),
    ("note 2 false -3 x", {"level": 2, "loud": False, "ratio": -3.0, "text": "x"}),
    ("note --loud 1 0.25 x", {"level": 1, "loud": True, "ratio": 0.25, "text": "x"}),
    ("note --loud=false 1 1 x", {"level": 1, "loud": False, "ratio": 1.0, "text": "x"}),
    ("note loud=true level=1 ratio=1 x", {"level": 1, "loud": True, "ratio": 1.0, "text": "x"}),
    (
        "note 1 --loud ratio=1 disk is full",
        {"level": 1, "loud": True, "ratio": 1.0, "text": "disk is full"},
    ),
    (
        'note 1 true 1 "disk  is" full',
        {"level": 1, "loud": True, "ratio": 1.0, "text": "disk  is full"},
    ),
    ("note level=1 text='disk is full'", {"level": 1, "text": "disk is full"}),
    ("restart-web staging", {"env": "staging"}),
    ('restart-web "staging"', {"env": "staging"}),
    ("slow-append 'al pha' 5", {"word": "al pha", "seconds": 5}),
    ("slow-append word='al pha' seconds=5", {"word": "al pha", "seconds": 5}),
    ("slow-append --word=alpha --seconds=5", {"word": "alpha", "seconds": 5}),
    ("slow-append seconds=5 word=alpha", {"word": "alpha", "seconds": 5}),
    ("slow-append alpha '5'", {"word": "alpha", "seconds": 5}),
    ("slow-append alpha 0", {"word": "alpha", "seconds": 0}),
    ("slow-append alpha -0", {"word": "alpha", "seconds": 0}),
    ("slow-append 'it''s' 5", {"word": "its", "seconds": 5}),
    ('slow-append "it\'s" 5', {"word": "it's", "seconds": 5}),
    ("slow-append a;b 5", {"word": "a;b", "seconds": 5}),
    ("slow-append $(id) 5", {"word": "$(id)", "seconds": 5}),
    ("slow-append `id` 5", {"word": "`id`", "seconds": 5}),
    ("slow-append {word} 5", {"word": "{word}", "seconds": 5}),
    ("slow-append \u00e9t\u00e9 5", {"word": "\u00e9t\u00e9", "seconds": 5}),
    ("slow-append seconds=5", {"seconds": 5}),
    ("slow-append", {}),
    ("note", {}),
    ("note 1", {"level": 1}),
    ("note text=full", {"text": "full"}),
    ("note ratio=-0.5", {"ratio": -0.5}),
    ("note --loud=true", {"loud": True}),
    ("note loud=false text=x", {"loud": False, "text": "x"}),
    (
        "note 1 true 0 disk at 90% on web-1",
        {"level": 1, "loud": True, "ratio": 0.0, "text": "disk at 90% on web-1"},
    ),
    ("note 1 true 0 'a = b'", {"level": 1, "loud": True, "ratio": 0.0, "text": "a = b"}),
]

MISUSES = [
    "restart-web PROD",
    "restart-web Prod",
    "restart-web env=production",
    "restart-web prod staging",
    "restart-web prod env=staging",
    "restart-web env=prod env=prod",
    "restart-web enb=prod",
    "restart-web \u0435nv=prod",
    "restart-web --force",
    "restart-web --",
    "restart-web --env prod",
    "restart-web --env",
    "restart-web 'prod",
    'restart-web "prod',
    "restart-web prod\\",
    "restart-web prod\nrestart-web staging",
    f"restart-web {NUL}prod",
    "restart-web \u202eprod",
    "show-ledger 5",
    "slow-append alpha five",
    "slow-append alpha \u0665",
    "slow-append alpha 5.0",
    "slow-append alpha +5",
    "slow-append alpha 1e3",
    "slow-append alpha 9007199254740992",
    "slow-append alpha " + "9" * 5000,
    "slow-append alpha 5 more",
    "note 3 true 1 x",
    "note 01 true 1 x",
    "note 1 yes 1 x",
    "note 1 True 1 x",
    "note 1 true .5 x",
    "note 1 true nan x",
    "note 1 true 1 disk full --level",
    "note 1 true 1 full --loud=false",
    "note 1 ratio=1 true disk full loud=true",
    "note --text",
    "note level=1 ratio=1 loud=true disk\nfull",
    "note level=1 text=" + "y" * 12_000,
]


def test_c27_the_table_of_bindings_has_sixty_lines() -> None:
    assert len({text for text, _ in BINDINGS}) >= 60


@pytest.mark.parametrize(("text", "bound"), BINDINGS)
def test_c27_a_command_binds_its_arguments(text: str, bound: dict[str, Json]) -> None:
    call = parse(text, TOOLS)
    assert call is not None
    assert call == ToolCall(id="call_1", tool=text.split(maxsplit=1)[0], arguments=bound)
    assert {n: type(v) for n, v in call.arguments.items()} == {n: type(v) for n, v in bound.items()}


@pytest.mark.parametrize("text", MISUSES)
def test_a_misused_command_is_refused_with_a_next_step(text: str) -> None:
    with pytest.raises(Incorrect) as caught:
        parse(text, TOOLS)
    assert f"Write it like this: {text.split(maxsplit=1)[0]}" in caught.value.shown
    assert caught.value.shown.isprintable()


def test_a_refusal_names_the_argument_and_never_the_value() -> None:
    with pytest.raises(Incorrect) as caught:
        parse("restart-web env=hunter2", TOOLS)
    assert caught.value.shown == (
        "restart-web: `env`: it must be exactly one of staging, prod. "
        "Write it like this: restart-web env=staging|prod"
    )


@pytest.mark.parametrize(
    ("text", "named"), [("restart-web enb=1", True), ("restart-web \u0435nv=1", False)]
)
def test_an_unknown_name_is_repeated_only_in_ascii(text: str, named: bool) -> None:  # noqa: FBT001
    with pytest.raises(Incorrect) as caught:
        parse(text, TOOLS)
    assert ("`enb`" in caught.value.shown) == named
    assert caught.value.shown.isascii()


@pytest.mark.parametrize(
    "text", ["", "  ", "nice work", "Show-ledger", "'show-ledger'", "\ud800", NUL]
)
def test_what_begins_with_no_known_word_is_no_command(text: str) -> None:
    assert parse(text, TOOLS) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("!show-ledger 1", "show-ledger 1"),
        ("!nice work", "nice work"),
        ("! show-ledger", None),
        ("!!show-ledger", None),
        ("!", None),
        ("!1", None),
        ("show-ledger", None),
        (" !show-ledger", None),
        ("", None),
    ],
)
def test_a_mark_followed_by_a_letter_begins_a_command(text: str, rest: str | None) -> None:
    assert after_mark(text) == rest


@given(st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]))))
def test_quoted_words_arrive_as_they_were(words: list[str]) -> None:
    tools = box(
        "{name: say, summary: Say., params: {text: {type: string}}, steps: [{run: [echo]}]}"
    )
    quoted = " ".join(["'" + word.replace("'", "'\\''") + "'" for word in words])
    call = parse(f"say {quoted}", tools)
    assert call is not None
    assert call.arguments == ({"text": " ".join(words)} if words else {})
    assert shlex.split(quoted) == words


@given(st.text(st.sampled_from("ab='\"\\ -\t\n\0\ud800\u00e9")))
def test_garbage_binds_or_is_refused(text: str) -> None:
    with suppress(Incorrect):
        assert parse(f"note {text}", TOOLS) is not None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (RESTART, "restart-web env=staging|prod"),
        (SHOW, "show-ledger"),
        (SLOW, "slow-append word=TEXT seconds=INTEGER"),
        (NOTE, "note level=1|2 [loud=true|false] [ratio=NUMBER] text=TEXT"),
    ],
)
def test_usage_shows_how_the_command_is_written(text: str, written: str) -> None:
    assert usage(tool(text, "a.yml")) == written


def test_typing_a_value_for_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(Incorrect):
        typed(TOOLS["show-ledger"], "lines", "5")


def test_sound_signatures_pass_the_check() -> None:
    check(TOOLS)


@pytest.mark.parametrize("word", ["approve", "ask", "deny", "help", "stop"])
def test_a_tool_named_like_a_word_of_our_own_is_refused_at_the_start(word: str) -> None:
    with pytest.raises(Invalid, match=f"`{word}`"):
        check(box(SHOW.replace("show-ledger", word)))


def test_two_tools_with_one_command_word_are_refused_at_the_start() -> None:
    with pytest.raises(Invalid, match="`show-ledger`"):
        check(Toolbox((tool(SHOW, "a.yml"), tool(SHOW, "b.yml"))))


def test_two_choices_that_are_spelt_alike_are_refused_at_the_start() -> None:
    with pytest.raises(Invalid, match="`env`"):
        check(
            box(
                RESTART.replace(
                    "type: string, enum: [staging, prod]", "type: number, enum: [1, 1.0]"
                )
            )
        )


class Listing(BaseModel):
    files: bytes = Field(alias="files")


def test_a_parameter_that_nobody_can_type_is_refused_at_the_start() -> None:
    odd = Tool(
        name="delete",
        summary="Delete files.",
        definition="",
        parameters=Listing,
        defaults={},
        expand=lambda _: Work(steps=()),
    )
    with pytest.raises(Invalid, match="`files`"):
        check(Toolbox((odd,)))


@pytest.mark.parametrize("text", ["stop", "!stop", "/stop", " Stop\n", "STOP"])
def test_c16_the_word_alone_stops(text: str) -> None:
    assert is_stop(text)


@pytest.mark.parametrize(
    "text", ["stop the deploy", "/stopwatch", "!stop web", "st\u200bop", "stop.", "", "don't stop"]
)
def test_c16_p03_more_or_less_than_the_word_is_a_message(text: str) -> None:
    assert not is_stop(text)
