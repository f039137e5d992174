"""C21, C22, C87: profiles and rates as an operator writes them and a team meets them."""

import re

import pytest

from tests.sayso import Sayso


def configured(empty: Sayso, more: str) -> None:
    file = empty.folder / "sayso.yml"
    file.write_text(file.read_text() + more)


@pytest.mark.parametrize("value", ["true", "0", "-1", ".nan", "many"])
def test_c87_a_limit_that_is_no_number_above_zero_is_refused(empty: Sayso, value: str) -> None:
    configured(empty, f"profiles: {{ops: {{max_turns: {value}}}}}\n")
    done = empty.run("ask", "show ledger", as_="alice")
    assert done.code == 2
    assert "profiles.ops.max_turns" in done.error[1]


def test_c87_an_unknown_tool_is_refused_by_its_name(empty: Sayso) -> None:
    configured(empty, "profiles: {ops: {tools: [no-such-tool]}}\n")
    for words in (["ask", "show ledger"], ["requests"]):
        done = empty.run(*words)
        assert done.code == 2
        assert re.fullmatch(
            r"sayso\.yml:\d+: profiles\.ops\.tools: there is no tool no-such-tool\."
            r" Correct or remove it\.",
            done.error[1],
        )


def test_c21_what_a_profile_leaves_out_is_not_there(empty: Sayso) -> None:
    configured(empty, "profiles: {reading: {tools: [show-ledger], choose: [eng]}}\n")
    wide = empty.run("ask", "append alpha", as_="alice").json
    assert wide["reason"] == "proposed"
    first = empty.run("ask", "show ledger", "--profile", "reading", as_="alice").json
    assert first["reason"] == "answered"
    here = ("--conversation", first["conversation"])
    missing = empty.run("ask", "!append-word alpha", *here, as_="alice").json
    unknown = empty.run("ask", "!no-such-word alpha", *here, as_="alice").json
    assert (missing["reason"], missing["text"]) == ("answered", unknown["text"])
    assert "append" not in missing["text"]


def test_c87_an_unknown_profile_and_a_forbidden_one_read_the_same(empty: Sayso) -> None:
    configured(empty, "profiles: {reading: {choose: [sre]}, leading: {choose: [leads]}}\n")
    said = {
        empty.run("ask", "show ledger", "--profile", name, as_="bob").refusal
        for name in ("leading", "nothing")
    }
    assert said == {"There is no profile of that name that you may choose. You may choose reading."}


def test_c22_a_rate_holds_over_processes(empty: Sayso) -> None:
    configured(empty, "rates: {tools: [{tool: show-ledger, most: 2, per: 1h}]}\n")
    texts = [empty.run("ask", "show ledger", as_="alice").json["text"] for _ in range(3)]
    assert not any("2 times" in text for text in texts[:2])
    assert texts[2].startswith("Not run: you may do this 2 times in 1h. Try again in ")
