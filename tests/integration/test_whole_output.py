"""All that a real command printed: masked, in pieces, and only where it is more than is shown."""

import asyncio
import hashlib
from pathlib import Path

import pytest

from adapters.artifact_folder import ArtifactFolder
from adapters.sandbox.boxes import NoBox
from adapters.sandbox.output import Masking
from adapters.sandbox.programs import Programs
from adapters.sandbox.runner import CommandRunner
from adapters.sandbox.whole import whole
from core import ids
from core.errors import Refused
from core.exact_values import SHORTEST
from core.plans import RunStep
from core.ports import Ended, Ending
from core.redaction import MASK, Redactor
from tests.fakes.secrets import FakeSecrets

SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"
SHOWN = 32 * 1024


async def printed(folder: Path, script: str, seconds: float = 20) -> Ended:
    """Run a script of Python that knows a secret."""
    runner = CommandRunner(
        Programs(
            box=NoBox(folder=folder),
            secrets=FakeSecrets(now={"FLEET": SECRET}),
            redactor=Redactor.of([SECRET]),
        )
    )
    argv = ("python3", "-c", script)
    step = RunStep(
        argv=argv, timeout_ms=int(seconds * 1000), memory_bytes=2 << 30, secrets=("FLEET",)
    )
    return await runner.run(step, step_id=ids.step_id(ids.run_id(), 0))


async def all_of(ended: Ended) -> bytes:
    assert ended.whole
    return b"".join([piece async for piece in ended.whole()])


@pytest.mark.parametrize("size", [0, SHOWN - 1, SHOWN])
async def test_where_all_is_shown_there_is_nothing_more(tmp_path: Path, size: int) -> None:
    ended = await printed(tmp_path, f"print('a' * {size}, end='')")
    assert (len(ended.output), ended.whole) == (size, None)


async def test_c85_all_of_what_is_shown_in_part_can_be_read_as_often_as_wanted(
    tmp_path: Path,
) -> None:
    ended = await printed(tmp_path, "for n in range(20000): print(n)")
    assert "bytes left out" in ended.output
    lines = "".join(f"{n}\n" for n in range(20000)).encode()
    assert await all_of(ended) == await all_of(ended) == lines


async def test_i12_nothing_of_a_secret_is_in_it_wherever_it_stands(tmp_path: Path) -> None:
    script = "import os; s = os.environ['FLEET']\nfor n in range(3000): print('x' * (n % 97), s)"
    found = (await all_of(await printed(tmp_path, script))).decode()
    assert found == "".join(f"{'x' * (n % 97)} {MASK}\n" for n in range(3000))


@pytest.mark.parametrize("cut", [SHORTEST, len(SECRET) - 1])
async def test_i12_the_beginning_of_a_secret_at_the_very_end_is_masked(
    tmp_path: Path, cut: int
) -> None:
    script = f"import os; print('x' * 50000 + os.environ['FLEET'][:{cut}], end='')"
    found = (await all_of(await printed(tmp_path, script))).decode()
    assert found == "x" * 50000 + MASK


async def test_a_command_that_is_ended_leaves_what_it_had_printed(tmp_path: Path) -> None:
    script = "import time; print('a\\n' * 50000, flush=True); time.sleep(60)"
    ended = await printed(tmp_path, script, seconds=1)
    assert ended.ending is Ending.TIMED_OUT
    assert await all_of(ended) == b"a\n" * 50000 + b"\n"


async def test_c85_of_a_flood_nothing_is_kept_and_it_says_why(tmp_path: Path) -> None:
    script = "import sys\nwhile True: sys.stdout.write('a' * 4095 + '\\n')"
    ended = await printed(tmp_path, script)
    assert ended.ending is Ending.TOO_MUCH_OUTPUT
    assert ended.whole
    shelf = ArtifactFolder(folder=tmp_path / "kept", most_bytes=8 * 2**20)
    with pytest.raises(Refused) as refused:
        await shelf.keep("r_1.0", ended.whole())
    assert refused.value.shown == "It is more than 8.4 MB, the most that is kept."
    assert await shelf.read("r_1.0") is None


NOT_TEXT = {
    "bytes that are no text": b"\xff\xfe" * 30000,
    "a letter across pieces": "é".encode() * 40000 + b"\xc3",
    "line ends of a terminal": b"a\r\n" * 30000,
    "control characters": b"\x1b[31mred\x1b[0m\n" * 5000,
    "one line without an end": b"a" * 200_000,
    "secrets": f"{SECRET}\n{SECRET}{SECRET} password={SECRET}".encode() * 2000,
}


@pytest.mark.parametrize("data", NOT_TEXT.values(), ids=NOT_TEXT)
async def test_i12_in_pieces_it_becomes_what_it_becomes_as_a_whole(data: bytes) -> None:
    masking = Masking(redactor=Redactor.of([SECRET]))
    pieces = [piece async for piece in whole(bytearray(data), masking)]
    assert len(pieces) > 1
    assert b"".join(pieces).decode() == masking.clean(bytearray(data))


async def test_others_get_on_while_a_large_one_is_kept(tmp_path: Path) -> None:
    data = bytearray(b"one line of many, all of them alike\n" * 60000)
    masking = Masking(redactor=Redactor.of([SECRET]))
    turns = 0

    async def turning() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(turning())
    shelf = ArtifactFolder(folder=tmp_path, most_bytes=2**23)
    stored = await shelf.keep("r_1.0", whole(data, masking))
    other.cancel()
    assert stored.sha256 == hashlib.sha256(data).hexdigest()
    assert turns > len(data) / 2**16
