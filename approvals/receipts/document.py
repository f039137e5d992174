"""What stands in a receipt, and how a file is read as one: strictly, in exactly one spelling."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config

from approvals.models import RunState, StepState
from core import audit, canonical
from core.audit import Entry
from core.canonical import LARGEST_INTEGER, Json, JsonObject
from core.display import json_text
from core.errors import Refused
from core.events import Place

SCHEMA = "sayso.receipt/1"
MADE = "receipt.made"
"""The kind of the audit entry that a receipt leaves; it is the receipt's head."""
_CHANGES = frozenset({"card_sha256", "times_asked"})
_STRICT = ConfigDict(extra="forbid", strict=True)
_NOT_ONE = "This is not a receipt: {}. Write one with: sayso receipt RUN --output FILE"


def _is_moment(text: str) -> str:
    audit.time_of(text)
    return text


def _is_so(told: bool) -> bool:  # noqa: FBT001 - what pydantic hands over
    if not told:
        raise ValueError("it is left out where it is not so")
    return told


SecondFactor: TypeAlias = Annotated[bool, AfterValidator(_is_so)]
"""Stands there only where it is so: receipts of rules that demand none are spelt as they always were."""
Hash: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Moment: TypeAlias = Annotated[str, AfterValidator(_is_moment)]
Number: TypeAlias = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Count: TypeAlias = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class PlanText:
    """The plan that people approved, byte for byte."""

    id: str
    sha256: Hash
    body: str


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class RuleText:
    """How many had to agree. `rules_sha256` is the digest of all that decided, which the plan holds too."""

    name: str
    quorum: Count
    requester_may_vote: bool
    expires_ms: Count
    rules_sha256: Hash
    second_factor: SecondFactor = False
    """Whether each yes had to come with a code."""


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Asked:
    """The request: what people were shown, where, and for whom."""

    id: str
    tenant: str
    conversation: str
    place: Place
    requester: str
    rule: RuleText
    card_sha256: Hash
    editors: tuple[str, ...] = ()
    """Who edited the plan before people approved it: they count as requesters too."""
    times_asked: Count
    opened_at: Moment
    expires_at: Moment


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Cast:
    """One person's yes."""

    principal: str
    at: Moment
    second_factor: SecondFactor = False
    """Whether a code of their second factor came with it."""


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Ran:
    """The run, as it was when the receipt was written."""

    id: str
    state: RunState
    started_at: Moment
    ended_at: Moment


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Stepped:
    """One step: how it ended, and the digest of what it printed."""

    index: Number
    tool: str
    state: StepState
    exit_code: int | None
    started_at: Moment | None
    ended_at: Moment | None
    output_sha256: Hash


@with_config(_STRICT)
@dataclass(frozen=True, kw_only=True)
class Receipt:
    """All of it. `head` is the last entry of `audit`, in which everything but it and the signature is sealed."""

    schema: Literal["sayso.receipt/1"]
    plan: PlanText
    request: Asked
    votes: tuple[Cast, ...]
    run: Ran
    steps: tuple[Stepped, ...]
    audit: tuple[Entry, ...]
    key: Hash
    head: Entry
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A receipt that was just made, and the text of its file."""

    receipt: Receipt
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A receipt as values and as it stands in the file."""

    receipt: Receipt
    values: Mapping[str, Json]

    @property
    def sealed(self) -> str:
        """Return the digest that the head has to hold: of all but the head and the signature."""
        return digest_of(self.values)

    @property
    def signed(self) -> str:
        """Return the text that was signed: all but the signature."""
        return canonical.encode({n: v for n, v in self.values.items() if n != "signature"})


def digest_of(values: Mapping[str, Json]) -> str:
    """Return the digest of what a head seals."""
    return canonical.digest({n: v for n, v in values.items() if n not in {"head", "signature"}})


def asked_digest(asked: JsonObject) -> str:
    """Return the digest of a request as its receipt shows it, which is noted when it is opened.

    The card is not in it, nor how often it was asked for: those change, and each time is noted.
    """
    unedited = {"editors"} if not asked.get("editors") else frozenset[str]()
    left = _CHANGES | unedited
    return canonical.digest({n: _spelt(v) for n, v in asked.items() if n not in left})


def _spelt(value: Json) -> Json:
    """Return a rule as a receipt spells it; anything else is that already."""
    if not isinstance(value, Mapping) or value.get("second_factor", True):
        return value
    return {n: v for n, v in value.items() if n != "second_factor"}


def text_of(values: Mapping[str, Json]) -> str:
    """Return the file's text: canonical JSON and the end of its line."""
    return f"{canonical.encode(values)}\n"


def read(text: str) -> Read:
    """Read a receipt; raise `Refused` with what is wrong where a file is none, or spelt in another way."""
    try:
        values = canonical.parse(text)
    except Refused as error:
        raise Refused(_NOT_ONE.format("it is no strict JSON"), error=error.shown) from error
    if not isinstance(values, Mapping):
        raise Refused(_NOT_ONE.format("it is no object"))
    try:
        receipt = _RECEIPT.validate_json(canonical.encode(values))
    except ValidationError as error:
        raise Refused(_NOT_ONE.format(_blamed(error))) from error
    if text_of(values) != text:
        raise Refused("This receipt was changed: it is not written in its one exact form.")
    return Read(receipt=receipt, values=values)


def _blamed(error: ValidationError) -> str:
    """Name the first field that does not fit, and nothing that somebody else wrote but its name."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:120]
    return f"its field {json_text(where)} is missing, unknown or does not fit"


_RECEIPT = TypeAdapter(Receipt)
