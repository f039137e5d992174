"""A card on Discord: the card's own order and words. What does not fit cannot be approved there (I6)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from adapters.discord import layout, words
from adapters.discord.layout import MOST, weight
from adapters.discord.words import bold, dated, length, literal, reach
from adapters.platforms.literal import shown
from adapters.platforms.whole import PREVIEW, UNCHECKED
from core.canonical import JsonObject
from core.cards import APPROVING, Button, Card, Fact
from core.deliveries import Asking
from core.display import one_line

_WHOLE = 1_000_000
_AN_ENTRY = 150
_OF_A_STATUS = 200
_KEPT_WHOLE = "Plan"
_MOST_WARNINGS = 3
_A_NOTICE = 2 * len("… 1000000 more characters")


def components(asking: Asking, guild: str, most: int = MOST) -> list[JsonObject]:
    """Return a card as components: all of it, or what fits and a way to see the rest."""
    whole = _components(asking, guild) if fits(asking, guild, most) else None
    return whole or _components(shortened(asking, guild, most), guild)


def fits(asking: Asking, guild: str, most: int = MOST) -> bool:
    """Return whether one message shows all of a card."""
    card = asking.card
    said = (*card.plan, *card.preview, *card.unchecked, *card.warnings, card.title, asking.status)
    if sum(map(len, said)) > most:
        return False  # at once: who pressed a button waits
    return weight(_components(asking, guild)) <= most


def looked_at(asking: Asking, *more: Button) -> Asking:
    """Return a card for where nobody may say yes or edit, because it vanishes or shows no plan."""
    shown = (button for button in (*asking.card.buttons, *more) if button.verb != "edit")
    given = tuple(map(_reviewed, shown))
    return replace(asking, card=replace(asking.card, buttons=given))


def named(asking: Asking, guild: str) -> tuple[str, ...]:
    """Return who is mentioned below a card: whoever's yes would count, while it would."""
    known = words.users(asking.wanted, guild)
    return known[: words.MOST_NAMED] if _waits(asking.card) else ()


def _waits(card: Card) -> bool:
    return any(button.verb in {*APPROVING, "review"} for button in card.buttons)


def _components(asking: Asking, guild: str) -> list[JsonObject]:
    title = f"### {literal(one_line(asking.card.title, _WHOLE) or '…')}"
    said = [layout.text(section) for section in (title, *sections(asking, guild))]
    rows = layout.pressed(asking.card.buttons)
    colour = layout.WAITS if _waits(asking.card) else None
    return [layout.container([*said, *([layout.separator()] if rows else []), *rows], colour)]


def sections(asking: Asking, guild: str) -> Iterator[str]:
    """Yield a card from its plan to its status, a section each."""
    card = asking.card
    if any(card.plan):
        yield words.code("\n".join(card.plan))
    yield "\n".join(_entries(card))
    if any(card.preview):
        yield _headed(PREVIEW, words.code("\n".join(card.preview)))
    if any(card.unchecked):
        yield _headed(UNCHECKED, words.quoted("\n".join(card.unchecked)))
    yield bold(dated(one_line(asking.status, _WHOLE))) or "…"
    if _waits(card):
        called = words.may_approve(words.users(asking.wanted, guild))
        yield from [called] if called else []


def _headed(title: str, said: str) -> str:
    return f"{bold(literal(title))}\n{said}"


def _entries(card: Card) -> Iterator[str]:
    yield from (_entry(fact.label, fact.text) for fact in card.facts)
    yield from (_entry("Warning", warning) for warning in card.warnings)
    yield _entry("Estimate", card.estimate)


def _entry(label: str, said: str) -> str:
    return f"{bold(f'{literal(label)}:')} {dated(said)}"


def shortened(asking: Asking, guild: str, most: int = MOST) -> Asking:
    """Return a card without what does not fit, which says so, and so without an Approve button."""
    card = _seen(looked_at(asking).card)
    asking = replace(asking, status=one_line(asking.status, _OF_A_STATUS))
    for name in ("preview", "unchecked", "long facts", "plan", "warnings", "facts"):
        over = weight(_components(replace(asking, card=card), guild)) - most
        if over <= 0:
            break
        card = _cut(card, name, over)
    return replace(asking, card=card)


def _seen(card: Card) -> Card:
    """Return a card whose lines are as long as they are drawn, and the short ones short."""
    return replace(
        card,
        title=one_line(card.title, _AN_ENTRY),
        estimate=one_line(card.estimate, _AN_ENTRY),
        plan=_spelled(card.plan),
        facts=tuple(Fact(label=shown(f.label), text=shown(f.text)) for f in card.facts),
        preview=_spelled(card.preview),
        unchecked=_spelled(card.unchecked),
    )


def _spelled(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(shown, lines))


def _reviewed(button: Button) -> Button:
    if button.verb not in APPROVING:
        return button
    return replace(button, label="Review full plan", verb="review")


def _cut(card: Card, name: str, over: int) -> Card:
    match name:
        case "preview":
            return replace(card, preview=cut_lines(card.preview, over, words.fenced))
        case "unchecked":
            return replace(card, unchecked=cut_lines(card.unchecked, over, words.quoted))
        case "plan":
            return replace(card, plan=cut_lines(card.plan, over, words.fenced))
        case "warnings":
            return replace(card, warnings=_few(card.warnings))
        case _:
            return replace(
                card, facts=_fewer(card.facts, over) if name == "facts" else _short(card)
            )


def _few(warnings: Sequence[str]) -> tuple[str, ...]:
    lines = tuple(one_line(line, _AN_ENTRY) for line in warnings[:_MOST_WARNINGS])
    return (*lines, *_more(len(warnings) - len(lines), "warnings"))


def cut_lines(lines: Sequence[str], over: int, drawn: Callable[[str], str]) -> tuple[str, ...]:
    """Return the first of these lines, so many that they are shorter by `over`, and what is missing."""
    room = sum(length(drawn(line)) + 1 for line in lines) - over - _A_NOTICE
    kept = list[str]()
    for line in lines:
        cost = length(drawn(line)) + 1
        if cost > room:
            break
        kept.append(line)
        room -= cost
    if not kept and lines and room > 1:
        at = reach(lines[0], room - 1, drawn)
        return (
            lines[0][:at],
            *_more(len(lines[0]) - at, "characters"),
            *_more(len(lines) - 1, "lines"),
        )
    return (*kept, *_more(len(lines) - len(kept), "lines"))


def _more(number: int, what: str) -> tuple[str, ...]:
    if number <= 0:
        return ()
    return (f"… {number} more {what if number > 1 else what.removesuffix('s')}",)


def _fewer(facts: Sequence[Fact], over: int) -> tuple[Fact, ...]:
    """Return fewer facts, shorter by `over`: that of the plan is never left out."""
    room = sum(map(_of_a_fact, facts)) - over
    whole = [fact for fact in facts if fact.label == _KEPT_WHOLE][:1]
    room -= sum(map(_of_a_fact, whole)) + _AN_ENTRY
    kept, left = list[Fact](), 0
    for fact in facts:
        cost = 0 if fact in whole else _of_a_fact(fact)
        if cost and cost > room:
            left += 1
            continue
        room -= cost
        kept.append(fact)
    rest = Fact(label="Not shown here", text=f"{left} more facts; review the full plan")
    return (*kept, rest) if left else tuple(kept)


def _of_a_fact(fact: Fact) -> int:
    return length(_entry(fact.label, fact.text)) + 1


def _short(card: Card) -> tuple[Fact, ...]:
    return tuple(map(_begun, card.facts))


def _begun(fact: Fact) -> Fact:
    if fact.label == _KEPT_WHOLE:
        return fact
    at = reach(fact.text, 2 * _AN_ENTRY)
    missing = len(fact.text) - at
    said = f"{fact.text[:at]}… {missing} more characters" if missing else fact.text
    return Fact(label=one_line(fact.label, 60), text=said)
