"""What one person alone is told: a sentence, a failure, all of a plan."""

from collections.abc import Iterator
from dataclasses import replace

from adapters.discord import cards, layout, words
from adapters.discord.drawn import Drawn
from adapters.discord.layout import MOST, weight
from adapters.discord.words import dated, length, literal, reach
from adapters.platforms.literal import shown
from adapters.platforms.whole import document
from core.canonical import JsonObject
from core.cards import APPROVING
from core.deliveries import Asking
from core.errors import OutcomeUnknown, SaysoError, Unavailable
from core.platforms import Told

_FRAMES = 200
_HALF = 2_000
_LARGEST = 8_000_000
"""Bytes of a file. Discord takes no more than 10 MiB of one."""
_FAILURES = {
    Unavailable.kind: ("\N{HOURGLASS WITH FLOWING SAND}", "Not now. "),
    OutcomeUnknown.kind: ("\N{BLACK QUESTION MARK ORNAMENT}", "Nobody knows how this ended. "),
}
_REFUSED = ("\N{NO ENTRY}", "")
_IN_THE_FILE = "This plan is too long to be shown here. All of it is in the file: read that first."
_TOO_LARGE = (
    "This plan is too long to be shown here, and what cannot be shown cannot be approved here."
)


def told(what: Told) -> Drawn:
    """Return what somebody alone is told; without anything where there is nothing to say.

    Such a message vanishes, so a card in it cannot be approved, only looked at.
    """
    if what.card is None:
        rows = layout.pressed(what.buttons)
        said = [*_said(what.text, MOST - weight(rows) - _FRAMES)] if what.text or rows else []
        return Drawn(components=(*said, *rows))
    said = [*_said(what.text, MOST // 3)] if what.text else []
    card = cards.looked_at(what.card, *what.buttons)
    return Drawn(components=(*said, *cards.components(card, "", MOST - weight(said))))


def failed(error: SaysoError) -> Drawn:
    """Return why something was not done, marked by what may be done next."""
    mark, before = _FAILURES.get(error.kind, _REFUSED)
    return Drawn(components=tuple(_said(f"{before}{error.shown}", MOST - _FRAMES, f"{mark} ")))


def reviewed(asking: Asking) -> Drawn:
    """Return all of a plan, shown or as a file, to be approved if the card may be (I6)."""
    if cards.fits(_decided(asking), ""):
        return Drawn(components=tuple(cards.components(_decided(asking), "")))
    whole = document(asking.card)
    is_given = len(whole.encode()) <= _LARGEST
    said = [layout.text(literal(_IN_THE_FILE if is_given else _TOO_LARGE))]
    one = cards.shortened(asking, "", MOST - _HALF)
    one = replace(one, card=replace(one.card, buttons=asking.card.buttons))
    one = _decided(one if is_given else cards.looked_at(one))
    rows = cards.components(one, "")
    return Drawn(components=(*said, *rows), document=whole if is_given else None)


def _decided(asking: Asking) -> Asking:
    """Return a card with no more to press than a decision."""
    kept = tuple(one for one in asking.card.buttons if one.verb in {*APPROVING, "deny"})
    return replace(asking, card=replace(asking.card, buttons=kept), wanted=())


def _said(text: str, room: int, mark: str = "") -> Iterator[JsonObject]:
    """Yield what software says to somebody: a sentence, and below it lines that keep their spaces."""
    whole = shown(text)
    head, _, rest = whole.partition("\n")
    at = reach(head, room - 2 * _FRAMES, dated)
    yield layout.text(f"{mark}{dated(head[:at]) or '…'}{_missing(len(head) - at)}")
    left = room - length(dated(head[:at])) - _FRAMES
    if rest.strip():
        at = reach(rest, left, words.fenced)
        yield layout.text(f"{words.code(rest[:at])}{_missing(len(rest) - at)}")


def _missing(number: int) -> str:
    """Return that something is not shown: nobody is to take a part for all of it."""
    return f"\n… {number} more characters" if number else ""
