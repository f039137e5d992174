"""Two small services as child processes, each started again whenever it ends."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from core.errors import Unavailable

NAMES = ("web", "worker")
_START = 10.0


@asynccontextmanager
async def running(work: Path) -> AsyncGenerator[None]:
    """Keep the services up; their ports are in `fleet.json`. All of them end with this."""
    ports = dict(zip(NAMES, _free_ports(len(NAMES)), strict=True))
    for folder in ("logs", "index"):
        (work / folder).mkdir()
    (work / "fleet.json").write_text(json.dumps(ports), encoding="utf-8")
    keepers = [asyncio.create_task(_keep(work, name, port)) for name, port in ports.items()]
    try:
        for port in ports.values():
            await _answers(port)
        yield
    finally:
        for keeper in keepers:
            keeper.cancel()
        await asyncio.wait(keepers)


async def _keep(work: Path, name: str, port: int) -> None:
    while True:
        service = await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(work / "service.py"), name, str(port), cwd=work,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await service.wait()
        except asyncio.CancelledError:
            service.kill()
            await service.wait()
            raise
        await asyncio.sleep(0.05)


async def _answers(port: int) -> None:
    clock = asyncio.get_running_loop().time
    deadline = clock() + _START
    while clock() < deadline:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            await writer.wait_closed()
            return
    raise Unavailable("The demo's services did not start. Is another program on their ports?")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
