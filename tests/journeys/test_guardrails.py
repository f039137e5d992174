"""Guardrails in `sayso.yml`: what is stopped reaches nobody, and whoever asked is told why."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sayso import TURN, Sayso, fresh, shaped

GUARDRAILS = """
guardrails:
  - {stage: input, pattern: "(?i)customer", reason: Ask about customers in person.}
  - stage: tool
    pattern: '^append-word .*"word":"prod"'
    reason: nothing is appended for prod
  - {stage: output, pattern: "4711", reason: the answer holds an account number}
"""
ECHO = """
summary: Say a word.
effect: read
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
phrases: ["say {word}"]
steps:
  - run: [echo, "said {word}"]
"""


@pytest.fixture
def sayso(tmp_path: Path) -> Generator[Sayso]:
    with fresh(tmp_path / "folder") as sayso:
        sayso.runbook("echo", ECHO)
        file = sayso.folder / "sayso.yml"
        file.write_text(f"{file.read_text('utf-8')}{GUARDRAILS}", "utf-8")
        yield sayso


def test_c78_a_message_that_is_stopped_runs_nothing_and_says_why(sayso: Sayso) -> None:
    done = sayso.run("ask", "append customer", as_="alice")
    assert done.code == 0
    assert shaped(done.json, TURN | {"reason": "guardrail:input"})
    assert done.json["text"] == (
        "Not answered: Ask about customers in person. Nothing was changed; ask in other words."
    )
    assert sayso.sql("SELECT count(*) FROM request") == [(0,)]
    [(kept,)] = sayso.sql("SELECT group_concat(body) FROM transcript")
    assert "append customer" not in kept


def test_c78_an_answer_that_is_stopped_is_shown_nowhere(sayso: Sayso) -> None:
    done = sayso.run("ask", "say a4711", as_="alice")
    assert shaped(done.json, TURN | {"reason": "guardrail:output"})
    assert "the answer holds an account number" in done.json["text"]
    here = done.json["conversation"]
    for shown in (done, *(sayso.run("conversation", here, plain=plain) for plain in (True, False))):
        assert "said a4711" not in shown.out
    [(posted,)] = sayso.sql("SELECT text FROM entry WHERE kind = 'answered'")
    assert posted == done.json["text"]
    # The read did run, and that it did stays recorded.
    kept = sayso.sql("SELECT body FROM transcript WHERE kind = 'noted'")
    assert any("said a4711" in body for (body,) in kept)
    again = sayso.run("ask", "say b", "--conversation", here, as_="alice")
    assert again.json["text"] == "said b"


def test_c78_a_plan_that_is_stopped_is_put_to_nobody_however_it_comes(sayso: Sayso) -> None:
    typed = sayso.run("ask", "append prod", as_="alice")
    assert shaped(typed.json, TURN | {"reason": "guardrail:tool"})
    assert typed.json["text"].startswith("Not proposed: nothing is appended for prod. Nobody was")
    sayso.ask("append alpha", "alice")
    assert sayso.sql("SELECT count(*) FROM request") == [(1,)]


@pytest.mark.parametrize("command", [["check"], ["ask", "say b"], ["run"]], ids=" ".join)
def test_a_pattern_that_is_none_is_found_at_start(sayso: Sayso, command: list[str]) -> None:
    sayso.edit("sayso.yml", '"(?i)customer"', '"(customer"')
    line = (sayso.folder / "sayso.yml").read_text("utf-8").splitlines().index("guardrails:") + 2
    done = sayso.run(*command)
    assert done.code == 2
    kind, message = done.error
    assert kind == "invalid"
    assert message.startswith(
        f"sayso.yml:{line}: guardrails.0.pattern: this is no regular expression"
    )
