"""C29, C92: which toolsets are on, and what is wrong with them, by file, line and field."""

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import field_validator

from adapters.skill_folder import shelf
from adapters.storage.memories import Memories
from adapters.storage.reminders import Reminders
from bot import faults, settings, wiring
from bot.absent import NoDatabase
from bot.toolsets import GROUP, Ports, composed, installed
from core.errors import Invalid, Unavailable
from core.redaction import MASK, Redactor
from core.toolbelt import Toolbelt
from core.tools import Toolbox
from core.toolset import Channel, Exposure, Maker, Toolset
from core.toolsets.skills import SkillsConfig
from tests.builders import WordArguments
from tests.fakes.clock import FrozenClock
from tests.scene import CALLER
from tests.unit.core.test_toolset import a_look, a_toolset

ROOT = Path(__file__).parents[3]
TEAM = """\
tenants:
  acme: {console: true}
people:
  alice: {console: [alice], groups: [eng]}
policy:
  rules:
    - {effect: allow, action: "*", groups: [everyone]}
sandbox: {backend: none}
toolsets:
"""
"""The first toolset stands on line 10."""
RUNBOOK = 'name: {name}\nsummary: s\nsteps: [{{run: ["true"]}}]\n'
SKILL = "---\nname: {name}\nsummary: About {name}\n---\nText.\n"


class WeatherConfig(Exposure):
    toolset: ClassVar[str] = "weather"
    serves: ClassVar[tuple[Channel, ...]] = (Channel.TOOL, Channel.COMMAND)

    city: str = "Oslo"


WEATHER = Maker(
    config=WeatherConfig,
    make=lambda config: Toolset(name="weather", tools=(a_look(f"sky-of-{config.city}"),)),
)
NOT_ONE = "a text"


def thrown() -> Maker:
    raise AssertionError("this is never called")


@dataclass(frozen=True)
class Offer:
    """Stands for an `EntryPoint`: what an installed package offers."""

    name: str
    value: str
    load: Callable[[], Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for folder in ("runbooks", "work", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "skills" / "deploy.md").write_text(SKILL.format(name="deploy"))
    return tmp_path / "sayso.yml"


def configure(file: Path, text: str, *runbooks: str) -> None:
    """Turn on what a text says, beside runbooks of these names."""
    file.write_text(TEAM + text)
    for name in runbooks:
        (file.parent / "runbooks" / f"{name}.yml").write_text(RUNBOOK.format(name=name))


def on(file: Path, text: str, *offers: Offer, secrets: tuple[str, ...] = ()) -> Toolbelt:
    """Return the toolsets that a text of the section turns on."""
    file.write_text(TEAM + text)
    reminders = Reminders(NoDatabase())
    ports = Ports(
        memories=Memories(NoDatabase()),
        reminders=reminders,
        clock=FrozenClock(),
        redactor=Redactor.of(secrets),
        shelf=lambda folder: shelf(file.parent / folder),
    )
    return composed(file, settings.read(file), ports.own(), lambda: offers)


def refusal(file: Path, text: str, *offers: Offer) -> str:
    with pytest.raises(Invalid) as caught:
        on(file, text, *offers)
    assert "\n" not in caught.value.shown
    return caught.value.shown


def test_c29_a_toolset_is_on_where_it_stands_in_the_file(file: Path) -> None:
    assert on(file, "  {}\n").owners == {}
    assert on(file, "  skills:\n").owners == {"skill": "skills"}
    both = on(file, "  reminders:\n  skills: {folder: skills}\n")
    assert set(both.owners.values()) == {"reminders", "skills"}


def test_c29_a_channel_that_is_not_served_names_file_line_toolset_and_channel(file: Path) -> None:
    said = refusal(file, "  reminders:\n    most: 3\n    expose: [tool, context]\n")
    assert said.startswith(
        "sayso.yml:12: toolsets.reminders.expose: the toolset reminders does not serve the channel "
        "context; it serves tool, prompt, command"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  reminders: {mst: 3}\n", "sayso.yml:10: toolsets.reminders.mst: Extra inputs"),
        ("  reminders: {most: yes}\n", "sayso.yml:10: toolsets.reminders.most: write a number"),
        ("  reminders: {soonest: 2d, furthest: 1d}\n", "sayso.yml:10: toolsets.reminders: `soonest` is later"),
        ("  skills: {expose: [radio]}\n", "sayso.yml:10: toolsets.skills.expose"),
        ("  skills: {folder: nothing}\n", "sayso.yml:10: toolsets.skills: The skills in nothing cannot be read"),
        ("  skills: on\n", "sayso.yml:10: toolsets.skills: "),
        ("  - skills\n", "sayso.yml:9: toolsets: "),
        ("  {}\n  remiders:\n", "sayso.yml:"),
        ("  remiders:\n", "sayso.yml:10: toolsets.remiders: Sayso has no toolset of this name, and no"),
    ],
)  # fmt: skip
def test_c29_what_is_wrong_is_one_line_with_file_line_and_field(
    file: Path, text: str, said: str
) -> None:
    assert refusal(file, text).startswith(said)


def test_c29_the_environment_turns_no_toolset_on(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_TOOLSETS__SKILLS__FOLDER", "elsewhere")
    assert refusal(file, "  {}\n").startswith("SAYSO_TOOLSETS__SKILLS__FOLDER: who may decide")


# Those of installed packages


def test_c92_an_installed_package_offers_a_toolset(file: Path) -> None:
    offer = Offer("weather", "acme:WEATHER", lambda: WEATHER)
    assert on(file, "  weather:\n", offer).owners == {"sky-of-Oslo": "weather"}
    assert on(file, "  weather: {city: Bergen}\n", offer).owners == {"sky-of-Bergen": "weather"}


def test_c92_every_extra_has_a_test_that_it_may_be_absent() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tests = "".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    for extra in project.get("optional-dependencies", {}):
        assert f"def test_c92_without_the_extra_{extra}" in tests


def test_c92_only_what_the_file_names_is_loaded(file: Path) -> None:
    offer = Offer("weather", "acme:WEATHER", thrown)
    assert on(file, "  skills:\n", offer).owners == {"skill": "skills"}


def test_c92_an_entry_point_is_found_where_packages_are_installed(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "site" / "acme-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[{GROUP}]\nweather = tests.unit.bot.test_toolsets:WEATHER\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    [offer] = installed()
    assert isinstance(offer, EntryPoint)
    file.write_text(TEAM + "  weather: {city: Bergen}\n")
    belt = wiring.toolbelt(file, settings.read(file))
    assert belt.owners == {"sky-of-Bergen": "weather"}


@pytest.mark.parametrize(
    "error",
    [ImportError("hunter2"), RuntimeError("hunter2"), SyntaxError(), SystemExit("hunter2")],
)
def test_c92_one_that_cannot_be_loaded_is_refused_in_one_sentence(
    file: Path, error: BaseException
) -> None:
    def load() -> Maker:
        raise error

    said = refusal(file, "  weather:\n", Offer("weather", "acme:WEATHER", load))
    assert said == (
        f"sayso.yml:10: toolsets.weather: The toolset weather cannot be loaded "
        f"({type(error).__name__}). Install what it needs, or remove it."
    )


@pytest.mark.parametrize("error", [KeyError("hunter2"), SystemExit("hunter2")])
def test_c92_one_that_cannot_be_made_is_refused_in_one_sentence(
    file: Path, error: BaseException
) -> None:
    def make(_: WeatherConfig) -> Toolset:
        raise error

    maker = Maker(config=WeatherConfig, make=make)
    said = refusal(file, "  weather:\n", Offer("weather", "acme:WEATHER", lambda: maker))
    assert said == (
        f"sayso.yml:10: toolsets.weather: The toolset weather cannot be made ({type(error).__name__}). "
        "Correct what it needs, or remove it."
    )


def test_c92_one_whose_settings_cannot_be_checked_is_refused_in_one_sentence(file: Path) -> None:
    class Config(WeatherConfig):
        @field_validator("city")
        @classmethod
        def _fails(cls, _: str) -> str:
            raise KeyError("hunter2")

    maker = Maker(config=Config, make=lambda _: a_toolset())
    said = refusal(file, "  weather: {city: x}\n", Offer("weather", "acme:W", lambda: maker))
    assert said == (
        "sayso.yml:10: toolsets.weather: The settings of the toolset weather could not be checked "
        "(KeyError). Correct them, or remove it."
    )


@pytest.mark.parametrize(
    ("made", "wrong"),
    [
        (None, "What the package makes as weather is no toolset. Remove it."),
        (object(), "What the package makes as weather is no toolset. Remove it."),
        (
            Toolset(name="weather", tools=None),  # type: ignore[arg-type]
            "The toolset weather cannot be made (TypeError). Correct what it needs, or remove it.",
        ),
    ],
)
def test_c92_one_that_makes_something_else_is_refused(
    file: Path,
    made: Any,  # noqa: ANN401 - that is the point
    wrong: str,
) -> None:
    maker = Maker(config=WeatherConfig, make=lambda _: made)
    said = refusal(file, "  weather:\n", Offer("weather", "acme:WEATHER", lambda: maker))
    assert said == f"sayso.yml:10: toolsets.weather: {wrong}"


def test_c92_what_is_no_toolset_is_refused(file: Path) -> None:
    said = refusal(file, "  weather:\n", Offer("weather", "acme:NOT_ONE", lambda: NOT_ONE))
    assert "What the package offers as weather is no toolset" in said


def test_c29_two_packages_with_one_name_are_refused_with_both_owners(file: Path) -> None:
    offers = [Offer("weather", f"{name}:WEATHER", lambda: WEATHER) for name in ("acme", "globex")]
    said = refusal(file, "  weather:\n", *offers)
    assert "toolsets.weather: Two packages offer" in said
    assert "acme:WEATHER and globex:WEATHER" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  weather: {town: x}\n", "sayso.yml:10: toolsets.weather.town: Extra inputs"),
        ("  weather: {expose: [prompt]}\n", "sayso.yml:10: toolsets.weather.expose: the toolset weather does not serve the channel prompt; it serves tool, command"),
        ("  weather: windy\n", "sayso.yml:10: toolsets.weather: "),
    ],
)  # fmt: skip
def test_c92_the_configuration_of_a_package_is_checked_like_ours(
    file: Path, text: str, said: str
) -> None:
    offer = Offer("weather", "acme:WEATHER", lambda: WEATHER)
    assert refusal(file, text, offer).startswith(said)


def test_c29_a_name_of_ours_in_a_package_is_refused_with_both_owners(file: Path) -> None:
    taken = Maker(config=WeatherConfig, make=lambda _: a_toolset("weather", "skill"))
    said = refusal(file, "  skills:\n  weather:\n", Offer("weather", "acme:W", lambda: taken))
    assert said.startswith(
        "sayso.yml:11: toolsets.weather: The toolsets skills and weather both have a tool or"
    )


def test_c29_what_a_package_cannot_do_without_is_named(file: Path) -> None:
    needs = Maker(
        config=WeatherConfig, make=lambda _: a_toolset("weather", "sky", requires=("moon",))
    )
    said = refusal(file, "  weather:\n", Offer("weather", "acme:W", lambda: needs))
    assert said.startswith("sayso.yml:10: toolsets.weather: The toolset weather needs the toolset")


def test_c29_a_command_that_nobody_can_type_is_told_with_its_section(file: Path) -> None:
    class Odd(WordArguments):
        more: list[str]

    command = replace(a_look("x"), parameters=Odd)
    odd = Maker(config=WeatherConfig, make=lambda _: Toolset(name="weather", commands=(command,)))
    said = refusal(file, "  weather:\n", Offer("weather", "acme:W", lambda: odd))
    assert said.startswith("sayso.yml:9: toolsets: x: `more` is of a type that nobody can type.")


# Every field changes something


def tools(belt: Toolbelt, channel: Channel) -> list[str]:
    return [tool.name for tool in belt.beside(Toolbox(()), channel)]


def test_c29_every_field_of_a_configuration_changes_something(file: Path) -> None:
    other = file.parent / "other"
    other.mkdir()
    (other / "backup.md").write_text(SKILL.format(name="backup"))
    (file.parent / "skills" / "bad.md").write_text("no front matter")
    long = file.parent / "skills" / "deploy.md"
    long.write_text(SKILL.format(name="deploy") + "x" * 1000)

    def behaviour(text: str) -> object:
        try:
            belt = on(file, text)
        except Invalid as error:
            return error.shown
        offered = belt.beside(Toolbox(()), Channel.TOOL)
        return (
            tools(belt, Channel.COMMAND),
            tools(belt, Channel.TOOL),
            belt.parts(offered),
            [tool.schema() for tool in offered],
        )

    changes = {
        "expose": "[command]",
        "folder": "other",
        "strict": "true",
    }
    plain = behaviour("  skills:\n")
    for name, value in changes.items():
        assert behaviour(f"  skills: {{{name}: {value}}}\n") != plain, name
    cuts = "tests/unit/core/test_skills.py"
    assert set(SkillsConfig.model_fields) == {*changes, "most_bytes"}, f"`most_bytes`: {cuts}"


async def test_t12_a_secret_of_this_process_is_masked_in_a_skill(file: Path) -> None:
    (file.parent / "skills" / "door.md").write_text(SKILL.format(name="door") + "Say opensesame.\n")
    belt = on(file, "  skills:\n", secrets=("opensesame",))
    tool = belt.beside(Toolbox(()), Channel.TOOL)["skill"]
    assert tool.look
    text = await tool.look(tool.check({"name": "door"}, {}).arguments, CALLER)
    assert text.endswith(f"> Say {MASK}.")


# At the start, and for `sayso check`


async def test_c29_a_runbook_with_the_name_of_a_tool_stops_the_start_with_both_names(
    file: Path,
) -> None:
    configure(file, "  skills:\n", "skill")
    with pytest.raises(Invalid) as caught:
        async with wiring.opened(file):
            pass
    said = (
        "runbooks/skill.yml:1: name: the toolset skills has a tool or command skill, so the runbook "
        "skill cannot. Rename it."
    )
    assert caught.value.shown == said
    assert said in [*faults.problems(file, settings.read(file))]


async def test_c29_one_that_got_the_name_later_is_left_out(file: Path) -> None:
    configure(file, "  skills:\n")
    async with wiring.opened(file) as app:
        configure(file, "  skills:\n", "skill", "other")
        assert [tool.name for tool in app.toolbox()] == ["other"]


async def test_c29_without_toolsets_a_runbook_may_have_any_name(file: Path) -> None:
    configure(file, "  {}\n", "skill")
    async with wiring.opened(file) as app:
        assert [tool.name for tool in app.toolbox()] == ["skill"]


async def test_runbooks_that_cannot_be_read_at_the_start_stop_only_who_needs_them(
    file: Path,
) -> None:
    configure(file, "  skills:\n")
    (file.parent / "runbooks").rmdir()
    async with wiring.opened(file) as app:
        with pytest.raises(Unavailable):
            app.catalogue()


def test_c29_check_tells_what_is_wrong_with_toolsets_and_skills(file: Path) -> None:
    (file.parent / "skills" / "bad.md").write_text("---\nname: bad\n---\n")
    file.write_text(TEAM + "  skills:\n")
    problems = [*faults.problems(file, settings.read(file))]
    assert problems == ["skills/bad.md:2: summary: Field required. Add it."]
    file.write_text(TEAM + "  skills:\n  remiders:\n")
    [problem] = faults.problems(file, settings.read(file))
    assert problem.startswith("sayso.yml:11: toolsets.remiders: Sayso has no toolset")


async def test_what_was_not_opened_keeps_nothing() -> None:
    database = NoDatabase()
    assert await database.changes() == 0
    with pytest.raises(Unavailable, match="nothing can be kept"):
        await Reminders(database).pending("acme", "alice", "c_1")
