"""A plan: the exact steps that people are asked to allow, frozen and hashed.

Everything that decides what happens is inside and hashed: arguments, the commands they expand to,
what those act on, and the rules under which people decide. Everything a model wrote is outside.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError, with_config

from core import canonical
from core.errors import Refused
from core.ids import plan_id
from core.sizes import OUTPUT

_STRICT = ConfigDict(extra="forbid", strict=True)


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Retry:
    """That doing a step again is harmless, how often that may be, and after which pause."""

    times: int
    """Tries after the first one."""
    wait_ms: int

    @property
    def most(self) -> int:
        """Return how many tries there may be in all."""
        return self.times + 1


OnFailure: TypeAlias = Literal["stop", "continue"]


def _is_silent(value: object) -> bool:
    return value in {None, "stop", OUTPUT}


# Only where it is said: what says nothing of it has the text, and so the hash, that it always had.
_Retry: TypeAlias = Annotated[Retry | None, Field(exclude_if=_is_silent)]
_OnFailure: TypeAlias = Annotated[OnFailure, Field(exclude_if=_is_silent)]
_OutputBytes: TypeAlias = Annotated[int, Field(exclude_if=_is_silent)]


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class RunStep:
    """One command: its arguments as they will be passed, never through a shell."""

    kind: Literal["run"] = "run"
    argv: tuple[str, ...]
    timeout_ms: int
    memory_bytes: int
    secrets: tuple[str, ...]
    """Names only. The runner puts the values into the step's environment."""
    network: bool = False
    """Whether it says that it needs the network."""
    output_bytes: _OutputBytes = int(OUTPUT)
    """What it may print at most, before it is ended."""
    retry: _Retry = None
    on_failure: _OnFailure = "stop"
    """Whether the steps behind it run where it has failed."""


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Header:
    """One header of a request: its text, and what follows it where that is a secret."""

    name: str
    text: str
    secret: str | None = None
    """The name of a secret whose value comes right behind the text."""


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Answer:
    """One thing that the JSON of an answer has to hold."""

    path: str
    """Where it stands."""
    equals: JsonValue


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class HttpStep:
    """One HTTP request, as it will be sent, and what has to come back."""

    kind: Literal["http"] = "http"
    method: str
    url: str
    """Without any placeholder, user, password or fragment; its host is what the allowlist is asked for."""
    headers: tuple[Header, ...]
    body: str | None
    """What is sent as it is, in UTF-8; None for a request without a body."""
    statuses: tuple[int, ...]
    """Any other status is a failure."""
    answers: tuple[Answer, ...]
    """What the JSON that comes back has to hold."""
    timeout_ms: int
    secrets: tuple[str, ...]
    network: Literal[True] = True
    retry: _Retry = None
    on_failure: _OnFailure = "stop"


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class PythonStep:
    """One call of a function of an installed package, in a process of its own."""

    kind: Literal["python"] = "python"
    function: str
    """Where it is: `package.module:name`."""
    source: str | None
    """SHA-256 of the module's file when the plan was made; None where there was none."""
    arguments: Mapping[str, JsonValue]
    timeout_ms: int
    memory_bytes: int
    secrets: tuple[str, ...]
    network: bool = False
    output_bytes: _OutputBytes = int(OUTPUT)
    retry: _Retry = None
    on_failure: _OnFailure = "stop"


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class ToolStep:
    """One call of a tool of an MCP server, which is started for it."""

    kind: Literal["tool"] = "tool"
    server: str
    """What the configuration calls it."""
    argv: tuple[str, ...]
    """What starts it, never through a shell."""
    tool: str
    """What the server calls it."""
    definition: str
    """SHA-256 of what the server said of the tool when it was accepted."""
    arguments: Mapping[str, JsonValue]
    timeout_ms: int
    memory_bytes: int
    secrets: tuple[str, ...]
    network: bool = False
    retry: _Retry = None
    on_failure: _OnFailure = "stop"


Step: TypeAlias = Annotated[RunStep | HttpStep | PythonStep | ToolStep, Field(discriminator="kind")]


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """What a file held when the plan was made; `sha256` is None where there was no file."""

    file: str
    sha256: str | None


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Call:
    """One tool call with everything that it resolves to at this moment."""

    tool: str
    arguments: Mapping[str, JsonValue]
    definition: str
    """SHA-256 of the bytes that define the tool, so that an edit revokes what is open."""
    risk: str
    steps: tuple[Step, ...]
    verify: Step | None
    lock: str | None
    """Runs that hold the same one wait for one another; None where this call waits for nobody."""
    fingerprints: tuple[Fingerprint, ...]
    preview: str | None
    """SHA-256 of the preview's output where the runbook binds it, else None."""


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a standing grant would allow: to run these calls as they are without asking anybody."""

    plan: str
    """SHA-256 of the plan that may run: a plan which differs in any byte is another one."""
    requester: str
    """Whose wish alone it covers."""
    place: str
    """The channel in which they have to ask, as the policy names it."""
    uses: int
    lasts_ms: int
    """For how long from the moment at which it was approved."""
    proposer: str


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Plan:
    """Ordered calls, where they run, and the digest of the rules that decide them."""

    schema: Literal["sayso.plan/1"] = "sayso.plan/1"
    calls: tuple[Call, ...]
    folder: str
    sandbox: str
    rules: str
    standing: Standing | None = None
    """The grant that people are asked for; nothing of such a plan ever runs by itself."""

    @cached_property
    def canonical(self) -> str:
        """Return the canonical text: what is stored, hashed, and read back to be run."""
        values = _PLAN.dump_python(self, mode="json")
        if self.standing is None:
            del values["standing"]
        return canonical.encode(values)

    @cached_property
    def sha256(self) -> str:
        """Return the hash that people approve."""
        return canonical.sha256(self.canonical)

    @property
    def id(self) -> str:
        """Return the short name, `p_…`."""
        return plan_id(self.sha256)

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the names of the tools, each once, in order."""
        return tuple(dict.fromkeys(call.tool for call in self.calls))

    @property
    def does(self) -> str:
        """Return a digest of what it does: its tools and their definitions, whatever the arguments."""
        return canonical.digest([[call.tool, call.definition] for call in self.calls])

    @property
    def locks(self) -> tuple[str, ...]:
        """Return the locks of all calls, each once, sorted."""
        return tuple(sorted({call.lock for call in self.calls if call.lock is not None}))

    def call_of(self, step: int) -> Call:
        """Return the call that a step of the run belongs to; steps are numbered over all calls."""
        return [call for call in self.calls for _ in call.steps][step]


def read(text: str) -> Plan:
    """Read a plan back from its canonical text; raise `Refused` where it is not exactly that."""
    if canonical.encode(canonical.parse(text)) != text:
        raise Refused("This plan is not in its canonical form.")
    return from_values(canonical.parse(text))


def from_values(values: object) -> Plan:
    """Build a plan from plain values, such as an exported file; raise `Refused` where it is not one."""
    try:
        # Through JSON, because strict validation takes lists for tuples only there.
        return _PLAN.validate_json(canonical.encode(values))  # type: ignore[arg-type]  # checked by encode
    except (ValidationError, TypeError) as error:
        raise Refused("This is not a plan. Export one with `sayso plan export ID`.") from error


_PLAN = TypeAdapter(Plan)
