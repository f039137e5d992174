"""The demo, played for real: services, runbooks, people."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot.demo import chat
from bot.demo.stage import play

ROOT = Path(__file__).resolve().parents[2]


def test_t1_without_a_terminal_the_tour_shows_it_all_and_exits_0() -> None:
    played = subprocess.run(
        [sys.executable, "-m", "bot", "demo"],
        cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert played.returncode == 0, played.stderr
    assert played.stderr == ""
    told = played.stdout
    pids = re.findall(r"web: healthy, pid ([0-9]+)", told)
    restarted = re.search(r"web: restarted, pid ([0-9]+) -> ([0-9]+)", told)
    assert restarted is not None
    assert list(restarted.groups()) == pids
    for part in (
        "There is no such request.",
        "You may not approve this; bob and carol may.",
        "succeeded: restart-service.",
        "Already decided. Approved by bob.",
        "failed: reload-config.",
        "1. reload-config not run",
        "Denied by bob: not before the release.",
        "Not proposed: bob denied restart-service",
        "The audit log is whole:",
    ):
        assert part in told, part


def test_a_conversation_at_one_keyboard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = iter(
        [
            "/approve", "health", "restart web", "/approve", "/as bob", "/deny not now", "restart web",
            "/as carol", "/approve", "", "/dance", "/as eve", "health", "/quit",
        ]
    )  # fmt: skip

    def typed(_: str) -> str:
        return next(script)

    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert play(tour=False) == 0
    told = capsys.readouterr().out
    for part in (
        "Not exactly one thing waits.",
        "Approve: /approve ",
        "You may not approve this; bob and carol may.",
        "You are bob",
        "Denied by bob: not now.",
        "succeeded: restart-service.",
        "/quit             leave",
        "Sayso does not know you here.",
    ):
        assert part in told, part


def test_the_end_of_input_ends_the_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nothing)
    assert asyncio.run(chat.hold(None)) == 0  # type: ignore[arg-type]  # nobody does anything
