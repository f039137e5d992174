"""A Sayso in Slack and on Discord with a secret planted wherever there can be one, and where to look for it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import getsource
from pathlib import Path

import pytest

from approvals.models import Request
from bot import connecting, serving, wiring
from bot.wiring import Seams
from core.canonical import Json
from core.plans import Step
from core.ports import Ended, Hear, Runner
from core.redaction import MASK
from core.tools import RESERVED
from core.transcript import Returned, Say
from tests import hostile
from tests.canaries import buried, in_files, sings
from tests.fakes.model import ScriptedModel, in_pieces
from tests.fakes.runner import words_of
from tests.hostile import call, use
from tests.recited import NOTE
from tests.sayso import Sayso
from tests.sayso import fresh as folder_of
from tests.server import Server, on_discord
from tests.standins.discord import ALICE as GUILD_ALICE
from tests.standins.discord import OPS as GUILD_OPS
from tests.standins.discord import FakeDiscord
from tests.standins.slack import FakeSlack
from tests.team import ALICE, OPS, Team, in_slack

CANARIES = {
    "FROM_ENV": "env/7f3d9+Kestrel?x",
    "FROM_FILE": "file/81c2e+Sparrow?y",
    "FROM_COMMAND": "printed/5b07a+Wagtail?z",
    "OF_SAYSO": "own/d41f8+Bullfinch?w",
}
"""The last one is only in the environment of Sayso: nobody may ever learn of it."""
NAMED = [name for name in CANARIES if name != "OF_SAYSO"]
SECRETS = """
secrets:
  FROM_ENV: "env:FROM_ENV"
  FROM_FILE: "file:secret.txt"
  FROM_COMMAND: {command: [cat, printed.txt], timeout: 20s}
"""
HOLDS_IT = {"secret.txt", "printed.txt"}
READS = """
summary: A read that prints secrets.
effect: read
params:
  how: {type: string, pattern: "^[a-z]+$"}
steps:
  - run: [python3, leak.py, "{how}"]
    secrets: [FROM_ENV, FROM_FILE, FROM_COMMAND]
"""
WRITES = """
summary: A change that prints secrets.
risk: low
params:
  how: {type: string, pattern: "^[a-z]+$"}
preview: {run: [python3, leak.py, folded], secrets: [FROM_ENV, FROM_FILE, FROM_COMMAND]}
steps:
  - run: [python3, leak.py, "{how}"]
    secrets: [FROM_ENV, FROM_FILE, FROM_COMMAND]
verify: {run: [python3, leak.py, wrapped], secrets: [FROM_ENV, FROM_FILE, FROM_COMMAND]}
"""
LEAK = (
    f"""
import base64, json, os, sys, time, urllib.parse

{getsource(buried)}"""
    + """
how = sys.argv[1]
for name in ("FROM_ENV", "FROM_FILE", "FROM_COMMAND", "OF_SAYSO"):
    it = os.environ.get(name, "")
    print(name, {
        "plain": it,
        "encoded": base64.b64encode(f"user:{it}".encode()).decode(),
        "wrapped": "\\n".join(base64.b64encode(f"to {it}".encode()).decode()[i::1][:9] for i in range(0, 40, 9)),
        "quoted": urllib.parse.quote(it, safe=""),
        "hex": it.encode().hex(),
        "folded": "\\n".join(it[i:i + 7] for i in range(0, len(it), 7)),
        "coloured": it[:9] + "\\x1b[31m" + it[9:] + "\\x1b[0m",
        "json": json.dumps(dict(os.environ)),
        "slow": it,
        "error": it,
        "boom": it,
        "long": buried(it) if it else "",
    }[how], flush=True)
    if how == "slow":
        time.sleep(0.2)
if how == "error":
    sys.exit(3)
"""
)
WAYS = (
    "plain", "encoded", "wrapped", "quoted", "hex", "folded", "coloured", "json", "slow", "error",
)  # fmt: skip


@dataclass
class Raising:
    """A runner that fails as no runner may: with what it was given in its words."""

    inner: Runner

    @property
    def backend(self) -> str:
        return self.inner.backend

    def obstacle(self, step: Step) -> str | None:
        return self.inner.obstacle(step)

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        ended = await self.inner.run(step, step_id=step_id, hear=hear)
        if "boom" in words_of(step):
            raise RuntimeError(f"it broke: {' '.join(CANARIES[name] for name in NAMED)}")
        return ended


@dataclass(kw_only=True)
class Cage:
    """Everything that there is, with a canary in every place that may hold one."""

    sayso: Sayso
    slack: FakeSlack
    discord: FakeDiscord
    team: hostile.Team
    workspace: Team
    guild: Server

    @property
    def song(self) -> str:
        """Return all of those that Sayso knows, as somebody might say them."""
        return " ".join(CANARIES[name] for name in NAMED)

    async def reads_all(self) -> str:
        """Have the model read each leak and tell it; return the conversation."""
        reads = [use(call("show-leak", {"how": how}, id=f"r{n}")) for n, how in enumerate(WAYS)]
        first = await self.team.ask(reads[0], reads[1], Say(text=self.song))
        for number in range(2, len(reads), 2):
            await self.team.ask(
                *reads[number : number + 2],
                Say(text=f"so: {self.song[:9]}\n{self.song[9:]}", suggestions=(self.song,)),
                here=first.conversation,
            )
        return first.conversation

    async def runs(self, how: str) -> Request:
        """Have a change that leaks be proposed, approved and run."""
        request = await self.team.propose(call("spill", {"how": how, **self.about}))
        await self.team.approve(request)
        return request

    @property
    def about(self) -> dict[str, Json]:
        """Return what a model says of a plan, with all of those that Sayso knows."""
        return dict.fromkeys(RESERVED, self.song)

    async def is_told(self) -> None:
        """Have people say it everywhere, and the model answer with it, written piece by piece."""
        self.team.model.then(in_pieces("It is ", self.song[:9], self.song[9:], " now. done-here"))
        await self.slack.people.slash(ALICE, OPS, "/ask", "what is it?")
        await self.slack.until(
            lambda: any("done-here" in str(one.body) for one in self.slack.web.calls)
        )
        self.team.model.then(in_pieces("It is ", self.song[:9], self.song[9:], " now. done-there"))
        await self.discord.people.mentions(GUILD_ALICE, GUILD_OPS, "what is it?")
        await self.discord.until(
            lambda: any("done-there" in str(one.body) for one in self.discord.web.calls)
        )

    async def is_asked(self) -> None:
        """Have people write it on each platform; what is not acted on is said there."""
        said = "looks like a secret"
        await self.slack.people.slash(ALICE, OPS, "/ask", f"is it {CANARIES['FROM_FILE']}?")
        await self.slack.until(lambda: any(said in str(one.body) for one in self.slack.web.calls))
        await self.discord.people.mentions(
            GUILD_ALICE, GUILD_OPS, f"is it {CANARIES['FROM_FILE']}?"
        )
        await self.discord.until(
            lambda: any(said in str(one.body) for one in self.discord.web.calls)
        )
        await self.team.ask(Say(text="done"), text=f"is it {CANARIES['FROM_FILE']}?")

    def sent(self) -> dict[str, list[str]]:
        """Return where it was sent to."""
        model = self.team.model
        every = {
            "slack": {repr(one.body) for one in self.slack.web.calls},
            "discord": {repr((one.path, one.body, one.files)) for one in self.discord.web.calls},
            "model": {repr(one) for seen in model.seen for one in seen},
            "prompts": {repr(one) for one in model.prompts},
        }
        assert all(every.values())
        files = {repr(one["content"]) for one in self.slack.work.files.values()}
        every["files"] = files | {repr(one) for one in self.discord.world.files.values()}
        found = {where: sings("\0".join(one).encode(), CANARIES) for where, one in every.items()}
        return {where: names for where, names in found.items() if names}

    def masked(self) -> list[bool]:
        """Return whether something was masked in what came of each read."""
        entries = (one for seen in self.team.model.seen for one in seen)
        results = (one.results for one in entries if isinstance(one, Returned))
        found = {result.call: result.text for some in results for result in some}
        return [text.count(MASK) >= len(NAMED) for text in found.values()]

    async def exported(self, *commands: tuple[str, ...]) -> None:
        """Fail where anything that can be taken out of Sayso holds one."""
        # Without platforms, since each of these commands would get ready for them.
        alone = self.sayso.copied(self.sayso.folder.with_name("alone"))
        config = (alone.folder / "sayso.yml").read_text("utf-8").splitlines(keepends=True)
        own = [line for line in config if not line.startswith(("slack:", "discord:"))]
        (alone.folder / "sayso.yml").write_text("".join(own), "utf-8")
        env = {name: CANARIES[name] for name in ("FROM_ENV", "OF_SAYSO")}
        for command in commands:
            as_ = "alice" if command[0] == "ask" else None
            done = await asyncio.to_thread(alone.run, *command, as_=as_, env=env)
            assert sings(f"{done.out}{done.err}".encode(), CANARIES) == [], command
            assert done.code == 0, (command, done)
        assert in_files(alone.folder, CANARIES, but=HOLDS_IT) == {}


@asynccontextmanager
async def caged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, prepare: Callable[[Sayso], None] = lambda _: None
) -> AsyncGenerator[Cage]:
    """Serve all of it while this lasts. `prepare` has the last word on the folder."""
    async with FakeSlack() as slack, FakeDiscord() as discord:
        with folder_of(folder) as sayso:
            team, server = in_slack(slack, sayso), on_discord(discord, sayso)
            server.declared()
            for name in ("FROM_ENV", "OF_SAYSO"):
                monkeypatch.setenv(name, CANARIES[name])
            for name, token in {**team.tokens, **server.tokens}.items():
                monkeypatch.setenv(name, token)
            (sayso.folder / "secret.txt").write_text(CANARIES["FROM_FILE"], "utf-8")
            (sayso.folder / "printed.txt").write_text(CANARIES["FROM_COMMAND"], "utf-8")
            (sayso.folder / "work" / "leak.py").write_text(LEAK, "utf-8")
            for name, text in {"show-leak": READS, "spill": WRITES, "note": NOTE}.items():
                sayso.runbook(name, text)
            sayso.configure(SECRETS)
            prepare(sayso)
            async with _served(sayso) as played:
                yield Cage(
                    sayso=sayso, slack=slack, discord=discord, team=played,
                    workspace=team, guild=server,
                )  # fmt: skip


@asynccontextmanager
async def _served(sayso: Sayso) -> AsyncGenerator[hostile.Team]:
    model, stop = ScriptedModel(generative=True), asyncio.Event()
    async with wiring.opened(sayso.folder / "sayso.yml", Seams(model=model, runner=Raising)) as app:
        served = asyncio.create_task(serving.serve(app.engine, stop, lambda: None))
        async with connecting.connected(app.platforms, app.desk, stop):
            yield hostile.Team(sayso=sayso, app=app, model=model)
            stop.set()
            await served
