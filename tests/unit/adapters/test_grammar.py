"""The model that is none: it acts on exact texts, helps with all others and gives nothing away."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.grammar import HELP, LISTED, NO_APPROVAL, NOTHING, GrammarModel, move, suggestions
from core.ports import Model
from core.prompt import Prompt
from core.runbooks import tool
from core.tools import Toolbox
from core.transcript import Called, Entry, Heard, Result, Returned, Say, ToolCall, Use

APPEND = """
name: append-word
summary: Append one word to the ledger.
effect: write
risk: low
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
phrases: ["append {word}"]
steps:
  - run: [python3, append.py, ledger.txt, "{word}"]
"""
DEPLOY = """
name: deploy
summary: Deploy a version in two steps.
effect: write
risk: high
params:
  version: {type: string, pattern: "^v[0-9]+$"}
phrases: ["deploy {version}"]
steps:
  - run: [python3, append.py, ledger.txt, "build-{version}"]
"""
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
phrases: ["show ledger"]
steps:
  - run: [tail, -n, "5", ledger.txt]
"""
SLOW = """
name: slow-append
summary: Append a word after some seconds; for stopping and crashing.
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
  seconds: {type: integer, minimum: 1, maximum: 60}
phrases: ["slow append {word} {seconds}"]
steps:
  - run: [python3, append.py, ledger.txt, "{word}", "{seconds}"]
"""


def box(*texts: str) -> Toolbox:
    return Toolbox.of(tool(text, "a.yml") for text in texts)


TOOLS = box(APPEND, DEPLOY, RESTART, SHOW, SLOW)
FORMS = (
    "append {word}|deploy {version}|restart web in {env}|show ledger|slow append {word} {seconds}"
)


def heard(text: str) -> Heard:
    return Heard(speaker="alice", text=text)


def said(text: str, tools: Toolbox = TOOLS) -> Say:
    found = move([heard(text)], tools)
    assert isinstance(found, Say)
    return found


async def test_it_is_a_model_and_acts_on_an_exact_text() -> None:
    model: Model = GrammarModel()
    call = ToolCall(id="call_1", tool="restart-web", arguments={"env": "prod"})
    assert await model.next_move([heard("restart web in prod")], Prompt(tools=TOOLS)) == Use(
        calls=(call,)
    )


def test_only_what_was_heard_last_is_acted_on() -> None:
    entries = [heard("restart web in prod"), heard("show ledger")]
    call = ToolCall(id="call_1", tool="show-ledger", arguments={})
    assert move(entries, TOOLS) == Use(calls=(call,))
    assert isinstance(move([heard("restart web in prod"), heard("no, wait")], TOOLS), Say)


def test_calls_of_one_turn_have_ids_of_their_own() -> None:
    first = ToolCall(id="call_1", tool="show-ledger", arguments={})
    entries: list[Entry] = [
        heard("show ledger"),
        Called(calls=(first,)),
        Returned(results=(Result(call="call_1", text="alpha"),)),
        heard("show ledger"),
    ]
    found = move(entries, TOOLS)
    assert isinstance(found, Use)
    assert [call.id for call in found.calls] == ["call_2"]


def test_results_are_said_as_software_reported_them() -> None:
    results = (Result(call="call_1", text="alpha"), Result(call="call_2", text="beta"))
    entries: list[Entry] = [heard("show ledger; show ledger"), Returned(results=results)]
    assert move(entries, TOOLS) == Say(text="alpha\nbeta")


def test_a_result_that_other_arguments_could_correct_comes_with_suggestions() -> None:
    result = Result(call="call_1", text="`env`: no.", failed=True, correctable=True)
    found = move([heard("restart web in production"), Returned(results=(result,))], TOOLS)
    assert isinstance(found, Say)
    assert found.text == "`env`: no."
    assert found.suggestions[:2] == ("restart web in staging", "restart web in prod")


def test_what_could_be_corrected_is_told_in_words_for_whoever_typed_it() -> None:
    result = Result(call="call_1", text="Call it again.", failed=True, correctable=True)
    printed = Result(call="call_2", text="Call it again.")
    found = move([heard("show ledger"), Returned(results=(result, printed))], TOOLS)
    assert isinstance(found, Say)
    assert found.text == "Ask again.\nCall it again."


def test_a_result_that_only_failed_comes_without_suggestions() -> None:
    result = Result(call="call_1", text="exit code 1", failed=True)
    found = move([heard("show ledger"), Returned(results=(result,))], TOOLS)
    assert found == Say(text="exit code 1")


def test_what_is_not_understood_is_answered_with_all_that_can_be_typed() -> None:
    listed = ", ".join(f"`{form}`" for form in FORMS.split("|"))
    assert said("make me a sandwich").text == HELP + listed
    assert "No model is configured" in HELP


@pytest.mark.parametrize("text", ["help", " Help! ", "help?"])
def test_help_lists_everything_with_what_it_does(text: str) -> None:
    first, *lines = said(text).text.split("\n")
    assert first == LISTED
    assert [line.rpartition(": ")[2] for line in lines] == [tool.summary for tool in TOOLS]
    assert all(f"`{form}`" in "\n".join(lines) for form in FORMS.split("|"))
    assert said(text).suggestions == ()


def test_a_tool_without_phrases_is_listed_as_a_command() -> None:
    bare = RESTART.replace('phrases: ["restart web in {env}"]', "")
    found = said("hello", box(bare))
    assert found == Say(text=f"{HELP}`!restart-web env=staging|prod`")


def test_a_long_catalogue_is_cut_visibly() -> None:
    many = box(*(SHOW.replace("ledger", f"ledger{n:02}") for n in range(30)))
    found = said("hello", many)
    assert found.text.count("`show ledger") == 20
    assert found.text.endswith("and more: `help` lists all.")
    assert said("help", many).text.count("\n") == 30
    assert len(found.suggestions) == 5


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("do NOT restart web in prod", ["restart web in prod"]),
        ("restart the webserver please", ["restart web in staging", "restart web in prod"]),
        ("why did you restart web in prod", ["restart web in prod"]),
        ("bounce web in staging", ["restart web in staging"]),
        ("Restart PROD", ["restart web in staging", "restart web in prod"]),
        ("don't append alpha", ["append alpha"]),
        ("append alpha beta", ["restart web in staging"]),
        ("append not", ["restart web in staging"]),
        ("append now?", ["restart web in staging"]),
        ("roll out with deploy v3", ["deploy v3"]),
        ("slow append alpha for 5 s", ["restart web in staging"]),
        ("tail the ledger", ["show ledger"]),
        ("append not alpha", ["append alpha"]),
        ("greetings", ["restart web in staging", "restart web in prod", "show ledger"]),
        ("", ["restart web in staging", "restart web in prod", "show ledger"]),
    ],
)
def test_suggestions_come_with_what_was_certain_and_the_likeliest_first(
    text: str, first: list[str]
) -> None:
    found = said(text).suggestions
    assert list(found[: len(first)]) == first
    assert len(found) == len(set(found)) <= 5


def test_every_suggestion_acts_when_it_is_sent() -> None:
    for text in ("do not restart web in prod", "hello", "no append alpha", "what about deploy v3"):
        for suggestion in said(text).suggestions:
            assert isinstance(move([heard(suggestion)], TOOLS), Use)


def test_a_long_closed_choice_is_left_to_the_person() -> None:
    many = box(RESTART.replace("[staging, prod]", "[a1, b1, c1, d1]"))
    assert suggestions("restart", many) == ()
    assert suggestions("restart c1", many) == ("restart web in c1",)


def test_a_switch_is_a_closed_choice_and_braces_stay_braces() -> None:
    switch = RESTART.replace("{type: string, enum: [staging, prod]}", "{type: boolean}")
    assert suggestions("", box(switch.replace("web in", "{{web}}"))) == (
        "restart {web} true",
        "restart {web} false",
    )


@pytest.mark.parametrize("choice", ["no", "us east"])
def test_a_choice_that_no_phrase_can_take_is_not_suggested(choice: str) -> None:
    odd = box(RESTART.replace("[staging, prod]", f'["{choice}"]'))
    assert suggestions("restart", odd) == ()


def test_phrases_that_are_written_twice_are_suggested_once() -> None:
    twice = SHOW.replace('["show ledger"]', '["show ledger", "show ledger"]')
    assert suggestions("", box(twice)) == ("show ledger",)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes please",
        "LGTM",
        "lgtm \U0001f44d",
        "approve",
        "Approve!",
        "ok",
        "+1",
        ":+1:",
        "please approve",
        "approve 0123456789abcdef0123456789abcdef",
        "yes, do it",
        "go ahead",
    ],
)
def test_free_text_never_approves_and_says_what_does(text: str) -> None:
    assert said(text) == Say(text=NO_APPROVAL)
    assert "`sayso approve ID`" in NO_APPROVAL
    assert "Approve button" in NO_APPROVAL


@given(st.text())
def test_with_no_tools_the_answer_is_always_the_same(text: str) -> None:
    assert move([heard(text)], Toolbox(())) == Say(text=NOTHING)


def test_with_no_tools_nothing_that_exists_elsewhere_can_be_told_apart() -> None:
    for text in ("restart web in prod", "yes", "approve x", ""):
        assert move([heard(text)], Toolbox(())) == Say(text=NOTHING)


def test_a_forbidden_and_an_unknown_tool_read_the_same() -> None:
    mine = TOOLS.offered(lambda tool: tool.name != "deploy")
    assert said("deploy v3", mine) == said("launch v3", mine)


@pytest.mark.parametrize("entries", [[], [Called(calls=())]])
def test_where_nothing_was_heard_there_is_help(entries: Sequence[Entry]) -> None:
    found = move(entries, TOOLS)
    assert isinstance(found, Say)
    assert found.text.startswith(HELP)


@pytest.mark.parametrize(
    "text",
    ["s3cr3t/x", "append s3cr3t/x now please yes", "\x00\x1b[31ms3cr3t/x", "<@U1> s3cr3t/x"],
)
def test_the_answer_never_repeats_what_was_typed(text: str) -> None:
    found = said(text)
    assert "s3cr3t" not in found.text
    assert not any("s3cr3t" in suggestion for suggestion in found.suggestions)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "append " * 14_000,
        "\0" * 100_000,
        "\u202e" * 100_000,
        "\ud800 " * 50_000,
        "restart web in prod; " * 5_000,
        "what " * 20_000,
        "".join(map(chr, range(100_000))),
    ],
)
def test_garbage_gets_a_sentence_at_once(text: str) -> None:
    begun = time.process_time()
    found = said(text)
    assert time.process_time() - begun < 1  # a guard against blow-ups; measured in milliseconds
    assert found.text.startswith(HELP)
    assert all(suggestion.isprintable() for suggestion in found.suggestions)


@given(st.text())
def test_any_text_gets_a_move(text: str) -> None:
    found = move([heard(text)], TOOLS)
    assert isinstance(found, Use) or found.text
