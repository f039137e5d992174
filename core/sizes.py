"""How many bytes something has or may have, as people write it."""

from typing import Annotated

from pydantic import ByteSize, Field, WithJsonSchema

LEAST = 2**20
OUTPUT = ByteSize(8 * 2**20)
"""What a command may print at most, and does where nothing is said about it: nobody reads so much."""
ADDRESS_SPACE = ByteSize(4 * 2**30)
"""What a command may take that says nothing about it."""


def _written(least: int) -> WithJsonSchema:
    """Return how a file writes so many bytes or more."""
    return WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": least},
                {"type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+\s*([kKmMgGtT]i?)?[bB]?$"},
            ],
            "examples": ["512MiB", "2GB"],
        }
    )


Memory = Annotated[ByteSize, _written(LEAST)]
Printed = Annotated[ByteSize, Field(ge=1, le=OUTPUT), _written(1)]
Size = Annotated[ByteSize, Field(ge=0, le=2**30), _written(0)]
_UNITS = {"GB": 10**9, "MB": 10**6, "kB": 10**3}


def in_words(size: int) -> str:
    """Return a number of bytes for people: 1.2 MB."""
    found = next(((unit, scale) for unit, scale in _UNITS.items() if size >= scale), None)
    return f"{size / found[1]:.1f} {found[0]}" if found else f"{size} bytes"
