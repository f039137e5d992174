"""What is allowed in a runbook and still unwise is told with file, line and field."""

import pytest

from core import advice, runbooks
from core.advice import Source

CAREFUL = """\
name: restart
summary: Restart one service.
params:
  service: {type: string, enum: [web, db]}
phrases: ["restart {service}"]
lock: "{service}"
steps:
  - {run: [fleetctl, restart, "{service}"], timeout: 30s}
verify: {run: [fleetctl, health], timeout: 5s}
"""


def source(text: str = CAREFUL, file: str = "x.yml") -> Source:
    runbook, document = runbooks.read(text, file)
    return Source(runbook=runbook, document=document)


def told(old: str, new: str) -> list[str]:
    """Return what is said of the careful runbook after one change."""
    assert CAREFUL.count(old) == 1
    return [*advice.of_one(source(CAREFUL.replace(old, new)))]


def phrase(name: str, text: str, params: str = "{}") -> Source:
    return source(
        f"name: {name}\nsummary: s\nparams: {params}\nphrases: ['{text}']\nsteps: [{{run: [ls]}}]\n",
        f"{name}.yml",
    )


def test_of_a_careful_runbook_nothing_is_said() -> None:
    assert [*advice.of_one(source())] == []
    assert [*advice.of_all([source(), phrase("stop-it", "halt {s}", "{s: {type: string}}")])] == []


def test_a_write_without_verify_is_told() -> None:
    assert told("verify: {run: [fleetctl, health], timeout: 5s}\n", "") == [
        "x.yml:1: verify: nothing shows whether a step that was cut has happened. Add a read that does."
    ]


def test_a_write_without_lock_is_told() -> None:
    assert told('lock: "{service}"\n', "") == [
        "x.yml:1: lock: two approved runs of it may run at once. Name what one of them needs for itself."
    ]


def test_a_read_needs_neither() -> None:
    read = "name: see\nsummary: s\neffect: read\nsteps: [{run: [ls], timeout: 1s}]\n"
    assert [*advice.of_one(source(read))] == []


def test_a_step_without_timeout_is_told_with_its_line() -> None:
    assert told(", timeout: 30s", "") == [
        "x.yml:8: steps.0.timeout: it has 1m. Write how long it may take."
    ]


def test_a_summary_that_no_title_holds_is_told() -> None:
    longest = "s" * advice.LONGEST_TITLE
    assert told("Restart one service.", longest) == []
    assert told("Restart one service.", longest + "s") == [
        "x.yml:2: summary: a card's title holds 150 characters. Make it shorter."
    ]


@pytest.mark.parametrize(
    ("param", "said"),
    [
        ("{type: string}", "any 200 characters pass. Give it an enum, a pattern or a max_length."),
        ("{type: string, min_length: 2}", "any 200 characters pass."),
        ("{type: string, pattern: x}", ""),
        ("{type: string, max_length: 200}", ""),
        ("{type: integer}", "any large number passes. Give it a maximum."),
        ("{type: number, minimum: 1}", "any large number passes."),
        ("{type: integer, maximum: 9}", ""),
        ("{type: integer, enum: [1]}", ""),
        ("{type: boolean}", ""),
    ],
)
def test_a_param_without_bounds_is_told(param: str, said: str) -> None:
    found = told("{type: string, enum: [web, db]}", param)
    assert len(found) == bool(said)
    assert all(line.startswith(f"x.yml:4: params.service: {said}") for line in found)


SERVICES = "{s: {type: string, enum: [web, db]}}"
OTHERS = "{s: {type: string, enum: [queue]}}"
ANY = "{s: {type: string}}"
SHORT = "{s: {type: string, pattern: '[a-z]{2}'}}"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (("show health", "{}"), ("Show Health", "{}"), True),
        (("show health", "{}"), ("show disk", "{}"), False),
        (("show health", "{}"), ("show health now", "{}"), False),
        (("restart {s}", SERVICES), ("restart web", "{}"), True),
        (("restart web", "{}"), ("restart {s}", SERVICES), True),
        (("restart queue", "{}"), ("restart {s}", SERVICES), False),
        (("restart {s}", SERVICES), ("restart {s}", OTHERS), False),
        (("restart {s}", SERVICES), ("restart {s}", ANY), True),
        (("restart {s}", ANY), ("restart {s}", SERVICES), True),
        (("restart {s}", SHORT), ("restart queue", "{}"), False),
        (("restart {s}", SHORT), ("restart {s}", ANY), True),
        (("restart a-{s}", ANY), ("restart b-{s}", ANY), False),
        (("restart a-{s}", ANY), ("restart {s}", ANY), True),
        (("restart {s}", ANY), ("restart a-{s}", ANY), True),
        (("restart {s}-a", ANY), ("restart {s}-b", ANY), False),
        (("restart a-{s}", SERVICES), ("restart {s}", ANY), True),
        (("restart {s}x{s}", SHORT), ("restart abxab", "{}"), True),
    ],
)
def test_a_phrase_that_may_be_another_runbooks_is_told(
    one: tuple[str, str], other: tuple[str, str], *, alike: bool
) -> None:
    found = [*advice.of_all([phrase("one", *one), phrase("two", *other)])]
    assert len(found) == alike
    for line in found:
        assert line == (
            f'two.yml:4: phrases.0: this and "{one[0]}" of one may be one text, which then means '
            "neither. Change a word."
        )


def test_two_phrases_of_one_runbook_are_its_own_affair() -> None:
    twice = phrase("one", "show health")
    assert [*advice.of_all([twice, twice])] == []


def test_a_word_with_very_many_spellings_counts_as_open() -> None:
    ones, others = (
        phrase(
            name,
            "x {s}",
            f"{{s: {{type: string, enum: [{', '.join(f'{name}{n}' for n in range(60))}]}}}}",
        )
        for name in ("one", "two")
    )
    found = advice.of_all([ones, others])
    assert len([*found]) == 1


def test_every_command_is_named_with_where_it_stands() -> None:
    text = CAREFUL + "preview: {run: [fleetctl, plan], timeout: 5s}\n"
    assert [path for path, _ in source(text).forms()] == [
        ("steps", 0),
        ("preview",),
        ("verify",),
    ]
    assert [path for path, _ in source(CAREFUL).forms()] == [("steps", 0), ("verify",)]
