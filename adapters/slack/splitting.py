"""Long texts in several messages: parts, packed in order, of which nothing is lost."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

from adapters.slack import rich_text
from adapters.slack.rich_text import reach, weight
from core.canonical import JsonObject

MOST = 10_000
"""How much one message may weigh."""
_AROUND = 140
"""What the frame of a part weighs at most."""
_LITTLE = 1_000
"""Less room than this at the end of a message is left rather than begin something long there."""
_DEEPEST = 8

Kind: TypeAlias = Literal["text", "code", "quote", "item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A paragraph, a block of code, a quote or an item of a list."""

    runs: tuple[JsonObject, ...]
    kind: Kind = "text"
    gap: str = "\n\n"
    """What stands between this and a part like it before it."""
    indent: int = 0
    number: int | None = None
    """Of an item in a list that counts."""
    is_heading: bool = False
    group: int = 0
    """Parts of one quote have the same."""

    def weight(self) -> int:
        """Return what this takes of a message."""
        return weight(self.runs) + _AROUND


def packed(parts: Iterable[Part], most: int = MOST) -> Iterator[list[Part]]:
    """Yield what goes into each message, all of it in order."""
    now, room = list[Part](), most
    for part in parts:
        rest: Part | None = part
        while rest is not None:
            if rest.weight() <= room:
                now.append(rest)
                room -= rest.weight()
                rest = None
                continue
            first: Part | None = None
            after: Part | None = rest
            if not now or (rest.weight() > most and room > min(_LITTLE, most // 2)):
                first, after = cut(rest, room)
            if first is None and not now:
                first, after = rest, None
            kept = now if first else _without_heading(now)
            yield [*kept, first] if first else kept
            now, rest = now[len(kept) :], after
            room = most - sum(one.weight() for one in now)
    if now:
        yield now


def _without_heading(parts: list[Part]) -> list[Part]:
    """Return parts without a heading at the end, which belongs to what follows it."""
    more = len(parts) > 1 and parts[-1].is_heading and not parts[-2].is_heading
    return parts[:-1] if more else parts


def cut(part: Part, room: int) -> tuple[Part | None, Part | None]:
    """Return what of a part fits into this room, and the rest."""
    first, room = list[JsonObject](), room - _AROUND
    rest = [*part.runs]
    while rest:
        run = rest[0]
        if weight(run) + 1 <= room:
            first.append(rest.pop(0))
            room -= weight(run) + 1
            continue
        words, more = _halves(run, room)
        first += [words] if words else []
        rest[0] = more
        break
    after = replace(part, runs=tuple(rest), kind="text" if part.kind == "item" else part.kind)
    return (replace(part, runs=tuple(first)) if first else None), (after if rest else None)


def _halves(run: JsonObject, room: int) -> tuple[JsonObject | None, JsonObject]:
    words = run.get("text")
    if run["type"] != "text" or not isinstance(words, str):
        return None, run
    at = _break(words, reach(words, room - weight({**run, "text": ""}) - 1))
    return ({**run, "text": words[:at]} if at else None), {**run, "text": words[at:]}


def _break(words: str, most: int) -> int:
    """Return where to cut within `most` characters: after a line or a word, where one ends late."""
    for mark in ("\n", " "):
        at = words.rfind(mark, 0, most) + 1
        if at > most // 2:
            return at
    return max(most, 0)


def elements(parts: Sequence[Part]) -> list[JsonObject]:
    """Return parts as elements of rich text; what belongs together stands in one of them."""
    done = list[JsonObject]()
    group = list[Part]()
    for part in parts:
        if group and not _belong(group[-1], part):
            done.append(_element(group))
            group = []
        group.append(part)
    return [*done, _element(group)] if group else done


def _belong(one: Part, other: Part) -> bool:
    if one.kind != other.kind or one.kind == "code":
        return False
    if one.kind == "quote":
        return one.group == other.group
    if one.kind == "text":
        return True
    counts = None if one.number is None else one.number + 1
    return one.indent == other.indent and counts == other.number


def _element(group: Sequence[Part]) -> JsonObject:
    first = group[0]
    if first.kind == "item":
        return _list(group)
    runs = list(first.runs)
    for before, part in pairwise(group):
        runs += [rich_text.text("\n" if before.is_heading else part.gap), *part.runs]
    frames = {"text": rich_text.section, "code": rich_text.preformatted, "quote": rich_text.quote}
    return frames[first.kind](merged(runs))


def _list(items: Sequence[Part]) -> JsonObject:
    number = items[0].number
    counted: JsonObject = {"offset": number - 1} if number is not None and number > 1 else {}
    return {
        "type": "rich_text_list",
        "style": "bullet" if number is None else "ordered",
        "indent": min(items[0].indent, _DEEPEST),
        **counted,
        "elements": [rich_text.section(merged(item.runs)) for item in items],
    }


def merged(runs: Sequence[JsonObject]) -> list[JsonObject]:
    """Return runs of which no two texts of one style stand side by side."""
    done = list[JsonObject]()
    for run in runs:
        last = done[-1] if done else None
        if last and last["type"] == run["type"] == "text" and last.get("style") == run.get("style"):
            done[-1] = {**run, "text": f"{last['text']}{run['text']}"}
        else:
            done.append(run)
    return done


def plain(parts: Sequence[Part]) -> str:
    """Return the words of parts alone."""
    return "\n".join("".join(said(run) for run in part.runs) for part in parts)


def said(run: JsonObject) -> str:
    """Return what is read of one element."""
    return str(run.get("text") or run.get("url") or run.get("fallback") or "")
