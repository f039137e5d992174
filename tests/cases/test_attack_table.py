"""Each attack, fault and promise about approvals and runs is held by tests that are there and are run."""

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.cases.attack_table import ATTACK_TESTS, Tests
from tests.cases.promise_table import FAULT_TESTS, PROMISE_TESTS
from tests.cases.running_table import RUN_FAULT_TESTS, RUN_PROMISE_TESTS

TESTS = Path(__file__).parents[1]
ATTACKS = [*range(1, 41)]
"""The numbers that the table has to hold."""
FAULTS = {4, 7, 8, 9, 20, 23, 24, 25, 27, 28, 30, 32, 36, 38, 39, 47, 50}
RUN_FAULTS = {3, 15, 29, 51}
PROMISES = {*range(31, 47), *range(65, 70)}
RUN_PROMISES = {26, *range(47, 52), 61, 85, 94}
EXTRAS = {*range(1, 9)}
ALL: Mapping[str, Tests] = {
    **ATTACK_TESTS, **FAULT_TESTS, **PROMISE_TESTS, **RUN_FAULT_TESTS, **RUN_PROMISE_TESTS
}  # fmt: skip
DOCUMENT = TESTS.parent / "docs" / "threat-model.md"


@cache
def collected(file: str) -> frozenset[str]:
    """Return the tests that pytest collects of a file and does not leave out."""
    module = ast.parse((TESTS / file).read_text("utf-8"))
    functions = [n for n in module.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(
        one.name
        for one in functions
        if one.name.startswith("test_")
        and not any(
            "skip" in (d := ast.unparse(each)) or "xfail" in d for each in one.decorator_list
        )
    )


def test_every_attack_fault_and_promise_has_a_line() -> None:
    assert [int(name.split()[0]) for name in ATTACK_TESTS] == ATTACKS
    assert set(FAULT_TESTS) == {f"P-{number:02}" for number in FAULTS}
    promises = {f"C{number}" for number in PROMISES} | {f"X{number}" for number in EXTRAS}
    assert set(PROMISE_TESTS) == promises
    assert set(RUN_FAULT_TESTS) == {f"P-{number:02}" for number in RUN_FAULTS}
    assert set(RUN_PROMISE_TESTS) == {"T1"} | {f"C{number}" for number in RUN_PROMISES}


@pytest.mark.parametrize("name", ALL)
def test_each_line_names_tests_that_are_run(name: str) -> None:
    held = [one.split("::") for one in ALL[name]]
    assert held
    assert len({tuple(one) for one in held}) == len(held)
    assert [one for one in held if one[1] not in collected(one[0])] == []


def test_every_test_of_an_attack_stands_in_the_line_of_its_number() -> None:
    for file in (*TESTS.glob("cases/test_*.py"), *TESTS.glob("journeys/test_*.py")):
        place = str(file.relative_to(TESTS))
        for name in collected(place):
            if name.startswith("test_attack_"):
                [line] = [held for key, held in ATTACK_TESTS.items() if key[:2] == name[12:14]]
                assert f"{place}::{name}" in line


def test_the_document_tells_of_each_of_these_attacks_and_of_the_tests_named_after_them() -> None:
    rows = dict(re.findall(r"^\| (\d+) \|(.*)$", DOCUMENT.read_text("utf-8"), re.MULTILINE))
    for key, held in ATTACK_TESTS.items():
        row = rows[str(int(key[:2]))]
        named = [one for one in held if "::test_attack_" in one]
        assert [one for one in named if f"`tests/{one}`" not in row] == []
