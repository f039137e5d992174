"""Skills: how something is done here, in Markdown that an operator writes."""

import re
from dataclasses import dataclass

from pydantic import Field, field_validator

from core import documents
from core.display import hidden, sound
from core.errors import Invalid
from core.params import Part

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_FILE = re.compile(r"---\r?\n(?P<front>.*?\n)---[ \t]*\r?\n(?P<body>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One way to do something: a line for the menu, and a text for whoever asks for it."""

    name: str
    summary: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What a folder holds: every sound skill, and one line for every other file."""

    skills: tuple[Skill, ...]
    faults: tuple[str, ...] = ()


class _Front(Part):
    """What stands before the text, between two lines of three hyphens."""

    name: str
    summary: str = Field(min_length=1, max_length=200)

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("use lowercase letters, digits and hyphens, starting with a letter")
        return name

    @field_validator("summary")
    @classmethod
    def _is_one_line(cls, summary: str) -> str:
        found = hidden(summary)
        if found or not summary.strip():
            raise ValueError(f"it has to be one line of visible text, without {found or 'blanks'}")
        return summary


def skill(text: str, file: str, stem: str) -> Skill:
    """Read one skill; raise `Invalid` with file, line and field where something is wrong.

    `stem` is the name of its file, which is its own: so what is asked for can be no path.
    """
    parts = _FILE.fullmatch(text.removeprefix("\ufeff"))  # some editors put it before UTF-8
    if parts is None:
        raise Invalid(
            f"{file}:1: it has to begin with its name and summary between two lines of `---`. Add "
            "them."
        )
    # The empty line stands for the first `---`, so that lines are counted as in the file.
    document = documents.load(f"\n{parts['front']}", file)
    front = document.build(_Front)
    if front.name != stem:
        raise document.error(("name",), f"it has to be that of its file, {stem}. Rename one.")
    body = sound(parts["body"]).strip()
    if not body:
        raise Invalid(f"{file}:1: it says nothing after its summary. Write the text, or remove it.")
    return Skill(name=front.name, summary=front.summary, body=body)
