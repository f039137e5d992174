"""The demo as a conversation in a terminal, with everybody at one keyboard."""

import asyncio
from dataclasses import dataclass

import click

from bot.demo.people import People, shown
from core.commands import is_stop
from core.errors import SaysoError

_HELP = """Ask in words: health, restart web, restart worker, reload web.
/as NAME          be alice (asks), bob or carol (decide), or mallory (no rights)
/approve [ID]     approve what waits; name it where more than one thing does
/deny [ID] WHY    deny it, and say why
/stop             withdraw what this conversation waits for
/new              start another conversation
/quit             leave"""


@dataclass(slots=True)
class _Seat:
    """Who sits at the keyboard, and in which conversation."""

    who: str = "alice"
    conversation: str | None = None


async def hold(people: People) -> int:
    """Read lines until /quit or the end of input; return 0."""
    click.echo(f"You are alice. Two services run on this machine.\n{_HELP}\n")
    seat = _Seat()
    while True:
        try:
            line = (await asyncio.to_thread(input, f"{seat.who}> ")).strip()
        except EOFError:
            return 0
        if line == "/quit":
            return 0
        if line:
            click.echo(f"{await _answer(people, seat, line)}\n")


async def _answer(people: People, seat: _Seat, line: str) -> str:
    if is_stop(line):
        return await people.stop(seat.who, seat.conversation)
    word, _, rest = line.partition(" ")
    if not word.startswith("/"):
        return await _asked(people, seat, line)
    if word in {"/approve", "/deny"}:
        return await _decided(people, seat, word, rest.strip())
    if word in {"/as", "/new"}:
        seat.conversation = None
        seat.who = rest.strip() or seat.who
        return f"You are {seat.who}, in a new conversation."
    return _HELP


async def _decided(people: People, seat: _Seat, word: str, rest: str) -> str:
    first, _, reason = rest.partition(" ")
    named, why = (first, reason) if len(first) == _ID else ("", rest)
    request = named or await _only_one(people)
    if not request:
        return f"Not exactly one thing waits. Copy the id from the card: {word} ID"
    if word == "/approve":
        return await people.approve(seat.who, request)
    return await people.deny(seat.who, request, why)


async def _asked(people: People, seat: _Seat, line: str) -> str:
    try:
        turn = await people.ask(seat.who, line, seat.conversation)
    except SaysoError as error:
        return error.shown
    seat.conversation = turn.conversation
    return shown(turn)


async def _only_one(people: People) -> str | None:
    """Return what waits where it is one thing: a bare word must never decide something else."""
    waiting = await people.open_requests()
    return waiting[0] if len(waiting) == 1 else None


_ID = 32
