"""Each new head of the audit log is noted outside the database, once."""

from bot.publish import Publishing
from core.audit import Entry
from tests.fakes.heads import FakeHeads
from tests.fakes.keys import FakeKeys


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
