"""`sayso output`: all that a step of a run printed, as whoever may read the files reads it."""

from hashlib import sha256
from pathlib import Path

from approvals.models import Run, Step
from bot.opened import with_app
from bot.printed import Printed
from bot.wholes import whole
from bot.wiring import App
from core.errors import Refused, Unavailable
from core.sizes import in_words

_NO_STEP = (
    "There is no such step. `sayso runs` lists the runs, and a report numbers its steps from 0."
)
_NO_FILE = (
    "The output cannot be written there. Name a new file in a folder that you may write to: sayso "
    "output RUN INDEX --output FILE"
)


def output(file: Path, *, run: str, index: int, output: Path | None) -> Printed:
    """Print all that a step printed, or write it into a new file."""

    async def deed(app: App) -> Printed:
        found, step = _step(await app.records.run(run), index)
        data = await whole(app.artifacts, found.id, step)
        digest = sha256(data).hexdigest()
        told = {"run": found.id, "index": index, "bytes": len(data), "sha256": digest}
        if output is None:
            text = data.decode()
            return Printed(object={**told, "output": text, "file": None}, text=text.rstrip("\n"))
        _write(output, data)
        return Printed(
            object={**told, "output": None, "file": str(output)},
            text=f"{in_words(len(data))} are written, sha256 {digest}.",
        )

    return with_app(file, deed)


def _step(run: Run | None, index: int) -> tuple[Run, Step]:
    if run is None or index >= len(run.steps):
        raise Refused(_NO_STEP)
    return run, run.steps[index]


def _write(file: Path, data: bytes) -> None:
    """Write a new file: what is there already is somebody's."""
    try:
        with file.open("xb") as written:
            written.write(data)
    except (OSError, ValueError) as error:  # a path may hold what no path can
        raise Unavailable(_NO_FILE, error=repr(error)) from error
