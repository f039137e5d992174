"""The form in which somebody edits what waits, and what came back out of it once it has to be corrected."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from adapters.discord import words
from adapters.discord.forms import INPUT, LABEL
from adapters.platforms.takes import Outcome
from core.canonical import JsonObject
from core.cards import Button
from core.display import one_line
from core.errors import Incorrect
from core.events import Edit
from core.forms import Field, Form
from core.platforms import Told
from core.principals import Identity

EDIT = "sayso:edit"
FIELD = "arg:"
_SELECT, _DISPLAY, _ONE_LINE, _PARAGRAPH = 3, 10, 1, 2
_MOST_PARTS = 5
_LONGEST_TEXT, _LONGEST_LABEL, _LONGEST_HINT = 4_000, 45, 100
_MOST_OPTIONS, _LONGEST_OPTION = 25, 100
_LONG = 80
"""Characters of a value that is easier to change in more than one line."""
_KEPT = 200
_SAVING = "To save makes another request out of it: nobody has voted for that yet."
_NO_ROOM = "No form can show all of this. Write what is to change: edit {} NAME=VALUE"


def drawn(form: Form) -> JsonObject | Told:
    """Return the form, or how to edit in words where Discord cannot show every argument in one."""
    fields, request = form.fields, form.request
    if len(fields) > _MOST_PARTS or any(len(one.value) > _LONGEST_TEXT for one in fields):
        return Told(text=_NO_ROOM.format(request))
    about: list[JsonObject] = (
        [{"type": _DISPLAY, "content": _about(form)}] if len(fields) < _MOST_PARTS else []
    )
    return {
        "title": "Edit",
        "custom_id": f"{EDIT}:{request}",
        "components": [*about, *map(_part, fields)],
    }


def values(fields: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Yield what stands in each field of a form that was submitted; None where nothing does."""
    for name, text in fields.items():
        if name.startswith(FIELD):
            yield name.removeprefix(FIELD), text or None


@dataclass(slots=True)
class Typed:
    """What people typed last that has to be corrected: Discord shows nothing in a form that was sent.

    It is in memory alone, for a few of them, and filled into the next form for the same person.
    """

    _last: OrderedDict[tuple[Identity, str], dict[str, str]] = field(
        default_factory=OrderedDict[tuple[Identity, str], dict[str, str]]
    )

    def heard(self, event: Edit, outcome: Outcome) -> Outcome:
        """Keep what somebody typed where it can be corrected, and offer the form anew; else forget it."""
        key = (event.identity, event.request)
        self._last.pop(key, None)
        if not isinstance(outcome, Incorrect):
            return outcome
        self._last[key] = {name: text or "" for name, text in event.values}
        while len(self._last) > _KEPT:
            self._last.popitem(last=False)
        anew = Button(label="Edit what you typed", verb="edit", request=event.request)
        return Told(text=outcome.shown, buttons=(anew,))

    def into(self, form: Form, who: Identity) -> Form:
        """Return a form with what they typed last, where there is such."""
        typed = self._last.get((who, form.request), {})
        fields = tuple(replace(one, value=typed.get(one.name, one.value)) for one in form.fields)
        return replace(form, fields=fields)


def _about(form: Form) -> str:
    title = words.bold(words.literal(f"{one_line(form.tool, 60)} {form.plan}"))
    told = [title, _SAVING]
    if form.in_words:
        names = words.literal(one_line(", ".join(form.in_words), 300))
        told.append(f"Not shown here: {names}. Write: edit {form.request} NAME=VALUE")
    return "\n".join(told)


def _part(one: Field) -> JsonObject:
    said = one_line(one.hint, _LONGEST_HINT)
    hint: JsonObject = {"description": said} if said else {}
    return {
        "type": LABEL,
        "label": one_line(one.name, _LONGEST_LABEL) or "…",
        **hint,
        "component": _choice(one) if _can_be_chosen(one) else _text(one),
    }


def _can_be_chosen(one: Field) -> bool:
    few = 0 < len(one.choices) <= _MOST_OPTIONS
    return few and all(0 < len(choice) <= _LONGEST_OPTION for choice in one.choices)


def _choice(one: Field) -> JsonObject:
    options: list[JsonObject] = [
        {
            "label": one_line(choice, _LONGEST_OPTION) or "…",
            "value": choice,
            "default": choice == one.value,
        }
        for choice in one.choices
    ]
    return {
        "type": _SELECT,
        "custom_id": f"{FIELD}{one.name}",
        "options": options,
        "required": False,
        "min_values": 0,
        "max_values": 1,
    }


def _text(one: Field) -> JsonObject:
    now: JsonObject = {"value": one.value} if one.value else {}
    return {
        "type": INPUT,
        "custom_id": f"{FIELD}{one.name}",
        "style": _PARAGRAPH if len(one.value) > _LONG else _ONE_LINE,
        "required": False,
        "max_length": _LONGEST_TEXT,
        **now,
    }
