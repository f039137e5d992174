"""Markdown, as models write it, as parts that Discord can show. Nothing in it gets a meaning that is not seen.

A link shows where it goes. HTML, pictures and mentions stay the characters that they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.discord.splitting import Part
from adapters.discord.styles import Run, Style
from adapters.platforms import tables

_READER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    .enable(["table", "strikethrough"])
    .disable("reference")  # a definition would vanish from what is read
)
_DEEPEST = 18
"""What is nested deeper than this is not read any more: the parser would skip it."""
_STYLES: dict[str, Style] = {"strong": "bold", "em": "italic", "s": "strike"}
_ADDRESS = re.compile(r"https?://[!-;=?-~]*[A-Za-z0-9/#=&_~-]")
_LINKED = re.compile(r"https?://[!-;=?-~]+")
_DISCORDS = re.compile(r"discord(?:app)?\.", re.IGNORECASE)
"""An address that is shown as something else: an invitation, a channel."""
_LONGEST_ADDRESS = 1_500
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{0,20}")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEADINGS = 3


def parts(text: str) -> list[Part]:
    """Return what a text says, in order, and all of it."""
    tokens = _READER.parse(text)
    if any(token.level >= _DEEPEST for token in tokens):
        return [Part(runs=(Run(words=text),))] if text.strip() else []
    reading = _Reading(lines=_LINE_END.split(text))
    for token in tokens:
        reading.take(token)
    return reading.parts


@dataclass
class _Item:
    number: int | None
    level: int
    part: int | None = None
    """Where what it says so far is among the parts."""


@dataclass
class _Reading:
    """What was read so far, and in what one stands."""

    lines: list[str]
    """What is read."""
    parts: list[Part] = field(default_factory=list[Part])
    items: list[_Item] = field(default_factory=list[_Item])
    lists: int = 0
    quotes: int = 0
    group: int = 0
    heading: int = 0
    rows: list[list[str]] | None = None
    source: list[str] = field(default_factory=list[str])
    """The table that is being read, as it was written."""

    def take(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._words(token.children or [])
        elif kind in {"fence", "code_block"}:
            self._code(token)
        elif kind == "hr":
            self._add([Run(words="---")])
        elif kind.startswith(("table", "tr")):
            self._table(token)
        else:
            self._frame(token)

    def _frame(self, token: Token) -> None:
        match token.type:
            case "heading_open" | "heading_close":
                self.heading = int(token.tag[1:]) if token.nesting > 0 else 0
            case "bullet_list_open" | "ordered_list_open":
                self.lists += 1
            case "bullet_list_close" | "ordered_list_close":
                self.lists -= 1
            case "list_item_open":
                number = int(token.info) if token.info else None
                self.items.append(_Item(number=number, level=self.lists - 1))
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
        runs = merged([*inline(children)])
        if self.rows is not None:
            self.rows[-1].append("".join(run.words for run in runs).replace("\n", " "))
        elif not runs:
            return
        elif self.heading and not (self.quotes or self.items):
            self.parts.append(_headed(runs, self.heading))
        else:
            self._add(_bold(runs) if self.heading else runs)

    def _add(self, runs: list[Run]) -> None:
        item = self.items[-1] if self.items else None
        if self.quotes:
            self.parts.append(self._quoted(runs, item))
        elif item is None:
            self.parts.append(Part(runs=tuple(runs)))
        elif item.part is None:
            self.parts.append(
                Part(runs=tuple(runs), kind="item", level=item.level, number=item.number)
            )
            item.part = len(self.parts) - 1
        elif item.part == len(self.parts) - 1:
            last = self.parts[-1]
            self.parts[-1] = replace(last, runs=tuple(merged([*last.runs, Run(words="\n"), *runs])))
        else:
            self.parts.append(Part(runs=tuple(runs)))

    def _quoted(self, runs: list[Run], item: _Item | None) -> Part:
        before = "> " * (self.quotes - 1)
        if item is not None and item.part is None:
            mark = "• " if item.number is None else f"{item.number}. "
            before = f"{before}{'  ' * item.level}{mark}"
            item.part = len(self.parts)
        marks = [Run(words=before)] if before else []
        return Part(runs=tuple(merged([*marks, *runs])), kind="quote", group=self.group)

    def _code(self, token: Token) -> None:
        content, info = token.content.removesuffix("\n"), token.info.strip()
        if not _LANGUAGE.fullmatch(info):
            self._add([Run(words=info, kind="code")])
            info = ""
        if not content.strip():
            return
        if self.quotes:
            self._add(_code_lines(content))
        else:
            self.parts.append(Part(runs=(Run(words=content),), kind="code", info=info))

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
            if not lines.strip():
                return
            if self.quotes:
                self._add(_code_lines(lines))
            else:
                self.parts.append(Part(runs=(Run(words=lines),), kind="code"))


def _headed(runs: list[Run], level: int) -> Part:
    if level > _HEADINGS:
        return Part(runs=tuple(_bold(runs)))
    flat = (replace(run, words=run.words.replace("\n", " ")) for run in runs)
    return Part(runs=tuple(flat), kind="heading", level=level)


def _bold(runs: Sequence[Run]) -> list[Run]:
    return [
        run if "bold" in run.styles else replace(run, styles=("bold", *run.styles)) for run in runs
    ]


def _code_lines(content: str) -> list[Run]:
    """Return code for where no block of it can stand: a line each."""
    runs = list[Run]()
    for line in content.split("\n"):
        runs += [Run(words="\n")] if runs else []
        runs += [Run(words=line, kind="code")] if line else []
    return runs


def merged(runs: Sequence[Run]) -> list[Run]:
    """Return runs of which no two texts of one style stand side by side, and none is empty."""
    done = list[Run]()
    for run in runs:
        last = done[-1] if done else None
        if not run.words:
            continue
        if last and last.kind == run.kind == "text" and last.styles == run.styles:
            done[-1] = replace(run, words=f"{last.words}{run.words}")
        else:
            done.append(run)
    return done


def inline(children: Sequence[Token]) -> Iterator[Run]:
    """Yield what stands within a line."""
    styles: list[Style] = []
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
                shown.extend(run.words for run in runs)
            if not (links and links[-1][0].info == "auto"):
                yield from runs


def _changed(styles: list[Style], style: Style, *, opens: bool) -> list[Style]:
    if opens:
        return [*styles, style]
    at = len(styles) - 1 - styles[::-1].index(style)
    return styles[:at] + styles[at + 1 :]


def _goes_to(link: Token, shown: list[str]) -> Iterator[Run]:
    """Yield the address behind what is shown of a link, unless that is the address."""
    url, title = str(link.attrGet("href") or ""), str(link.attrGet("title") or "")
    if link.info == "auto":
        yield address(url)
        return
    words = "".join(shown)
    if words == url and not title:
        return
    yield Run(words=" (" if words else "(")
    if url:
        yield address(url)
    yield Run(words=f' "{title}")' if title else ")")


def address(url: str) -> Run:
    """Return where a link goes, readable: pressed only where it is a web page that is shown as such."""
    plain = len(url) <= _LONGEST_ADDRESS and _LINKED.fullmatch(url) and not _DISCORDS.search(url)
    return Run(words=url, kind="link" if plain else "text")


def _run(token: Token, styles: list[Style]) -> Iterator[Run]:
    # A style twice would end itself.
    within = tuple(dict.fromkeys(styles))
    match token.type:
        case "softbreak" | "hardbreak":
            yield Run(words="\n", styles=within)
        case "code_inline":
            yield Run(words=token.content, styles=within, kind="code")
        case "image":
            yield Run(words=f"{token.content} ({token.attrGet('src')})", styles=within)
        case _:
            yield from _linked(token.content, within)


def _linked(words: str, styles: tuple[Style, ...]) -> Iterator[Run]:
    """Yield words, with each address in them as a link to itself."""
    at = 0
    for found in _ADDRESS.finditer(words):
        if found.start() > at:
            yield Run(words=words[at : found.start()], styles=styles)
        yield replace(address(found[0]), styles=styles)
        at = found.end()
    if words[at:]:
        yield Run(words=words[at:], styles=styles)
