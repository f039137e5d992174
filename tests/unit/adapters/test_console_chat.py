"""The terminal as a platform: each post once, in order; of an edited card, what became of it."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from adapters.console.chat import TerminalChat
from adapters.console.shown import Changed, Shown
from adapters.console.terminals import Terminals
from core.deliveries import Asking, Progress, Text
from core.errors import Unavailable
from core.events import Place
from tests.drawings import AT, CARD

HERE = Place(platform="console", workspace="local", channel="console", thread="boot/ns/1/2:1")
OPEN = Asking(card=CARD, status="Open.")
GRANTED = Asking(card=CARD, status="Approved; waiting to run.")
RAN = Asking(card=CARD, status="Approved. Run r_1: succeeded.")
REPORT = Text(text="Run r_1 succeeded.", is_report=True)


class Shows:
    """Keeps what is shown."""

    def __init__(self) -> None:
        self.seen: list[Shown] = []
        self.more = asyncio.Event()
        self.runs: list[str] = []

    def goes_on(self, progress: Progress) -> None:
        self.runs.append(progress.status)

    async def __call__(self, what: Shown) -> None:
        self.seen.append(what)
        self.more.set()


@pytest.fixture
def shows() -> Shows:
    return Shows()


@pytest.fixture
def chat(shows: Shows) -> TerminalChat:
    return TerminalChat(show=shows, goes_on=shows.goes_on, settle=600)


def became(asking: Asking) -> Changed:
    return Changed(card=asking.card, status=asking.status)


async def test_a_key_that_was_posted_is_shown_once(chat: TerminalChat, shows: Shows) -> None:
    first = await chat.post(HERE, REPORT, key="post:c:1")
    assert await chat.post(HERE, REPORT, key="post:c:1") == first
    assert await chat.post(HERE, REPORT, key="post:c:2") != first
    assert shows.seen == [REPORT, REPORT]


async def test_a_card_that_changes_twice_at_once_is_told_of_once(
    chat: TerminalChat, shows: Shows
) -> None:
    card = await chat.post(HERE, OPEN, key="k")
    await chat.edit(HERE, card, GRANTED)
    await chat.edit(HERE, card, RAN)
    await chat.flush()
    assert shows.seen == [OPEN, became(RAN)]


async def test_nothing_overtakes_what_became_of_a_card(chat: TerminalChat, shows: Shows) -> None:
    card = await chat.post(HERE, OPEN, key="k")
    await chat.edit(HERE, card, RAN)
    await chat.post(HERE, REPORT, key="report")
    assert shows.seen == [OPEN, became(RAN), REPORT]


async def test_a_card_that_is_as_it_was_is_not_told_of_again(
    chat: TerminalChat, shows: Shows
) -> None:
    card = await chat.post(HERE, OPEN, key="k")
    await chat.edit(HERE, card, OPEN)
    await chat.flush()
    await chat.edit(HERE, card, RAN)
    await chat.flush()
    await chat.edit(HERE, card, RAN)
    await chat.flush()
    assert shows.seen == [OPEN, became(RAN)]


async def test_after_a_while_it_is_told_by_itself(shows: Shows) -> None:
    chat = TerminalChat(show=shows, goes_on=shows.goes_on, settle=0.001)
    card = await chat.post(HERE, OPEN, key="k")
    for asking in (GRANTED, RAN):
        shows.more.clear()
        await chat.edit(HERE, card, asking)
        await asyncio.wait_for(shows.more.wait(), 5)
    assert shows.seen == [OPEN, became(GRANTED), became(RAN)]


async def test_what_somebody_typed_is_answered_before_anything_is_delivered(
    chat: TerminalChat, shows: Shows
) -> None:
    async with chat.paused:
        posting = asyncio.create_task(chat.post(HERE, REPORT, key="k"))
        await asyncio.sleep(0)
        assert shows.seen == []
    await posting
    assert shows.seen == [REPORT]


async def test_where_a_run_is_is_no_line_of_its_own(chat: TerminalChat, shows: Shows) -> None:
    progress = Progress(run="r_1", title="Run r_1: deploy", status="Step 1 of 2.", began_at=AT)
    posted = await chat.post(HERE, progress, key="k")
    await chat.edit(HERE, posted, replace(progress, status="Step 2 of 2."))
    assert (shows.runs, shows.seen) == (["Step 1 of 2.", "Step 2 of 2."], [])


async def test_a_note_that_its_card_says_too_is_left_to_the_card(
    chat: TerminalChat, shows: Shows
) -> None:
    note = Text(text=RAN.status, is_note=True, same_as=CARD.buttons[0].request)
    await chat.post(HERE, note, key="n1")
    posted = await chat.post(HERE, OPEN, key="c")
    await chat.post(HERE, note, key="n2")
    await chat.edit(HERE, posted, RAN)
    await chat.flush()
    assert shows.seen == [note, OPEN, became(RAN)]


async def test_words_are_not_edited(chat: TerminalChat, shows: Shows) -> None:
    await chat.edit(HERE, "m1", REPORT)
    await chat.flush()
    assert shows.seen == []


async def test_a_terminal_of_another_process_is_waited_for_and_one_that_is_gone_is_not() -> None:
    dead = set[str]()
    away = Terminals(me="me", is_dead=dead.__contains__)
    with pytest.raises(Unavailable):
        await away.post(HERE, REPORT, key="k")
    with pytest.raises(Unavailable):
        await away.edit(HERE, "m", RAN)
    dead.add("boot/ns/1/2")
    assert await away.post(HERE, REPORT, key="k") == "k"
    await away.edit(HERE, "m", RAN)


async def test_i14_what_is_for_another_terminal_is_not_shown_here_alive_or_dead(
    chat: TerminalChat, shows: Shows
) -> None:
    dead = set[str]()
    ours = replace(HERE, thread="boot/ns/7/8:1")
    terminals = Terminals(me="boot/ns/7/8", is_dead=dead.__contains__, here=chat)
    for _ in range(2):
        with suppress(Unavailable):
            await terminals.post(HERE, OPEN, key="k")
        with suppress(Unavailable):
            await terminals.edit(HERE, "m1", RAN)
        dead.add("boot/ns/1/2")
    await chat.flush()
    assert (shows.seen, chat.requests) == ([], set())
    assert not terminals.shows(HERE)
    assert terminals.shows(ours)
    posted = await terminals.post(ours, OPEN, key="k")
    await terminals.edit(ours, posted, RAN)
    await chat.flush()
    assert shows.seen == [OPEN, became(RAN)]
