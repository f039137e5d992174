"""A platform is not asked while it said that it would refuse."""

from datetime import timedelta

import pytest

from adapters.platforms.waits import Waits
from core.errors import Refused, Unavailable


async def test_only_what_has_to_wait_does_and_only_so_long() -> None:
    now, calls = 0.0, 0
    waits = Waits(now=lambda: now)

    async def limited() -> int:
        raise Unavailable("Wait.", after=timedelta(seconds=30))

    async def called() -> int:
        nonlocal calls
        calls += 1
        return calls

    with pytest.raises(Unavailable):
        await waits.called("a", limited)
    with pytest.raises(Unavailable) as caught:
        await waits.called("a", called)
    assert caught.value.after == timedelta(seconds=30)
    assert await waits.called("b", called) == 1
    now = 30.0
    assert await waits.called("a", called) == 2


@pytest.mark.parametrize("error", [Unavailable("Down."), Refused("No.")])
async def test_other_failures_make_nobody_wait(error: Unavailable | Refused) -> None:
    waits = Waits(now=lambda: 0.0)

    async def fails() -> int:
        raise error

    async def works() -> int:
        return 1

    with pytest.raises(type(error)):
        await waits.called("a", fails)
    assert await waits.called("a", works) == 1
