"""What Sayso says, as messages of Discord: values in, each message within every limit of Discord's.

Only what software wrote is made of components. What a model or a person wrote is words whose
Markdown was read and written anew, so that nothing in it can pass for a card, a report or a note.
"""

from itertools import islice
from typing import assert_never

from adapters.discord import cards, layout, markdown, splitting, words
from adapters.discord.drawn import Drawn
from adapters.discord.layout import MOST, weight
from adapters.discord.splitting import Part
from adapters.discord.styles import Run
from adapters.discord.telling import failed, reviewed, told
from adapters.discord.words import bold, length, literal, reach
from adapters.platforms.literal import shown
from core.canonical import JsonObject
from core.deliveries import Asking, Message, Opening, Progress, Text
from core.display import one_line, output

__all__ = ["draw", "failed", "reviewed", "told", "unfinished"]
_MOST_MESSAGES = 5
_LONGEST_LINE = 300
_FRAMES = 200
"""How much of a message titles and frames may take."""
_LINES = 20
_WRITING = words.small("This is still being written.")
_BELOW = words.small("This is the beginning. All of it is in the file below.")
_ALL_BELOW = "All of it is in the file below."
_ASK = "You could ask:"


def draw(message: Message, *, guild: str) -> tuple[Drawn, ...]:
    """Return the messages to be posted, in order. All but answers are one."""
    match message:
        case Asking():
            return (_card(message, guild),)
        case Progress():
            return (_progress(message),)
        case Opening():
            return (_opening(message, guild),)
        case Text():
            return _text(message, guild)
        case _:
            assert_never(message)


def unfinished(text: str) -> Drawn:
    """Return the beginning of an answer that is still being written, drawn and marked as such."""
    group = next(splitting.packed(markdown.parts(text[: 2 * splitting.MOST])), [])
    return Drawn(content=f"{splitting.drawn(group) or '…'}\n{_WRITING}")


def _card(asking: Asking, guild: str) -> Drawn:
    return Drawn(
        components=tuple(cards.components(asking, guild)), mentions=cards.named(asking, guild)
    )


def _progress(one: Progress) -> Drawn:
    title, status = one_line(one.title, _LONGEST_LINE), one_line(one.status, _LONGEST_LINE)
    began = f"Began {words.moment(one.began_at)}"
    said = [layout.text(f"{bold(literal(title)) or '…'}\n{literal(status)}\n{began}")]
    rows = layout.pressed(one.buttons)
    if any(one.printed):
        lines = "\n".join(one_line(line, _LONGEST_LINE) for line in one.printed[-_LINES:])
        room = MOST - weight([*said, *rows]) - _FRAMES
        said.append(layout.text(words.code(_end(lines, room))))
    return Drawn(components=(layout.container([*said, *rows]),))


def _end(lines: str, room: int) -> str:
    """Return the last lines, as many as fit."""
    while length(words.fenced(lines)) > room:
        lines = lines.partition("\n")[2]
    return lines


def _opening(one: Opening, guild: str) -> Drawn:
    user = words.user(one.asker, guild) if one.asker else None
    who = words.mention(user) if user else bold(literal(one_line(one.author, 80))) or "…"
    whole = shown(one.text)
    at = reach(whole, splitting.MOST - length(who) - _FRAMES // 2, words.quoted)
    more = "" if at == len(whole) else f"\n{_BELOW}"
    return Drawn(
        content=f"{who} asked:\n{words.quoted(whole[:at] or '…')}{more}",
        document=whole if more else None,
        mentions=(user,) if user else (),
    )


def _text(one: Text, guild: str) -> tuple[Drawn, ...]:
    if one.is_report:
        return (_report(one),)
    return (_note(one, guild),) if one.is_note else tuple(_answer(one))


def _report(one: Text) -> Drawn:
    """Return what software tells about a run: no other message begins with a title but a card."""
    whole = shown(one.text)
    head, _, rest = whole.partition("\n")
    rows = layout.pressed(one.buttons)
    at = reach(head, 2 * _LONGEST_LINE)
    room = MOST - weight(rows) - _FRAMES - 2 * _LONGEST_LINE
    body, is_all = _middle_cut(rest, room)
    is_all = is_all and at == len(head)
    said = ["### Report", bold(literal(head[:at])) or "…"]
    said += [words.code(body)] if body.strip() else []
    said += [] if is_all else [_ALL_BELOW]
    return Drawn(
        components=(layout.container([*map(layout.text, said), *rows]),),
        document=None if is_all else whole,
    )


def _middle_cut(text: str, room: int) -> tuple[str, bool]:
    """Return the beginning and the end of a text, which say what is left out, and whether it is all."""
    if length(words.fenced(text)) <= room:
        return text, True
    first = text[: reach(text, room * 2 // 3, words.fenced)]
    last = text[len(text) - reach(text[: -room // 3 : -1], room // 3, words.fenced) :]
    left = len(text) - len(first) - len(last)
    return f"{first}\n… {left} characters are left out here …\n{last}", False


def _note(one: Text, guild: str) -> Drawn:
    """Return what Sayso itself notes, small and grey, as no answer can be."""
    whole = shown(one.text)
    called = words.users(one.wanted, guild)
    rows: list[JsonObject] = [
        *([layout.text(words.may_approve(called, one.label))] if called else [])
    ]
    rows += layout.pressed(one.buttons)
    at = reach(whole, MOST - weight(rows) - _FRAMES, words.small)
    return Drawn(
        components=(layout.text(words.small(whole[:at])), *rows),
        document=one.document or (whole if at < len(whole) else None),
        mentions=called[: words.MOST_NAMED],
    )


def _answer(one: Text) -> list[Drawn]:
    """Return an answer in as many messages as it needs, up to a few."""
    most = splitting.MOST
    source = one.text if len(one.text) <= _MOST_MESSAGES * most else one.text[: 2 * most]
    found = [*islice(splitting.packed(markdown.parts(source)), _MOST_MESSAGES + 1)]
    is_all = len(found) <= _MOST_MESSAGES and source is one.text
    pieces = [splitting.drawn(group) for group in (found if is_all else found[:1])] or ["…"]
    if not is_all:
        pieces[-1] += f"\n{_BELOW}"
    asks, below = _suggested(one)
    if asks and length(pieces[-1]) + length(asks) + 2 <= most + _FRAMES // 2:
        pieces[-1] += f"\n\n{asks}"
    elif asks:
        pieces.append(asks)
    return [
        Drawn(
            content=piece,
            below=tuple(below) if number == len(pieces) - 1 else (),
            document=output(one.text) if number == 0 and not is_all else None,
        )
        for number, piece in enumerate(pieces)
    ]


def _suggested(one: Text) -> tuple[str, list[JsonObject]]:
    """Return what a person may send instead, as buttons; what does not fit on one is written out."""
    if not any(said.strip() for said in one.suggestions):
        return "", []
    pressed = layout.suggestions(one.suggestions, one.turn) if one.turn else []
    long = [
        Part(runs=(Run(words=one_line(said, _LONGEST_LINE)),), kind="item")
        for said in one.suggestions
        if said.strip() and not (pressed and layout.is_whole(said))
    ][:_LINES]
    asks = Part(runs=(Run(words=_ASK, styles=("italic",)),))
    return splitting.drawn(next(splitting.packed([asks, *long]))), pressed
