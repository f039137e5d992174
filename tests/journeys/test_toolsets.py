"""C29, T11, T12: toolsets as an operator turns them on, on the command line."""

import signal
from pathlib import Path

import pytest

from tests.sayso import Sayso, until

RULE = '    - {effect: allow, action: "chat:ask", groups: [everyone]}\n'
TOOLSETS = "toolsets:\n  reminders:\n  skills:\n"


@pytest.fixture
def here(empty: Sayso) -> Sayso:
    """Give the contract's folder with both toolsets on, for everybody."""
    allowed = (
        RULE + '    - {effect: allow, action: "tool:read", resource: "tool:*", groups: [eng]}\n'
    )
    empty.edit("sayso.yml", RULE, allowed)
    file = empty.folder / "sayso.yml"
    file.write_text(file.read_text("utf-8") + TOOLSETS, "utf-8")
    skill(empty.folder, "deploy")
    return empty


def skill(folder: Path, name: str, summary: str = "How we deploy") -> None:
    (folder / "skills").mkdir(exist_ok=True)
    text = f"---\nname: {name}\nsummary: {summary}\n---\nDrain it first.\n"
    (folder / "skills" / f"{name}.md").write_text(text, "utf-8")


def answer(sayso: Sayso, text: str, *where: str) -> tuple[str, str]:
    done = sayso.run("ask", text, *where, as_="alice")
    assert done.code == 0, done
    return str(done.json["text"]), str(done.json["conversation"])


def test_c80_skills_are_read_and_reminders_set_from_the_console(here: Sayso) -> None:
    assert here.run("check").code == 0
    text, conversation = answer(here, "!skill deploy")
    assert text.endswith("> Drain it first.")
    where = ("--conversation", conversation)
    set_one, _ = answer(here, "!remind_me 1h look at web", *where)
    assert set_one.startswith("Reminder n_")
    assert answer(here, "!reminders", *where)[0].endswith(": look at web")
    listed, _ = answer(here, "help", *where)
    assert "`!skill name=deploy`" in listed
    assert "`!remind_me when=TEXT text=TEXT`" in listed
    runbooks = here.run("runbooks", "list")
    assert "skill" not in runbooks.out


def test_t11_a_server_that_starts_past_the_time_tells_it(here: Sayso) -> None:
    _, conversation = answer(here, "!remind_me 1h look at web")
    past = "2026-01-01T00:00:00.000000Z"
    here.sql("UPDATE job SET run_at = ? WHERE kind = 'due'", past)
    server = here.start("run").ready()

    def told() -> object:
        return here.sql("SELECT 1 FROM reminder WHERE state = 'told'")

    until(told)
    server.signal(signal.SIGTERM)
    said = here.run("conversation", conversation)
    assert said.out.count("> look at web") == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  skills:\n", "  skills: {expose: [context]}\n", "does not serve the channel context"),
        ("  skills:\n", "  skils:\n", "toolsets.skils: Sayso has no toolset of this name"),
    ],
)
def test_c29_a_wrong_toolset_stops_the_start_with_exit_code_2(
    here: Sayso, old: str, new: str, said: str
) -> None:
    here.edit("sayso.yml", old, new)
    for command in (("run",), ("check",), ("ask", "help")):
        done = here.run(*command, plain=True)
        assert done.code == 2, done
        assert said in done.out + done.err
        assert "Traceback" not in done.err


def test_c29_a_runbook_with_the_name_of_a_command_stops_the_start(here: Sayso) -> None:
    here.runbook("skill", "summary: s\nsteps: [{run: ['true']}]\n")
    done = here.run("ask", "help", as_="alice")
    assert done.code == 2
    assert "runbooks/skill.yml:1: name: the toolset skills has a tool or command skill" in done.out
