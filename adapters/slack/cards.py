"""A card in Slack: the card's own order and words. What does not fit cannot be approved there (I6)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from adapters.platforms.literal import shown
from adapters.platforms.whole import PREVIEW, UNCHECKED
from adapters.slack import buttons, rich_text
from adapters.slack.rich_text import length, reach, text, weight
from adapters.slack.splitting import MOST, Part, elements
from core.canonical import JsonObject
from core.cards import APPROVING, Button, Card, Fact
from core.deliveries import Asking
from core.display import one_line
from core.principals import Identity

PLATFORM = "slack"
_LONGEST_TITLE = 150
_WHOLE = 1_000_000
_MOST_NAMED = 40
_OF_A_FACT = 120
_KEPT_WHOLE = "Plan"
_AN_ENTRY = 300
_MOST_WARNINGS = 3


def blocks(asking: Asking, team: str, most: int = MOST) -> list[JsonObject]:
    """Return a card as the blocks of one message: all of it, or what fits and a way to see the rest."""
    whole = _blocks(asking, team)
    return whole if weight(whole) <= most else _blocks(shortened(asking, team, most), team)


def looked_at(asking: Asking, *more: Button) -> Asking:
    """Return a card for where nobody may say yes or edit, because it vanishes or shows no plan."""
    shown = (button for button in (*asking.card.buttons, *more) if button.verb != "edit")
    given = tuple(map(_reviewed, shown))
    return replace(asking, card=replace(asking.card, buttons=given))


def can_be_approved(card: Card) -> bool:
    """Return whether whoever sees all of a card may say yes."""
    return any(button.verb in APPROVING for button in card.buttons)


def takes_code(card: Card) -> bool:
    """Return whether to say yes takes a code of a second factor."""
    return any(button.verb == "approve_code" for button in card.buttons)


def _blocks(asking: Asking, team: str) -> list[JsonObject]:
    return [
        rich_text.header(one_line(asking.card.title, _LONGEST_TITLE) or "…"),
        rich_text.block(elements([*parts(asking, team)])),
        *buttons.drawn(asking.card.buttons),
    ]


def parts(asking: Asking, team: str) -> Iterator[Part]:
    """Yield a card from its first section to its status, without its title and its buttons."""
    card = asking.card
    title = one_line(card.title, _WHOLE)
    if len(title) > _LONGEST_TITLE:
        yield _line([text(title, "bold")])
    yield from _code(card.plan)
    yield from (_fact(fact.label, fact.text) for fact in card.facts)
    yield from (_fact("Warning", warning) for warning in card.warnings)
    yield _fact("Estimate", card.estimate)
    if any(card.preview):
        yield _line([text(PREVIEW, "bold")])
        yield from _code(card.preview)
    if any(card.unchecked):
        yield _line([text(UNCHECKED, "bold")])
        yield Part(runs=(text("\n".join(card.unchecked)),), kind="quote")
    status = one_line(asking.status, _WHOLE)
    yield _line([*rich_text.dated(status, "bold")] or [text("…")])
    yield from wanted(asking, team)


def _line(runs: Sequence[JsonObject]) -> Part:
    return Part(runs=tuple(runs), gap="\n")


def _code(lines: Sequence[str]) -> Iterator[Part]:
    if any(lines):
        yield Part(runs=(text("\n".join(lines)),), kind="code")


def _fact(label: str, words: str) -> Part:
    return _line([text(f"{label}: ", "bold"), *rich_text.dated(words)])


def wanted(asking: Asking, team: str) -> Iterator[Part]:
    """Bring it to the mind of whoever's yes would count. Nobody but Sayso mentions anybody."""
    if not any(button.verb in {*APPROVING, "review"} for button in asking.card.buttons):
        return
    yield from mentions(asking.wanted, team)


def mentions(wanted: Sequence[Identity], team: str, label: str = "May approve") -> Iterator[Part]:
    """Yield a line that mentions these people, as far as they are of this workspace."""
    known = [one for one in map(mention, wanted, [team] * len(wanted)) if one]
    runs = [text(f"{label}: ")]
    for number, user in enumerate(known[:_MOST_NAMED]):
        runs += [text(", "), user] if number else [user]
    if len(known) > _MOST_NAMED:
        runs.append(text(f" and {len(known) - _MOST_NAMED} more"))
    if known:
        yield _line(runs)


def mention(identity: Identity, team: str) -> JsonObject | None:
    """Return a mention of somebody; None where they are of another workspace."""
    here = identity.platform == PLATFORM and identity.workspace == team
    return rich_text.user(identity.user) if here else None


def shortened(asking: Asking, team: str, most: int = MOST) -> Asking:
    """Return a card without what does not fit, which says so, and so without an Approve button."""
    card = _seen(looked_at(asking).card)
    asking = replace(asking, status=one_line(asking.status, _AN_ENTRY))
    for name in ("preview", "unchecked", "plan", "warnings", "facts"):
        over = weight(_blocks(replace(asking, card=card), team)) - most
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
        plan=tuple(map(shown, card.plan)),
        facts=tuple(Fact(label=shown(fact.label), text=shown(fact.text)) for fact in card.facts),
        preview=tuple(map(shown, card.preview)),
        unchecked=tuple(map(shown, card.unchecked)),
    )


def _reviewed(button: Button) -> Button:
    if button.verb not in APPROVING:
        return button
    return replace(button, label="Review full plan", verb="review")


def _cut(card: Card, name: str, over: int) -> Card:
    match name:
        case "preview":
            return replace(card, preview=cut_lines(card.preview, over))
        case "unchecked":
            return replace(card, unchecked=cut_lines(card.unchecked, over))
        case "plan":
            return replace(card, plan=cut_lines(card.plan, over))
        case "facts":
            return replace(card, facts=_cut_facts(card.facts, over))
        case _:
            lines = tuple(one_line(line, _AN_ENTRY) for line in card.warnings[:_MOST_WARNINGS])
            more = _more(len(card.warnings) - len(lines), "warnings")
            return replace(card, warnings=(*lines, *more))


def cut_lines(lines: Sequence[str], over: int) -> tuple[str, ...]:
    """Return the first of these lines, so many that they are lighter by `over`, and what is missing."""
    room = sum(map(_of_a_line, lines)) - over - 2 * len("… 1000000 more characters")
    kept = list[str]()
    for line in lines:
        if _of_a_line(line) > room:
            break
        kept.append(line)
        room -= _of_a_line(line)
    if not kept and lines and room > 1:
        at = reach(lines[0], room - 1)
        return (
            lines[0][:at],
            *_more(len(lines[0]) - at, "characters"),
            *_more(len(lines) - 1, "lines"),
        )
    return (*kept, *_more(len(lines) - len(kept), "lines"))


def _of_a_line(line: str) -> int:
    return length(line) + 1


def _more(number: int, what: str) -> tuple[str, ...]:
    if number <= 0:
        return ()
    return (f"… {number} more {what if number > 1 else what.removesuffix('s')}",)


def _cut_facts(facts: Sequence[Fact], over: int) -> tuple[Fact, ...]:
    """Return facts that are lighter by `over`: the longest first, and that of the plan never."""
    room = sum(_OF_A_FACT + weight(f.text) + weight(f.label) for f in facts) - over
    whole = [fact for fact in facts if fact.label == _KEPT_WHOLE][:1]
    room -= sum(_OF_A_FACT + weight(f.text) + weight(f.label) for f in whole) + _AN_ENTRY
    kept, left = list[Fact](), 0
    for fact in facts:
        short = fact if fact in whole else _short(fact)
        cost = 0 if fact in whole else _OF_A_FACT + weight(short.text) + weight(short.label)
        if cost and cost > room:
            left += 1
            continue
        room -= cost
        kept.append(short)
    rest = Fact(label="Not shown here", text=f"{left} more facts; review the full plan")
    return (*kept, rest) if left else tuple(kept)


def _short(fact: Fact) -> Fact:
    at = reach(fact.text, _AN_ENTRY)
    label = one_line(fact.label, 60)
    missing = len(fact.text) - at
    words = f"{fact.text[:at]}… {missing} more characters" if missing else fact.text
    return Fact(label=label, text=words)
