"""YAML as people write it, with the line of every value, and errors that name file, line and field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from core import wording
from core.canonical import Json
from core.display import one_line
from core.errors import Invalid

Path: TypeAlias = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTING = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)
"""What PyYAML's constructors raise for a tag that does not fit."""
_NEXT_STEP = {
    "missing": "Add it.",
    "extra_forbidden": "Sayso does not know this name. Correct its spelling or remove it.",
    "string_type": "Put it in quotes.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The values of one file, and on which line each of them stands."""

    file: str
    value: Json
    lines: Mapping[Path, int]

    def error(self, path: Path, problem: str) -> Invalid:
        """Return the one-line error for a value in this file."""
        at = next((self.lines[p] for p in _prefixes(path) if p in self.lines), 1)
        known = [str(part) for n, part in enumerate(path) if path[: n + 1] in self.lines or n == 0]
        missing = [str(path[-1])] if path and path not in self.lines and len(path) > 1 else []
        field = ".".join(dict.fromkeys([*known, *missing]))
        return Invalid(one_line(f"{self.file}:{at}: {field + ': ' if field else ''}{problem}"))

    def build(self, model: type[M], **context: object) -> M:
        """Return the model built from these values; raise `Invalid` for the first thing wrong."""
        try:
            return model.model_validate(self.value, context=context)
        except ValidationError as error:
            raise self.explain(error) from error

    def explain(self, error: ValidationError) -> Invalid:
        """Return the one-line error for the first thing that pydantic refused."""
        first = wording.first(error)
        step = _NEXT_STEP.get(first.kind, "Correct it.")
        return self.error(first.where, f"{first.problem}. {step}")


def load(text: str, file: str) -> Document:
    """Read one YAML document; raise `Invalid` for bad YAML, a repeated key, or an alias."""
    lines: dict[Path, int] = {}
    text = text.removeprefix("\ufeff")  # some editors put it before UTF-8
    try:
        loader = _LOADER(text)
        try:
            node = loader.get_single_node()
            value = None if node is None else _value(_Walk(loader, file, lines, set()), node, ())
        finally:
            loader.dispose()  # pyright: ignore[reportUnknownMemberType]  # untyped in the stubs
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        line = mark.line + 1 if mark else 1
        if mark and "".join(text.splitlines()[line - 1 : line])[mark.column :][:1] == "\t":
            problem = "a tab stands where only spaces may"
        raise Invalid(one_line(f"{file}:{line}: not valid YAML: {problem}. Correct it.")) from error
    return Document(file=file, value=value, lines=lines)


@dataclass(frozen=True, slots=True)
class _Walk:
    loader: yaml.SafeLoader
    file: str
    lines: dict[Path, int]
    seen: set[int]

    def refuse(self, node: yaml.Node, problem: str) -> Invalid:
        return Invalid(one_line(f"{self.file}:{node.start_mark.line + 1}: {problem}"))


def _value(walk: _Walk, node: yaml.Node, path: Path) -> Json:
    walk.lines.setdefault(path, node.start_mark.line + 1)
    if id(node) in walk.seen:
        raise walk.refuse(node, "anchors and aliases are not supported. Write the values out.")
    walk.seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return _scalar(walk, node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(walk, item, (*path, n)) for n, item in enumerate(node.value)]
    return dict(_pairs(walk, node, path))


def _pairs(walk: _Walk, node: yaml.Node, path: Path) -> Iterator[tuple[str, Json]]:
    names = set[str]()
    for key, item in node.value:
        name = _scalar(walk, key) if isinstance(key, yaml.ScalarNode) else None
        if not isinstance(name, str):
            raise walk.refuse(key, "a name must be text. Put it in quotes.")
        if name in names:
            raise walk.refuse(key, f"{name}: this name stands here twice. Remove one.")
        names.add(name)
        walk.lines[(*path, name)] = key.start_mark.line + 1
        yield name, _value(walk, item, (*path, name))


def _scalar(walk: _Walk, node: yaml.ScalarNode) -> Json:
    try:
        value: object = walk.loader.construct_object(node)  # pyright: ignore[reportUnknownMemberType]
    except _CONSTRUCTING as error:
        raise walk.refuse(
            node, "this is not what its form or its tag says. Put it in quotes."
        ) from error
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise walk.refuse(node, "this would be read as a date or as bytes. Put it in quotes.")


def _prefixes(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path), -1, -1))
