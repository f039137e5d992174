"""Markdown, as models write it, as parts of rich text. Nothing in it gets a meaning that is not seen.

A link shows where it goes. HTML, pictures and mentions stay the characters that they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.platforms import tables
from adapters.slack import rich_text
from adapters.slack.rich_text import Style
from adapters.slack.splitting import Part, merged, said
from core.canonical import JsonObject

_READER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    .enable(["table", "strikethrough"])
    .disable("reference")  # a definition would vanish from what is read
)
_DEEPEST = 18
"""What is nested deeper than this is not read any more: the parser would skip it."""
_STYLES: dict[str, Style] = {"strong": "bold", "em": "italic", "s": "strike"}
_ADDRESS = re.compile(r"https?://[!-~]*[A-Za-z0-9/#=&_~-]")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{0,20}")
_LINE_END = re.compile(r"\r\n|\r|\n")


def parts(text: str) -> list[Part]:
    """Return what a text says, in order, and all of it."""
    tokens = _READER.parse(text)
    if any(token.level >= _DEEPEST for token in tokens):
        return [Part(runs=(rich_text.text(text),))]
    reading = _Reading(lines=_LINE_END.split(text))
    for token in tokens:
        reading.take(token)
    return reading.parts


@dataclass
class _Item:
    number: int | None
    indent: int
    part: int | None = None
    """Where what it says so far is among the parts."""


@dataclass
class _Reading:
    """What was read so far, and in what one stands."""

    lines: list[str]
    """What is read."""
    parts: list[Part] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    lists: int = 0
    quotes: int = 0
    group: int = 0
    heading: bool = False
    rows: list[list[str]] | None = None
    source: list[str] = field(default_factory=list)
    """The table that is being read, as it was written."""

    def take(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._words(token.children or [])
        elif kind in {"fence", "code_block"}:
            self._code(token)
        elif kind == "hr":
            self._add([rich_text.text("---")])
        elif kind.startswith(("table", "tr")):
            self._table(token)
        else:
            self._frame(token)

    def _frame(self, token: Token) -> None:
        match token.type:
            case "heading_open" | "heading_close":
                self.heading = token.type == "heading_open"
            case "bullet_list_open" | "ordered_list_open":
                self.lists += 1
            case "bullet_list_close" | "ordered_list_close":
                self.lists -= 1
            case "list_item_open":
                number = int(token.info) if token.info else None
                self.items.append(_Item(number=number, indent=self.lists - 1))
            case "list_item_close":
                self.items.pop()
            case "blockquote_open":
                self.group += self.quotes == 0
                self.quotes += 1
            case "blockquote_close":
                self.quotes -= 1
            case _:
                pass

    def _words(self, children: Sequence[Token]) -> None:
        runs = merged([*inline(children, "bold" if self.heading else None)])
        if self.rows is not None:
            self.rows[-1].append("".join(said(run) for run in runs).replace("\n", " "))
        elif runs:
            self._add(runs)

    def _add(self, runs: list[JsonObject]) -> None:
        item = self.items[-1] if self.items else None
        if self.quotes:
            self.parts.append(self._quoted(runs, item))
        elif item is None:
            self.parts.append(Part(runs=tuple(runs), is_heading=self.heading))
        elif item.part is None:
            self.parts.append(
                Part(runs=tuple(runs), kind="item", indent=item.indent, number=item.number)
            )
            item.part = len(self.parts) - 1
        elif item.part == len(self.parts) - 1:
            last = self.parts[-1]
            seam = merged([*last.runs[-1:], rich_text.text("\n"), *runs])
            self.parts[-1] = replace(last, runs=(*last.runs[:-1], *seam))
        else:
            self.parts.append(Part(runs=tuple(runs)))

    def _quoted(self, runs: list[JsonObject], item: _Item | None) -> Part:
        before = "> " * (self.quotes - 1)
        if item is not None and item.part is None:
            mark = "• " if item.number is None else f"{item.number}. "
            before = f"{before}{'  ' * item.indent}{mark}"
            item.part = len(self.parts)
        mark_runs = [rich_text.text(before)] if before else []
        return Part(runs=(*mark_runs, *runs), kind="quote", group=self.group, gap="\n")

    def _code(self, token: Token) -> None:
        content = token.content.removesuffix("\n")
        if not _LANGUAGE.fullmatch(token.info.strip()):
            self._add([rich_text.text(token.info.strip(), "code")])
        if not content:
            return
        if self.quotes:
            self._add([rich_text.text(content, "code")])
        else:
            self.parts.append(Part(runs=(rich_text.text(content),), kind="code"))

    def _table(self, token: Token) -> None:
        kind = token.type
        if kind == "table_open":
            self.rows = []
            begin, end = token.map or (0, 0)
            self.source = self.lines[begin:end]
        elif kind == "tr_open" and self.rows is not None:
            self.rows.append([])
        elif kind == "table_close" and self.rows is not None:
            lines, self.rows = "\n".join(tables.lines(self.rows, self.source)), None
            if self.quotes:
                self._add([rich_text.text(lines, "code")])
            elif lines.strip():
                self.parts.append(Part(runs=(rich_text.text(lines),), kind="code"))


def inline(children: Sequence[Token], around: Style | None = None) -> Iterator[JsonObject]:
    """Yield what stands within a line; `around` is a style that all of it has."""
    styles: list[Style] = [around] if around else []
    links: list[tuple[Token, list[str]]] = []
    for token in children:
        name, _, edge = token.type.rpartition("_")
        if name in _STYLES:
            styles = _changed(styles, _STYLES[name], opens=edge == "open")
        elif token.type == "link_open":
            links.append((token, []))
        elif token.type == "link_close" and links:
            yield from _goes_to(*links.pop())
        else:
            runs = list(_run(token, styles))
            for _, shown in links:
                shown.extend(map(said, runs))
            if not (links and links[-1][0].info == "auto"):
                yield from runs


def _changed(styles: list[Style], style: Style, *, opens: bool) -> list[Style]:
    if opens:
        return [*styles, style]
    at = len(styles) - 1 - styles[::-1].index(style)
    return styles[:at] + styles[at + 1 :]


def _goes_to(link: Token, shown: list[str]) -> Iterator[JsonObject]:
    """Yield the address behind what is shown of a link, unless that is the address."""
    url, title = str(link.attrGet("href") or ""), str(link.attrGet("title") or "")
    if link.info == "auto":
        yield rich_text.address(url)
        return
    words = "".join(shown)
    if words == url and not title:
        return
    yield rich_text.text(" (" if words else "(")
    if url:
        yield rich_text.address(url)
    yield rich_text.text(f' "{title}")' if title else ")")


def _run(token: Token, styles: list[Style]) -> Iterator[JsonObject]:
    match token.type:
        case "softbreak" | "hardbreak":
            yield rich_text.text("\n")
        case "code_inline":
            yield rich_text.text(token.content, *styles, "code")
        case "image":
            yield rich_text.text(f"{token.content} ({token.attrGet('src')})", *styles)
        case _:
            yield from _linked(token.content, styles)


def _linked(words: str, styles: list[Style]) -> Iterator[JsonObject]:
    """Yield words, with each address in them as a link to itself."""
    at = 0
    for found in _ADDRESS.finditer(words):
        if found.start() > at:
            yield rich_text.text(words[at : found.start()], *styles)
        yield rich_text.address(found[0])
        at = found.end()
    if words[at:]:
        yield rich_text.text(words[at:], *styles)
