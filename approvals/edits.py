"""What somebody changes in a plan: read as the tool's schema says, and told on its card. Pure."""

from collections import Counter
from collections.abc import Iterator

from approvals.models import Request, State
from core import commands
from core.canonical import Json, JsonObject
from core.cards import Button, Fact
from core.display import json_text, sound
from core.errors import Incorrect, Refused
from core.events import Edit
from core.plans import Call, Plan
from core.tools import Checked, Tool, Toolbox

LONGEST = 16_000
"""Characters in all values of one edit."""
NOTHING = "Nothing changed: these are the values that it has already. Its card stands as it is."
_NO_VALUES = "Say what to change, as in: edit ID NAME=VALUE"
_STANDING = "A standing grant is not edited: deny it, and propose another."
_TOO_LONG = f"Nothing was edited: {LONGEST:,} characters of values are the most. Say it shorter."


def edited(plan: Plan, toolbox: Toolbox, edit: Edit) -> tuple[Checked, ...]:
    """Return all calls of a plan with the new values in one of them, each checked as a model's is.

    Raises `Incorrect` with argument, expectation and next step, also where nothing changed.
    """
    if sum(len(text or "") for _, text in edit.values) > LONGEST:
        raise Incorrect(_TOO_LONG)
    if plan.standing:
        raise Refused(_STANDING)
    index = _which(plan, edit.call)
    calls = [toolbox[call.tool].check(call.arguments, {}) for call in plan.calls]
    was, tool = calls[index], calls[index].tool
    calls[index] = tool.check(_with(tool, was.arguments, edit.values), {})
    if calls[index].arguments == plan.calls[index].arguments:
        raise Incorrect(NOTHING)
    return tuple(calls)


def _which(plan: Plan, number: int | None) -> int:
    """Return the place of the call that is meant; only where there is one it needs no number."""
    if number is None and len(plan.calls) == 1:
        return 0
    if number is not None and 1 <= number <= len(plan.calls):
        return number - 1
    calls = ", ".join(f"{at} {call.tool}" for at, call in enumerate(plan.calls, 1))
    raise Incorrect(f"Nothing was edited: say which call by its number. This plan has: {calls}")


def _with(tool: Tool, before: JsonObject, values: tuple[tuple[str, str | None], ...]) -> JsonObject:
    if not values:
        raise Incorrect(_NO_VALUES)
    twice = next((n for n, times in Counter(n for n, _ in values).items() if times > 1), None)
    now: dict[str, Json] = dict(before)
    for name, text in values:
        if name not in tool.names:
            takes = ", ".join(tool.names) or "none"
            raise Incorrect(f"{tool.name}: there is no such argument. Its arguments: {takes}")
        if name == twice:
            raise Incorrect(f"{tool.name}: `{name}` stands there twice. Write it once.")
        if text is None and (name in tool.defaults or commands.kind_of(tool, name) is not str):
            now.pop(name, None)
        else:
            now[name] = commands.typed(tool, name, sound(text or ""))
    return now


def facts(editors: tuple[str, ...], was: Plan | None, plan: Plan) -> Iterator[Fact]:
    """Yield who has edited a plan, and what that changed where it was just done."""
    if not editors:
        return
    source = f", from {was.id}" if was else ""
    yield Fact(label="Edited by", text=f"{', '.join(editors)}{source}")
    if was:
        changed = "; ".join(
            text for pair in zip(was.calls, plan.calls, strict=True) for text in _changes(*pair)
        )
        yield Fact(label="The edit changed", text=changed)


def _changes(was: Call, now: Call) -> Iterator[str]:
    if was.definition != now.definition:
        yield f"the runbook {now.tool}"
    for name in dict.fromkeys((*was.arguments, *now.arguments)):
        before, after = _shown(was.arguments, name), _shown(now.arguments, name)
        if before != after:
            yield f"{now.tool} {name} from {before} to {after}"


def _shown(arguments: JsonObject, name: str) -> str:
    return json_text(arguments[name]) if name in arguments else "nothing"


def with_button(request: Request) -> tuple[Button, ...]:
    """Return the buttons of a live request: where there is something to edit, also to do that."""
    first, *others = request.card.buttons
    can = (
        request.state is State.OPEN
        and request.is_intact
        and request.plan.standing is None
        and any(call.arguments for call in request.plan.calls)
    )
    edit = [Button(label="Edit", verb="edit", request=request.id)] if can else []
    return (first, *edit, *others)
