"""Heads of the audit log in a channel: each once, and only where there is one."""

import pytest

from bot.announce import Announcing, place_of
from core.audit import Entry
from core.deliveries import Text
from core.errors import Unavailable
from core.events import Place
from tests.fakes.chat import FakeChat

CHANNEL = Place(platform="slack", workspace="T1", channel="C0AUDIT")


def entry(number: int) -> Entry:
    return Entry(
        seq=number, at="2026-11-30T10:00:00Z", tenant="acme", kind="k", body="{}", prev="",
        hash=f"{number:064}",
    )  # fmt: skip


class Log:
    """A log that somebody adds to."""

    def __init__(self) -> None:
        self.number = 0

    async def newest(self) -> Entry | None:
        return entry(self.number) if self.number else None


def announcing(log: Log, chat: FakeChat, place: Place | None = CHANNEL) -> Announcing:
    return Announcing(newest=log.newest, place=place, chats={"slack": chat})


async def test_each_head_is_posted_once_with_how_to_check_it() -> None:
    log, chat = Log(), FakeChat()
    announces = announcing(log, chat)
    await announces()
    assert chat.messages == []
    for log.number in (3, 3, 4):
        await announces()
    assert [place for place, _ in chat.shown.values()] == [CHANNEL] * 2
    first = chat.messages[0]
    assert isinstance(first, Text)
    assert first.is_note
    assert f"sayso audit verify --head {entry(3).hash}" in first.text


async def test_what_could_not_be_posted_is_posted_the_next_time() -> None:
    log, chat = Log(), FakeChat()
    log.number = 1
    announces = announcing(log, chat)
    chat.fail([Unavailable("Slack is out of reach.")])
    with pytest.raises(Unavailable):
        await announces()
    await announces()
    assert len(chat.messages) == 1


async def test_without_a_channel_or_its_platform_nothing_is_asked() -> None:
    log, chat = Log(), FakeChat()
    log.number = 1
    await announcing(log, chat, None)()
    await announcing(log, chat, place_of("discord/1/2"))()
    assert chat.tries == 0


def test_a_channel_is_named_with_its_platform_and_workspace() -> None:
    assert place_of("slack/T1/C0AUDIT") == CHANNEL
    assert place_of(None) is None
