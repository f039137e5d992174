"""One sentence with which somebody is refused something, as it is read on each platform."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.console.shown import Failed
from adapters.discord import messages as on_discord
from adapters.slack import messages as in_slack
from core.deliveries import Text
from core.errors import SaysoError
from tests import discord_drawings, slack_drawings
from tests.sides import NOT_SAID, Side, on_a_terminal, read_in_slack, read_on_discord
from tests.sources import sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence: where it stands in the source, when it is said, and to whom."""

    source: str
    when: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    text: str = ""
    """What is said, where the source alone cannot tell."""
    where: str = ""
    """`terminal` or `chat`, where it is said on one of them alone; `answer`, where it answers a message."""

    def error(self) -> SaysoError:
        """Return the error whose sentence people read."""
        source = sources()[self.source]
        return source.error(self.text) if self.text else source.says(self.values)

    def side(self) -> Side:
        """Return what is read on each platform."""
        error = self.error()
        if self.where == "answer":
            return _answered(self.when, error.shown)
        chats = self.where != "terminal"
        return Side(
            explains=self.when,
            terminal=NOT_SAID if self.where == "chat" else _typed(error),
            slack=read_in_slack([in_slack.failed(error)]) if chats else NOT_SAID,
            discord=read_on_discord([on_discord.failed(error)]) if chats else NOT_SAID,
        )


def _answered(when: str, text: str) -> Side:
    told = Text(text=text)
    return Side(
        explains=when,
        terminal=on_a_terminal(told),
        slack=read_in_slack(in_slack.draw(told, team=slack_drawings.TEAM)),
        discord=read_on_discord(on_discord.draw(told, guild=discord_drawings.GUILD)),
    )


def _typed(error: SaysoError) -> list[str]:
    return on_a_terminal(Failed(kind=error.kind, text=error.shown))


def said(  # the first two by place alone, for `self` may be a name of the source
    source: str, when: str, /, *, text: str = "", where: str = "", **values: object
) -> Sentence:
    return Sentence(source=source, when=when, values=values, text=text, where=where)


def answer(source: str, when: str, /, *, text: str = "", **values: object) -> Sentence:
    return said(source, when, text=text, where="answer", **values)
