"""How much memory a command may take, as people write it."""

from typing import Annotated

from pydantic import ByteSize, WithJsonSchema

LEAST = 2**20
ADDRESS_SPACE = ByteSize(4 * 2**30)
"""What a command may take that says nothing about it."""

Memory = Annotated[
    ByteSize,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": LEAST},
                {"type": "string", "pattern": r"^\s*[0-9]*\.?[0-9]+\s*([kKmMgGtT]i?)?[bB]?$"},
            ],
            "examples": ["512MiB", "2GB"],
        }
    ),
]
