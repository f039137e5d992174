"""The tour: a minute of a team's day, played for real and printed."""

from collections.abc import AsyncGenerator

import click

from bot.ask import Answered
from bot.demo.people import People, shown
from core.errors import Unavailable

Scene = tuple[str, str, str]
"""What happens, who does what, and what Sayso answered."""


async def play(people: People) -> int:
    """Play every scene; return 0."""
    number = 0
    async for title, line, answer in _scenes(people):
        number += 1
        click.echo(f"\n{number}. {title}\n\n  {line}")
        click.echo("".join(f"  | {part}\n" for part in answer.splitlines()), nl=False)
    click.echo("\nYour turn: run `sayso demo` in a terminal, or read the README.")
    return 0


async def _scenes(people: People) -> AsyncGenerator[Scene]:
    async for scene in _a_read_and_a_write(people):
        yield scene
    async for scene in _a_failure(people):
        yield scene
    async for scene in _a_denial(people):
        yield scene
    yield (
        "Every step is in a chain that anybody can check.",
        "sayso audit verify",
        await people.proof(),
    )


async def _a_read_and_a_write(people: People) -> AsyncGenerator[Scene]:
    look = await people.ask("alice", "health")
    yield "A read answers at once.", "alice: health", shown(look)
    wish = await people.ask("alice", "please restart web")
    yield "A write becomes a card; nothing has run.", "alice: please restart web", shown(wish)
    card = _request(wish)
    for who, title in (
        ("mallory", "Somebody without rights learns nothing."),
        ("alice", "Whoever asked may not approve it: this takes somebody else."),
        ("bob", "Somebody entitled approves; it runs once and reports."),
        ("bob", "A second click runs nothing."),
    ):
        yield title, f"{who}: approves", await people.approve(who, card)
    after = await people.ask("alice", "health")
    yield "It really happened.", "alice: health", shown(after)


async def _a_failure(people: People) -> AsyncGenerator[Scene]:
    wish = await people.ask("alice", "reload worker")
    yield "Another write, and it will fail.", "alice: reload worker", shown(wish)
    report = await people.approve("carol", _request(wish))
    yield "A failure says what ran and what did not.", "carol: approves", report


async def _a_denial(people: People) -> AsyncGenerator[Scene]:
    wish = await people.ask("alice", "restart worker")
    denied = await people.deny("bob", _request(wish), "not before the release")
    yield "Bob says no, and why.", "alice: restart worker … bob: denies", denied
    again = await people.ask("alice", "bounce worker", wish.conversation)
    yield "Other words for the same thing get no new card.", "alice: bounce worker", shown(again)
    never = await people.ask("alice", "don't restart web")
    yield (
        "A sentence it does not fully understand changes nothing.",
        "alice: don't restart web",
        shown(never),
    )


def _request(turn: Answered) -> str:
    if turn.request is None:
        raise Unavailable(f"The tour expected a card and got: {turn.text}")
    return turn.request.id
