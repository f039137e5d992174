"""`sayso verify`: whatever the file is, the answer is one sentence."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from bot.printed import Printed
from bot.proof import verify
from core.errors import Refused
from tests.receipts import KEY, Values, forged, note, values_of

ROOT = Path(__file__).parents[3]
FILE = ROOT / "tests" / "fixtures" / "receipts" / "resolved.json"
HEAD: str = values_of(FILE.read_text("utf-8"))["head"]["hash"]
NO_CONFIG = Path("missing.yml")
LOADED = (
    "import sys\n"
    "def hook(event, arguments):\n"
    "    assert not event.startswith(('socket.', 'sqlite3.', 'subprocess.', 'os.exec')), event\n"
    "sys.addaudithook(hook)\n"
    "from bot.cli import main\n"
    f"sys.argv = ['sayso', 'verify', {str(FILE)!r}]\n"
    "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sorted(sys.modules))"
)
NOT_NEEDED = {"sqlite3", "yaml", "pydantic_settings", "adapters", "bot.wiring", "bot.console"}


def verified(file: Path, key: str | None = None, head: str | None = None) -> Printed:
    return verify(NO_CONFIG, receipt=file, key=key, head=head)


def test_a_receipt_that_holds_is_told_in_one_sentence() -> None:
    printed = verified(FILE)
    assert printed.code == 0
    assert printed.text.startswith(f"The receipt holds: the key {KEY.public}, if that is theirs,")
    assert "succeeded, asked for by alice and approved by carol and bob" in printed.text
    assert printed.object["ok"] is True
    assert printed.object["voters"] == ["carol", "bob"]
    assert printed.object["key"] == KEY.public
    assert "the key that you demand says" in verified(FILE, key=KEY.public).text
    head = str(printed.object["head"])
    assert verified(FILE, head=head).text.endswith(
        f"head {head}, which is the one that you demand."
    )
    assert "that you demand" not in printed.text


def test_what_a_forger_is_called_cannot_move_the_cursor(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    old = FILE.read_text("utf-8")
    file.write_text(forged(old.replace("acme", "\\u001b[2Jacme"), note), "utf-8")
    values = values_of(file.read_text("utf-8"))
    assert values["request"]["tenant"] == "\x1b[2Jacme"
    assert verified(file).text.isprintable()


@given(st.binary(max_size=300))
@effort(max_examples=200)
def test_any_bytes_are_refused_in_a_sentence(data: bytes) -> None:
    _refused(data)


@given(st.integers(0, FILE.stat().st_size - 1), st.binary(max_size=4))
@effort(max_examples=300)
def test_x10_a_receipt_that_was_cut_or_changed_is_refused_in_a_sentence(
    place: int, data: bytes
) -> None:
    whole = FILE.read_bytes()
    _refused(whole[:place])
    changed = whole[:place] + data + whole[place + len(data) :]
    if changed != whole:
        _refused(changed)


@pytest.mark.parametrize("demanded", [{}, {"key": KEY.public}, {"head": HEAD}])
def test_x10_any_other_byte_anywhere_is_refused(demanded: dict[str, str]) -> None:
    whole = FILE.read_bytes()
    for number in range(25):
        place = (number * 2_654_435_761 + 12_345) % len(whole)
        changed = bytearray(whole)
        changed[place] ^= 1 << number % 8
        _refused(bytes(changed), **demanded)
    assert verified(FILE, **demanded).code == 0


def test_x10_a_receipt_whose_end_was_cut_off_is_refused_with_the_head_that_was_noted() -> None:
    def cut(values: Values) -> None:  # what a person found out afterwards
        del values["audit"][-2:]
        values["run"]["state"] = values["steps"][2]["state"] = "unknown"

    shorter = forged(FILE.read_text("utf-8"), cut)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "receipt.json"
        file.write_text(shorter, "utf-8")
        assert verified(file).object["state"] == "unknown"  # by itself it holds
        with pytest.raises(Refused, match="its head is not the one that you noted"):
            verified(file, head=HEAD)
    whole = FILE.read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        _refused(whole[:length], head=HEAD)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1_000_000,
        b"9" * 1_000_000,
        b'{"a":' * 100_000,
        b"\xff\xfe{}",
        b"\x00" * 100,
        b"\xed\xa0\x80",
    ],
    ids=lambda data: repr(data[:10]),
)
def test_hostile_files_are_refused_in_a_sentence(data: bytes) -> None:
    _refused(data)


def _refused(data: bytes, **demanded: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "receipt.json"
        file.write_bytes(data)
        with pytest.raises(Refused) as refused:
            verified(file, **demanded)
    assert refused.value.kind == "refused"
    assert refused.value.shown.isprintable()


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")  # whoever reads it waits for somebody who writes
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "missing", Path("x" * 5000), Path("\0")):
        with pytest.raises(Refused, match="cannot be read as a receipt"):
            verified(path)
    monkeypatch.setattr("bot.proof._LARGEST", 10)
    with pytest.raises(Refused, match="cannot be read as a receipt"):
        verified(FILE)


def test_x10_it_needs_no_database_no_configuration_and_no_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=ROOT, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    *_, last = done.stdout.splitlines()
    code, *loaded = last.split()
    assert code == "0"
    assert "approvals.receipts" in loaded
    assert NOT_NEEDED.isdisjoint(loaded)
