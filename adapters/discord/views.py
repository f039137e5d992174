"""A drawn message as views of the SDK, which never keeps one of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import discord
from discord import ui

from adapters.discord.buttons import Button
from adapters.discord.drawn import Drawn
from adapters.discord.pressed import TEMPLATE
from core.canonical import JsonObject

View: TypeAlias = ui.View | ui.LayoutView
V = TypeVar("V", ui.View, ui.LayoutView)
Item: TypeAlias = ui.Item[Any]
Part: TypeAlias = Mapping[str, Any]
"""A component as Discord's REST interface takes it."""

_ROW, _BUTTON, _TEXT, _FILE, _SEPARATOR, _CONTAINER = 1, 2, 10, 13, 14, 17


def view(drawn: Drawn, *, mark: int | None = None) -> View | None:
    """Return what is below the words of a message, or all of it; None where that is nothing.

    `mark` becomes the id of the first component, by which the message can be told from any other.
    """
    if drawn.components:
        return layout(drawn.components, mark=mark)
    return rows(drawn.below) if drawn.below else None


def layout(components: Sequence[JsonObject], *, mark: int | None = None) -> ui.LayoutView:
    """Return components of version 2 as a view."""
    made = ui.LayoutView(timeout=None)
    for item in _items(components):
        made.add_item(item)
    if mark is not None:
        made.children[0].id = mark
    return _stopped(made)


def rows(below: Sequence[JsonObject]) -> ui.View:
    """Return rows of buttons as a view."""
    made = ui.View(timeout=None)
    for number, row in enumerate(below):
        for button in _parts(row):
            item = _button(button)
            item.row = number
            made.add_item(item)
    return _stopped(made)


def _stopped(made: V) -> V:
    """Have the SDK keep nothing of a view.

    It keeps those that still listen, for good; and where one of those ends that holds anything else
    that can be pressed, it forgets the class of all our buttons, under every message.
    """
    made.stop()
    if not made.is_finished():
        raise RuntimeError("A view is made where a loop runs: elsewhere it cannot be stopped.")
    return made


def _items(components: Iterable[Part]) -> list[Item]:
    return [_item(component) for component in components]


def _item(part: Part) -> Item:
    make = _MAKES.get(part["type"])
    if make is None:
        raise ValueError(f"no component of type {part['type']} is drawn")
    return make(part)


def _parts(part: Part) -> Sequence[Part]:
    parts: Sequence[Part] = part["components"]
    return parts


def _row(part: Part) -> Item:
    return ui.ActionRow(*_items(_parts(part)), id=part.get("id"))


def _button(part: Part) -> Item:
    made: ui.Button[Any] = ui.Button(
        style=discord.ButtonStyle(part["style"]),
        label=part.get("label"),
        disabled=bool(part.get("disabled")),
        custom_id=part.get("custom_id"),
        url=part.get("url"),
        id=part.get("id"),
    )
    if made.url is not None:
        return made
    if not TEMPLATE.fullmatch(made.custom_id or ""):
        raise ValueError("a button of ours carries an id of ours")
    return Button(made)


def _text(part: Part) -> Item:
    return ui.TextDisplay(part["content"], id=part.get("id"))


def _file(part: Part) -> Item:
    return ui.File(part["file"]["url"], spoiler=bool(part.get("spoiler")), id=part.get("id"))


def _separator(part: Part) -> Item:
    spacing = discord.SeparatorSpacing(part.get("spacing", 1))
    return ui.Separator(visible=part.get("divider", True), spacing=spacing, id=part.get("id"))


def _container(part: Part) -> Item:
    return ui.Container(
        *_items(_parts(part)),
        accent_colour=part.get("accent_color"),
        spoiler=bool(part.get("spoiler")),
        id=part.get("id"),
    )


_MAKES: Mapping[int, Callable[[Part], Item]] = {
    _ROW: _row,
    _BUTTON: _button,
    _TEXT: _text,
    _FILE: _file,
    _SEPARATOR: _separator,
    _CONTAINER: _container,
}
