"""The window in which a plan is edited: filled with what it is now, as long as that may be shown. Pure."""

from collections.abc import Iterator

from approvals.models import Request
from core import commands
from core.canonical import Json, JsonObject, encode
from core.display import hidden, json_text, one_line
from core.errors import SaysoError
from core.forms import Field, Form
from core.redaction import Redactor
from core.tools import Tool, Toolbox

_LONGEST_NAME = 80


def in_words(request: Request) -> str:
    """Say how to edit a request without a window."""
    calls = request.plan.calls
    if len(calls) == 1:
        return f"Write what is to change: edit {request.id} NAME=VALUE"
    which = ", ".join(f"{number} {call.tool}" for number, call in enumerate(calls, 1))
    return (
        "This plan has several calls. Write the number of one and what is to change in it: "
        f"edit {request.id} NUMBER NAME=VALUE ({which})"
    )


def form(request: Request, toolbox: Toolbox, redactor: Redactor) -> Form | None:
    """Return the window for a plan of one call; None where there is nothing that it could show."""
    if len(request.plan.calls) != 1:
        return None
    [call] = request.plan.calls
    tool = toolbox[call.tool]
    fields = tuple(_fields(tool, call.arguments, redactor))
    shown = {field.name for field in fields}
    if not fields:
        return None
    return Form(
        request=request.id,
        tool=tool.name,
        plan=request.plan.id,
        fields=fields,
        in_words=tuple(name for name in tool.names if name not in shown),
    )


def _fields(tool: Tool, arguments: JsonObject, redactor: Redactor) -> Iterator[Field]:
    for name in tool.names:
        value = _spelt(tool, name, arguments, redactor)
        if value is not None:
            choices = commands.choices_of(tool, name)
            yield Field(name=name, value=value, hint=_hint(tool, name), choices=choices)


def _spelt(tool: Tool, name: str, arguments: JsonObject, redactor: Redactor) -> str | None:
    """Return an argument as it would be typed; None where that would not give the same, or be masked."""
    if len(name) > _LONGEST_NAME:
        return None
    if name not in arguments:
        return ""
    value: Json = arguments[name]
    text = value if isinstance(value, str) else encode(value)
    try:
        same = commands.typed(tool, name, text) == value
    except SaysoError:
        return None
    shown = not hidden(text) and redactor.text(f"{name}={text}") == f"{name}={text}"
    return text if same and shown and redactor.text(text) == text else None


def _hint(tool: Tool, name: str) -> str:
    about = next(
        (f.description for n, f in tool.parameters.model_fields.items() if (f.alias or n) == name),
        None,
    )
    default = f"Left empty: {json_text(tool.defaults[name])}" if name in tool.defaults else ""
    expected = commands.expected(tool, name) if not commands.choices(tool, name) else ""
    said = [part.rstrip(".") for part in (about or "", expected, default) if part]
    return one_line(" ".join(f"{part[:1].upper()}{part[1:]}." for part in said), 150)
