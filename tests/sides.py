"""What a person reads on a terminal, in Slack and on Discord, as three columns of plain text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final
from unicodedata import east_asian_width

from adapters.console import drawing
from adapters.console.screen import Screen
from adapters.console.shown import Shown
from adapters.discord.drawn import Drawn as OnDiscord
from adapters.slack.messages import Drawn as InSlack
from tests import discord_reading
from tests.discord_drawings import ALICE, BOB, CAROL
from tests.slack_pictures import EMOJI
from tests.standins.discord import plain as on_discord
from tests.standins.slack import plain as in_slack

WIDTH: Final = 60
PLATFORMS: Final = ("A TERMINAL", "SLACK", "DISCORD")
NOT_SAID: Final = ("(This is not said here.)",)
_BETWEEN: Final = " | "
_NAMES: Final = {
    "<@U0ALICE>": "@alice",
    "<@U2BOB>": "@bob",
    "<@U3>": "@carol",
    f"<@{ALICE.user}>": "@alice",
    f"<@{BOB.user}>": "@bob",
    f"<@{CAROL.user}>": "@carol",
}
_SCREEN: Final = Screen(width=WIDTH)
_INDENT = re.compile(r"(?:> )?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One thing that is shown: what the reader sees here, and the lines of each platform."""

    explains: str
    terminal: Sequence[str]
    slack: Sequence[str]
    discord: Sequence[str]

    def drawn(self) -> str:
        """Return the three columns below what they show."""
        columns = [
            [*map(_padded, wrapped(one))] for one in (self.terminal, self.slack, self.discord)
        ]
        head = [*map(_padded, PLATFORMS)], ["-" * WIDTH] * len(PLATFORMS)
        rows = [*head, *zip_longest(*columns, fillvalue=" " * WIDTH)]
        return "\n".join([self.explains, "", *(_BETWEEN.join(row).rstrip() for row in rows), ""])


def on_a_terminal(shown: Shown) -> list[str]:
    """Return what a terminal draws, without colours."""
    return [line.rstrip() for line in _SCREEN.text(drawing.draw(shown, _SCREEN)).splitlines()]


def read_in_slack(messages: Iterable[InSlack]) -> list[str]:
    """Return what is read of messages of Slack, with their buttons and files."""
    lines = list[str]()
    for one in messages:
        body = {"blocks": [*one.blocks], "text": one.text}
        text = re.sub(
            r":(\w+):", lambda found: EMOJI.get(found[1], found[0]), in_slack.text_of(body)
        )
        labels = [in_slack.label(button) for button in in_slack.buttons_of(body)]
        lines += _message(_named(text).split("\n"), labels, one.document)
    return lines


def read_on_discord(messages: Iterable[OnDiscord]) -> list[str]:
    """Return what is read of messages of Discord, with their buttons and files."""
    lines = list[str]()
    for one in messages:
        body = {"content": one.content, "components": [*one.components, *one.below]}
        labels = on_discord.labels_of(body)
        lines += _message(_markdown(_named(on_discord.text_of(body))), labels, one.document)
    return lines


def _message(lines: list[str], labels: Sequence[str], document: str | None) -> list[str]:
    file = ["[a file: all of the plan]"] if document else []
    buttons = [" ".join(f"[{label}]" for label in labels)] if labels else []
    return [*lines, *file, *buttons]


def _markdown(text: str) -> list[str]:
    """Return lines of Discord's Markdown as they are read; a quote keeps its mark."""
    quoted = re.sub(r"^> ", "\0", text, flags=re.MULTILINE)
    return [line.replace("\0", "> ") for line in discord_reading.plain(quoted).split("\n")]


def _named(text: str) -> str:
    for tag, name in _NAMES.items():
        text = text.replace(tag, name)
    return text


def wrapped(lines: Iterable[str]) -> list[str]:
    """Return lines that fit into a column; what goes on stands below its own beginning."""
    return [part for line in lines for part in _wrapped(line)]


def _wrapped(line: str) -> list[str]:
    begins = _INDENT.match(line)
    below = (begins[0] if begins else "") + ("" if line.startswith("> ") else "  ")
    parts = list[str]()
    while _width(line) > WIDTH:
        end = _end(line)
        space = line.rfind(" ", len(below) + 1, end)
        cut = space if space > len(below) else end
        parts.append(line[:cut])
        line = f"{below}{line[cut:].lstrip() if cut == space else line[cut:]}"
    return [*parts, line]


def _end(line: str) -> int:
    """Return how many characters fit into a column."""
    at = width = 0
    while width <= WIDTH:
        width += _width(line[at])
        at += 1
    return at - 1


def _width(text: str) -> int:
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _padded(line: str) -> str:
    return line + " " * (WIDTH - _width(line))
