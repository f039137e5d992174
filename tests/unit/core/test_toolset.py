"""C29: toolsets on their channels, and whose name is whose."""

from typing import ClassVar

import pytest
from pydantic import ValidationError

from core.canonical import JsonObject
from core.errors import Invalid
from core.toolbelt import Toolbelt
from core.tools import Caller, Effect, Tool, Toolbox
from core.toolset import Channel, Exposure, Instruction, Maker, Toolset, ordered
from tests.builders import WordArguments, a_tool


class Weather(Exposure):
    toolset: ClassVar[str] = "weather"
    serves: ClassVar[tuple[Channel, ...]] = tuple(Channel)


class Tides(Exposure):
    toolset: ClassVar[str] = "tides"
    serves: ClassVar[tuple[Channel, ...]] = (Channel.TOOL, Channel.PROMPT)


async def look(arguments: JsonObject, caller: Caller) -> str:
    del arguments, caller
    return "fine"


async def state(caller: Caller) -> str:
    del caller
    return "sunny"


def a_look(name: str) -> Tool:
    return Tool(
        name=name,
        summary="Look at it",
        effect=Effect.READ,
        definition="0" * 64,
        parameters=WordArguments,
        defaults={},
        look=look,
    )


def a_toolset(name: str = "weather", *tools: str, requires: tuple[str, ...] = ()) -> Toolset:
    found = tuple(map(a_look, tools))
    return Toolset(
        name=name,
        tools=found,
        commands=found,
        instructions=(
            Instruction(text=f"This is {name}."),
            *(Instruction(about=t, text=f"Use {t}.") for t in tools),
        ),
        state=state,
        requires=requires,
    )


def refusal(*toolsets: Toolset) -> tuple[str, object]:
    with pytest.raises(Invalid) as caught:
        Toolbelt.of(toolsets)
    return caught.value.shown, caught.value.detail["toolset"]


# Channels


def test_c29_a_channel_that_is_not_served_is_refused_with_both_names() -> None:
    with pytest.raises(
        ValidationError,
        match="the toolset tides does not serve the channel context; it serves tool, prompt",
    ):
        Tides.model_validate({"expose": ["tool", "context"]})


def test_c29_an_unknown_channel_is_refused() -> None:
    with pytest.raises(ValidationError, match="expose"):
        Tides.model_validate({"expose": ["radio"]})


def test_c29_a_configuration_is_frozen_and_knows_every_name() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Tides().expose = ()  # type: ignore[misc]  # that is the point
    with pytest.raises(ValidationError, match="extra"):
        Tides.model_validate({"expsoe": []})


@pytest.mark.parametrize("channel", Channel)
def test_c29_only_what_is_exposed_is_offered(channel: Channel) -> None:
    one = a_toolset("weather", "sky").exposed(Weather(expose=(channel,)))
    offered = {
        Channel.TOOL: bool(one.tools),
        Channel.PROMPT: bool(one.instructions),
        Channel.CONTEXT: bool(one.state),
        Channel.COMMAND: bool(one.commands),
    }
    assert offered == {each: each is channel for each in Channel}
    assert not one.instructions or channel is Channel.PROMPT


def test_c21_nothing_named_is_everything_and_an_empty_list_is_nothing() -> None:
    one = a_toolset("weather", "sky")
    assert one.exposed(Weather()) == one
    assert one.exposed(Weather(expose=())) == Toolset(name="weather")


def test_c29_a_maker_gives_what_is_exposed() -> None:
    maker = Maker(config=Weather, make=lambda _: a_toolset("weather", "sky"))
    assert maker.made("weather", Weather(expose=(Channel.TOOL,))).commands == ()


def test_c29_a_toolset_that_calls_itself_something_else_is_refused() -> None:
    maker = Maker(config=Weather, make=lambda _: a_toolset("skills"))
    with pytest.raises(Invalid, match="The toolset weather calls itself something else"):
        maker.made("weather", Weather())


@pytest.mark.parametrize("tool", [a_tool("wipe"), a_tool("peek", effect=Effect.READ)])
def test_only_a_runbook_may_change_or_run_something(tool: Tool) -> None:
    for made in (Toolset(name="weather", tools=(tool,)), Toolset(name="weather", commands=(tool,))):
        maker = Maker(config=Weather, make=lambda _, made=made: made)  # type: ignore[misc]
        with pytest.raises(Invalid, match="Only a runbook may change something"):
            maker.made("weather", Weather())


# Names


@pytest.mark.parametrize("channel", ["tools", "commands"])
def test_c29_a_name_that_two_toolsets_have_is_refused_with_both_owners(channel: str) -> None:
    other = Toolset(name="tides", **{channel: (a_look("sky"),)})  # type: ignore[arg-type]  # tools
    shown, where = refusal(a_toolset("weather", "sky"), other)
    assert shown.startswith("The toolsets weather and tides both have a tool or command sky.")
    assert where == "tides"


@pytest.mark.parametrize("word", ["stop", "help", "ask_user"])
def test_c29_a_word_of_sayso_is_refused_with_its_owner(word: str) -> None:
    shown, where = refusal(a_toolset("weather", word))
    assert shown.startswith(f"The toolset weather has a tool or command {word}, which is a word of")
    assert where == "weather"


def test_c29_a_toolset_with_two_tools_of_one_name_is_refused() -> None:
    shown, _ = refusal(a_toolset("weather", "sky", "sky"))
    assert shown == "The toolset weather has two tools of one name. Turn it off."


def test_c29_a_tool_may_be_a_command_too() -> None:
    assert Toolbelt.of([a_toolset("weather", "sky")]).owners == {"sky": "weather"}


def test_c29_a_command_that_nobody_can_type_is_refused() -> None:
    class Odd(WordArguments):
        more: list[str]

    odd = Tool(
        name="odd", summary="", effect=Effect.READ, definition="", parameters=Odd, defaults={},
        look=look,
    )  # fmt: skip
    with pytest.raises(Invalid, match="odd: `more` is of a type that nobody can type"):
        Toolbelt.of([Toolset(name="weather", commands=(odd,))])


# Order


def test_c29_what_another_needs_comes_before_it() -> None:
    tides = a_toolset("tides", requires=("weather", "moon"))
    found = ordered([tides, a_toolset("moon", requires=("weather",)), a_toolset("weather")])
    assert [one.name for one in found] == ["weather", "moon", "tides"]


def test_c29_what_is_missing_is_named() -> None:
    shown, where = refusal(a_toolset("tides", requires=("moon",)))
    assert shown.startswith("The toolset tides needs the toolset moon. Add `moon` to `toolsets`")
    assert where == "tides"


def test_c29_a_circle_is_named_without_those_that_only_lead_to_it() -> None:
    circle = [a_toolset("moon", requires=("tides",)), a_toolset("tides", requires=("moon",))]
    shown, where = refusal(a_toolset("beach", requires=("tides",)), *circle, a_toolset("weather"))
    assert shown.startswith("These toolsets need one another in a circle: tides, moon.")
    assert where == "tides"


# What is offered


def test_c29_tools_and_commands_stand_beside_the_runbooks() -> None:
    belt = Toolbelt.of(
        [
            Toolset(name="weather", tools=(a_look("sky"),)),
            Toolset(name="tides", commands=(a_look("sea"),)),
        ]
    )
    runbooks = Toolbox.of([a_tool("append-word")])
    names = {channel: [tool.name for tool in belt.beside(runbooks, channel)] for channel in Channel}
    assert names == {
        Channel.TOOL: ["append-word", "sky"],
        Channel.COMMAND: ["append-word", "sea"],
        Channel.PROMPT: ["append-word"],
        Channel.CONTEXT: ["append-word"],
    }


def test_c29_a_runbook_that_got_a_taken_name_later_is_left_out() -> None:
    belt = Toolbelt.of([Toolset(name="weather", commands=(a_look("sky"),))])
    runbooks = Toolbox.of([a_tool("append-word"), a_tool("sky")])
    assert [tool.name for tool in belt.beside(runbooks, Channel.TOOL)] == ["append-word"]


def said(belt: Toolbelt, *tools: str) -> list[tuple[str, str]]:
    return [*belt.parts(Toolbox.of(map(a_look, tools)))]


def test_c29_instructions_are_about_the_tools_that_somebody_has() -> None:
    belt = Toolbelt.of([a_toolset("tides", "sea", "moon"), a_toolset("weather", "sky")])
    assert said(belt, "moon") == [("tides", "This is tides.\nUse moon."), ("weather", "")]
    assert said(belt, "sea", "moon", "sky") == [
        ("tides", "This is tides.\nUse sea.\nUse moon."),
        ("weather", "This is weather.\nUse sky."),
    ]
    assert said(belt) == [("tides", ""), ("weather", "")]


def test_c29_a_toolset_without_tools_speaks_to_everybody() -> None:
    belt = Toolbelt.of([Toolset(name="weather", instructions=(Instruction(text="It is sunny."),))])
    assert said(belt) == [("weather", "It is sunny.")]


def test_c29_states_go_by_the_names_of_their_toolsets() -> None:
    belt = Toolbelt.of([a_toolset("weather", "sky"), Toolset(name="tides")])
    assert belt.states(Toolbox.of([a_look("sky")])) == (("weather", state),)
    assert belt.states(Toolbox(())) == ()
    alone = Toolbelt.of([Toolset(name="weather", state=state)])
    assert alone.states(Toolbox(())) == (("weather", state),)


@pytest.mark.parametrize("name", ["task", "ask_user", "absorb"])
def test_c29_a_toolset_named_like_a_part_of_each_turn_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match="is a name of Sayso's own"):
        Toolbelt.of([Toolset(name=name, state=state)])


def test_faults_of_all_toolsets_are_told() -> None:
    made = [Toolset(name="a", faults=("one",)), Toolset(name="b", faults=("two", "three"))]
    assert Toolbelt.of(made).faults == ("one", "two", "three")
