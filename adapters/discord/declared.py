"""The slash commands, declared once: what Discord is told of is what is read. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from core.canonical import Json, JsonObject

_COMMAND = 1
_TEXT = 3
_IN_A_SERVER, _WITH_SAYSO = 0, 1
_INTO_A_SERVER = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """The one field of a command. It is a text."""

    name: str
    description: str
    is_required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A command."""

    name: str
    description: str
    option: Option


COMMANDS: Final = (
    Declared(
        name="ask",
        description="Ask Sayso for something",
        option=Option(name="text", description="What you need, in words", is_required=True),
    ),
    Declared(
        name="stop",
        description="Stop what runs",
        option=Option(
            name="what",
            description="Nothing for what is here, `all`, or one conversation",
            is_required=False,
        ),
    ),
    Declared(
        name="sayso",
        description="What waits, what ran, what can be done",
        option=Option(
            name="words",
            description="help, requests, runs, approve ID, deny ID WHY, pause WHY, resume, lift, stop, or what you need",
            is_required=True,
        ),
    ),
)


def payload() -> tuple[JsonObject, ...]:
    """Return what Discord takes to have these commands, and no others, in every server."""
    return tuple(_command(one) for one in COMMANDS)


def differs(declared: Sequence[JsonObject], registered: object) -> bool:
    """Whether what Discord answers when asked for its commands is not what is declared.

    What Discord adds, and what it leaves out because it goes without saying, makes no difference;
    nor does their order.
    """
    return _by_name(declared) != _by_name(registered)


def _command(one: Declared) -> JsonObject:
    return {
        "type": _COMMAND,
        "name": one.name,
        "description": one.description,
        "options": [
            {
                "type": _TEXT,
                "name": one.option.name,
                "description": one.option.description,
                "required": one.option.is_required,
            }
        ],
        "contexts": [_IN_A_SERVER, _WITH_SAYSO],
        "integration_types": [_INTO_A_SERVER],
        "default_member_permissions": None,
        "nsfw": False,
    }


_UNSAID: Mapping[str, Json] = {
    "type": _COMMAND,
    "name": "",
    "description": "",
    "options": [],
    "contexts": None,
    "integration_types": [_INTO_A_SERVER],
    "default_member_permissions": None,
    "nsfw": False,
}
_UNSAID_OPTION: Mapping[str, Json] = {
    "type": _TEXT,
    "name": "",
    "description": "",
    "required": False,
}


def _by_name(commands: object) -> list[Mapping[str, object]]:
    every = [_said(one, _UNSAID) for one in _items(commands)]
    return sorted(every, key=lambda one: str(one["name"]))


def _said(one: object, unsaid: Mapping[str, Json]) -> Mapping[str, object]:
    """Return what a command or an option says, with what goes without saying."""
    given = cast("Mapping[str, object]", one) if isinstance(one, Mapping) else {}
    said = {key: _or(given.get(key), usual) for key, usual in unsaid.items()}
    if "options" in said:
        said["options"] = [_said(option, _UNSAID_OPTION) for option in _items(said["options"])]
    return said


def _or(value: object, usual: Json) -> object:
    if value is None:
        return usual
    return sorted(value, key=str) if isinstance(value, list) and _are_numbers(value) else value


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(value, int) for value in values)


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
