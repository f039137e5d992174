"""What Slack shows of Sayso, drawn out of the golden files into `docs/captures`: `make captures` does it.

It is a drawing, not a copy of Slack: blocks in their order with their words, styles and buttons. It
follows the reader's light or dark theme.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeAlias

from tests.captures import FOLDER
from tests.slack_drawings import GOLDEN

Block: TypeAlias = Mapping[str, Any]
PREFIX = "slack-"
KINDS = ("card-", "progress-", "report-", "view-", "opening", "note", "told-card", "failed-")
WIDTH, MARGIN, GUTTER, SIZE, LINE = 680, 20, 46, 15, 22
NAMES = {"U0ALICE": "alice", "U2BOB": "bob", "U3": "carol"}
EMOJI = {"hourglass_flowing_sand": "⏳", "no_entry": "⛔", "question": "❓"}
MONO, MONO_SIZE, MONO_LINE = 0.61, 12, 18
_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[]{}/ -"), frozenset("mwMW@%—…")
_STYLE = """
text { font: 15px Lato, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #1d1c1d; }
.b { font-weight: bold } .i { font-style: italic } .s { text-decoration: line-through }
.h { font-size: 18px; font-weight: bold } .small { font-size: 12px; fill: #616061 }
.m { font: 12px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }
.who { fill: #1264a3 } .code { fill: #c01343 }
.page { fill: #ffffff } .box { fill: #f8f8f8; stroke: #dddddd } .bar { fill: #bbbabb }
.frame { fill: none; stroke: #bbbabb } .button { fill: #ffffff; stroke: #b0b0b0 }
.primary { fill: #007a5a } .danger { fill: #e01e5a } .on { fill: #ffffff; font-weight: bold }
@media (prefers-color-scheme: dark) {
text { fill: #e8e8e8 } .small { fill: #ababad } .who { fill: #6cb8f0 } .code { fill: #e8912d }
.page { fill: #1a1d21 } .box { fill: #222529; stroke: #44474b } .bar { fill: #5c5e61 }
.frame { stroke: #5c5e61 } .button { fill: #1a1d21; stroke: #797c80 } .on { fill: #ffffff }
}
"""


@dataclass(frozen=True, slots=True)
class Span:
    """Words in one style: classes of the picture's own style sheet."""

    text: str
    style: str = ""

    @property
    def width(self) -> float:
        size = 18 if "h" in self.style.split() else SIZE
        return sum(_em(one, bold="b" in self.style or size > SIZE) for one in self.text) * size


def _em(one: str, *, bold: bool) -> float:
    """Return about how wide a character is in the widest of the fonts."""
    em = 0.36 if one in _NARROW else 0.98 if one in _WIDE else 0.72 if one.isupper() else 0.63
    return em * 1.08 if bold else em


@dataclass(kw_only=True)
class Page:
    """A picture that grows downwards."""

    left: int = MARGIN + GUTTER
    right: int = WIDTH - MARGIN
    y: int = MARGIN
    style: str = _STYLE
    shapes: list[str] = field(default_factory=list[str])

    @property
    def room(self) -> int:
        return self.right - self.left

    def box(self, style: str, x: float, y: float, width: float, height: float) -> None:
        self.shapes.append(
            f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'
        )

    def text(self, x: float, y: float, spans: Sequence[Span], *, middle: bool = False) -> None:
        said = "".join(
            f'<tspan class="{span.style}">{escape(span.text)}</tspan>'
            for span in spans
            if span.text
        )
        anchor = ' text-anchor="middle"' if middle else ""
        self.shapes.append(f'<text x="{x:g}" y="{y:g}"{anchor}>{said}</text>')

    def paragraph(self, spans: Sequence[Span], *, line: int = LINE) -> None:
        for words in wrapped(spans, self.room):
            self.y += line
            if words:
                self.text(self.left, self.y - 6, words)

    def svg(self) -> str:
        height = self.y + MARGIN
        return (
            f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'xmlns="http://www.w3.org/2000/svg" xml:space="preserve">\n'
            f"<style>{self.style}</style>\n"
            f'<rect class="page" width="{WIDTH}" height="{height}"/>\n'
            + "\n".join(self.shapes)
            + "\n</svg>\n"
        )


def wrapped(spans: Sequence[Span], room: float) -> Iterator[list[Span]]:
    """Return lines of spans that fit, broken at blanks, or anywhere in a word that is too long."""
    line, used = list[Span](), 0.0
    for span in spans:
        for number, part in enumerate(span.text.split("\n")):
            if number:
                yield line
                line, used = [], 0.0
            for word in _words(part, span.style, room):
                if line and used + Span(word.text.rstrip(), word.style).width > room:
                    yield line
                    line, used = [], 0.0
                line, used = [*line, word], used + word.width
    if line:
        yield line


def _words(text: str, style: str, room: float) -> Iterator[Span]:
    word = ""
    for one in text:
        if Span(word + one, style).width > room:
            yield Span(word, style)
            word = ""
        word += one
        if one == " ":
            yield Span(word, style)
            word = ""
    if word:
        yield Span(word, style)


def span(element: Block) -> Span:
    """Return what a piece of rich text says, and how."""
    match element:
        case {"type": "user", "user_id": str(user)}:
            return Span(f"@{NAMES.get(user, user)}", "who b")
        case {"type": "emoji", "name": str(name)}:
            return Span(EMOJI[name])
        case {"type": "date", "fallback": str(text)}:
            return Span(text)
        case {"type": "text", "text": str(text)}:
            given: Mapping[str, bool] = element.get("style", {})
            classes = {"bold": "b", "italic": "i", "strike": "s", "code": "code m"}
            return Span(text, " ".join(classes[name] for name, is_on in given.items() if is_on))
        case _:
            raise ValueError(element["type"])


def rich(page: Page, element: Block) -> None:
    """Draw a part of rich text."""
    spans = [span(one) for one in element["elements"]]
    match element["type"]:
        case "rich_text_section":
            page.paragraph(spans)
        case "rich_text_preformatted":
            preformatted(page, "".join(one.text for one in spans))
        case "rich_text_quote":
            top = page.y
            page.left += 14
            page.paragraph(spans)
            page.left -= 14
            page.box("bar", page.left, top + 3, 4, page.y - top - 2)
        case kind:
            raise ValueError(kind)


def preformatted(page: Page, text: str) -> None:
    """Draw text of one width in a box."""
    most = int((page.room - 16) / (MONO * MONO_SIZE))
    lines = [
        line[at : at + most] for line in text.split("\n") for at in range(0, len(line) or 1, most)
    ]
    page.box("box", page.left, page.y + 4, page.room, len(lines) * MONO_LINE + 12)
    page.y += 10
    for line in lines:
        page.y += MONO_LINE
        page.text(page.left + 8, page.y - 5, [Span(line, "m")])
    page.y += 12


def buttons(page: Page, labels: Sequence[tuple[str, str]], *, right: bool = False) -> None:
    """Draw buttons in a row, or in several where they are many."""
    widths = [Span(label, "b").width + 28 for label, _ in labels]
    x = page.right - sum(widths) - 8 * (len(widths) - 1) if right else float(page.left)
    page.y += 8
    for (label, style), width in zip(labels, widths, strict=True):
        if x + width > page.right and x > page.left:
            x, page.y = float(page.left), page.y + 42
        page.box(style or "button", x, page.y, width, 34)
        page.text(x + width / 2, page.y + 22, [Span(label, "on" if style else "b")], middle=True)
        x += width + 8
    page.y += 40


def block(page: Page, one: Block) -> None:
    """Draw a block."""
    page.y += 4
    match one:
        case {"type": "header", "text": {"text": str(text)}}:
            page.paragraph([Span(text, "h")], line=28)
        case {"type": "rich_text", "elements": elements}:
            for element in elements:
                rich(page, element)
        case {"type": "context", "elements": elements}:
            page.paragraph([Span(each["text"], "small") for each in elements])
        case {"type": "actions", "elements": elements}:
            buttons(page, [(each["text"]["text"], each.get("style", "")) for each in elements])
        case {"type": "input", "label": {"text": str(text)}, "element": element}:
            page.paragraph([Span(text, "b"), Span(" (optional)", "small")])
            filled_in(page, element)
            if hint := one.get("hint"):
                page.paragraph([Span(hint["text"], "small")])
        case _:
            raise ValueError(one["type"])


def filled_in(page: Page, element: Block) -> None:
    """Draw where something is typed or chosen, with what stands there already."""
    now = element.get("initial_value") or element.get("initial_option", {}).get("value", "")
    height = 70 if element.get("multiline") else 32
    page.box("button", page.left, page.y + 4, page.room, height)
    if now:
        page.text(page.left + 10, page.y + 25, [Span(now)])
    page.y += height + 10


def message(page: Page, shown: Block) -> None:
    """Draw a message as Sayso's."""
    page.box("primary", MARGIN, page.y, 34, 34)
    page.text(MARGIN + 17, page.y + 23, [Span("S", "on h")], middle=True)
    page.text(page.left, page.y + 12, [Span("Sayso", "b"), Span("  APP", "small")])
    page.y += 16
    for one in shown["blocks"]:
        block(page, one)


def view(page: Page, shown: Block) -> None:
    """Draw a window, or the tab Home."""
    page.left, page.right = MARGIN + 16, WIDTH - MARGIN - 16
    title = shown["title"]["text"] if shown["type"] == "modal" else "Sayso  Home"
    page.y += 6
    page.paragraph([Span(title, "h")], line=28)
    for one in shown["blocks"]:
        block(page, one)
    if shown["type"] == "modal":
        close = [(shown[name]["text"], style) for name, style in _ENDS if name in shown]
        buttons(page, close, right=True)
    page.box("frame", MARGIN / 2, MARGIN / 2, WIDTH - MARGIN, page.y)


_ENDS = (("close", ""), ("submit", "primary"))


def picture(name: str) -> str:
    """Return what a golden file holds, as SVG."""
    shown: Any = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    page, several = Page(), isinstance(shown, list)
    every: list[Block] = shown if several else [shown]
    for number, one in enumerate(every):
        page.y += 12 if number else 0
        (view if "type" in one else message)(page, one)
    return page.svg()


def pictures() -> Mapping[str, str]:
    """Return every picture, by the name of its file."""
    names = sorted(file.stem for file in GOLDEN.glob("*.json") if file.stem.startswith(KINDS))
    return {f"{PREFIX}{name}.svg": picture(name) for name in names}


def main() -> None:
    """Write them all."""
    for old in FOLDER.glob(f"{PREFIX}*"):
        old.unlink()
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
