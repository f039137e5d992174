"""Each new head of the audit log is noted outside the database, once."""

import threading
from dataclasses import dataclass, field

import pytest

from bot.publish import Publishing
from core.audit import Entry
from core.errors import Unavailable
from tests.fakes.heads import FakeHeads
from tests.fakes.keys import FakeKeys
from tests.jobs import PATIENCE


def an_entry(seq: int) -> Entry:
    return Entry(
        seq=seq, at=f"2026-03-01T09:30:{seq:02}.000000Z", tenant="acme", kind="k", body="{}",
        prev=f"{seq - 1:064}", hash=f"{seq:064}",
    )  # fmt: skip


class Log:
    """A log whose newest entry a test chooses."""

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.looks = 0

    async def newest(self) -> Entry | None:
        self.looks += 1
        return self.entry


async def test_a_line_is_time_number_and_hash_and_each_head_has_one() -> None:
    log, heads = Log(), FakeHeads()
    publish = Publishing(keys=FakeKeys(), newest=log.newest, heads=heads)
    await publish()
    assert heads.lines == []
    for seq in (3, 3, 5, 5):
        log.entry = an_entry(seq)
        await publish()
    assert heads.lines == [
        f"2026-03-01T09:30:03.000000Z 3 {3:064}",
        f"2026-03-01T09:30:05.000000Z 5 {5:064}",
    ]
    await Publishing(keys=FakeKeys(), newest=log.newest, heads=heads)()
    assert len(heads.lines) == 2


async def test_without_a_place_nobody_looks() -> None:
    log = Log()
    await Publishing(keys=FakeKeys(), newest=log.newest, heads=None)()
    assert log.looks == 0


async def test_at_the_start_there_is_a_key() -> None:
    keys = FakeKeys()
    await Publishing(keys=keys, newest=Log().newest, heads=None).begin()
    assert keys.made


async def test_a_place_that_is_none_is_told_before_there_is_any_head() -> None:
    heads = FakeHeads(problem="That is a pipe.")
    with pytest.raises(Unavailable, match="a pipe"):
        await Publishing(keys=FakeKeys(), newest=Log().newest, heads=heads)()


@dataclass(kw_only=True)
class HangingHeads(FakeHeads):
    """Heads on a disk that does not answer until it is told to."""

    answers: threading.Event = field(default_factory=threading.Event)
    begun: int = 0

    def append(self, line: str) -> None:
        self.begun += 1
        self.answers.wait()
        super().append(line)


async def test_a_disk_that_hangs_holds_one_thread_and_nobody_else() -> None:
    log, heads = Log(), HangingHeads()
    log.entry = an_entry(3)
    publish = Publishing(keys=FakeKeys(), newest=log.newest, heads=heads, within=0.01)
    try:
        for _ in range(3):
            with pytest.raises(Unavailable, match=r"audit\.heads.*does not answer"):
                await publish()
        assert heads.begun == 1
    finally:
        heads.answers.set()
    log.entry = an_entry(5)
    await Publishing(
        keys=FakeKeys(), newest=log.newest, heads=heads, aside=publish.aside, within=PATIENCE
    )()
    assert [line.split()[1] for line in heads.lines] == ["3", "5"]
