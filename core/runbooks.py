"""Runbooks: operations that an operator writes in YAML, each a tool, a command and a phrase at once."""

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from core import documents
from core.canonical import Json, JsonObject, encode, sha256
from core.channels import Channels
from core.documents import Document
from core.durations import Duration
from core.errors import Incorrect
from core.params import Param, Part
from core.plans import RunStep
from core.sizes import ADDRESS_SPACE, LEAST, Memory
from core.tools import OWN, RESERVED, Effect, Tool, Work
from core.undo import Undo

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_PARAM = re.compile(r"[a-z][a-z0-9_]{0,39}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")

Argv = Annotated[tuple[str, ...], Field(min_length=1, max_length=200, strict=False)]
Words = Annotated[str, Field(json_schema_extra={"pattern": r"\S"})]
Variable = Annotated[
    str, Field(json_schema_extra={"pattern": rf"^(?!LD_|SAYSO_){_VARIABLE.pattern}$"})
]


class Command(Part):
    """One command: a list of arguments, each with at most whole placeholders inside it."""

    run: Argv
    """The program and its arguments, never a shell. `{name}` stands for a parameter's value."""
    timeout: Duration = timedelta(seconds=60)
    """After this it is ended, with all that it started."""
    memory: Memory = Field(ADDRESS_SPACE, ge=LEAST)
    """How much of it each of its processes may take."""
    secrets: Annotated[tuple[Variable, ...], Field(strict=False)] = ()
    """Names under `secrets` in `sayso.yml`; it finds each in its environment."""
    network: bool = False
    """Whether it needs the network; where that is off, it is not even asked about."""

    @field_validator("secrets")
    @classmethod
    def _are_harmless_names(cls, secrets: tuple[str, ...]) -> tuple[str, ...]:
        for name in secrets:
            if not _VARIABLE.fullmatch(name) or name.startswith(("LD_", "SAYSO_")):
                raise ValueError(
                    f"{name!a} cannot be the name of a secret; write it like API_TOKEN"
                )
        return secrets

    @field_validator("run")
    @classmethod
    def _names_a_program(cls, run: tuple[str, ...]) -> tuple[str, ...]:
        if not run[0] or _placeholders(run[0]):
            raise ValueError("its first element names the program and takes no placeholder")
        if any("\0" in element for element in run):
            raise ValueError("it must not contain NUL")
        return run

    def fill(self, arguments: JsonObject) -> RunStep:
        """Return the command with every placeholder replaced inside its own element."""
        return RunStep(
            argv=tuple(_fill(element, arguments) for element in self.run),
            timeout_ms=int(self.timeout / timedelta(milliseconds=1)),
            memory_bytes=int(self.memory),
            secrets=self.secrets,
            network=self.network,
        )


class Preview(Command):
    """A dry run for the card; with `bind: exact` its output is part of the hash."""

    bind: Literal["shown", "exact"] = "shown"
    """With `exact`, nothing runs once it would print something else."""


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
    preview: Preview | None = None
    lock: str | None = Field(
        None, min_length=1, max_length=200, json_schema_extra={"pattern": r"\S"}
    )
    """Approved runs that fill it in to the same text wait for one another."""
    fingerprints: Annotated[tuple[File, ...], Field(strict=False)] = ()
    """Files that must be at the run what they were on the card."""
    steps: Annotated[tuple[Command, ...], Field(strict=False, min_length=1, max_length=50)]
    """What is done, in this order, until one fails."""
    verify: Command | None = None
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
            for name in _placeholders(text):
                if name not in known:
                    raise ValueError(f"{{{name}}} is not one of its params ({', '.join(known)})")
        return value

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
            lock=None if self.lock is None else _fill(self.lock, arguments),
            fingerprints=tuple(_inside(_fill(f.file, arguments)) for f in self.fingerprints),
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


def _placeholders(text: str) -> list[str]:
    """Return the names inside braces; `{{` and `}}` stand for a brace."""
    found: list[str] = []
    for match in _PLACEHOLDER.finditer(text):
        if match[0] in {"{", "}"}:
            raise ValueError("a brace is open; write {{ or }} for one that is meant")
        if match[0] not in {"{{", "}}"}:
            found.append(match[1])
    return found


def _fill(text: str, arguments: JsonObject) -> str:
    def value(match: re.Match[str]) -> str:
        if match[0] in {"{{", "}}"}:
            return match[0][0]
        if match[1] not in arguments:
            raise Incorrect(f"`{match[1]}` is required and has no default. Call it again with it.")
        return _word(arguments[match[1]])

    return _PLACEHOLDER.sub(value, text)


def _word(value: Json) -> str:
    return value if isinstance(value, str) else encode(value)


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
        case Command():
            yield from value.run
        case File():
            yield value.file
        case _:
            pass
