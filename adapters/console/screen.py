"""What a terminal can show: its width, whether it has colours, and which characters it knows."""

import io
import shutil
from dataclasses import dataclass
from typing import TextIO

from rich.box import ASCII, ROUNDED, Box
from rich.console import Console, RenderableType
from rich.theme import Theme

NARROW = 60
"""Below so many columns a panel has no sides: they would take what little room there is."""
_WIDEST = 120
_NARROWEST = 20

STYLES = Theme(
    {
        # The terminal's own palette, and of that only what can be read on light and on dark.
        "title": "bold not dim",
        "quiet": "dim",
        "well": "bold green",
        "badly": "bold red",
        "unclear": "bold magenta",
        "warning": "magenta",
        "person": "bold",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One look at a terminal: it may have another size at the next one."""

    width: int
    colours: bool = False
    encoding: str = "utf-8"

    @property
    def fancy(self) -> bool:
        """Return whether it can show more than ASCII."""
        return self.encoding.lower().startswith("utf")

    def known(self, text: str) -> str:
        """Return a text in characters that it knows, so that what is measured is what it shows."""
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    @property
    def box(self) -> Box:
        """Return the lines of a panel."""
        return ROUNDED if self.fancy else ASCII

    @property
    def is_narrow(self) -> bool:
        """Return whether there is no room for sides."""
        return self.width < NARROW

    def text(self, renderable: RenderableType) -> str:
        """Return something as this terminal shows it, a line end behind the last line."""
        console = self.console(io.StringIO())
        with console.capture() as captured:
            console.print(renderable)
        return captured.get()

    def console(self, file: TextIO, *, record: bool = False) -> Console:
        """Return a console of this size that interprets nothing in what it prints."""
        return Console(
            file=file,
            width=self.width,
            theme=STYLES,
            force_terminal=self.colours,
            color_system="standard" if self.colours else None,
            no_color=not self.colours,
            markup=False,
            highlight=False,
            emoji=False,
            record=record,
            legacy_windows=False,
            _environ={},
        )


def looked(stream: TextIO | None, *, colours: bool) -> Screen:
    """Return what the terminal behind a stream can show right now."""
    columns = shutil.get_terminal_size((80, 24)).columns
    return Screen(
        width=min(max(columns, _NARROWEST), _WIDEST),
        colours=colours,
        encoding=(stream and stream.encoding) or "ascii",
    )
