"""What undoes a runbook: another call, or the same with other arguments, proposed as a new plan. Pure."""

from collections.abc import Mapping
from typing import TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from core.canonical import Json, JsonObject
from core.params import Param, Part, Scalar

Fault: TypeAlias = tuple[tuple[str, ...], str]
"""Where in the file of a runbook something is wrong, and what."""
_TIGHT = ConfigDict(strict=True)


class Undo(Part):
    """Names what undoes a runbook. It is never done by itself."""

    runbook: str
    """The runbook that undoes it, which may be itself."""
    args: dict[str, Scalar] = Field(default_factory=dict[str, Scalar])
    """Arguments that it is given; every other is the one with which this was called."""

    def arguments(self, called: JsonObject, names: tuple[str, ...]) -> dict[str, Json]:
        """Return what the runbook with parameters of these names is called with."""
        same = {name: called[name] for name in names if name in called}
        return {**same, **self.args}


def fault(undo: Undo, ours: Mapping[str, Param], theirs: Mapping[str, Param]) -> Fault | None:
    """Return what keeps `ours` from being undone by a runbook that takes `theirs`; None where nothing does."""
    for name, value in undo.args.items():
        if name not in theirs:
            problem = f"{undo.runbook} has no parameter of this name. Correct or remove it."
            return ("undo", "args", name), problem
        if not _takes(theirs[name], name, value):
            return ("undo", "args", name), f"{undo.runbook} does not take this value. Correct it."
    for name, param in theirs.items():
        given = name in undo.args or (name not in ours and param.default is not None)
        if not given and not _alike(ours.get(name), param):
            problem = (
                f"{undo.runbook} needs `{name}`, and this has no parameter of that name and kind. Say "
                "under `args` what it is."
            )
            return ("undo", "runbook"), problem
    return None


def _takes(param: Param, name: str, value: Scalar) -> bool:
    annotation, _ = param.annotation(name)
    try:
        TypeAdapter(annotation, config=_TIGHT).validate_python(value)
    except ValidationError:
        return False
    return True


def _alike(ours: Param | None, theirs: Param) -> bool:
    """Whether what we take is of their kind, and one of their choices where there are such."""
    if ours is None or ours.type != theirs.type:
        return False
    return theirs.enum is None or (ours.enum is not None and set(ours.enum) <= set(theirs.enum))
