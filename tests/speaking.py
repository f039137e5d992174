"""A server whose model says what a test writes into a file, while the test writes it.

`python -m tests.speaking FOLDER [SECONDS]`: each line of `FOLDER/says` is a piece as JSON; null ends the answer,
and the name of a tool in a list has the model use that tool, without arguments. After so many seconds
without an answer to its heartbeats it takes Discord's gateway for dead.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.discord.platform import DiscordPlatform
from bot import connecting, serving, wiring
from core.ports import Listener
from core.prompt import Prompt
from core.transcript import Called, Entry, Move, Say, ToolCall, Use
from tests.sayso import Running, Sayso, environment

SAYS = "says"


def started(sayso: Sayso, tokens: Mapping[str, str], *more: str) -> Running:
    """Start such a server."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.speaking", str(sayso.folder), *more],
        cwd=sayso.folder,
        env=environment(tokens),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    running = Running(process)
    sayso.started.append(running)
    return running


def has_said(sayso: Sayso, *pieces: str | list[str] | None) -> None:
    """Have the model say more; None is the end."""
    with (sayso.folder / SAYS).open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(piece)}\n" for piece in pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Implements `core.ports.Model`."""

    file: Path
    generative: bool = True

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        """Say what the file holds, and what comes into it."""
        del prompt, conclude
        used = sum(isinstance(entry, Called) for entry in entries)
        heard = list[str]()
        while True:
            for piece in self._pieces(used)[len(heard) :]:
                if piece is None:
                    return Say(text="".join(heard))
                if isinstance(piece, list):
                    call = ToolCall(id=f"call_{used}", tool=piece[0], arguments={})
                    return Use(calls=(call,), text="".join(heard))
                heard.append(piece)
                if hear:
                    hear(piece)
            await asyncio.sleep(0.02)

    def _pieces(self, used: int) -> list[str | list[str] | None]:
        """Return what comes behind so many uses of tools."""
        pieces = [json.loads(line) for line in self.file.read_text("utf-8").splitlines()]
        tools = [number for number, piece in enumerate(pieces) if isinstance(piece, list)]
        return pieces[tools[used - 1] + 1 :] if used else pieces


async def main(folder: Path, silence: float | None = None) -> None:
    """Serve until a signal."""
    seams = wiring.Seams(model=Speaker(file=folder / SAYS))
    async with wiring.opened(folder / "sayso.yml", seams) as app:
        stop = serving.signalled()
        for each in app.platforms.values():
            if silence is not None and isinstance(each, DiscordPlatform):
                each.tempo = replace(each.tempo, heartbeat_timeout=silence)
        served = asyncio.create_task(serving.serve(app.engine, stop, lambda: None))
        async with connecting.connected(app.platforms, app.desk, stop):
            sys.stderr.write("ready\n")
            sys.stderr.flush()
            await asyncio.wait({served})


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *map(float, sys.argv[2:])))
