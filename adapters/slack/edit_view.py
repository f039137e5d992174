"""The window in which somebody edits what waits: typed fields, and what comes back out of them. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from adapters.slack import payload, rich_text
from adapters.slack.payload import Payload
from adapters.slack.rich_text import text
from core.canonical import JsonObject
from core.display import one_line
from core.errors import Incorrect
from core.events import Edit
from core.forms import Field, Form

EDIT = "sayso:edit"
_FIELD = "arg:"
"""Begins the id of a field, which is that of its block too."""
_LONGEST_TEXT = 3_000
_MOST_OPTIONS, _LONGEST_OPTION = 100, 75
_MOST_FIELDS = 90
_LONGEST_ERROR = 600
_TITLE = 24
_SAVING = "To save makes another request out of it: nobody has voted for that yet."


def drawn(form: Form, private: str) -> JsonObject | None:
    """Return the window; None where Slack can show no argument of it."""
    shown = _fitting(form)
    if not shown.fields:
        return None
    return {
        "type": "modal",
        "callback_id": EDIT,
        "private_metadata": private,
        "title": rich_text.plain("Edit", _TITLE),
        "submit": rich_text.plain("Save", _TITLE),
        "close": rich_text.plain("Close", _TITLE),
        "blocks": [_about(shown), *map(_input, shown.fields)],
    }


def values(body: Payload) -> Iterator[tuple[str, str | None]]:
    """Yield what stands in each field of a window that was submitted; None where nothing does."""
    state = payload.of(payload.at(body, "view", "state", "values"))
    for block in [*state][:_MOST_FIELDS]:
        if block.startswith(_FIELD):
            found = payload.of(payload.at(state, block, block))
            typed = payload.text(found, "value") or payload.text(found, "selected_option", "value")
            yield block.removeprefix(_FIELD), typed or None


def errors(error: Incorrect, event: Edit) -> JsonObject:
    """Return the answer that shows what is to be corrected beside its field, and keeps what was typed."""
    names = [name for name, _ in event.values]
    at = error.argument if error.argument in names else names[0]
    return {
        "response_action": "errors",
        "errors": {f"{_FIELD}{at}": one_line(error.shown, _LONGEST_ERROR)},
    }


def _fitting(form: Form) -> Form:
    fields = tuple(f for f in form.fields if len(f.value) <= _LONGEST_TEXT)[:_MOST_FIELDS]
    left = tuple(f.name for f in form.fields if f not in fields)
    return replace(form, fields=fields, in_words=(*form.in_words, *left))


def _about(form: Form) -> JsonObject:
    runs = [text(f"{one_line(form.tool, 60)} {form.plan}", "bold"), text(f"\n{_SAVING}")]
    if form.in_words:
        names = one_line(", ".join(form.in_words), 300)
        how = f"Not shown here: {names}. Write: edit {form.request} NAME=VALUE"
        runs.append(text(f"\n{how}"))
    return rich_text.block([rich_text.section(runs)])


def _input(field: Field) -> JsonObject:
    hint: JsonObject = {"hint": rich_text.plain(field.hint, 300)} if field.hint else {}
    return {
        "type": "input",
        "block_id": f"{_FIELD}{field.name}",
        "optional": True,
        "label": rich_text.plain(one_line(field.name) or "…", 80),
        "element": _choice(field) if _can_be_chosen(field) else _typed(field),
        **hint,
    }


def _can_be_chosen(field: Field) -> bool:
    few = 0 < len(field.choices) <= _MOST_OPTIONS
    return few and all(0 < len(one) <= _LONGEST_OPTION for one in field.choices)


def _choice(field: Field) -> JsonObject:
    chosen: JsonObject = {"initial_option": _option(field.value)} if field.value else {}
    return {
        "type": "static_select",
        "action_id": f"{_FIELD}{field.name}",
        "options": [_option(one) for one in field.choices],
        **chosen,
    }


def _option(choice: str) -> JsonObject:
    return {"text": rich_text.plain(one_line(choice) or "…", _LONGEST_OPTION), "value": choice}


def _typed(field: Field) -> JsonObject:
    now: JsonObject = {"initial_value": field.value} if field.value else {}
    return {
        "type": "plain_text_input",
        "action_id": f"{_FIELD}{field.name}",
        "max_length": _LONGEST_TEXT,
        **now,
    }
