"""The systemd unit: systemd itself takes it, and it stops Sayso as Sayso wants to be stopped."""

import re
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

from bot.serving import _GRACE  # pyright: ignore[reportPrivateUsage]

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "deploy" / "sayso.service"
ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="needs systemd-analyze")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return the unit with a program that is there in the place of ours."""
    file = tmp_path / "sayso.service"
    text = UNIT.read_text("utf-8")
    assert text.count("/opt/sayso/bin/sayso") == 1
    file.write_text(text.replace("/opt/sayso/bin/sayso", sys.executable))
    return file


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ANALYZE), *words], capture_output=True, text=True, check=False, timeout=50
    )


@needs_systemd
def test_systemd_takes_the_unit_without_a_word(here: Path) -> None:
    done = analyze("verify", str(here))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
def test_its_exposure_is_what_the_docs_say(here: Path) -> None:
    said = (ROOT / "docs" / "operate.md").read_text("utf-8")
    [documented] = re.findall(r"calls its exposure (\d\.\d)", said)
    done = analyze(
        "security", "--offline=true", f"--threshold={float(documented) * 10:.0f}", str(here)
    )
    assert done.returncode == 0, done.stdout[-200:]


def test_it_stops_as_sayso_wants_to_be_stopped() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # names are case-sensitive here
    unit.read_string(UNIT.read_text("utf-8"))
    service = unit["Service"]
    assert (service["KillMode"], service["KillSignal"]) == ("mixed", "SIGTERM")
    assert float(service["TimeoutStopSec"]) >= 3 * _GRACE
    assert service["RestartPreventExitStatus"] == "2"
    assert service["User"] not in {"", "root"}
    assert service["ExecStart"].endswith(" run")
