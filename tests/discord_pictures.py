"""What Discord shows of Sayso, drawn out of the golden files into `docs/captures`: `make captures` does it.

It is a drawing, not a copy of Discord: components in their order with their words, colours and
buttons, and what Discord makes of Markdown. It follows the reader's light or dark theme.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, cast

from tests.captures import FOLDER
from tests.discord_drawings import ALICE, BOB, CAROL, GOLDEN
from tests.slack_pictures import MARGIN, WIDTH, Block, Page, Span, buttons, preformatted

PREFIX = "discord-"
NAMES = {ALICE.user: "alice", BOB.user: "bob", CAROL.user: "carol"}
ALONE = ("failed-", "told", "reviewed")
"""What one person alone sees."""
EXAMPLES = "answer"
"""Words of others, with addresses."""
_STYLES = {2: "", 3: "primary", 4: "danger"}
_FENCE = re.compile(r"```(?:[a-z]*\n)?(.*?)```", re.DOTALL)
_INLINE = re.compile(
    r"\\(?P<plain>.)|<@(?P<user>\d+)>|<t:(?P<time>\d+):\w>|`(?P<code>[^`]+)`"
    r"|<(?P<link>https?://[^>]+)>|(?P<mark>\*\*|\*|~~)",
    re.DOTALL,
)
_MARKS = {"**": "b", "*": "i", "~~": "s"}
_HEADING = re.compile(r"#{1,3} ")
STYLE = """
text { font: 15px "gg sans", "Noto Sans", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #2f3035; }
.b { font-weight: bold } .i { font-style: italic } .s { text-decoration: line-through }
.h { font-size: 18px; font-weight: bold } .small { font-size: 12px; fill: #5c5e66 }
.m { font: 12px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }
.who { fill: #505cdc } .code { fill: #2f3035 } .link { fill: #0063d1 }
.page { fill: #ffffff } .box { fill: #f2f3f5; stroke: #dcdde1 } .bar { fill: #c4c9ce }
.frame { fill: #fbfbfb; stroke: #d5d6da } .waits { fill: #f0b132 } .button { fill: #e3e5e8 }
.app { fill: #5865f2 } .tag { font-size: 10px; font-weight: bold; fill: #ffffff }
.primary { fill: #248045 } .danger { fill: #da373c } .on { fill: #ffffff; font-weight: bold }
.alone { fill: #5865f2; opacity: 0.08 }
@media (prefers-color-scheme: dark) {
text { fill: #dbdee1 } .small { fill: #949ba4 } .who { fill: #a9b3ff } .code { fill: #dbdee1 } .link { fill: #00a8fc }
.page { fill: #313338 } .box { fill: #2b2d31; stroke: #1e1f22 } .bar { fill: #4e5058 }
.frame { fill: #393a41; stroke: #46474e } .button { fill: #4e5058 } .tag { fill: #ffffff }
.on { fill: #ffffff }
}
"""


def spans(text: str, style: str = "") -> list[Span]:
    """Return a line of Markdown as Discord shows it."""
    return [*_spans(text, style)]


def _spans(text: str, style: str) -> Iterator[Span]:
    at, on = 0, list[str]()
    for found in _INLINE.finditer(text):
        now = " ".join([*filter(None, [style]), *on])
        yield Span(text[at : found.start()], now)
        at = found.end()
        match found.lastgroup:
            case "mark":
                mark = _MARKS[found["mark"]]
                on = [one for one in on if one != mark] if mark in on else [*on, mark]
            case "user":
                yield Span(f"@{NAMES[found['user']]}", f"{now} who".strip())
            case "time":
                then = datetime.fromtimestamp(int(found["time"]), UTC)
                yield Span(f"{then:%d %B %Y at %H:%M}", now)
            case "code" | "link" as kind:
                yield Span(found[kind], f"{now} {'code m' if kind == 'code' else kind}".strip())
            case _:
                yield Span(found["plain"], now)
    yield Span(text[at:], " ".join([*filter(None, [style]), *on]))


def markdown(page: Page, text: str) -> None:
    """Draw words: paragraphs, headings, quotes, subtext, and code in its box."""
    at = 0
    for code in _FENCE.finditer(text):
        _lines(page, text[at : code.start()].strip("\n"))
        preformatted(page, code[1].strip("\n"))
        at = code.end()
    _lines(page, text[at:].strip("\n"))


def _lines(page: Page, text: str) -> None:
    lines = text.split("\n") if text else []
    for is_quoted, some in groupby(lines, lambda line: line.startswith("> ")):
        if is_quoted:
            top = page.y
            page.left += 14
            page.paragraph(spans("\n".join(line[2:] for line in some)))
            page.left -= 14
            page.box("bar", page.left, top + 2, 4, page.y - top - 2)
        else:
            for line in some:
                _line(page, line)


def _line(page: Page, line: str) -> None:
    if line.startswith("-# "):
        page.paragraph(spans(line[3:], "small"), line=18)
    elif _HEADING.match(line):
        page.paragraph(spans(line.lstrip("# "), "h"), line=28)
    else:
        page.paragraph(spans(re.sub(r"^( *)- ", r"\1  • ", line)))


def component(page: Page, one: Block) -> None:
    """Draw a component."""
    match one:
        case {"type": 10, "content": str(text)}:
            page.y += 4
            markdown(page, text)
        case {"type": 14}:
            page.y += 8
            page.box("bar", page.left, page.y, page.room, 1)
            page.y += 2
        case {"type": 1, "components": pressed}:
            buttons(
                page, [(_fits(page, each["label"]), _STYLES[each["style"]]) for each in pressed]
            )
        case {"type": 17, "components": inside}:
            container(page, inside, waits="accent_color" in one)
        case {"type": 18}:
            page.y += 8
            page.paragraph([Span(one["label"], "b")])
            page.paragraph([Span(one["description"], "small")], line=18)
            filled_in(page, one["component"])
        case _:
            raise ValueError(one["type"])


def filled_in(page: Page, inside: Block) -> None:
    """Draw where something is typed or chosen, with what stands there already."""
    chosen = [each["label"] for each in inside.get("options", ()) if each["default"]]
    now = inside.get("value", "") or [*chosen, ""][0]
    height = 70 if inside.get("style") == 2 else 36
    page.box("box", page.left, page.y + 4, page.room, height)
    if now:
        page.text(page.left + 10, page.y + 27, [Span(now)])
    page.y += height + 10


def _fits(page: Page, label: str) -> str:
    """Return what can be read of a button, which has one line."""
    most = page.room - 28
    if Span(label, "b").width <= most:
        return label
    shown = label
    while Span(f"{shown}…", "b").width > most:
        shown = shown[:-1]
    return f"{shown}…"


def container(page: Page, inside: list[Block], *, waits: bool) -> None:
    """Draw a box with what is in it, and its colour at the side."""
    top, behind = page.y + 4, len(page.shapes)
    page.left, page.right, page.y = page.left + 16, page.right - 16, page.y + 12
    for one in inside:
        component(page, one)
    page.left, page.right, page.y = page.left - 16, page.right + 16, page.y + 12
    above = page.shapes[behind:]
    del page.shapes[behind:]
    page.box("frame", page.left, top, page.room, page.y - top)
    if waits:
        page.box("waits", page.left, top, 4, page.y - top)
    page.shapes += above


def document(page: Page, text: str) -> None:
    """Draw that there is a file."""
    page.box("box", page.left, page.y + 8, 260, 46)
    page.text(page.left + 14, page.y + 28, [Span("plan.txt", "link")])
    page.text(page.left + 14, page.y + 45, [Span(f"{len(text.encode())} bytes", "small")])
    page.y += 62


def message(page: Page, shown: Block, *, alone: bool) -> None:
    """Draw a message as Sayso's."""
    top, behind = page.y, len(page.shapes)
    page.box("app", MARGIN, page.y, 34, 34)
    page.text(MARGIN + 17, page.y + 23, [Span("S", "on h")], middle=True)
    page.text(page.left, page.y + 12, [Span("Sayso", "b")])
    page.box("app", page.left + 56, page.y, 34, 15)
    page.text(page.left + 73, page.y + 11, [Span("APP", "tag")], middle=True)
    page.y += 18
    markdown(page, shown.get("content", ""))
    for one in (*shown.get("components", ()), *shown.get("below", ())):
        component(page, one)
    if "document" in shown:
        document(page, shown["document"])
    if alone:
        page.y += 4
        page.paragraph(
            [Span("Only you can see this · ", "small"), Span("Dismiss message", "small link")]
        )
        above = page.shapes[behind:]
        del page.shapes[behind:]
        page.box("alone", 0, top - 10, WIDTH, page.y - top + 16)
        page.shapes += above


def form(page: Page, shown: Block) -> None:
    """Draw a window that asks for something."""
    page.left, page.right = MARGIN + 16, WIDTH - MARGIN - 16
    behind = len(page.shapes)
    page.y += 6
    page.paragraph([Span(shown["title"], "h")], line=28)
    for one in shown["components"]:
        component(page, one)
    buttons(page, [("Cancel", ""), ("Submit", "app")], right=True)
    above = page.shapes[behind:]
    del page.shapes[behind:]
    page.box("frame", MARGIN / 2, MARGIN / 2, WIDTH - MARGIN, page.y)
    page.shapes += above


def messages(shown: object) -> list[Block]:
    """Return each of what a golden file holds, one or several."""
    return cast("list[Block]", shown if isinstance(shown, list) else [shown])


def picture(name: str) -> str:
    """Return what a golden file holds, as SVG."""
    shown: Any = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    page = Page(style=STYLE)
    every = messages(shown)
    for number, one in enumerate(every):
        page.y += 14 if number else 0
        if "title" in one:
            form(page, one)
        else:
            message(page, one, alone=name.startswith(ALONE))
    return page.svg()


def pictures() -> Mapping[str, str]:
    """Return every picture, by the name of its file."""
    names = sorted(file.stem for file in GOLDEN.glob("*.json"))
    names = [name for name in names if not name.startswith(EXAMPLES)]
    return {f"{PREFIX}{name}.svg": picture(name) for name in names}


def main() -> None:
    """Write them all."""
    for old in FOLDER.glob(f"{PREFIX}*"):
        old.unlink()
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
