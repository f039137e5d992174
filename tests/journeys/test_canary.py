"""Attack 29, I12 and P-25: a secret that is planted wherever there can be one is found nowhere else."""

import logging
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.cage import CANARIES, HOLDS_IT, WAYS, Cage, caged
from tests.canaries import in_files, sings
from tests.hostile import LOOK, append, call, use


@pytest.fixture
async def cage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> AsyncGenerator[Cage]:
    caplog.set_level(logging.DEBUG)
    async with caged(tmp_path / "acme", monkeypatch) as made:
        yield made


async def test_attack_29_i12_p25_a_canary_is_heard_nowhere(
    cage: Cage, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    conversation = await cage.reads_all()
    assert cage.masked() == [True] * len(WAYS)
    requests = [await cage.runs(how) for how in ("plain", "folded", "slow", "error", "boom")]
    states = [cage.sayso.sql("SELECT state FROM run WHERE request = ?", one.id) for one in requests]
    assert states == [[("succeeded",)]] * 3 + [[("failed",)], [("unknown",)]]
    await cage.is_told()
    await cage.is_asked()
    await cage.team.refused_results(call("note", {"text": f"it is {cage.song}"}))
    await cage.team.refused_results(append(CANARIES["FROM_ENV"]))
    await cage.team.ask(use(LOOK), RuntimeError(cage.song))
    denied = await cage.team.propose(append())
    await cage.team.deny(denied, reason=f"because it is {cage.song}")
    assert cage.sent() == {}
    assert sings(caplog.text.encode(), CANARIES) == []
    said = capfd.readouterr()
    assert sings(f"{said.out}{said.err}".encode(), CANARIES) == []
    assert in_files(cage.sayso.folder, CANARIES, but=HOLDS_IT) == {}
    [(run,)] = cage.sayso.sql("SELECT id FROM run WHERE request = ?", requests[0].id)
    await cage.exported(
        ("conversation", conversation, "--export"),
        ("audit", "export"),
        ("plan", "export", requests[0].plan.id),
        ("receipt", run, "--output", "receipt.json"),
        ("runs",),
        ("requests",),
        ("check",),
        ("ask", f"note {CANARIES['FROM_ENV']}"),
        ("ask", "note anything"),
    )
