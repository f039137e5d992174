"""What a person has remembered in a conversation: kept, recalled, forgotten, and erased with it."""

import pytest

from tests.sayso import Sayso, shaped

RULE = '    - {effect: allow, action: "chat:ask", groups: [everyone]}\n'
ALLOWED = RULE + '    - {effect: allow, action: "tool:read", resource: "tool:*", groups: [eng]}\n'


@pytest.fixture
def remembering(empty: Sayso) -> Sayso:
    """Give a folder whose configuration has the toolset `memory`."""
    empty.edit("sayso.yml", RULE, ALLOWED)
    empty.edit(
        "sayso.yml", "model: {provider: grammar}", "toolsets: {memory: {retention: 30d, most: 2}}"
    )
    return empty


def say(sayso: Sayso, text: str, conversation: str | None = None, as_: str = "alice") -> str:
    """Say something in a conversation, and return the answer."""
    where = ["--conversation", conversation] if conversation else []
    done = sayso.run("ask", text, *where, as_=as_)
    assert shaped(done.json, {"reason": "answered", "text": str}), done
    return str(done.json["text"])


def test_c77_it_is_kept_recalled_forgotten_and_erased(remembering: Sayso) -> None:
    first = remembering.run("ask", "!remember the quagga is striped", as_="alice").json
    here, name = first["conversation"], first["text"].split()[2]
    assert first["text"].startswith(f"Kept as {name} until ")
    found = say(remembering, "!recall quagga", here)
    assert f"[{name} semantic by person from alice, " in found
    assert "| the quagga is striped" in found
    assert "Nothing that is remembered here" in say(remembering, "!recall quagga")
    assert say(remembering, f"!forget {name}", here, as_="bob") == "Forgotten."
    assert say(remembering, f"!forget {name}", here).startswith(
        "No memory of that id is here now: it was forgotten already"
    )
    say(remembering, "!remember another quagga", here)
    assert remembering.run("erase", here).json["removed"]["memory"] == 1
    files = remembering.database.parent.iterdir()
    assert b"striped" not in b"".join(file.read_bytes() for file in files)
    assert remembering.run("audit", "verify").code == 0


def test_c77_without_the_toolset_or_the_right_nothing_is_remembered(
    empty: Sayso, remembering: Sayso
) -> None:
    assert "Kept" not in say(remembering, "!remember me", as_="mallory")
    empty.edit("sayso.yml", "toolsets: {memory: {retention: 30d, most: 2}}", "")
    assert "Kept" not in say(empty, "!remember me")
    [(kept,)] = empty.sql("SELECT count(*) FROM memory")
    assert kept == 0


@pytest.mark.parametrize("retention", ["0s", "-1d", "0", "never"])
def test_c77_a_retention_that_is_none_is_refused_at_start(
    remembering: Sayso, retention: str
) -> None:
    remembering.edit("sayso.yml", "retention: 30d", f"retention: {retention}")
    for done in remembering.each(["", "run"], ["", "check"], ["alice", "ask", "hello"]):
        kind, message = done.error
        assert (done.code, kind) == (2, "invalid")
        assert "toolsets.memory.retention" in message
