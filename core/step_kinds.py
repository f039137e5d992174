"""The kinds of steps that a runbook may have, told apart by the name that says what is done."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, cast

from pydantic import ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator

from core.http_forms import Request
from core.step_forms import Command, Form


class Preview(Command):
    """A dry run for the card; with `bind: exact` its output is part of the hash."""

    bind: Literal["shown", "exact"] = "shown"
    """With `exact`, nothing runs once it would print something else."""


def _by_name(**kinds: type[Form]) -> WrapValidator:
    """Have a form be read as the kind whose name it holds, so that errors tell of that kind alone."""

    def read(
        value: object, _: ValidatorFunctionWrapHandler, info: ValidationInfo[object]
    ) -> object:
        return _kind(value, kinds).model_validate(value, context=info.context)

    return WrapValidator(read)


def _kind(value: object, kinds: Mapping[str, type[Form]]) -> type[Form]:
    """Return the kind of a form; raise `ValueError` where it is none, or more than one."""
    first, *_ = kinds.values()
    if not isinstance(value, dict):
        return first  # which says what is expected
    names = cast("dict[str, object]", value).keys()
    found = [name for name in kinds if name in names]
    if len(found) > 1:
        raise ValueError(f"it has {_listed(found, 'and')}, and may have one of them")
    if found:
        return kinds[found[0]]
    if any(name not in kind.model_fields for kind in kinds.values() for name in names):
        return first  # which names what is not known
    raise ValueError(f"it does nothing; write {_listed(list(kinds), 'or')}")


def _listed(names: list[str], word: str) -> str:
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last


StepForm: TypeAlias = Annotated[Command | Request, _by_name(run=Command, http=Request)]
"""A step. A further kind is a class that fills in a step of plans, named here by its first field."""
PreviewForm: TypeAlias = Annotated[Preview, _by_name(run=Preview)]
