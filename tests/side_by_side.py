"""Every state of a card and every refusal as people read them. Run this module to write them again."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.card_sides import CARD_SIDES
from tests.refusal_sides import REFUSAL_SIDES
from tests.sides import WIDTH

GOLDEN = Path(__file__).parent / "golden" / "cards"
_RULE = "=" * (3 * WIDTH + 6)


def files() -> Mapping[str, str]:
    """Return what each file holds, by its name."""
    made = {f"card-{name}.txt": one.side().drawn() for name, one in CARD_SIDES.items()}
    for name, sentences in REFUSAL_SIDES.items():
        made[f"refusal-{name}.txt"] = f"\n{_RULE}\n\n".join(
            sentence.side().drawn() for sentence in sentences
        )
    return made


def kept() -> Iterator[Path]:
    """Return the files that somebody had looked at."""
    yield from GOLDEN.glob("*.txt")


def write() -> None:
    """Write every file, and remove those that nothing makes any more."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    made = files()
    for file in kept():
        if file.name not in made:
            file.unlink()
    for name, text in made.items():
        (GOLDEN / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
