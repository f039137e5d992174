"""The kinds of steps that a runbook may have, told apart by the name that says what is done."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, cast

from pydantic import ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator

from core.function_forms import Function
from core.http_forms import Request
from core.step_forms import Command, Form
from core.tool_forms import Foreign

Bind: TypeAlias = Literal["shown", "exact"]


class PreviewCommand(Command):
    """A dry run for the card; with `bind: exact` its output is part of the hash."""

    bind: Bind = "shown"
    """With `exact`, nothing runs once it would print something else."""


class PreviewFunction(Function):
    """A dry run for the card by a function; with `bind: exact` its output is part of the hash."""

    bind: Bind = "shown"
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
    if not all(name in _known(kind) for kind in kinds.values() for name in names):
        return first  # which names what is not known
    raise ValueError(f"it does nothing; write {_listed(list(kinds), 'or')}")


def _known(kind: type[Form]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


def _listed(names: list[str], word: str) -> str:
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last


AnyForm: TypeAlias = Command | Function | Request | Foreign
"""Every kind. A further one is a class that fills in a step of plans, named below by its own field."""
StepForm: TypeAlias = Annotated[
    AnyForm, _by_name(run=Command, http=Request, python=Function, tool=Foreign)
]
PreviewForm: TypeAlias = Annotated[
    PreviewCommand | PreviewFunction, _by_name(run=PreviewCommand, python=PreviewFunction)
]
