"""The console as a platform."""

import os
import pwd

import pytest

from adapters import console
from core.cards import Button, Card, Fact

CARD = Card(
    title="Approve to run: deploy",
    plan=('deploy {"version": "v1"}', '  0. run ["x"], at most 1m'),
    facts=(Fact(label="Asked by", text="alice"),),
    warnings=("No sandbox.",),
    estimate="not estimated",
    preview=("would deploy",),
    unchecked=("why: because",),
    buttons=(
        Button(label="Approve", verb="approve", request="a" * 32),
        Button(label="Deny", verb="deny", request="a" * 32),
    ),
)


def test_the_sections_stand_in_the_order_of_the_card() -> None:
    assert console.draw(CARD).splitlines() == [
        "Approve to run: deploy",
        '    deploy {"version": "v1"}',
        '      0. run ["x"], at most 1m',
        "Asked by: alice",
        "Warning: No sandbox.",
        "Estimate: not estimated",
        "Preview (what a dry run printed):",
        "    would deploy",
        "What the agent says (nobody checked this):",
        "  > why: because",
        f"Approve: sayso approve {'a' * 32}",
        f"Deny:    sayso deny {'a' * 32} --reason WHY",
    ]


def test_who_types_is_told_by_the_uid_and_never_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = pwd.getpwuid(os.getuid()).pw_name
    for name in ("USER", "LOGNAME", "SUDO_USER", "USERNAME"):
        monkeypatch.setenv(name, "bob")
    assert console.account() == expected


def test_an_account_without_a_name_is_nobody_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_294_967_000)
    assert console.account() == "uid-4294967000"
