"""What the tour really shows, as text and as pictures, in `docs/captures`: `make captures` writes them.

What differs from run to run (ids, digests, pids, times) is replaced before anything is drawn, by
something of the same length, so that two runs draw the same.
"""

import asyncio
import hashlib
import io
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, cast

from rich.color import Color
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME

from adapters.console import drawing
from adapters.console.keyboard import Lines
from adapters.console.printing import Printer
from adapters.console.screen import Screen
from adapters.console.shown import Heading, Shown
from adapters.console.terminal import DrawnTerminal
from bot.demo import stage, tour

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "captures"
WIDTHS = (80, 120)
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": SVG_EXPORT_THEME}
PICTURES = {"card": (2, 4), "unknown": (11, 12)}
"""The first and the last scene of each picture."""
BLOCK = re.compile(
    r"<!-- captured: scenes? (\d+)(?: to (\d+))? -->\n```text\n(.*?)```\n", re.DOTALL
)
"""In a document: scenes of the tour at 80 columns, without their headings."""

_HEX = re.compile(r"(?<![0-9a-z])([a-z]_)?([0-9a-f]{12,64})(?![0-9a-z])")
_PID = re.compile(r"(?<=pid )\d+|(?<=-> )\d+|(?<=kill -9 )\d+")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_ENTRIES = re.compile(r"\d+ entries")
_FIRST_PID = 4101
_SVG = """<svg viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg" xml:space="preserve">
<style>
{unique_id}-matrix, .{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="100%" height="100%" fill="BACKGROUND"/>
<g clip-path="none">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


@dataclass
class Stable:
    """Gives everything that differs between two runs a name of its own, in order of appearance."""

    known: dict[str, int] = field(default_factory=dict[str, int])
    pids: dict[str, int] = field(default_factory=dict[str, int])

    def text(self, text: str) -> str:
        """Return a text with stable names in it."""
        text = _HEX.sub(self._hex, text)
        text = _PID.sub(self._pid, text)
        return _ENTRIES.sub("80 entries", _TIME.sub("2026-11-30 16:00:00 UTC", text))

    def value(self, value: object) -> Any:  # noqa: ANN401 - of the type that was given
        """Return a value with stable names in every text inside it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, tuple):
            return tuple(self.value(item) for item in cast("tuple[object, ...]", value))
        if is_dataclass(value) and not isinstance(value, type):
            return replace(
                value, **{f.name: self.value(getattr(value, f.name)) for f in fields(value)}
            )
        return value

    def _hex(self, match: re.Match[str]) -> str:
        # A plan's id is how its digest begins, so both are known by that beginning.
        number = self.known.setdefault(match[2][:12], len(self.known))
        digest = hashlib.sha256(f"capture {number}".encode()).hexdigest()
        return f"{match[1] or ''}{digest[: len(match[2])]}"

    def _pid(self, match: re.Match[str]) -> str:
        return str(self.pids.setdefault(match[0], _FIRST_PID + len(self.pids)))


async def recorded() -> list[list[Shown]]:
    """Play the tour and return what it shows, by scene; the last one is the end."""
    seen, stable = list[list[Shown]](), Stable()

    def record(what: Shown) -> str:
        named: Shown = stable.value(what)
        if isinstance(named, Heading):
            seen.append([])
        seen[-1].append(named)
        return ""

    with tempfile.TemporaryDirectory(prefix="sayso-captures-") as folder:
        stage.furnish(Path(folder))
        keyboard = Lines(None, Printer(io.StringIO().write), None)
        # Cards are shown only once nothing changes any more: how fast this machine is must not show.
        terminal = DrawnTerminal(keyboard, record, settle=600)
        await tour.play(Path(folder), terminal)
    return seen


def text(scenes: Sequence[Sequence[Shown]], width: int, *, headings: bool = True) -> str:
    """Return scenes as text."""
    screen = Screen(width=width)
    shown = [one for scene in scenes for one in scene if headings or not isinstance(one, Heading)]
    drawn = "".join(screen.text(drawing.draw(one, screen)) for one in shown)
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


def picture(scenes: Sequence[Sequence[Shown]], width: int, theme: str) -> str:
    """Return scenes as SVG."""
    screen = Screen(width=width, colours=True)
    console = screen.console(io.StringIO(), record=True)
    for one in (one for scene in scenes for one in scene):
        console.print(drawing.draw(one, screen))
    colours = THEMES[theme]
    template = _SVG.replace("BACKGROUND", Color.from_triplet(colours.background_color).name)
    return console.export_svg(theme=colours, code_format=template, unique_id="s")


def captures(scenes: Sequence[Sequence[Shown]]) -> Mapping[str, str]:
    """Return every file of the folder, by name."""
    texts = {f"tour-{width}.txt": text(scenes, width) for width in WIDTHS}
    pictures = {
        f"{name}-{width}-{theme}.svg": picture(scenes[first - 1 : last], width, theme)
        for name, (first, last) in PICTURES.items()
        for width in WIDTHS
        for theme in THEMES
    }
    return texts | pictures


def filled(document: str, scenes: Sequence[Sequence[Shown]]) -> str:
    """Return a document with its captured blocks as they are now."""

    def block(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2] or match[1])
        which = f"scenes {first} to {last}" if match[2] else f"scene {first}"
        shown = text(scenes[first - 1 : last], WIDTHS[0], headings=False)
        return f"<!-- captured: {which} -->\n```text\n{shown}```\n"

    return BLOCK.sub(block, document)


def documents() -> list[Path]:
    """Return every document that may hold a captured block."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    """Write all of it."""
    scenes = asyncio.run(recorded())
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    for name, content in captures(scenes).items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    for file in documents():
        before = file.read_text(encoding="utf-8")
        after = filled(before, scenes)
        if after != before:
            file.write_text(after, encoding="utf-8")
    sys.stdout.write(f"Written: {FOLDER.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
