"""The captures in the documents are what the tour shows now. `make captures` writes them again."""

from tests import captures

WRITE = "run `make captures`, and look at what changed"


async def test_every_capture_is_what_the_tour_shows() -> None:
    scenes = await captures.recorded()
    made = captures.captures(scenes)
    kept = {file.name: file.read_text("utf-8") for file in captures.FOLDER.iterdir()}
    assert kept.keys() == made.keys(), WRITE
    different = {name for name in made if made[name] != kept[name]}
    assert different == set(), WRITE
    for file in captures.documents():
        text = file.read_text("utf-8")
        assert captures.filled(text, scenes) == text, f"{file.name}: {WRITE}"


def test_the_readme_shows_captured_scenes() -> None:
    assert captures.BLOCK.search((captures.ROOT / "README.md").read_text("utf-8"))


def test_no_capture_names_a_host() -> None:
    for file in captures.FOLDER.iterdir():
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text.replace("HTTP 500", ""), file.name
