"""T12, C80: skills as files, and as a menu whose texts come when they are asked for."""

import pytest

from core.errors import Incorrect, Invalid
from core.redaction import MASK, Redactor
from core.skills import Shelf, Skill, skill
from core.toolbelt import Toolbelt
from core.tools import Toolbox
from core.toolset import Channel
from core.toolsets.skills import SkillsConfig, toolset
from tests.scene import CALLER

SOUND = "---\nname: deploy\nsummary: How we deploy\n---\n# Deploy\n\nFirst look.\n"
NO_SECRETS = Redactor.of([])
DEPLOY = Skill(name="deploy", summary="How we deploy", body="# Deploy\n\nFirst look.")


def test_t12_a_file_is_a_name_a_summary_and_a_text() -> None:
    assert skill(SOUND, "skills/deploy.md", "deploy") == DEPLOY
    assert skill(SOUND.replace("\n", "\r\n"), "f", "deploy").name == "deploy"
    assert skill(f"\ufeff{SOUND}", "f", "deploy") == DEPLOY


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Deploy", "f.md:1: it has to begin with its name and summary between two lines"),
        ("---\nname: deploy\n---\nx", "f.md:2: summary: Field required. Add it."),
        (SOUND.replace("summary", "sumary"), "f.md:3: sumary: Extra inputs are not permitted."),
        (SOUND.replace("---\n#", "more: 1\n---\n#"), "f.md:4: more: Extra inputs"),
        (SOUND.replace(": deploy", ": ../deploy"), "f.md:2: name: use lowercase letters"),
        (SOUND.replace(": deploy", ": other"), "f.md:2: name: it has to be that of its file, deploy"),
        (SOUND.replace("How we", "How\u202e we"), "f.md:3: summary: it has to be one line of visible"),
        (SOUND.replace("How we deploy", "' '"), "f.md:3: summary: it has to be one line of visible"),
        (SOUND.replace("How we deploy", "x" * 201), "f.md:3: summary: "),
        (SOUND.replace("How we deploy", "!!python/name:os.system"), "f.md:3: not valid YAML"),
        (SOUND[: SOUND.index("#")], "f.md:1: it says nothing after its summary"),
        ("---\nname: [\n---\nx", "f.md:"),
        ("---\n- deploy\n---\nx", "f.md:2: expected a mapping, which is names with values."),
        ("---\njust words\n---\nx", "f.md:2: expected a mapping, which is names with values."),
        ("---\n\n---\nx", "f.md:1: expected a mapping, which is names with values."),
        ("---\n---\nx", "f.md:1: it has to begin with its name and summary"),
        ("---\nname: deploy\nsummary: s\n", "f.md:1: it has to begin with its name and summary"),
        ("", "f.md:1: it has to begin with its name and summary"),
    ],
)  # fmt: skip
def test_t12_a_bad_file_is_one_line_with_file_line_and_field(text: str, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        skill(text, "f.md", "deploy")
    assert caught.value.shown.startswith(said)
    assert "\n" not in caught.value.shown


def belt(
    *skills: Skill, config: SkillsConfig | None = None, redactor: Redactor = NO_SECRETS
) -> Toolbelt:
    config = config or SkillsConfig()
    return Toolbelt.of([toolset(config, Shelf(skills=skills), redactor).exposed(config)])


def menu(belt: Toolbelt) -> str:
    ((_, text),) = belt.parts(belt.beside(Toolbox(()), Channel.TOOL))
    return text


async def body(belt: Toolbelt, name: str = "deploy") -> str:
    tool = belt.beside(Toolbox(()), Channel.TOOL)["skill"]
    assert tool.look
    return await tool.look(tool.check({"name": name}, {}).arguments, CALLER)


def test_t12_the_menu_grows_with_the_number_of_skills_and_not_with_their_texts() -> None:
    other = Skill(name="backup", summary="How we back up", body="x" * 10_000)
    one, two = menu(belt(DEPLOY)), menu(belt(DEPLOY, other))
    assert one.endswith("There are:\n- deploy: How we deploy")
    assert two.endswith("There are:\n- backup: How we back up\n- deploy: How we deploy")
    assert len(two) - len(one) < 40
    assert "First look" not in two


async def test_t12_a_text_comes_with_its_origin_and_a_mark_on_each_line() -> None:
    text = await body(belt(DEPLOY))
    assert text.startswith("The skill deploy, as the operators wrote it.")
    assert text.splitlines()[1:] == ["> # Deploy", "> ", "> First look."]


async def test_t12_a_long_text_is_cut_where_the_configuration_says() -> None:
    long = Skill(name="deploy", summary="s", body="x" * 5_000)
    text = await body(belt(long, config=SkillsConfig(most_bytes=300)))
    assert text.count("x") == 300
    assert "Cut here" in text


@pytest.mark.parametrize("before", range(285, 301))
async def test_t12_nothing_shows_of_a_secret_that_lies_where_the_text_is_cut(
    before: int,
) -> None:
    secret = "correct horse 0451"
    leaks = Skill(name="deploy", summary="s", body="." * before + secret + "." * 5_000)
    config = SkillsConfig(most_bytes=300)
    text = await body(belt(leaks, config=config, redactor=Redactor.of([secret])))
    shown = text.splitlines()[1].removeprefix("> ").strip(".")
    assert MASK.startswith(shown)
    assert "Cut here" in text


async def test_t12_nothing_shows_of_a_secret_that_has_several_lines() -> None:
    secret = "correct\nhorse\n0451"
    leaks = Skill(name="deploy", summary="s", body=f"Use\n{secret}\nfor it.")
    text = await body(belt(leaks, redactor=Redactor.of([secret])))
    assert text.splitlines()[1:] == ["> Use", f"> {MASK}", "> for it."]


@pytest.mark.parametrize("name", ["../deploy", "deploy.md", "", "/etc/passwd"])
def test_t12_a_name_is_a_closed_choice_so_no_path_is_ever_read(name: str) -> None:
    tool = belt(DEPLOY).beside(Toolbox(()), Channel.COMMAND)["skill"]
    with pytest.raises(Incorrect):
        tool.check({"name": name}, {})


def test_t12_without_skills_nothing_is_offered() -> None:
    assert belt().owners == {}
    assert menu(belt()) == ""


def test_t12_a_bad_file_stops_the_start_only_where_strict() -> None:
    shelf = Shelf(skills=(DEPLOY,), faults=("skills/x.md:1: wrong. Correct it.",))
    assert toolset(SkillsConfig(), shelf, NO_SECRETS).faults == shelf.faults
    assert (
        toolset(SkillsConfig(), Shelf(skills=(), faults=shelf.faults), NO_SECRETS).faults
        == shelf.faults
    )
    with pytest.raises(Invalid, match=r"skills/x\.md:1: wrong"):
        toolset(SkillsConfig(strict=True), shelf, NO_SECRETS)


@pytest.mark.parametrize("most", [True, 255, 32 * 1024 + 1])
def test_t12_a_limit_is_a_number_in_its_bounds(most: int) -> None:
    with pytest.raises(ValueError, match="most_bytes"):
        SkillsConfig(most_bytes=most)
