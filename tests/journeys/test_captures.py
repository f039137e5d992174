"""The captures in the documents are what the tour shows now. `make captures` writes them again."""

from pathlib import Path
from types import ModuleType

import pytest

from tests import captures, discord_drawings, discord_pictures, slack_drawings, slack_pictures

WRITE = "run `make captures`, and look at what changed"
PREFIXES = (slack_pictures.PREFIX, discord_pictures.PREFIX)


def files() -> dict[str, str]:
    return {file.name: file.read_text("utf-8") for file in captures.FOLDER.iterdir()}


async def test_every_capture_is_what_the_tour_shows() -> None:
    scenes = await captures.recorded()
    made = captures.captures(scenes)
    kept = {name: text for name, text in files().items() if not name.startswith(PREFIXES)}
    assert kept.keys() == made.keys(), WRITE
    different = {name for name in made if made[name] != kept[name]}
    assert different == set(), WRITE
    for file in captures.documents():
        text = file.read_text("utf-8")
        assert captures.filled(text, scenes) == text, f"{file.name}: {WRITE}"


@pytest.mark.parametrize("drawn", [slack_pictures, discord_pictures], ids=PREFIXES)
def test_every_picture_is_what_the_golden_files_say_now(drawn: ModuleType) -> None:
    kept = {name: text for name, text in files().items() if name.startswith(drawn.PREFIX)}
    assert kept == drawn.pictures(), WRITE


@pytest.mark.parametrize(
    ("prefix", "golden"),
    [
        (slack_pictures.PREFIX, slack_drawings.GOLDEN),
        (discord_pictures.PREFIX, discord_drawings.GOLDEN),
    ],
    ids=PREFIXES,
)
def test_every_state_of_a_card_has_its_picture(prefix: str, golden: Path) -> None:
    states = {file.stem for file in golden.glob("card-*.json")}
    assert len(states) > 10
    assert states <= {name.removeprefix(prefix).removesuffix(".svg") for name in files()}


def test_the_readme_shows_captured_scenes() -> None:
    assert captures.BLOCK.search((captures.ROOT / "README.md").read_text("utf-8"))


def test_no_capture_names_a_host() -> None:
    for file in captures.FOLDER.iterdir():
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text.replace("HTTP 500", ""), file.name
