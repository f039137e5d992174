"""The scenes of the tour, in order. A new one is a function and a line at the end."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from bot.demo.acting import Acting

Scene: TypeAlias = Callable[[Acting], Awaitable[None]]


async def _read(on: Acting) -> None:
    await on.types("alice", "health")


async def _card(on: Acting) -> None:
    await on.types("alice", "please restart web")


async def _wrong_people(on: Acting) -> None:
    await on.types("mallory", f"/approve {await on.card()}")
    await on.types("alice", "/approve")


async def _approved(on: Acting) -> None:
    request = await on.card()
    await on.types("bob", f"/approve {request}")
    await on.types("bob", f"/approve {request}")
    await on.types("alice", "health")


async def _two_votes(on: Acting) -> None:
    await on.types("alice", "switch primary to worker")
    await on.types("bob", "/approve")
    await on.types("bob", "/approve")
    await on.types("carol", "/approve")


async def _changed_file(on: Acting) -> None:
    await on.types("alice", "set cache_size of web to 128")
    await on.edits("config/web.conf", "info", "debug")
    await on.types("bob", "/approve")


async def _diff(on: Acting) -> None:
    await on.types("alice", "/again")
    await on.types("bob", "/approve")


async def _failure(on: Acting) -> None:
    await on.types("alice", "reload worker")
    await on.types("carol", "/approve")


async def _denial(on: Acting) -> None:
    await on.types("alice", "rotate log of worker")
    await on.types("bob", "/deny not before the release")
    await on.types("alice", "rotate worker log")


async def _negation(on: Acting) -> None:
    await on.types("alice", "don't restart web")


async def _unknown(on: Acting) -> None:
    await on.types("alice", "reindex web")
    await on.begins("bob", "/approve")
    await on.kills("web")
    await on.types("bob", "/resolve verify")
    await on.types("bob", "/resolve did-not")


async def _stop(on: Acting) -> None:
    await on.types("alice", "reindex worker")
    await on.begins("carol", "/approve")
    await on.is_at_work("worker")
    await on.types("alice", "/stop")


async def _proof(on: Acting) -> None:
    await on.proves()


async def _receipt(on: Acting) -> None:
    await on.attests()


SCENES: tuple[tuple[str, Scene], ...] = (
    ("A read answers at once.", _read),
    ("A write becomes a card; nothing has run.", _card),
    ("Somebody without rights learns nothing, and whoever asked may not approve.", _wrong_people),
    ("Somebody entitled approves: it runs once, and a second click runs nothing.", _approved),
    ("What is risky takes two people; the same one twice is one.", _two_votes),
    ("A file was changed after the card: nothing runs, and it says why.", _changed_file),
    ("Asked again, the card shows the change as it would be now, and that is what runs.", _diff),
    ("A failure says what ran and what did not.", _failure),
    ("No means no, in other words too.", _denial),
    ("A sentence that is not fully understood changes nothing.", _negation),
    ("A step was killed from outside: nobody knows, so a person looks and says.", _unknown),
    ("Stop stops what runs.", _stop),
    ("Every step is in a chain that anybody can check.", _proof),
    ("A receipt proves a run to whoever was not there; a changed one proves nothing.", _receipt),
)
