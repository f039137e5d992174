"""Calls of tools of MCP servers, real processes: what provably was not sent, what failed, what nobody knows."""

import asyncio
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.mcp.children import Nursery
from adapters.mcp.definitions import of
from adapters.mcp.runner import ToolRunner
from adapters.sandbox.boxes import NoBox
from adapters.sandbox.bubblewrap import Bubblewrap
from core.ids import run_id
from core.plans import ToolStep
from core.ports import Ended, Ending
from core.redaction import MASK, Redactor
from core.sizes import ADDRESS_SPACE
from tests.fakes.secrets import FakeSecrets
from tests.mcp_tools import ADD, SERVER
from tests.sayso import Object, marked, until

SECRET = "correct-horse-battery"
ADDED: Object = {"name": "add", "arguments": {"text": "a"}}
NARROWER: Object = {"type": "object", "properties": {}}


class Folder:
    """A working folder with a server in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = run_id()  # two that run beside one another must not kill each other
        self.runner = ToolRunner(
            nursery=Nursery(box=NoBox(folder=folder), redactor=Redactor.of([SECRET])),
            secrets=FakeSecrets(now={"TOKEN": SECRET}, late={"LOST"}),
            drifted=set(),
        )

    def says(self, *tools: Object, how: str = "ok", pages: str = "", era: str = "") -> None:
        text = json.dumps({"tools": tools, "calls": {"add": how}, "pages": pages, "era": era})
        (self.folder / "server.json").write_text(text)

    def step(self, *, timeout: float = 20.0, secrets: tuple[str, ...] = ()) -> ToolStep:
        return ToolStep(
            server="notes",
            argv=(sys.executable, "-S", str(SERVER), "server.json"),
            tool="add",
            definition=of(ADD).sha256,
            arguments={"text": "a"},
            timeout_ms=round(timeout * 1000),
            memory_bytes=ADDRESS_SPACE,
            secrets=secrets,
        )

    async def call(self, step: ToolStep | None = None) -> Ended:
        return await self.runner.run(step or self.step(), step_id=f"{self.run}.0")

    def served(self) -> list[Object]:
        file = self.folder / "served.txt"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.says(ADD)
    return made


@pytest.mark.parametrize(
    ("how", "ending", "note", "output"),
    [
        ("ok", Ending.ANSWERED, "", 'did {"text": "a"}'),
        ("error", Ending.ANSWERED_OTHERWISE, "the tool said that it failed", "it is broken"),
        ("refuse", Ending.ANSWERED_OTHERWISE, "the server refused the call", ""),
        ("trouble", Ending.BROKEN_OFF, "the server gave no answer", ""),
        ("die", Ending.BROKEN_OFF, "the server gave no answer", ""),
        ("shape", Ending.BROKEN_OFF, "the server gave no answer", ""),
        ("large", Ending.BROKEN_OFF, "the server gave no answer", ""),
        (f"it is {SECRET}\x1b[2J", Ending.ANSWERED, "", "it is [redacted]\\u001b[2J"),
    ],
)
async def test_what_was_sent_is_done_failed_or_unknown(
    folder: Folder, how: str, ending: Ending, note: str, output: str
) -> None:
    folder.says(ADD, how=how)
    ended = await folder.call()
    assert (ended.ending, ended.note, ended.output) == (ending, note, output)
    assert folder.served() == [ADDED]
    assert marked(folder.run) == []


async def test_c85_all_of_a_long_answer_can_be_had_without_its_secrets(folder: Folder) -> None:
    lines = [f"{n} {SECRET}" if n == 5000 else f"{n}" for n in range(10_000)]
    folder.says(ADD, how="\n".join(lines))
    ended = await folder.call()
    assert ended.whole
    kept = b"".join([piece async for piece in ended.whole()]).decode()
    assert kept == "\n".join(lines).replace(SECRET, MASK)
    assert MASK not in ended.output
    assert "bytes left out" in ended.output


async def test_what_takes_too_long_after_it_was_sent_is_unknown(folder: Folder) -> None:
    folder.says(ADD, how="hang")
    ended = await folder.call(folder.step(timeout=3))
    assert (ended.ending, ended.succeeded) == (Ending.TIMED_OUT, False)
    assert folder.served() == [ADDED]
    assert marked(folder.run) == []


@pytest.mark.parametrize(
    ("tools", "pages", "told"),
    [
        ([ADD | {"description": "Add a note, and mail it."}], "", "says something else of add"),
        (
            [ADD | {"inputSchema": NARROWER}],
            "",
            "something else of add",
        ),
        ([ADD | {"annotations": {"readOnlyHint": True}}], "", "something else of add"),
        ([], "", "something else of add"),
        ([ADD, ADD], "", "it lists two tools of one name"),
        ([ADD], "endless", "pages"),
        ([ADD], "circle", "again and again"),
        ([ADD | {"name": f"t{number}"} for number in range(201)], "", "more than 200 tools"),
    ],
)
async def test_attack_27_what_is_not_as_accepted_is_not_sent(
    folder: Folder, tools: list[Object], pages: str, told: str
) -> None:
    folder.says(*tools, pages=pages)
    ended = await folder.call()
    assert (ended.ending, ended.note) == (Ending.NOT_STARTED, "nothing was sent")
    assert told in ended.output
    assert folder.served() == []


async def test_attack_27_after_a_drift_nothing_of_that_server_is_called_any_more(
    folder: Folder,
) -> None:
    folder.says(ADD | {"description": "Other"})
    await folder.call()
    folder.says(ADD)  # a server that says what it did again is no less of a liar
    assert "accepted" in str(folder.runner.obstacle(folder.step()))
    assert (await folder.call()).ending is Ending.NOT_STARTED
    assert folder.served() == []


async def test_what_cannot_be_started_is_not_sent(folder: Folder) -> None:
    step = folder.step()
    for argv, told in (
        (("./none",), "There is no program ./none"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "did not answer as an MCP server does"),
        ((sys.executable, "-c", "print('hello')"), "did not answer as an MCP server does"),
        ((sys.executable, "a\0b"), "could not be started"),
    ):
        other = replace(step, argv=argv)
        ended = await folder.call(other)
        assert ended.ending is Ending.NOT_STARTED
        assert told in ended.output
    late = replace(folder.step(timeout=1), argv=("/bin/sleep", "60"))
    ended = await folder.call(late)
    assert (ended.ending, ended.output) == (
        Ending.NOT_STARTED,
        "The MCP server notes took too long to begin.",
    )
    assert marked(folder.run) == []


async def test_a_secret_that_cannot_be_had_keeps_it_from_starting(folder: Folder) -> None:
    unknown, lost = folder.step(secrets=("OTHER",)), folder.step(secrets=("LOST",))
    told = "The secret {} has no value that can be passed on."
    assert folder.runner.obstacle(unknown) == told.format("OTHER")
    assert (await folder.call(lost)).output == told.format("LOST")
    assert folder.served() == []


async def test_attack_28_a_server_that_asks_gets_no_answer_from_anybody(folder: Folder) -> None:
    folder.says(ADD, how="elicit")
    ended = await folder.call()
    assert '"message": "Elicitation not supported"' in ended.output
    assert '"action"' not in ended.output
    folder.says(ADD, how="question", era="modern")
    ended = await folder.call()
    assert (ended.ending, ended.note) == (
        Ending.ANSWERED_OTHERWISE,
        "the server wanted an answer to a question, and gets none from Sayso",
    )
    assert folder.served() == [ADDED, ADDED]


async def test_a_server_of_the_era_without_a_handshake_is_called_all_the_same(
    folder: Folder,
) -> None:
    folder.says(ADD, era="modern")
    assert (await folder.call()).output == 'did {"text": "a"}'


async def test_stopping_kills_the_server(folder: Folder) -> None:
    folder.says(ADD, how="hang")
    call = asyncio.create_task(folder.call())
    await asyncio.to_thread(until, folder.served)
    assert len(marked(folder.run)) == 1
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert marked(folder.run) == []


async def test_i12_a_server_has_the_secrets_it_may_see_and_no_other_variable(
    folder: Folder,
) -> None:
    folder.says(ADD, how="env")
    ended = await folder.call(folder.step(secrets=("TOKEN",)))
    assert ended.output == "HOME LANG PATH SAYSO_STEP_ID TOKEN=[redacted]"


async def test_in_the_sandbox_it_is_the_same_and_it_sees_nothing_else(folder: Folder) -> None:
    shutil.copy(SERVER, folder.folder / "server.py")
    box = Bubblewrap(folder=folder.folder)
    boxed = replace(folder.runner, nursery=replace(folder.runner.nursery, box=box))
    step = replace(folder.step(), argv=("/usr/bin/python3", "-S", "server.py", "server.json"))
    ended = await boxed.run(step, step_id=f"{folder.run}.0")
    assert (ended.ending, ended.output) == (Ending.ANSWERED, 'did {"text": "a"}')
    hidden = replace(step, argv=("/usr/bin/python3", "-S", str(SERVER), "server.json"))
    assert (await boxed.run(hidden, step_id=f"{folder.run}.1")).ending is Ending.NOT_STARTED
    folder.says(ADD, how="hang")
    call = asyncio.create_task(boxed.run(step, step_id=f"{folder.run}.2"))
    await asyncio.to_thread(until, lambda: len(folder.served()) == 2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert marked(folder.run) == []
