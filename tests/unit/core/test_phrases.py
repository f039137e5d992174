"""Phrases: they act where every word is accounted for, and on nothing else."""

import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.canonical import Json
from core.errors import Incorrect, Invalid
from core.phrases import interpret
from core.runbooks import tool
from core.tools import Toolbox
from core.words import NEGATIONS, POLITE, fold, negates

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


def saying(*phrases: str, params: str = "a b c") -> Toolbox:
    """Return one tool whose parameters take any text."""
    names = ", ".join(f"{name}: {{type: string}}" for name in params.split())
    written = ", ".join(f"'{phrase}'" for phrase in phrases)
    return box(
        f"{{name: say, summary: Say., params: {{{names}}}, phrases: [{written}], "
        "steps: [{run: [echo]}]}"
    )


TOOLS = box(APPEND, DEPLOY, RESTART, SHOW, SLOW)


def calls(text: str, tools: Toolbox = TOOLS) -> list[tuple[str, dict[str, Json]]]:
    return [(call.tool, dict(call.arguments)) for call in interpret(text, tools)]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("show ledger", "show-ledger", {}),
        ("  Show\tLEDGER \n\n", "show-ledger", {}),
        ("please show the ledger", "show-ledger", {}),
        ("restart web in prod", "restart-web", {"env": "prod"}),
        ("RESTART Web In prod", "restart-web", {"env": "prod"}),
        ("Please, restart the web in staging now, thanks!", "restart-web", {"env": "staging"}),
        ("could you please restart web in prod", "restart-web", {"env": "prod"}),
        ("append alpha", "append-word", {"word": "alpha"}),
        ("append the alpha", "append-word", {"word": "alpha"}),
        ("append and", "append-word", {"word": "and"}),
        ("append alpha;", "append-word", {"word": "alpha"}),
        ("deploy v12 thank you", "deploy", {"version": "v12"}),
        ("slow append alpha 5", "slow-append", {"word": "alpha", "seconds": 5}),
    ],
)
def test_a_text_whose_every_word_is_accounted_for_acts(
    text: str, name: str, arguments: dict[str, Json]
) -> None:
    assert calls(text) == [(name, arguments)]


HELD_OUT = [
    "",
    "hello",
    "please",
    "bounce web in prod",
    "restart the webserver in prod",
    "restart web on prod",
    "restart web prod",
    "restart web in prod and staging",
    "restart web in prod in staging",
    "restart web in prod, staging",
    "restart web in prod ASAP",
    "web restart in prod",
    "roll out v3",
    "deploy version v3",
    "deploy v3 to prod",
    "deploy v3 and v4",
    "deploy",
    "append alpha beta",
    "append alpha, append beta",
    "append alpha and",
    "then append alpha",
    "add alpha to the ledger",
    "show me everything in the ledger",
    "tail the ledger",
    "slow append alpha for 5 seconds",
    "can restart web in prod",
    "you restart web in prod",
    "> restart web in prod",
    "restart web in prod -- said bob",
    "I restart web in prod",
    "\u017fhow ledger",
    "sh\u043ew ledger",
    "show ledger\u200b",
    "append {word}",
    "append \u201calpha beta\u201d",
    "please please please please show ledger",
]


@pytest.mark.parametrize("text", HELD_OUT)
def test_x12_a_held_out_phrasing_never_acts(text: str) -> None:
    assert calls(text) == []


NEGATIVES = [
    "do NOT restart web in prod",
    "don't restart web in prod",
    "don\u2019t restart web in prod",
    "dont append alpha",
    "don't append alpha",
    "do n\u043et append alpha",
    "append alpha not",
    "append not alpha",
    "append not",
    "append NOT",
    "append never",
    "append dont",
    "append if",
    "not append alpha",
    "never append alpha",
    "no, append alpha",
    "restart web in prod? no",
    "restart web in prod?",
    "restart web in prod \uff1f",
    "append alpha?",
    "why did you restart web in prod",
    "did you restart web in prod",
    "would you restart web in prod",
    "if needed restart web in prod",
    "should we restart web in prod",
    "restart web in prod unless busy",
    "restart web without prod",
    "restart web in staging instead",
    "restart web in prod and not in staging",
    "restart web in prod; stop",
    "restart web in prod\ncancel",
    "append alpha then cancel",
    "append alpha; don't append beta",
    "stop",
    "stop append alpha",
    "cancel append alpha",
    "everything except append alpha",
]


@pytest.mark.parametrize("text", NEGATIVES)
def test_x12_a_negation_a_question_or_a_condition_never_acts(text: str) -> None:
    assert calls(text) == []


@pytest.mark.parametrize(
    "word",
    [
        "not",
        "NOT",
        "don't",
        "don\u2019t",
        "don\u02bct",
        "don`t",
        "don\u00b4t",
        "do-not",
        "do_not",
        "\uff4eot",
        "n\u200bot",
        "prod,not",
        "web?",
        "web\uff1f",
        "web?!",
        "web\u037e",
        "\u00bfweb",
        "if",
        "(no)",
        "no-cache",
        "n.o.t",
        "prod,don't",
        "prod,n\u200bot",
    ],
)
def test_a_negation_is_no_value_even_where_any_text_is(word: str) -> None:
    assert negates(word)
    assert calls(f"say {word}", saying("say {a}", params="a")) == []
    assert calls(f"say x-{word}", saying("say {a}-{b}", params="a b")) == []


@pytest.mark.parametrize("word", ["notes", "prod", "http://x/?a=b", "nobel", "stopwatch", "iffy"])
def test_what_only_looks_like_a_negation_is_a_value(word: str) -> None:
    assert calls(f"say {word}", saying("say {a}", params="a")) == [("say", {"a": word})]


def test_a_negation_is_seen_where_a_word_is_taken_apart() -> None:
    assert calls("say n-ot", saying("say {a}-{b}")) == []


@given(
    st.sampled_from(
        [
            "show ledger",
            "restart web in prod",
            "append alpha",
            "slow append alpha 5",
            "append alpha and then deploy v1",
            "please append alpha now",
        ]
    ),
    st.sampled_from(
        sorted({*NEGATIONS, "don't", "don\u2019t", "NOT", "Never", "can't", "no,", "n\u043et"})
    ),
    st.integers(0, 9),
)
def test_a_negation_put_anywhere_takes_the_action_away(text: str, word: str, at: int) -> None:
    assert calls(text)
    words = text.split()
    words.insert(at, word)
    assert calls(" ".join(words)) == []


@pytest.mark.parametrize(
    "text", ["restart web in PROD", "restart web in production", "restart web in prod."]
)
def test_a_value_that_does_not_fit_goes_to_its_tool_which_refuses_it(text: str) -> None:
    (call,) = interpret(text, TOOLS)
    with pytest.raises(Incorrect, match="`env`"):
        TOOLS[call.tool].check(call.arguments, {})


@pytest.mark.parametrize("seconds", ["61", "five", "5.0", "\u0665", "9" * 30])
def test_a_number_that_does_not_fit_goes_to_its_tool_which_refuses_it(seconds: str) -> None:
    (call,) = interpret(f"slow append alpha {seconds}", TOOLS)
    with pytest.raises(Incorrect, match="`seconds`"):
        TOOLS[call.tool].check(call.arguments, {})


def test_a_value_that_does_not_fit_takes_every_other_clause_with_it() -> None:
    assert calls("append alpha and restart web in PROD") == []


def test_a_value_that_two_phrases_refuse_goes_to_neither() -> None:
    other = APPEND.replace("append-word", "append-other")
    assert calls("append ALPHA", box(APPEND, other)) == []


def test_a_phrase_without_a_word_of_its_own_does_not_catch_what_does_not_fit() -> None:
    assert calls("v1", box(DEPLOY.replace("deploy {version}", "{version}"))) != []
    assert calls("hello", box(DEPLOY.replace("deploy {version}", "{version}"))) == []


def test_an_empty_phrase_matches_nothing() -> None:
    with pytest.raises(Invalid, match="a phrase must hold a word"):
        saying("", params="a")


def test_a_phrase_may_leave_arguments_to_defaults() -> None:
    short = RESTART.replace("restart web in {env}", "restart web")
    assert calls("restart web", box(short)) == [("restart-web", {})]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("append a1\nappend b1", ["a1", "b1"]),
        ("append a1\r\n\r\nappend b1\n", ["a1", "b1"]),
        ("append a1; append b1", ["a1", "b1"]),
        ("append a1;append b1;", ["a1", "b1"]),
        ("append a1 ; append b1", ["a1", "b1"]),
        ("append a1 and append b1", ["a1", "b1"]),
        ("append a1 then please append b1", ["a1", "b1"]),
        ("append a1 AND Then append b1", ["a1", "b1"]),
        ("append a1; and then append b1", ["a1", "b1"]),
        ("append and and append then", ["and", "then"]),
        ("append a1 and append b1; append c1", ["a1", "b1", "c1"]),
        ("append a1 and append a1", ["a1", "a1"]),
    ],
)
def test_joined_clauses_are_calls_of_one_step_in_order(text: str, words: list[str]) -> None:
    found = interpret(text, TOOLS)
    assert [call.arguments["word"] for call in found] == words
    assert [call.id for call in found] == [f"call_{n}" for n in range(1, len(words) + 1)]


def test_calls_are_numbered_from_where_the_turn_stands() -> None:
    assert [call.id for call in interpret("show ledger; show ledger", TOOLS, first=3)] == [
        "call_3",
        "call_4",
    ]


@pytest.mark.parametrize(
    ("phrases", "text"),
    [
        (["say {a}", "say {a} and say {b}"], "say x and say y"),
        (["say {a}"], "say x;"),
        (["say {a}"], "say the please"),
        (["say {a}", "say {b}"], "say x"),
        (["say {a}-{b}"], "say x-y-z"),
        (["say {a} {b}", "say {a} b1"], "say x b1"),
    ],
)
def test_a_text_with_two_readings_never_acts(phrases: list[str], text: str) -> None:
    assert calls(text, saying(*phrases)) == (
        [("say", {"a": "x;say"})] if text == "say x;say" else []
    )


def test_two_phrases_with_one_meaning_are_one_reading() -> None:
    assert calls("say x", saying("say {a}", "SAY {a}")) == [("say", {"a": "x"})]


@pytest.mark.parametrize(
    ("phrase", "text", "arguments"),
    [
        ("restart {a}-{b}", "Restart web-prod", {"a": "web", "b": "prod"}),
        ("restart ({a})", "restart (Web)", {"a": "Web"}),
        ("scale {a}x{b}!", "scale 2X3!", {"a": "2", "b": "3"}),
        ("copy {a} {a}", "copy x x", {"a": "x"}),
        ("set {{{a}}}", "set {x}", {"a": "x"}),
        ("f\u00fchre {a} aus", "F\u00dcHRE x AUS", {"a": "x"}),
    ],
)
def test_fixed_text_may_stand_around_a_value(
    phrase: str, text: str, arguments: dict[str, Json]
) -> None:
    assert calls(text, saying(phrase)) == [("say", arguments)]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("copy {a} {a}", "copy x y"),
        ("copy {a}-{a}", "copy x-y"),
        ("restart {a}-{b}", "restart -prod"),
    ],
)
def test_a_value_is_the_same_everywhere_and_never_empty(phrase: str, text: str) -> None:
    assert calls(text, saying(phrase)) == []


def test_a_closed_choice_settles_where_a_word_is_taken_apart() -> None:
    fleet = RESTART.replace("web in {env}", "{service}-{env}").replace(
        "params:", "params:\n  service: {type: string}"
    )
    assert calls("restart a-b-prod", box(fleet)) == [
        ("restart-web", {"env": "prod", "service": "a-b"})
    ]


def test_fifty_clauses_act_and_one_more_does_not() -> None:
    assert len(calls("append alpha\n" * 50)) == 50
    assert calls("append alpha\n" * 51) == []


@given(st.text(), st.sampled_from(["", "append ", "restart web in ", "slow append a1 "]))
@example("\ud800 \udfff", "")
@example("\ud800", "append ")
@example("\u202ealpha", "append ")
@example("ALPHA", "append ")
def test_whatever_acts_on_any_text_took_its_values_as_typed(text: str, before: str) -> None:
    for call in interpret(before + text, TOOLS):
        with suppress(Incorrect):
            TOOLS[call.tool].check(call.arguments, {})
            words = (before + text).replace(";", " ").split()
            assert all(str(v) in words or int(str(v)) >= 0 for v in call.arguments.values())


HEAVY = saying("say {a} {b} {c}", "say {a}-{b}-{c}", "{a} {b}", "say {a}", "{a}{b}{c}")


DEEP = saying(
    "say {a} {b} {c} {d} {e} {f} {g} {h} {i} {j}",
    "say {a}-{b}-{c}-{d}-{e}",
    params="a b c d e f g h i j",
)
SMALL_TALK = "please pls plz kindly the a an now just thanks hi hello hey " * 3


@pytest.mark.parametrize("tools", [TOOLS, HEAVY, DEEP], ids=["contract", "heavy", "deep"])
@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "append " * 14_000,
        "the " * 25_000,
        ";" * 100_000,
        "\0" * 100_000,
        "\u202e" * 100_000,
        "\ud800" * 100_000,
        "append a1;" * 10_000,
        "say " + "the " * 990,
        "say " + SMALL_TALK,
        "say " + "-" * 99,
        "say " + "-" * 11_000,
        "x" * 11_000,
        "and " * 999,
        "a and " * 490,
        "say a and " * 49,
        "\n;" * 50,
        "say a; " * 49,
        "do n't\n" * 900,
        "{a} " * 900,
        "a" * 99,
    ],
)
def test_no_text_takes_long(text: str, tools: Toolbox) -> None:
    begun = time.process_time()
    interpret(text, tools)
    assert time.process_time() - begun < 1  # a guard against blow-ups; measured in milliseconds


def test_a_text_with_very_many_readings_never_acts() -> None:
    assert calls(f"say {SMALL_TALK}", DEEP) == []
    assert calls(f"say {'-' * 80}", HEAVY) == []


def test_a_text_beyond_any_bound_never_acts() -> None:
    parts = saying("say {a}-{b}")
    assert calls(f"say {'x' * 50}-{'y' * 49}", parts) != []
    assert calls(f"say {'x' * 50}-{'y' * 50}", parts) == []
    assert calls("show ledger" + " " * 11_989) != []
    assert calls("show ledger" + " " * 11_990) == []


def test_folding_keeps_the_length_and_makes_no_ascii_letter_from_another() -> None:
    every = "".join(map(chr, range(0x20000)))
    folded = fold(every)
    assert len(folded) == len(every)
    assert all(a.isascii() == b.isascii() for a, b in zip(every, folded, strict=True))


def test_no_polite_word_is_a_negation() -> None:
    assert not any(negates(word) for word in POLITE)
