"""A folder of skills, read once at the start: what they say is part of what a model keeps."""

from pathlib import Path

from core import skills
from core.display import one_line
from core.errors import Invalid
from core.skills import Shelf, Skill

_LARGEST = 1_000_000


def shelf(folder: Path) -> Shelf:
    """Read the folder; raise `Invalid` where it cannot be read."""
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix == ".md")
    except (OSError, ValueError) as error:  # a path may hold what no path can
        raise Invalid(
            f"The skills in {one_line(folder.name, 120)} cannot be read. Check "
            "`toolsets.skills.folder`."
        ) from error
    found = [_skill(file) for file in files]
    return Shelf(
        skills=tuple(one for one in found if isinstance(one, Skill)),
        faults=tuple(one for one in found if isinstance(one, str)),
    )


def _skill(file: Path) -> Skill | str:
    """Return what a file holds, or what is wrong with it."""
    shown = one_line(f"{file.parent.name}/{file.name}", 120)
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
            return f"{shown}:1: it is no file of this folder, or larger than {_LARGEST} bytes. Remove it."
        return skills.skill(file.read_bytes().decode(), shown, file.stem)
    except Invalid as error:
        return error.shown
    except (OSError, UnicodeDecodeError):
        return f"{shown}:1: it cannot be read. Check its rights and its encoding."
