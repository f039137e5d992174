"""Runbooks: operations that an operator writes in YAML, each a tool, a command and a phrase at once."""

import re
from collections.abc import Iterable
from typing import Annotated, Any, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from core import documents, placeholders
from core.canonical import JsonObject, sha256
from core.channels import Channels
from core.documents import Document
from core.errors import Incorrect
from core.function_forms import Function
from core.http_forms import Request
from core.params import Param, Part
from core.step_forms import Command
from core.step_kinds import AnyForm, PreviewForm, StepForm
from core.tool_forms import Foreign
from core.tools import OWN, RESERVED, Effect, Tool, Work
from core.undo import Undo

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_PARAM = re.compile(r"[a-z][a-z0-9_]{0,39}")

Words = Annotated[str, Field(json_schema_extra={"pattern": r"\S"})]


class File(Part):
    """A file whose content the operation depends on."""

    file: str
    """Its path inside the working folder."""

    @field_validator("file")
    @classmethod
    def _is_inside(cls, file: str) -> str:
        if _leads_out(file):
            raise ValueError("it must lie inside the working folder: no .. in it and no / in front")
        return file


class Runbook(Part):
    """One file of the catalogue."""

    name: str = Field(json_schema_extra={"pattern": f"^{_NAME.pattern}$"})
    """What people type after `!`, and what the policy knows as `runbook:NAME`."""
    summary: str = Field(min_length=1, max_length=200)
    """What it does, in one sentence, for people and for a model."""
    effect: Effect = Field(Effect.WRITE, strict=False)
    risk: str = Field("medium", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """The rule under `approvals` in `sayso.yml` that says how many must agree."""
    params: dict[str, Param] = Field(
        default_factory=dict,
        json_schema_extra={"propertyNames": {"pattern": f"^{_PARAM.pattern}$"}},
    )
    """What differs between two calls. Only declared names may stand in braces."""
    channels: Channels = ()
    """The only places where it is there, as `platform/workspace/channel`; `*` stands for any part."""
    phrases: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    """What people can write instead of the command, with params in braces."""
    preview: PreviewForm | None = None
    lock: str | None = Field(
        None, min_length=1, max_length=200, json_schema_extra={"pattern": r"\S"}
    )
    """Approved runs that fill it in to the same text wait for one another."""
    fingerprints: Annotated[tuple[File, ...], Field(strict=False)] = ()
    """Files that must be at the run what they were on the card."""
    steps: Annotated[tuple[StepForm, ...], Field(strict=False, min_length=1, max_length=50)]
    """What is done, in this order, until one fails."""
    verify: StepForm | None = None
    """A read that shows people whether a step of which nobody knows has happened."""
    undo: Undo | None = None
    """What undoes it: offered below the report of a run that succeeded, as a new plan."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("use lowercase letters, digits and hyphens, starting with a letter")
        if name in OWN:
            raise ValueError(f"{name} is a tool of Sayso's own; choose another name")
        return name

    @field_validator("params")
    @classmethod
    def _have_names(cls, params: dict[str, Param]) -> dict[str, Param]:
        for name in params:
            if not _PARAM.fullmatch(name) or name in RESERVED:
                raise ValueError(f"{name!a} cannot be the name of a parameter")
        return params

    @field_validator("phrases")
    @classmethod
    def _say_something(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        if not all(phrase.strip() for phrase in phrases):
            raise ValueError("a phrase must hold a word")
        return phrases

    @field_validator("lock")
    @classmethod
    def _is_a_lock(cls, lock: str | None, info: ValidationInfo) -> str | None:
        if lock is None:
            return None
        if info.data.get("effect") is Effect.READ:
            raise ValueError("only a write takes a lock; a read runs at once and holds nothing up")
        if not lock.strip() or "\0" in lock:
            raise ValueError("it must hold a word and no NUL")
        return lock

    @field_validator("phrases", "preview", "lock", "fingerprints", "steps", "verify")
    @classmethod
    def _know_their_params(cls, value: object, info: ValidationInfo) -> object:
        known = sorted(info.data.get("params", {}))
        for text in _texts(value):
            for name in placeholders.names(text):
                if name not in known:
                    raise ValueError(
                        f"{{{name}}} is not one of its params ({', '.join(known)}); a brace that is "
                        "meant is written {{ or }}"
                    )
        return value

    @field_validator("preview", "verify")
    @classmethod
    def _are_looks(cls, look: AnyForm | None) -> AnyForm | None:
        if look and (look.retry or look.on_failure != "stop"):
            raise ValueError("only a step has retry and on_failure; this is looked at once")
        return look

    @model_validator(mode="after")
    def _has_sound_defaults(self) -> "Runbook":
        tool = self.tool(definition="")
        for name, value in tool.defaults.items():
            try:
                self._parameters(only=name).model_validate({name: value})
            except ValueError as error:
                raise ValueError(f"the default of {name} is not one of its values") from error
        return self

    def tool(self, *, definition: str) -> Tool:
        """Return this operation as a tool."""
        return Tool(
            name=self.name,
            summary=self.summary,
            effect=self.effect,
            risk=self.risk,
            definition=definition,
            parameters=self._parameters(),
            defaults={n: p.default for n, p in self.params.items() if p.default is not None},
            phrases=self.phrases,
            channels=self.channels,
            undo=self.undo,
            expand=self._expand,
        )

    def _parameters(self, *, only: str | None = None) -> type[BaseModel]:
        fields: dict[str, Any] = {
            f"p_{name}": param.annotation(name)
            for name, param in self.params.items()
            if only in {None, name}
        }
        config = ConfigDict(extra="forbid", strict=True, frozen=True, title=self.name)
        return create_model("Arguments", __config__=config, **fields)

    def _expand(self, arguments: JsonObject) -> Work:
        return Work(
            steps=tuple(step.fill(arguments) for step in self.steps),
            verify=self.verify.fill(arguments) if self.verify else None,
            lock=None if self.lock is None else placeholders.fill(self.lock, arguments),
            fingerprints=tuple(
                _inside(placeholders.fill(f.file, arguments)) for f in self.fingerprints
            ),
            preview=self.preview.fill(arguments) if self.preview else None,
            preview_binds=self.preview is not None and self.preview.bind == "exact",
        )


def read(text: str, file: str) -> tuple[Runbook, Document]:
    """Read one runbook; raise `Invalid` with file, line and field where something is wrong."""
    document = documents.load(text, file)
    return document.build(Runbook), document


def tool(text: str, file: str) -> Tool:
    """Read one runbook as a tool; any edit of the file gives it another definition."""
    runbook, _ = read(text, file)
    return runbook.tool(definition=sha256(text))


def _inside(file: str) -> str:
    if _leads_out(file):
        raise Incorrect("A file to watch must lie inside the working folder.")
    return file


def _leads_out(file: str) -> bool:
    return file.startswith("/") or ".." in file.split("/")


def _texts(value: object) -> Iterable[str]:
    """Yield every text in which a placeholder may stand."""
    match value:
        case str():
            yield value
        case tuple():
            for part in cast("tuple[object, ...]", value):
                yield from _texts(part)
        case Command() | Function() | Request() | Foreign():
            yield from value.texts()
        case File():
            yield value.file
        case _:
            pass
