"""Drawn messages as views of Discord's client."""

import asyncio
from collections.abc import Iterator
from typing import Any

import discord
import pytest

from adapters.discord.buttons import Button
from adapters.discord.drawn import Drawn
from adapters.discord.messages import draw
from adapters.discord.pressed import TEMPLATE
from adapters.discord.views import layout, rows, view
from core.canonical import JsonObject
from core.deliveries import Message, Progress, Text
from tests.discord_posts import asking
from tests.fakes.clock import START
from tests.standins.discord import GUILD

TURN = "t_" + "a" * 32
MESSAGES: list[Message] = [
    asking("Waits.", "500000000000000002"),
    Progress(run="r-1", title="Restart", status="Step 1", began_at=START, tail=("ok",)),
    Text(text="Stopped.", is_note=True),
    Text(text="Run r-1 done.\nAll of it.", is_report=True),
    Text(text="Well?", suggestions=tuple(f"Number {n}" for n in range(7)), turn=TURN),
]
EVERYTHING: tuple[JsonObject, ...] = (
    {
        "type": 17, "accent_color": 255, "spoiler": False,
        "components": [
            {"type": 10, "content": "Title"},
            {"type": 14, "divider": True, "spacing": 2},
            {"type": 13, "file": {"url": "attachment://plan.txt"}, "spoiler": False},
            {"type": 1, "components": [
                {"type": 2, "style": 3, "label": "Approve", "custom_id": "sayso:approve:r", "disabled": True},
                {"type": 2, "style": 5, "label": "Read", "url": "https://example.com/", "disabled": False},
            ]},
        ],
    },
)  # fmt: skip


def parts(components: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Yield components without what Discord takes for granted."""
    for component in components:
        usual = {"disabled", "spoiler", "components"}
        kept = {k: v for k, v in component.items() if v is not None and k not in usual}
        yield kept | {"components": list(parts(component.get("components", ())))}


@pytest.mark.parametrize("message", MESSAGES)
async def test_a_view_says_what_was_drawn(message: Message) -> None:
    for drawn in draw(message, guild=GUILD):
        made = view(drawn)
        assert made is not None
        expected = drawn.components or drawn.below
        assert list(parts(made.to_components())) == list(parts(expected))


async def test_every_component_that_may_be_drawn_comes_out_as_it_is() -> None:
    made: Any = layout(EVERYTHING)
    assert made.to_components() == list(EVERYTHING)


async def test_words_alone_need_no_view() -> None:
    assert view(Drawn(content="Done.")) is None


async def test_the_first_component_carries_the_mark() -> None:
    made = view(Drawn(components=EVERYTHING), mark=77)
    assert made is not None
    assert [component["id"] for component in made.to_components()] == [77]


@pytest.mark.parametrize("message", MESSAGES)
async def test_the_client_would_keep_nothing_of_a_view(message: Message) -> None:
    for drawn in draw(message, guild=GUILD):
        made = view(drawn)
        assert made is not None
        assert made.is_finished()
        assert made.timeout is None
        pressed = [item for item in made.walk_children() if item.is_dispatchable()]
        assert all(isinstance(item, Button) for item in pressed if not _wraps(item))


def _wraps(item: discord.ui.Item[Any]) -> bool:
    return isinstance(item, discord.ui.ActionRow | discord.ui.Container)


def test_a_view_is_made_where_a_loop_runs() -> None:
    with pytest.raises(RuntimeError, match="loop"):
        layout(EVERYTHING)


@pytest.mark.parametrize("custom_id", ["sayso:", "other", "sayso:approve:r:1234", "sayso:a:b c"])
async def test_no_button_carries_anything_but_an_id_of_ours(custom_id: str) -> None:
    button: JsonObject = {"type": 2, "style": 2, "label": "x", "custom_id": custom_id}
    with pytest.raises(ValueError, match="ours"):
        rows(({"type": 1, "components": [button]},))


async def test_what_is_not_drawn_is_not_sent() -> None:
    with pytest.raises(ValueError, match="type 12"):
        layout(({"type": 12, "items": []},))


@pytest.mark.parametrize(
    ("custom_id", "found"),
    [
        ("sayso:approve:r_1", ("approve", "r_1", None)),
        ("sayso:did_not:0123456789abcdef", ("did_not", "0123456789abcdef", None)),
        (f"sayso:suggest:{TURN}:12", ("suggest", TURN, "12")),
    ],
)
def test_one_template_reads_every_button(custom_id: str, found: tuple[str, ...]) -> None:
    matched = TEMPLATE.fullmatch(custom_id)
    assert matched is not None
    assert (matched["verb"], matched["id"], matched["number"]) == found
    assert len(custom_id) <= 100


async def test_a_press_reaches_the_client_and_nothing_else() -> None:
    got = list[object]()

    class Client:
        async def pressed(self, interaction: object) -> None:
            got.append(interaction)

    class Interaction:
        def __init__(self, client: object) -> None:
            self.client = client

    button = Button(discord.ui.Button(custom_id="sayso:approve:r"))
    here: Any = Interaction(Client())
    elsewhere: Any = Interaction(object())
    await asyncio.gather(button.callback(here), button.callback(elsewhere))

    assert got == [here]
    match = TEMPLATE.fullmatch("sayso:approve:r")
    assert match is not None
    made = await Button.from_custom_id(here, discord.ui.Button(custom_id="sayso:approve:r"), match)
    assert made.custom_id == "sayso:approve:r"
    with pytest.raises(TypeError):
        await Button.from_custom_id(here, discord.ui.TextDisplay("x"), match)
