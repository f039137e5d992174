"""What a model is told that it may call: the tools, and a question to the person who asked.

The same for every provider, and the same bytes after every restart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.canonical import JsonObject
from core.tools import QUESTION, RESERVED, Effect, Tool, Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One thing that may be called."""

    name: str
    description: str
    schema: JsonObject
    """JSON schema of the arguments."""
    reads: bool = False
    """Whether it changes nothing, so that it runs at once."""


ASK_USER = Declaration(
    name=QUESTION,
    description=(
        "Ask the person one question, where you cannot go on without the answer. Call nothing else "
        "beside it. Your turn ends; the answer is their next message."
    ),
    schema={
        "type": "object",
        "properties": {"question": {"type": "string", "minLength": 1}},
        "required": ["question"],
        "additionalProperties": False,
    },
)

_EXPLAINS = {
    "rationale": "Why this is to be done and what you saw that says so. People read it before they decide.",
    "limitations": "What you could not check.",
    "alternatives": "What else could be done instead.",
}


def declarations(tools: Toolbox) -> tuple[Declaration, ...]:
    """Return what to declare to a model, in the order in which it is declared."""
    return (*declared(tools), ASK_USER)


def declared(tools: Toolbox) -> Iterator[Declaration]:
    """Yield the tools alone, for whoever has nobody to ask."""
    for tool in tools:
        schema = tool.schema()
        yield Declaration(
            name=tool.name,
            description=_described(tool),
            schema=_explained(schema) if tool.effect is Effect.WRITE else schema,
            reads=tool.effect is Effect.READ,
        )


def _described(tool: Tool) -> str:
    if tool.effect is Effect.READ:
        return f"{tool.summary} (reads: runs at once)"
    return f"{tool.summary} (changes something: people decide about it first)"


def _explained(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a gated call, which its caller has to explain."""
    texts = {name: {"type": "string", "description": _EXPLAINS[name]} for name in RESERVED}
    return {
        **schema,
        "properties": {**schema.get("properties", {}), **texts},
        "required": [*schema.get("required", []), "rationale"],
    }
