"""A team in Slack: the project's own Slack, and `sayso run` as a process of its own beside it."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.sayso import Done, Running, Sayso, fresh, until
from tests.standins.slack import Delivery, FakeSlack, Json
from tests.standins.slack.plain import text_of
from tests.standins.slack.wire import copied

OPS = "C0OPS"
PATIENCE = 15.0
"""Seconds: a busy machine is no failure."""
ALICE, BOB, CAROL, MALLORY = "U0ALICE", "U0BOB", "U0CAROL", "U0MALLORY"
SOCKETS = 'app_token: "env:SLACK_APP_TOKEN"'
"""In the section about Slack: over sockets."""
ECHO = """
summary: Say a word.
effect: read
params:
  word: {type: string}
phrases: ["say {word}"]
steps:
  - run: [echo, "said {word}"]
"""
LOOK = """
summary: Look at a word for some seconds, and leave a trace of that.
effect: read
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
  seconds: {type: integer}
phrases: ["look at {word} {seconds}"]
steps:
  - run: [python3, append.py, ledger.txt, "{word}", "{seconds}"]
    timeout: 90s
"""
THREE = """
summary: Append three words, the second one slowly.
risk: low
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
phrases: ["three {word}"]
steps:
  - run: [python3, append.py, ledger.txt, "{word}1"]
  - run: [python3, append.py, ledger.txt, "{word}2", "60"]
    timeout: 90s
  - run: [python3, append.py, ledger.txt, "{word}3"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """What people see of Sayso in Slack."""

    slack: FakeSlack
    sayso: Sayso

    async def serve(self) -> Running:
        """Start a server and wait until it is connected."""
        opened = self.slack.sockets.opened
        running = self.sayso.start("run", env=self.tokens)
        await asyncio.to_thread(running.ready)
        await self.slack.sockets.until_opened(opened + 2)
        return running

    async def ends(self, running: Running, number: signal.Signals = signal.SIGTERM) -> Done:
        """End a server, and wait until none of its sockets is left."""
        sockets = len(self.slack.sockets.open)
        done = await asyncio.to_thread(running.signal, number)
        await self.slack.sockets.until_open(sockets - 2)
        return done

    @property
    def tokens(self) -> dict[str, str]:
        """Return what a server needs to be let in."""
        return {"SLACK_BOT_TOKEN": self.slack.bot_token, "SLACK_APP_TOKEN": self.slack.app_token}

    def channel(self, name: str) -> str:
        """Let there be one more channel with everybody in it; return its id."""
        return self.slack.work.channel(name, ALICE, BOB, CAROL, MALLORY)

    async def asks(self, user: str, text: str, *, channel: str = OPS) -> str:
        """Have somebody ask with the slash command; return the thread that opens."""
        before = self._roots(channel)
        await self.slack.people.slash(user, channel, "/ask", text)
        await self.slack.until(lambda: self._roots(channel) - before, within=PATIENCE)
        [opened] = self._roots(channel) - before
        return opened

    def _roots(self, channel: str) -> set[str]:
        return {
            str(one["ts"])
            for one in self.slack.messages(channel)
            if one.get("thread_ts") in (None, one["ts"])
        }

    async def says(self, user: str, thread: str, text: str, *, channel: str = OPS) -> Delivery:
        """Have somebody answer in a thread, without a mention."""
        return await self.slack.people.say(user, channel, text, thread=thread)

    async def card(self, thread: str, *, channel: str = OPS) -> Json:
        """Return the newest card in a thread, once one is there."""
        await self.slack.until(lambda: self.cards(thread, channel), within=PATIENCE)
        return copied(self.cards(thread, channel)[-1])

    async def proposed(self, user: str, text: str, *, channel: str = OPS) -> tuple[str, Json]:
        """Have somebody ask for a change; return the thread and the card in it."""
        thread = await self.asks(user, text, channel=channel)
        return thread, await self.card(thread, channel=channel)

    def cards(self, thread: str, channel: str = OPS) -> list[Json]:
        """Return the messages of a thread that can be approved."""
        return [
            m for m in self.slack.messages(channel, thread) if "Approve" in self.slack.buttons(m)
        ]

    def request(self, card: Json) -> str:
        """Return the id that the buttons of a card carry."""
        return next(
            str(each["value"])
            for block in card["blocks"]
            for each in block.get("elements", ())
            if str(each.get("action_id", "")).startswith("sayso:approve")
        )

    async def clicks(self, user: str, card: Json, what: str, *, channel: str = OPS) -> Delivery:
        """Have somebody press a button."""
        return await self.slack.hands.click(user, channel, card["ts"], what)

    async def reads(self, thread: str, text: str, *, channel: str = OPS) -> None:
        """Wait until a text is to be read in a thread."""
        await self._seen(lambda: self.slack.thread(channel, thread), text)

    async def told(self, user: str, text: str) -> None:
        """Wait until somebody alone was told something."""
        await self._seen(lambda: self.slack.ephemerals(user), text)

    def status(self, thread: str, *, channel: str = OPS) -> str:
        """Return what Slack shows beside a thread."""
        return str(self.slack.work.sessions[channel, thread][-1]["status"])

    def alone(self, user: str, thread: str) -> list[str]:
        """Return what somebody alone was shown in a thread."""
        shown = [one for one in self.slack.work.ephemeral if one["user"] == user]
        return [text_of(one) for one in shown if one.get("thread_ts") == thread]

    async def _seen(self, there: Callable[[], list[str]], text: str) -> None:
        try:
            await self.slack.until(lambda: any(text in one for one in there()), within=PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{text!r} is nowhere in {there()}") from None

    async def until(self, happened: Callable[[], object]) -> None:
        """Wait for something that Slack does not hear of, such as a line in the ledger."""
        await asyncio.to_thread(until, happened)

    async def begun(self, word: str) -> None:
        """Wait until a slow step has begun."""
        await self.until(lambda: f"begin {word}" in self.sayso.ledger())

    def turns(self, thread: str | None = None) -> int:
        """Return how many messages were taken in, in a thread or at all."""
        counted = "SELECT count(*) FROM turn JOIN conversation c ON c.id = turn.conversation"
        if thread is None:
            [(count,)] = self.sayso.sql(counted)
        else:
            [(count,)] = self.sayso.sql(f"{counted} WHERE c.thread = ?", thread)
        return int(count)

    def conversation(self, thread: str) -> str:
        """Return the conversation of a thread; fail where there is none."""
        [(found,)] = self.sayso.sql("SELECT id FROM conversation WHERE thread = ?", thread)
        return str(found)


@asynccontextmanager
async def team(
    folder: Path, *, slack_section: str = "", way_in: str = SOCKETS
) -> AsyncGenerator[Team]:
    """Give a team whose configuration is the contract's, with Slack and two runbooks that look.

    `slack_section` is what else stands in the section about Slack.
    """
    async with FakeSlack() as slack:
        with fresh(folder) as sayso:
            sayso.runbook("echo", ECHO)
            sayso.runbook("look", LOOK)
            yield in_slack(slack, sayso, slack_section, way_in)


def in_slack(slack: FakeSlack, sayso: Sayso, more: str = "", way_in: str = SOCKETS) -> Team:
    """Put the contract's people into a workspace, and the workspace into the configuration."""
    for user in (ALICE, BOB, CAROL, MALLORY):
        slack.work.person(user)
    slack.work.channel(OPS, ALICE, BOB, CAROL, MALLORY)
    sayso.configure(
        f'slack: {{bot_token: "env:SLACK_BOT_TOKEN", {way_in},'
        f' base_url: "{slack.base_url}"{more and ", "}{more}}}'
    )
    return Team(slack=slack, sayso=sayso)


@asynccontextmanager
async def served(folder: Path, *, slack_section: str = "") -> AsyncGenerator[Team]:
    """Give a team with a server that runs."""
    async with team(folder, slack_section=slack_section) as made:
        await made.serve()
        yield made
