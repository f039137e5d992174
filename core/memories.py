"""Memory: what is kept of a conversation for its later turns, by whose word, and until when.

Episodic memories are not written twice: they are the happenings of `core.trail`, read again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.canonical import JsonObject, digest, sha256
from core.display import one_line
from core.errors import Refused
from core.tools import Caller

_FOREIGN = (
    "What is remembered here holds a record of another conversation, so none of it is read. Tell an "
    "operator; `sayso erase` removes it."
)


class Kind(StrEnum):
    """What sort of knowledge a memory is."""

    SEMANTIC = "semantic"
    """What is so."""
    PROCEDURAL = "procedural"
    """How something is done."""
    EPISODIC = "episodic"
    """What happened. Only software says that."""


class Trust(StrEnum):
    """Who says so."""

    PERSON = "person"
    MODEL = "model"
    SOFTWARE = "software"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """Something to be kept, without secrets."""

    caller: Caller
    """In whose turn, and in which conversation, it is kept."""
    kind: Kind
    trust: Trust
    source: str
    """Where it comes from: a turn and a call of it, or a person."""
    text: str

    @property
    def id(self) -> str:
        """Return its name: what the same one says again in the same conversation is one memory."""
        here = [self.caller.tenant, self.caller.conversation]
        return f"m_{digest([*here, self.kind, self.trust, self.text])[:16]}"

    @property
    def sha256(self) -> str:
        """Return the digest of the text, which stays in the audit log."""
        return sha256(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something that is remembered."""

    id: str
    tenant: str
    conversation: str
    kind: Kind
    trust: Trust
    source: str
    text: str
    sha256: str
    at: datetime
    expires_at: datetime


class Memories(Protocol):
    """Where memories are kept. Every method is one transaction.

    Kept ones past their time are removed first; of episodes, which nobody keeps, none past it is read.
    What writes raises `LeaseLost` where the caller's claim is not held any more.
    """

    async def keep(self, new: NewMemory, *, retention: timedelta, most: int) -> Memory:
        """Keep it for so long, the same one again from now on; raise `Refused` where there is no room.

        So it does, always in the same words, where the tenant has no such conversation.
        """
        ...

    async def kept(self, tenant: str, conversation: str) -> Sequence[Memory]:
        """Return the semantic and procedural memories of a conversation, newest first.

        What lies there is returned as it lies: whoever reads it checks with `owned` whose it is.
        """
        ...

    async def episodes(
        self, tenant: str, conversation: str, *, retention: timedelta, most: int
    ) -> Sequence[Memory]:
        """Return what software noted of the conversation's turns within that time, newest first."""
        ...

    async def forget(self, caller: Caller, memory: str, *, trust: Trust | None) -> bool:
        """Remove one of the caller's conversation, if it is of this trust (None for any).

        False where there is none such there.
        """
        ...


def owned(found: Iterable[Memory], tenant: str, conversation: str) -> tuple[Memory, ...]:
    """Return what was read; raise `Refused` where any of it is not this conversation's own.

    Nothing of a read with a foreign record is used: where one is wrong, none can be trusted.
    """
    memories = tuple(found)
    foreign = [
        one.id for one in memories if (one.tenant, one.conversation) != (tenant, conversation)
    ]
    if foreign:
        raise Refused(_FOREIGN, memories=foreign)
    return memories


def episode(kind: str, body: JsonObject) -> str:
    """Return in a sentence what software noted as it happened; `body` is a happening's fields."""
    match kind:
        case "looked":
            how = "failed" if body["failed"] else "answered"
            return f"The tool {body['tool']} {how} (call {body['call']})."
        case "guarded":
            return (
                f"A guardrail stopped the turn at its {body['stage']}: {one_line(str(body['why']))}"
            )
        case _:
            return f"The turn ended: {body['reason']}."
