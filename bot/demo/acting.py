"""What actors of the tour do: type lines, and what happens to machines behind Sayso's back."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from approvals.models import RunState
from bot import plain, proof, wiring
from bot.conversing import Conversing
from core import audit
from core.errors import Refused, Unavailable

_PATIENCE = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """Everybody at one keyboard, and the folder in which the services work."""

    conversing: Conversing
    work: Path

    async def types(self, who: str, line: str) -> None:
        """Have somebody type a line, and wait until all that it leads to is shown."""
        await self.begins(who, line)
        await self.conversing.rest()

    async def begins(self, who: str, line: str) -> None:
        """Have somebody type a line whose outcome nobody waits for."""
        await self.conversing.terminal.quote(who, line)
        self.conversing.sit(who)
        await self.conversing.take(line)

    async def card(self) -> str:
        """Return the id of the one request that waits."""
        self.conversing.sit("bob")
        waiting = await self.conversing.app.looking.waiting(self.conversing.seat.identity)
        if len(waiting) != 1:
            raise Unavailable(f"The tour expected one card and found {len(waiting)}.")
        return waiting[0].id

    async def edits(self, file: str, old: str, new: str) -> None:
        """Have somebody change a file by hand."""
        await self.conversing.terminal.quote("somebody's shell", f"sed -i s/{old}/{new}/ {file}")
        path = self.work / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    async def kills(self, service: str) -> None:
        """Have somebody kill the process that builds an index, once it is at it."""
        await self.is_at_work(service)
        pid = int((self.work / "index" / f"{service}.pid").read_text(encoding="utf-8"))
        await self.conversing.terminal.quote("somebody's shell", f"kill -9 {pid}")
        os.kill(pid, signal.SIGKILL)
        await self.conversing.rest()

    async def is_at_work(self, service: str) -> None:
        """Wait until an index is being built."""
        state, clock = self.work / "index" / f"{service}.txt", asyncio.get_running_loop().time
        deadline = clock() + _PATIENCE
        while not state.is_file() or not state.stat().st_size:
            if clock() > deadline:
                raise Unavailable("The tour waited for an index, and nobody builds one.")
            await asyncio.sleep(0.02)
        await self.conversing.told()

    async def attests(self) -> None:
        """Have an operator write a receipt of a run, and somebody check it, whole and with a change."""
        app, terminal = self.conversing.app, self.conversing.terminal
        self.conversing.sit("bob")
        ran = await app.looking.ran(self.conversing.seat.identity)
        run = next(one.id for one, _ in ran if one.state is RunState.SUCCEEDED)
        await terminal.quote("an operator's shell", f"sayso receipt {run} --output receipt.json")
        verdict = audit.verify(await app.records.audit())
        if isinstance(verdict, audit.Broken):
            raise Unavailable("The tour's audit log does not hold.")
        issued = await app.receipts.issue(
            run, key=app.keys.key(), account=wiring.account(), since=verdict
        )
        file, key, head = self.work / "receipt.json", issued.receipt.key, issued.receipt.head.hash
        file.write_text(issued.text, encoding="utf-8")
        await terminal.quote("anybody's shell", "sayso verify receipt.json --key KEY --head HEAD")
        await terminal.tell(proof.verify(file, receipt=file, key=key, head=head).text)
        await self.edits("receipt.json", '"bob"', '"eve"')
        try:
            proof.verify(file, receipt=file, key=key, head=head)
        except Refused as refused:
            await terminal.fail(refused)

    async def proves(self) -> None:
        """Have an operator check the audit log."""
        await self.conversing.terminal.quote("an operator's shell", "sayso audit verify")
        entries = await self.conversing.app.records.audit()
        await self.conversing.terminal.tell(plain.audit(audit.verify(entries)))
