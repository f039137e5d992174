"""What pydantic refuses, in words of the file that a person wrote: no class, no type of Python."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import ValidationError

_MAPPING = "expected a mapping, which is names with values"
_LIST = "expected a list"
_YES_OR_NO = "expected true or false"
_WHOLE = "expected a whole number"
_NUMBER = "expected a number"
_SCALAR = "expected a text, a number, or true or false"
_NAME = "a name has letters, digits, dots, hyphens and underscores alone, and at most 64 of them"
_SHOULD = re.compile(r"\A(?:Input|String|Value) should ")
_SAID: Mapping[str, str] = MappingProxyType({
    "model_type": _MAPPING, "model_attributes_type": _MAPPING, "dict_type": _MAPPING,
    "mapping_type": _MAPPING, "dataclass_type": _MAPPING,
    "tuple_type": _LIST, "list_type": _LIST, "set_type": _LIST, "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "bool_type": _YES_OR_NO, "bool_parsing": _YES_OR_NO,
    "int_type": _WHOLE, "int_parsing": _WHOLE, "int_parsing_size": _WHOLE, "int_from_float": _WHOLE,
    "float_type": _NUMBER, "float_parsing": _NUMBER, "finite_number": _NUMBER,
    "path_type": "expected a path",
    "byte_size": "expected a size such as 512MiB", "byte_size_unit": "expected a size such as 512MiB",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """The first thing that was refused."""

    kind: str
    """As pydantic calls it."""
    where: tuple[str | int, ...]
    problem: str


def first(error: ValidationError) -> Wrong:
    """Return the first thing that is wrong, without the value; a name that is unknown comes before all.

    Whatever is missing elsewhere may be missing only because it stands under that name.
    """
    every = error.errors(include_url=False, include_input=False)
    found = next((one for one in every if one["type"] == "extra_forbidden"), every[0])
    kind, where = found["type"], found["loc"]
    said = _SAID.get(kind) or _SHOULD.sub(
        "it must ", found["msg"].removeprefix("Value error, ").rstrip(".")
    )
    match where[-1:]:
        # What pydantic adds: that it is the name itself, and the first of what it might have been.
        case ("[key]",):
            return Wrong(kind=kind, where=where[:-1], problem=_NAME)
        case ("bool" | "int" | "float" | "str",) if kind in _SAID:
            return Wrong(kind=kind, where=where[:-1], problem=_SCALAR)
        case _:
            return Wrong(kind=kind, where=where, problem=said)
