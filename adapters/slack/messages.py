"""What Sayso says, as messages of Slack: values in, blocks out, each within every limit of Slack's.

Only what software wrote has a header, a context or a button. What a model or a person wrote is
paragraphs of literal text, so that nothing in it can pass for a card, a report or a note.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import assert_never

from adapters.platforms import literal
from adapters.platforms.whole import document
from adapters.slack import buttons, cards, markdown, rich_text, splitting, views
from adapters.slack.rich_text import reach, text, weight
from adapters.slack.splitting import MOST, Part
from core.canonical import JsonObject
from core.deliveries import Asking, Message, Opening, Progress, Text
from core.display import one_line, output
from core.errors import OutcomeUnknown, SaysoError, Unavailable
from core.platforms import Told

_MOST_MESSAGES = 5
_LONGEST_FALLBACK = 3_500
"""Bytes: Slack refuses an edit of which this is longer than 4,000."""
_OF_A_NOTE = 2_900
_LONGEST_LINE = 300
_FRAMES = 1_000
"""How much of a message titles and frames may take."""
_ROOM = MOST - _FRAMES
_WRITING = "This is still being written."
_BELOW = "This is the beginning. All of it is in the file below."
_FAILURES = {
    Unavailable.kind: ("hourglass_flowing_sand", "Not now. "),
    OutcomeUnknown.kind: ("question", "Nobody knows how this ended. "),
}
_REFUSED = ("no_entry", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A message as it can be posted."""

    blocks: tuple[JsonObject, ...]
    text: str
    """What is read where no blocks are shown: escaped."""
    document: str | None = None
    """All of it, to be posted as a file, where a message cannot show it."""


def draw(message: Message, *, team: str) -> tuple[Drawn, ...]:
    """Return the messages to be posted, in order. All but answers are one."""
    match message:
        case Asking():
            return (_card(message, team),)
        case Progress():
            return (_progress(message),)
        case Opening():
            return (_opening(message, team),)
        case Text():
            return _text(message, team)
        case _:
            assert_never(message)


def unfinished(words: str) -> Drawn:
    """Return the beginning of an answer that is still being written, drawn and marked as such."""
    group = next(splitting.packed(markdown.parts(words), _ROOM), [])
    shown = rich_text.block(splitting.elements(group)) if group else _nothing()
    mark: JsonObject = {"type": "context", "elements": [rich_text.plain(_WRITING, _OF_A_NOTE)]}
    return Drawn(blocks=(shown, mark), text=fallback(splitting.plain(group)))


def told(what: Told) -> Drawn:
    """Return what somebody alone is told; without blocks where there is nothing to say.

    Slack forgets such a message, so a card in it cannot be approved, only looked at.
    """
    if what.card is None:
        rows = buttons.drawn(what.buttons)
        words = [*_words(what.text, MOST - weight(rows) - _FRAMES)] if what.text else []
        said = fallback(what.text) if what.text or rows else ""
        return Drawn(blocks=(*words, *rows), text=said)
    words = [*_words(what.text, MOST // 3)] if what.text else []
    card = cards.looked_at(what.card, *what.buttons)
    return Drawn(
        blocks=(*words, *cards.blocks(card, "", MOST - weight(words))),
        text=fallback(f"{what.text}\n{one_line(card.card.title)}\n{one_line(card.status)}"),
    )


def failed(error: SaysoError) -> Drawn:
    """Return why something was not done, marked by what may be done next."""
    emoji, before = _FAILURES.get(error.kind, _REFUSED)
    said = f"{before}{error.shown}"
    return Drawn(blocks=tuple(_words(said, _ROOM, emoji)), text=fallback(said))


def fallback(words: str) -> str:
    """Return what is read where no blocks are shown: nothing in it means anything to Slack."""
    shown = output(words).encode()[:_LONGEST_FALLBACK].decode(errors="ignore")
    escaped = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    while len(escaped.encode()) > _LONGEST_FALLBACK:
        shown = shown[: len(shown) * 3 // 4]
        escaped = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.strip() or "…"


def _card(asking: Asking, team: str) -> Drawn:
    return Drawn(
        blocks=tuple(cards.blocks(asking, team)),
        text=fallback(f"{one_line(asking.card.title)}\n{one_line(asking.status)}"),
        document=None if views.shows(asking) else document(asking.card),
    )


def _progress(one: Progress) -> Drawn:
    title, status = one_line(one.title, _LONGEST_LINE), one_line(one.status, _LONGEST_LINE)
    began = rich_text.date(one.began_at, f"{one.began_at:%Y-%m-%d %H:%M:%S} UTC")
    runs = [text(title or "…", "bold"), text(f"\n{status}\nBegan ")]
    shown = [rich_text.section([*runs, began])]
    if any(one.printed):
        lines = (one_line(line, _LONGEST_LINE) for line in one.printed[-20:])
        shown.append(rich_text.preformatted([text("\n".join(lines) or " ")]))
    return Drawn(
        blocks=(rich_text.block(shown), *buttons.drawn(one.buttons)),
        text=fallback(f"{title}: {status}"),
    )


def _opening(one: Opening, team: str) -> Drawn:
    who = one_line(one.author, 80)
    called = cards.mention(one.asker, team) if one.asker else None
    words = literal.shown(one.text)
    at = reach(words, _ROOM)
    shown = [
        rich_text.section([called or text(who or "…", "bold"), text(" asked:")]),
        rich_text.quote([text(words[:at] or "…")]),
    ]
    more = [] if at == len(words) else [rich_text.section([text(_BELOW)])]
    return Drawn(
        blocks=(rich_text.block([*shown, *more]),),
        text=fallback(f"{who} asked: {one.text}"),
        document=words if more else None,
    )


def _text(one: Text, team: str) -> tuple[Drawn, ...]:
    if one.is_report:
        return (_report(one),)
    return (_note(one, team),) if one.is_note else tuple(_answer(one))


def _report(one: Text) -> Drawn:
    """Return what software tells about a run: no other message begins with a title but a card."""
    words = literal.shown(one.text)
    head, _, rest = words.partition("\n")
    rows = buttons.drawn(one.buttons)
    shown, whole = _middle_cut(rest, MOST - weight(rows) - _FRAMES - 2 * _LONGEST_LINE)
    at = reach(head, 2 * _LONGEST_LINE)
    whole = whole and at == len(head)
    body = [rich_text.section([text(head[:at] or "…", "bold")])]
    body += [rich_text.preformatted([text(shown)])] if shown.strip() else []
    body += [] if whole else [rich_text.section([text("All of it is in the file below.")])]
    return Drawn(
        blocks=(
            rich_text.header("Report"),
            rich_text.block(body),
            *rows,
        ),
        text=fallback(f"Report: {words}"),
        document=None if whole else words,
    )


def _middle_cut(words: str, room: int) -> tuple[str, bool]:
    """Return the beginning and the end of a text, which say what is left out, and whether it is all."""
    if reach(words, room) == len(words):
        return words, True
    first = words[: reach(words, room * 2 // 3)]
    last = words[len(words) - reach(words[: -room // 3 : -1], room // 3) :]
    left = len(words) - len(first) - len(last)
    return f"{first}\n… {left} characters are left out here …\n{last}", False


def _note(one: Text, team: str) -> Drawn:
    """Return what Sayso itself notes, small and grey, as no answer can be."""
    words = literal.shown(one.text)
    reminds = [*cards.mentions(one.wanted, team, one.label)]
    called = [rich_text.block(splitting.elements(reminds))] if reminds else []
    rows = [*called, *buttons.drawn(one.buttons)]
    whole = words[: reach(words, MOST - weight(rows) - _FRAMES)]
    pieces = (whole[at : at + _OF_A_NOTE] for at in range(0, len(whole), _OF_A_NOTE))
    context: list[JsonObject] = [
        {"type": "context", "elements": [rich_text.plain(piece, _OF_A_NOTE)]}
        for piece in pieces
        if piece.strip()
    ]
    return Drawn(
        blocks=(*(context or [_nothing()]), *rows),
        text=fallback(words),
        document=one.document or (words if len(whole) < len(words) else None),
    )


def _answer(one: Text) -> Iterator[Drawn]:
    """Yield an answer in as many messages as it needs, up to a few."""
    source = one.text if len(one.text) <= _MOST_MESSAGES * MOST else one.text[:MOST]
    found = [*islice(splitting.packed(markdown.parts(source), _ROOM), _MOST_MESSAGES + 1)]
    whole = len(found) <= _MOST_MESSAGES and source is one.text
    shown = found if whole else found[:1]
    pieces = [[rich_text.block(splitting.elements(group))] for group in shown]
    words = [splitting.plain(group) for group in shown]
    if not pieces:
        pieces, words = [[_nothing()]], ["…"]
    if not whole:
        pieces[-1].append(rich_text.block([rich_text.section([text(_BELOW)])]))
    below = _suggested(one)
    if weight([*pieces[-1], *below]) > MOST:
        pieces, words = [*pieces, []], [*words, "You could ask:"]
    pieces[-1] += below
    for number, (piece, said) in enumerate(zip(pieces, words, strict=True)):
        rest = output(one.text) if number == 0 and not whole else None
        yield Drawn(blocks=tuple(piece), text=fallback(said), document=rest)


def _suggested(one: Text) -> list[JsonObject]:
    """Return what a person may send instead, as buttons; what does not fit on one is written out."""
    if not one.suggestions:
        return []
    pressed = buttons.suggestions(one.suggestions, one.turn) if one.turn else []
    long = [
        Part(runs=(text(one_line(said, _LONGEST_LINE)),), kind="item")
        for said in one.suggestions
        if said.strip() and not (pressed and buttons.is_whole(said))
    ][:20]
    asks = [Part(runs=(text("You could ask:", "italic"),)), *long]
    return [rich_text.block(splitting.elements(asks)), *pressed]


def _words(words: str, room: int, emoji: str = "") -> Iterator[JsonObject]:
    """Yield what software says to somebody: a sentence, and below it lines that keep their spaces."""
    whole = literal.shown(words)
    head, _, rest = whole[: reach(whole, room)].partition("\n")
    mark = [{"type": "emoji", "name": emoji}, text(" ")] if emoji else []
    shown: list[JsonObject] = [rich_text.section([*mark, text(head or "…")])]
    if rest.strip():
        shown.append(rich_text.preformatted([text(rest)]))
    yield rich_text.block(shown)


def _nothing() -> JsonObject:
    return rich_text.block([rich_text.section([text("…")])])
