"""How a terminal shows what Sayso says. Pure: values in, something to print out.

Only what software wrote stands in a panel. Words of an agent or a person have a gutter on every
line, so that nothing in them can pass for a card or a report.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text as Line

from adapters.console import folding
from adapters.console.screen import Screen
from adapters.console.shown import Changed, Failed, Heading, Recalled, Shown, Told, Typed
from core.cards import Button, Card, decode
from core.conversations import Said
from core.deliveries import Asking, Message, Opening, Progress, Text
from core.display import one_line, output
from core.errors import Invalid, OutcomeUnknown, Refused, Unavailable

_TYPED = {
    "approve": "/approve {}",
    "edit": "/edit {} NAME=VALUE",
    "approve_code": "/approve {} CODE",
    "deny": "/deny {} WHY",
    "review": "/requests",
    "again": "/again {}",
    "verify": "/resolve verify",
    "happened": "/resolve happened",
    "did_not": "/resolve did-not",
    "stop": "/stop",
    "undo": "/undo {}",
    "link_yes": "/link confirm {}",
    "link_no": "/link refuse {}",
}
_STATES = {"succeeded": "well", "failed": "badly", "cancelled": "badly", "unknown": "unclear"}
_FAILURES = {
    Refused.kind: ("x", "badly", ""),
    Invalid.kind: ("x", "badly", ""),
    Unavailable.kind: ("~", "unclear", "Not now. "),
    OutcomeUnknown.kind: ("?", "unclear", "Nobody knows how this ended. "),
}
_SIDES = 4
_LONGEST_TITLE = 300
_ROOM_FOR_MARK, _LEAST = 4, 8
_LONGEST = 4_000
_UNCHECKED = "What the agent says (nobody checked this):"
_ASKS = "Approve to run: "


def draw(what: Shown, screen: Screen) -> RenderableType:
    """Return how something is shown."""
    match what:
        case Asking() | Text() | Progress() | Opening():
            return message(what, screen)
        case Recalled():
            return Group(*(_said(one, screen) for one in what.said))
        case Typed():
            return typed(what.who, what.text, screen)
        case Heading():
            rule = Rule(style="quiet", characters=_dash(screen))
            title = screen.known(one_line(what.text))
            return Group("", *folding.hanging(title, screen.width, "title"), rule)
        case _:
            return notice(what, screen)


def notice(what: Changed | Told | Failed, screen: Screen) -> RenderableType:
    """Return what software says by itself: a mark, and a sentence or a list."""
    match what:
        case Changed():
            name = what.card.title.removeprefix(_ASKS)
            return _marked("*", f"{name}: {what.status}", "title", screen)
        case Told():
            return told(what.text, screen)
        case Failed():
            mark, style, before = _FAILURES.get(what.kind, _FAILURES[Refused.kind])
            first, *rest = what.text.split("\n")
            marked = _marked(mark, f"{before}{first}", style, screen)
            return Group(marked, *(part for line in rest for part in _below(line, screen)))
        case _:
            assert_never(what)


def message(one: Message, screen: Screen) -> RenderableType:
    """Return how a message of Sayso's is shown."""
    match one:
        case Asking():
            return card(one.card, one.status, screen)
        case Text():
            return _text(one, screen)
        case Progress():
            return Group(*map(Line, going_on(one, screen)))
        case Opening():
            return typed(one.author, one.text, screen)
        case _:
            assert_never(one)


def _text(one: Text, screen: Screen) -> RenderableType:
    if one.is_report:
        return report(one, screen)
    return told(one.text, screen, mark="* ") if one.is_note else answer(one, screen)


def going_on(one: Progress, screen: Screen) -> list[str]:
    """Return where a run is in a line, and in another one how far it says to be, or what it printed last."""
    said = (one.bar,) if one.bar else one.tail[-1:]
    lines = [f"{one.title.rpartition(': ')[2]}. {one.status}", *said]
    room = max(screen.width - _ROOM_FOR_MARK, _LEAST)
    return [_cut(screen.known(one_line(line, _LONGEST)), room, screen) for line in lines]


def _cut(text: str, room: int, screen: Screen) -> str:
    if len(text) <= room:
        return text
    return f"{text[: room - 1]}…" if screen.fancy else text[:room]


def card(one: Card, status: str, screen: Screen) -> RenderableType:
    """Return a card, in the card's own order and words."""
    parts: list[RenderableType] = [*_kept(one.plan, screen), "", _facts(one, screen)]
    for warning in one.warnings:
        line = screen.known(f"! {one_line(warning, _LONGEST)}")
        parts += folding.hanging(line, _room(screen), "warning")
    if one.preview:
        parts += ["", Line("Preview (what a dry run printed):", "title")]
        parts += _quoted(one.preview, "  ", screen)
    if one.unchecked:
        parts += ["", *folding.hanging(_UNCHECKED, _room(screen), "title")]
        parts += _quoted(one.unchecked, "  > ", screen)
    shown = screen.known(one_line(status, _LONGEST))
    parts += ["", *folding.hanging(shown, _room(screen), "title")]
    parts += _buttons(one.buttons, screen)
    return _panel(one.title, parts, screen)


def report(one: Text, screen: Screen) -> RenderableType:
    """Return what software tells about a run."""
    head, *rest = one.text.splitlines() or [""]
    state = next((word for word in head.replace(":", " ").split() if word in _STATES), "")
    style = _STATES.get(state, "title")
    top = [Line(line, style) for line in folding.lines(screen.known(head), _room(screen))]
    parts: list[RenderableType] = [*top, *_kept(rest, screen), *_buttons(one.buttons, screen)]
    return _panel("Report", parts, screen)


def answer(one: Text, screen: Screen) -> RenderableType:
    """Return words, whoever wrote them, each line behind the gutter."""
    said = [*_gutter(one.text, screen)]
    if one.suggestions:
        said += _gutter("You could ask:", screen)
        said += [line for text in one.suggestions for line in _gutter(f"  {text}", screen)]
    return Group(*said, *_buttons(one.buttons, screen))


def told(text: str, screen: Screen, *, mark: str = "- ") -> RenderableType:
    """Return what software says, line by line: to whoever typed, unless the mark is another."""
    shown = screen.known(output(text)).expandtabs(4).split("\n")
    parts = [
        part for line in shown for part in folding.wrapped(line, screen.width - folding.BEFORE)
    ]
    return Group(*(Line(mark if n == 0 else "  ") + part for n, part in enumerate(parts)))


def _said(one: Said, screen: Screen) -> RenderableType:
    match one.kind:
        case "card":
            return _marked("*", f"a card: {decode(one.text).title}", "title", screen)
        case "report":
            return report(Text(text=one.text), screen)
        case "progress":
            return _marked("*", one.text, "title", screen)
        case "asked":
            return typed(one.author, one.text, screen)
        case _:
            return message(Text(text=one.text, is_note=one.kind == "note"), screen)


def typed(who: str, text: str, screen: Screen) -> RenderableType:
    """Return what somebody typed: whatever it says, only its first line begins at the left."""
    name = screen.known(f"{one_line(who, 40)}> ")
    first, *rest = screen.known(output(text)).expandtabs(4).strip().split("\n")
    lines = folding.hanging(f"{name}{first}", screen.width, "")
    lines[0].stylize("person", 0, len(name))
    return Group(*lines, *(Line("  ") + part for line in rest for part in _said_in(line, screen)))


def _panel(title: str, parts: Iterable[RenderableType], screen: Screen) -> RenderableType:
    shown = screen.known(one_line(title, _LONGEST_TITLE))
    body: list[RenderableType] = list(parts)
    if len(shown) > _room(screen) - _SIDES:
        body = [*(Line(line, "title") for line in folding.lines(shown, _room(screen))), "", *body]
        shown = f"{shown[: max(1, _room(screen) - _SIDES - 1)]}…" if screen.fancy else ""
    if screen.is_narrow:
        dash = _dash(screen)
        top = Rule(Line(shown, "title"), characters=dash, style="quiet", align="left")
        return Group(top, *body, Rule(characters=dash, style="quiet"))
    return Panel(
        Group(*body),
        title=Line(shown, "title"),
        title_align="left",
        box=screen.box,
        border_style="quiet",
    )


def _facts(one: Card, screen: Screen) -> RenderableType:
    facts = [(fact.label, fact.text) for fact in one.facts] + [("Estimate", one.estimate)]
    pairs = [(screen.known(label), screen.known(text)) for label, text in facts]
    labels = max(len(label) for label, _ in pairs)
    table = Table.grid(padding=(0, 2, 0, 0))
    if screen.is_narrow:
        return Group(*(part for pair in pairs for part in _narrow(*pair, screen)))
    table.add_column(style="quiet", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in pairs:
        parts = folding.lines(text, _room(screen) - labels - 2)
        table.add_row(label, Group(*(Line(part) for part in parts)))
    return table


def _narrow(label: str, text: str, screen: Screen) -> Iterable[RenderableType]:
    """Yield a fact of which only the first line begins at the left, whatever it says."""
    first, *more = folding.lines(f"{label}: {text}", screen.width - folding.BEFORE)
    line = Line(first)
    line.stylize("quiet", 0, len(label) + 1)
    yield line
    yield from (Line(f"  {part}") for part in more)


def _kept(lines: Sequence[str], screen: Screen) -> list[RenderableType]:
    known = map(screen.known, lines)
    return [Line(part) for line in known for part in folding.lines(line, _room(screen))]


def _quoted(lines: Sequence[str], before: str, screen: Screen) -> list[RenderableType]:
    room = _room(screen) - len(before)
    known = map(screen.known, lines)
    return [Line(f"{before}{part}") for line in known for part in folding.lines(line, room)]


def _buttons(buttons: Sequence[Button], screen: Screen) -> list[RenderableType]:
    """Return what can be typed, a line each; an id is never cut where it fits into a line."""
    width = max((len(button.label) for button in buttons), default=0) + 2
    lines = list[RenderableType]()
    for button in buttons:
        label = f"{button.label}:".ljust(width)
        one = folding.hanging(
            f"{label}{_TYPED[button.verb].format(button.request)}", _room(screen), ""
        )
        one[0].stylize("quiet", 0, width)
        lines += one
    return lines


def _gutter(text: str, screen: Screen) -> list[RenderableType]:
    shown = screen.known(output(text)).split("\n")
    lines = [part for line in shown for part in _said_in(line, screen)]
    return [Line.assemble(("| ", "quiet"), line) for line in lines]


def _said_in(line: str, screen: Screen) -> list[Line]:
    return folding.wrapped(line.expandtabs(4), screen.width - folding.BEFORE)


def _marked(mark: str, text: str, style: str, screen: Screen) -> RenderableType:
    line = screen.known(f"{mark} {one_line(text, _LONGEST)}")
    lines = folding.hanging(line, screen.width, "")
    lines[0].stylize(style, 0, len(mark))
    return Group(*lines)


def _below(line: str, screen: Screen) -> list[Line]:
    """Return a line of a list below its mark, where nothing can pass for the beginning of another."""
    room = screen.width - folding.BEFORE
    shown = screen.known(one_line(line, _LONGEST))
    return [Line("  ") + part for part in folding.wrapped(shown, room)]


def _room(screen: Screen) -> int:
    return screen.width if screen.is_narrow else screen.width - _SIDES


def _dash(screen: Screen) -> str:
    return "─" if screen.fancy else "-"
